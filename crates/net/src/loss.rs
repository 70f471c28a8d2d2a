//! Random loss on a link.

use units::random::{Purpose, Stream};

use crate::{LinkId, Loss};

/// Decides for one packet after the other, with the same number of draws for each.
pub(crate) struct Lottery {
    loss: Loss,
    draws: Stream,
    bad: bool,
}

impl Lottery {
    pub(crate) fn new(loss: Loss, seed: u64, link: LinkId) -> Self {
        Self {
            loss,
            draws: Stream::new(seed, Purpose::Loss, link.0),
            bad: false,
        }
    }

    /// Whether the next packet is lost.
    pub(crate) fn takes(&mut self) -> bool {
        match self.loss {
            Loss::None => false,
            Loss::Random { probability } => self.draws.uniform() < probability,
            Loss::GilbertElliott {
                p,
                r,
                loss_good,
                loss_bad,
            } => {
                let change = self.draws.uniform();
                self.bad = if self.bad { change >= r } else { change < p };
                self.draws.uniform() < if self.bad { loss_bad } else { loss_good }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(loss: Loss) -> Vec<bool> {
        let mut lottery = Lottery::new(loss, 1, LinkId(0));
        (0..400_000).map(|_| lottery.takes()).collect()
    }

    fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|lost| **lost).count() as f64 / losses.len() as f64
    }

    #[test]
    fn independent_losses_have_their_probability() {
        let found = share(&losses(Loss::Random { probability: 0.02 }));
        assert!((found - 0.02).abs() < 0.001, "{found}");
        assert_eq!(share(&losses(Loss::None)), 0.0);
    }

    #[test]
    fn gilbert_losses_come_in_bursts_of_mean_one_over_r() {
        let (p, r) = (0.005, 0.25);
        let losses = losses(Loss::GilbertElliott {
            p,
            r,
            loss_good: 0.0,
            loss_bad: 1.0,
        });
        let expected = p / (p + r);
        let found = share(&losses);
        assert!(
            (found / expected - 1.0).abs() < 0.06,
            "{found} instead of {expected}"
        );
        let bursts = losses.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let length = found * losses.len() as f64 / bursts as f64;
        assert!((length - 4.0).abs() < 0.2, "mean burst of {length}");
    }

    #[test]
    fn elliott_losses_happen_in_both_states() {
        let (p, r, loss_good, loss_bad) = (0.1, 0.3, 0.01, 0.5);
        let found = share(&losses(Loss::GilbertElliott {
            p,
            r,
            loss_good,
            loss_bad,
        }));
        let expected = 0.75 * loss_good + 0.25 * loss_bad;
        assert!(
            (found / expected - 1.0).abs() < 0.03,
            "{found} instead of {expected}"
        );
    }
}

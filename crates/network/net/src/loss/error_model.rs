//! Error model: the loss process of a link.

use link_trace::Outage;
use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

use super::{GilbertElliottTime, Loss};
use crate::LinkId;

/// Loss process with a fixed number of draws per packet.
pub(crate) struct ErrorModel {
    loss: Loss,
    draws: RngStream,
    is_bad: bool,
    /// Time of the next change of state, for a process over time.
    next_change: Instant,
    /// Draws of the changes of state over time, which do not depend on the number of packets.
    change_draws: RngStream,
    /// Number of steps that are due.
    due_steps: usize,
    /// Number of packets, and of those that were lost, for a list of them.
    packets: u64,
    losses: usize,
}

impl ErrorModel {
    pub(crate) fn new(loss: Loss, seed: u64, link: LinkId) -> Self {
        let mut created = Self {
            loss,
            draws: RngStream::new(seed, Purpose::Loss, link.0),
            is_bad: false,
            next_change: Instant::NEVER,
            change_draws: RngStream::new(seed, Purpose::LossState, link.0),
            due_steps: 0,
            packets: 0,
            losses: 0,
        };
        created.start(Instant::ZERO);
        created
    }

    /// Starts the process at `now`, in its good state.
    fn start(&mut self, now: Instant) {
        (self.is_bad, self.due_steps, self.packets, self.losses) = (false, 0, 0, 0);
        self.next_change = match &self.loss {
            Loss::GilbertElliottTime(model) => state_end(model, false, &mut self.change_draws, now),
            _ => Instant::NEVER,
        };
    }

    /// Starts another process at `now`, with the draws that follow.
    pub(crate) fn set_loss(&mut self, loss: &Loss, now: Instant) {
        if self.loss != *loss {
            self.loss = loss.clone();
            self.start(now);
        }
    }

    /// Returns whether the next packet, whose transmission ends at `at`, is lost. Times may not decrease.
    pub(crate) fn is_lost(&mut self, at: Instant) -> bool {
        match self.loss {
            Loss::Random(probability) => probability > 0.0 && self.draws.uniform() < probability,
            Loss::Steps(_) | Loss::Trace(_) => {
                let steps = self.loss.steps();
                let at = at.since_start();
                while steps.get(self.due_steps).is_some_and(|step| step.at <= at) {
                    self.due_steps += 1;
                }
                let step = self
                    .due_steps
                    .checked_sub(1)
                    .and_then(|last| steps.get(last));
                self.draws.uniform() < step.map_or(0.0, |step| step.loss)
            }
            Loss::GilbertElliott(ref model) => {
                let draw = self.draws.uniform();
                self.is_bad = if self.is_bad {
                    draw >= model.to_good
                } else {
                    draw < model.to_bad
                };
                self.draws.uniform() < loss_in(self.is_bad, model.loss_good, model.loss_bad)
            }
            Loss::GilbertElliottTime(ref model) => {
                while self.next_change <= at {
                    self.is_bad = !self.is_bad;
                    let from = self.next_change;
                    self.next_change = state_end(model, self.is_bad, &mut self.change_draws, from);
                }
                self.draws.uniform() < loss_in(self.is_bad, model.loss_good, model.loss_bad)
            }
            Loss::List(ref list) => {
                self.packets += 1;
                let is_lost = list.packets.get(self.losses) == Some(&self.packets);
                self.losses += usize::from(is_lost);
                is_lost
            }
        }
    }
}

/// Returns the times in which a process with this seed loses every packet, which begin before `until` and last for at
/// least `min_length`.
pub(crate) fn outages(
    loss: &Loss,
    seed: u64,
    link: LinkId,
    until: Instant,
    min_length: Duration,
) -> Vec<Outage> {
    let mut outages: Vec<Outage> = Vec::new();
    let mut add = |start: Instant, end: Instant, loss: f64| {
        if loss < 1.0 {
            return;
        }
        match outages.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => outages.push(Outage { start, end }),
        }
    };
    match loss {
        Loss::Random(probability) => add(Instant::ZERO, Instant::NEVER, *probability),
        Loss::Steps(_) | Loss::Trace(_) => {
            let steps = loss.steps();
            let at = |index: usize| {
                let step = steps.get(index);
                step.map_or(Instant::NEVER, |step| Instant::ZERO + step.at)
            };
            for (index, step) in steps.iter().enumerate() {
                add(at(index), at(index + 1), step.loss);
            }
        }
        // They count packets, not time.
        Loss::GilbertElliott(_) | Loss::List(_) => {}
        Loss::GilbertElliottTime(model) => {
            let mut change_draws = RngStream::new(seed, Purpose::LossState, link.0);
            let (mut start, mut is_bad) = (Instant::ZERO, false);
            while start < until && model.loss_good.max(model.loss_bad) >= 1.0 {
                let end = state_end(model, is_bad, &mut change_draws, start);
                add(start, end, loss_in(is_bad, model.loss_good, model.loss_bad));
                (start, is_bad) = (end, !is_bad);
            }
        }
    }
    outages.retain(|outage| outage.start < until && outage.is_at_least(min_length));
    outages
}

fn loss_in(is_bad: bool, loss_good: f64, loss_bad: f64) -> f64 {
    if is_bad { loss_bad } else { loss_good }
}

/// Returns the end of the state that begins at `from`.
fn state_end(
    model: &GilbertElliottTime,
    is_bad: bool,
    draws: &mut RngStream,
    from: Instant,
) -> Instant {
    let mean = if is_bad { model.bad } else { model.good };
    let nanoseconds = draws.exponential(mean.as_nanos() as f64).max(1.0);
    from + Duration::from_nanos(nanoseconds as u64)
}

#[cfg(test)]
mod tests {
    use super::super::{GilbertElliott, LossStep, PacketList};
    use super::*;

    fn losses(loss: Loss) -> Vec<bool> {
        let mut lottery = ErrorModel::new(loss, 1, LinkId(0));
        (0..400_000)
            .map(|_| lottery.is_lost(Instant::ZERO))
            .collect()
    }

    fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|lost| **lost).count() as f64 / losses.len() as f64
    }

    #[test]
    fn independent_losses_have_their_probability() {
        let result = share(&losses(Loss::Random(0.02)));
        assert!((result - 0.02).abs() < 0.001, "{result}");
        assert_eq!(share(&losses(Loss::NONE)), 0.0);
    }

    #[test]
    fn gilbert_losses_come_in_bursts_of_mean_one_over_r() {
        let (p, r) = (0.005, 0.25);
        let losses = losses(Loss::GilbertElliott(GilbertElliott {
            to_bad: p,
            to_good: r,
            loss_good: 0.0,
            loss_bad: 1.0,
        }));
        let expected = p / (p + r);
        let result = share(&losses);
        assert!(
            (result / expected - 1.0).abs() < 0.06,
            "{result} instead of {expected}"
        );
        let bursts = losses.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let length = result * losses.len() as f64 / bursts as f64;
        assert!((length - 4.0).abs() < 0.2, "mean burst of {length}");
    }

    #[test]
    fn elliott_losses_happen_in_both_states() {
        let (p, r, loss_good, loss_bad) = (0.1, 0.3, 0.01, 0.5);
        let result = share(&losses(Loss::GilbertElliott(GilbertElliott {
            to_bad: p,
            to_good: r,
            loss_good,
            loss_bad,
        })));
        let expected = 0.75 * loss_good + 0.25 * loss_bad;
        assert!(
            (result / expected - 1.0).abs() < 0.03,
            "{result} instead of {expected}"
        );
    }

    #[test]
    fn a_list_loses_its_packets_and_no_others() {
        let packets = vec![1, 7, 8, 300];
        let losses = losses(Loss::List(PacketList {
            packets: packets.clone(),
        }));
        let lost = (1..).zip(&losses).filter(|(_, lost)| **lost);
        assert_eq!(lost.map(|(number, _)| number).collect::<Vec<_>>(), packets);
    }

    fn in_time(seed: u64) -> ErrorModel {
        let model = GilbertElliottTime {
            good: Duration::from_secs(2),
            bad: Duration::from_millis(100),
            loss_good: 0.0,
            loss_bad: 1.0,
        };
        ErrorModel::new(Loss::GilbertElliottTime(model), seed, LinkId(0))
    }

    /// Losses of packets one `every`, for 2000 s.
    fn losses_in_time(seed: u64, every: Duration) -> Vec<bool> {
        let mut lottery = in_time(seed);
        let count = Duration::from_secs(2_000).as_nanos() / every.as_nanos();
        let at = |number| Instant::from_nanos(number * every.as_nanos());
        (0..count)
            .map(|number| lottery.is_lost(at(number)))
            .collect()
    }

    /// The states have the same times, whatever passes: 2000 s have some 952 bursts of 0.1 s.
    #[test]
    fn slow_and_fast_flows_meet_the_same_bursts_over_time() {
        let fast = losses_in_time(3, Duration::from_millis(1));
        let slow = losses_in_time(3, Duration::from_millis(10));
        let of_fast: Vec<_> = fast.iter().step_by(10).copied().collect();
        assert_eq!(slow, of_fast);
        let bursts = fast.windows(2).filter(|pair| !pair[0] && pair[1]).count() as f64;
        assert!((bursts / 952.0 - 1.0).abs() < 0.1, "{bursts} bursts");
        let expected = 0.1 / 2.1;
        let result = share(&fast);
        assert!(
            (result / expected - 1.0).abs() < 0.1,
            "{result} instead of {expected}"
        );
    }

    /// The times in which all is lost are those of the process: losses end and begin there.
    #[test]
    fn outages_are_the_times_in_which_the_process_loses_all() {
        let every = Duration::from_millis(1);
        let lost = losses_in_time(3, every);
        let until = Instant::ZERO + Duration::from_secs(2_000);
        let model = in_time(3).loss;
        let all = outages(&model, 3, LinkId(0), until, Duration::ZERO);
        let is_out = |ms: usize| {
            let at = Instant::ZERO + every * ms as u64;
            all.iter().any(|each| each.start <= at && at < each.end)
        };
        assert!((0..100_000).all(|ms| is_out(ms) == lost[ms]));
        let long = outages(&model, 3, LinkId(0), until, Duration::from_millis(200));
        assert!(!long.is_empty() && long.len() < all.len() / 4);
        assert!(long.iter().all(|each| all.contains(each)));
    }

    #[test]
    fn outages_of_steps_are_those_of_a_loss_of_one() {
        let step = |secs, loss| LossStep {
            at: Duration::from_secs(secs),
            loss,
        };
        let steps = Loss::Steps(vec![
            step(0, 0.1),
            step(1, 1.0),
            step(2, 1.0),
            step(4, 0.0),
            step(9, 1.0),
        ]);
        let at = |secs| Instant::ZERO + Duration::from_secs(secs);
        let before = |until| outages(&steps, 1, LinkId(0), at(until), Duration::from_millis(100));
        let first = Outage {
            start: at(1),
            end: at(4),
        };
        let last = Outage {
            start: at(9),
            end: Instant::NEVER,
        };
        assert_eq!((before(9), before(10)), (vec![first], vec![first, last]));
        let partial = outages(&Loss::Random(0.999), 1, LinkId(0), at(10), Duration::ZERO);
        assert!(partial.is_empty());
    }

    #[test]
    fn a_step_holds_until_the_next_one() {
        let step = |secs, loss| LossStep {
            at: Duration::from_secs(secs),
            loss,
        };
        let steps = vec![step(0, 0.0), step(1, 1.0), step(2, 0.25)];
        let mut lottery = ErrorModel::new(Loss::Steps(steps), 1, LinkId(0));
        let mut losses = |from_ms: u64| {
            let at = |ms| Instant::ZERO + Duration::from_millis(ms);
            let lost = (from_ms..from_ms + 1_000).filter(|ms| lottery.is_lost(at(*ms)));
            lost.count()
        };
        assert_eq!((losses(0), losses(1_000)), (0, 1_000));
        let quarter = losses(2_000);
        assert!((200..300).contains(&quarter), "{quarter} of 1000");
    }
}

//! Delay gradients: changes of the lowest and the highest RTT from one round to the next, averaged over a
//! window of rounds (§3.1).

/// Lowest and highest RTT of a round, or the changes of both, µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MinMax {
    pub(super) min: i64,
    pub(super) max: i64,
}

impl MinMax {
    /// Returns the change from `earlier`.
    pub(super) fn since(self, earlier: Self) -> Self {
        Self {
            min: self.min - earlier.min,
            max: self.max - earlier.max,
        }
    }
}

/// Sums of the gradients of the latest rounds.
#[derive(Clone, Debug)]
pub(super) struct Gradient {
    rounds: Vec<MinMax>,
    sum: MinMax,
    /// Index of the oldest round, which the next one replaces.
    next: usize,
    is_full: bool,
}

impl Gradient {
    /// Creates the sums for a window of `rounds`, at least one.
    pub(super) fn new(rounds: u32) -> Self {
        Self {
            rounds: vec![MinMax::default(); rounds.max(1) as usize],
            sum: MinMax::default(),
            next: 0,
            is_full: false,
        }
    }

    /// Adds the changes of a round. Returns the sums of the changes over the window, and the gradient to use: the sum of
    /// the minima if it is positive, else that of the maxima. The gradient is scaled up while the window is not full.
    /// The values are sums rather than averages: both contain the length of the window as a factor.
    pub(super) fn add(&mut self, change: MinMax) -> (MinMax, i64) {
        let oldest = core::mem::replace(&mut self.rounds[self.next], change);
        self.sum.min += change.min - oldest.min;
        self.sum.max += change.max - oldest.max;
        self.next = (self.next + 1) % self.rounds.len();
        let mut gradient = if self.sum.min > 0 {
            self.sum.min
        } else {
            self.sum.max
        };
        if !self.is_full {
            if self.next == 0 {
                self.is_full = true;
            } else {
                gradient = gradient * self.rounds.len() as i64 / self.next as i64;
            }
        }
        (self.sum, gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::{Gradient, MinMax};

    fn change(min: i64, max: i64) -> MinMax {
        MinMax { min, max }
    }

    /// Hayes and Armitage 2011 §3.1: (RTT now − RTT `window` rounds ago), here without the division.
    #[test]
    fn the_gradient_is_the_change_over_the_window() {
        let mut gradient = Gradient::new(4);
        for step in 1..=4 {
            // Missing rounds count like the others: always 4 rounds of 10 µs.
            assert_eq!(gradient.add(change(10, 0)).1, 40, "step {step}");
        }
        assert_eq!(gradient.add(change(30, 0)).1, 60);
        for _ in 0..3 {
            gradient.add(change(0, 0));
        }
        assert_eq!(gradient.add(change(0, 5)), (change(0, 5), 5));
    }
}

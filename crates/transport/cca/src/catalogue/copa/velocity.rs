//! Velocity of the window (§2.1), which grows while the window keeps its direction.

/// Rounds in one direction after which the velocity doubles.
const STEADY_ROUNDS: u32 = 3;
/// Upper bound of the velocity; the window doubles per round trip long before it.
const MAX_VELOCITY: f64 = 65_536.0;

/// Velocity parameter v.
#[derive(Clone, Copy, Debug)]
pub(super) struct Velocity {
    v: f64,
    cwnd_at_start: f64,
    /// Whether the window grows; `None` before it has a direction.
    is_up: Option<bool>,
    /// Rounds in this direction.
    rounds: u32,
}

impl Default for Velocity {
    fn default() -> Self {
        Self {
            v: 1.0,
            cwnd_at_start: 0.0,
            is_up: None,
            rounds: 0,
        }
    }
}

impl Velocity {
    /// Returns the current velocity.
    pub(super) fn get(&self) -> f64 {
        self.v
    }

    /// Restarts at `cwnd` without a direction.
    pub(super) fn restart(&mut self, cwnd: f64) {
        *self = Self {
            cwnd_at_start: cwnd,
            ..Self::default()
        };
    }

    /// Sets the direction of the rate from `cwnd`. A velocity that was gained in the other direction is dropped at once,
    /// as in Meta's mvfst; the paper does so only at the end of the window.
    pub(super) fn set_direction(&mut self, is_up: bool, cwnd: f64) {
        if self.v > 1.0 && self.is_up != Some(is_up) {
            self.restart(cwnd);
        }
    }

    /// Ends a window; the next one is `cwnd`.
    pub(super) fn end_round(&mut self, cwnd: f64) {
        let is_up = cwnd > self.cwnd_at_start;
        self.cwnd_at_start = cwnd;
        if self.is_up == Some(is_up) {
            self.rounds = self.rounds.saturating_add(1);
            if self.rounds >= STEADY_ROUNDS {
                self.v = (self.v * 2.0).min(MAX_VELOCITY);
            }
        } else {
            self.is_up = Some(is_up);
            self.rounds = 1;
            self.v = 1.0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Velocity;

    /// Arun and Balakrishnan 2018 §2.1: v doubles once the direction has been the same for three RTTs, and
    /// returns to one when it changes.
    #[test]
    fn the_velocity_doubles_in_one_direction() {
        let mut velocity = Velocity::default();
        velocity.restart(10.0);
        let mut result = Vec::new();
        for cwnd in [12.0, 14.0, 16.0, 20.0, 28.0, 27.0, 26.0] {
            velocity.end_round(cwnd);
            result.push(velocity.get());
        }
        assert_eq!(result, [1.0, 1.0, 2.0, 4.0, 8.0, 1.0, 1.0]);
    }
}

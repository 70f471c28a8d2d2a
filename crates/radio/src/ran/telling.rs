//! What a user's device tells the programs on it of its radio.

use units::{Duration, Instant};

use super::Channel;
use super::user::UserState;

/// Length of the time over which speed and trend are taken, half of it before and half after.
const WINDOW: Duration = Duration::from_secs(1);

/// What the radio of a user tells.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Told {
    /// SINR of the serving cell without fast fading, which devices average away, dB.
    pub sinr_db: f64,
    /// Channel quality indicator of the latest report on the whole carrier; none before the first.
    pub cqi: Option<u8>,
    /// Speed, m/s; none where the scenario does not say how fast the user moves.
    pub speed_mps: Option<f64>,
    /// Change of that SINR, dB/s.
    pub sinr_trend_db_per_s: f64,
}

impl UserState {
    /// What the radio tells at `now`.
    pub(super) fn told(&self, now: Instant) -> Told {
        let cell = self.mobility.serving();
        // A run begins at its time zero, where there is no half of the window before.
        let from = Instant::ZERO + now.since_start().saturating_sub(WINDOW / 2);
        let to = now + WINDOW / 2;
        let seconds = to.saturating_since(from).as_secs_f64();
        let rise = self.mean_db(to, cell) - self.mean_db(from, cell);
        Told {
            sinr_db: self.mean_db(now, cell),
            cqi: self.reporter.made().map(|report| report.wideband),
            speed_mps: self.speed_between(from, to).or(self.speed_mps),
            sinr_trend_db_per_s: rise / seconds,
        }
    }

    /// The way from one place to the other over the time that it takes, for a user that has a place.
    fn speed_between(&self, from: Instant, to: Instant) -> Option<f64> {
        let Channel::Placed(reception) = &self.channel else {
            return None;
        };
        let way = reception.position(from).distance_m(&reception.position(to));
        Some(way / to.saturating_since(from).as_secs_f64())
    }
}

//! Radio information that a device offers to its applications, such as a CCA selector.

use units::{Duration, Instant};

use super::Channel;
use super::user::UserState;

/// Length of the window over which speed and trend are measured, half of it before and half after the moment.
const WINDOW: Duration = Duration::from_secs(1);

/// State of the radio of a user, as its device shows it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RadioHints {
    /// Index of the serving cell.
    pub cell: u32,
    /// SINR of the serving cell without fast fading, which devices average away, dB.
    pub sinr_db: f64,
    /// Channel quality indicator of the latest report on the whole carrier; `None` before the first.
    pub cqi: Option<u8>,
    /// Speed, m/s; `None` if the scenario has no speed of the user.
    pub speed_mps: Option<f64>,
    /// Change of that SINR, dB/s.
    pub sinr_trend_db_per_s: f64,
}

impl UserState {
    /// Returns the hints at `now`.
    pub(super) fn hints(&self, now: Instant) -> RadioHints {
        let cell = self.mobility.serving();
        // A run begins at time zero, so the first half of the window is shorter there.
        let from = Instant::ZERO + now.since_start().saturating_sub(WINDOW / 2);
        let to = now + WINDOW / 2;
        let seconds = to.saturating_since(from).as_secs_f64();
        let rise = self.mean_db(to, cell) - self.mean_db(from, cell);
        RadioHints {
            cell,
            sinr_db: self.mean_db(now, cell),
            cqi: self.reporter.latest_made().map(|report| report.wideband),
            speed_mps: self.speed_between(from, to).or(self.speed_mps),
            sinr_trend_db_per_s: rise / seconds,
        }
    }

    /// Returns the mean speed between two times, m/s; `None` for a user without a position.
    fn speed_between(&self, from: Instant, to: Instant) -> Option<f64> {
        let Channel::Placed(reception) = &self.channel else {
            return None;
        };
        let distance_m = reception.position(from).distance_m(&reception.position(to));
        Some(distance_m / to.saturating_since(from).as_secs_f64())
    }
}

//! Slow start: a thing of its own, combinable with any congestion control that does not replace it.

use super::{AckSample, RateSample, Window};

mod choice;
mod hystart;
mod hystart_ms;
mod hystart_plus;
mod standard;
mod startup;

pub use choice::{Method, SlowStartConfig};
pub use hystart::{Detect, HyStart, HyStartConfig};
pub use hystart_ms::{HyStartMs, Kernel};
pub use hystart_plus::{HyStartPlus, HyStartPlusConfig};
pub use standard::Standard;
pub use startup::{Startup, StartupConfig};

/// A way to find the capacity of a path at the start and after a time-out.
pub trait SlowStart: Send + core::fmt::Debug {
    /// Its name in scenarios and results.
    fn name(&self) -> &'static str;

    /// A new slow start begins: at establishment or after a time-out.
    fn reset(&mut self, _window: &mut Window) {}

    /// The window is being reduced.
    fn reduced(&mut self) {}

    /// Every ACK while something is out. During slow start it may leave it, by setting `ssthresh` to the
    /// present window.
    fn on_ack(&mut self, _window: &mut Window, _sample: &AckSample) {}

    /// The delivery-rate sample of every ACK, before the window grows. It may leave slow start, as
    /// [`SlowStart::on_ack`].
    fn on_rate(&mut self, _window: &mut Window, _rate: &RateSample) {}

    /// Grows the window, not beyond `ssthresh`, and returns the ACKed segments that are left over.
    fn grow(&mut self, window: &mut Window, acked: u32) -> u32 {
        let target = window.cwnd.saturating_add(acked).min(window.ssthresh);
        let rest = acked - (target - window.cwnd);
        window.cwnd = target.min(window.cwnd_clamp);
        rest
    }
}

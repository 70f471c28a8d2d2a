//! Slow start: a thing of its own, combinable with any congestion control that does not replace it.

use super::{AckSample, Window};

mod choice;
mod hystart;
mod standard;

pub use choice::{Method, SlowStartConfig};
pub use hystart::{Detect, HyStart, HyStartConfig};
pub use standard::Standard;

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

    /// Grows the window, not beyond `ssthresh`, and returns the ACKed segments that are left over.
    fn grow(&mut self, window: &mut Window, acked: u32) -> u32 {
        let target = window.cwnd.saturating_add(acked).min(window.ssthresh);
        let rest = acked - (target - window.cwnd);
        window.cwnd = target.min(window.cwnd_clamp);
        rest
    }
}

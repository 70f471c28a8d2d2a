//! Slow-start methods, separate from congestion controls. Every CCA without a slow start of its own can use any of them.

use super::{AckSample, RateSample, Window};

mod choice;
mod hystart;
mod hystart_ms;
mod hystart_plus;
mod startup;

pub use choice::{Method, SlowStartConfig};
pub use hystart::{Detect, HyStart};
pub use hystart_ms::{HyStartMs, Kernel};
pub use hystart_plus::HyStartPlus;
pub use startup::Startup;

/// Method to find the capacity of a path, at the start and after a time-out.
pub trait SlowStart: Send + core::fmt::Debug {
    /// Begins a new slow start: at establishment, at a switch, or after a time-out.
    fn reset(&mut self, _window: &mut Window) {}

    /// Handles a reduction of the window.
    fn on_reduction(&mut self) {}

    /// Handles every ACK while segments are outstanding. It may end slow start by setting `ssthresh` to the current
    /// window.
    fn on_ack(&mut self, _window: &mut Window, _sample: &AckSample) {}

    /// Handles the delivery-rate sample of every ACK, before the window grows. It may end slow start like
    /// [`SlowStart::on_ack`].
    fn on_rate(&mut self, _window: &mut Window, _rate: &RateSample) {}

    /// Grows the window up to `ssthresh`, and returns the acknowledged segments that are left over.
    fn grow(&mut self, window: &mut Window, acked: u32) -> u32 {
        let target = window.cwnd.saturating_add(acked).min(window.ssthresh);
        let rest = acked - (target - window.cwnd);
        window.cwnd = target.min(window.cwnd_clamp);
        rest
    }
}

/// Standard slow start (RFC 5681 §3.1): one segment for each acknowledged one, until the threshold. It counts bytes as
/// RFC 3465 does, without a limit, like Linux.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standard;

impl SlowStart for Standard {}

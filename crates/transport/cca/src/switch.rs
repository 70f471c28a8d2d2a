//! Switch of a live connection to another congestion control: its two modes, and the state that each transfers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Duration, Rate};

/// Segments of an initial window (RFC 6928 section 2).
const INITIAL_WINDOW: u32 = 10;

/// Mode of a switch: the state that the new congestion control starts from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SwitchMode {
    /// Switch by the transport protocol context (atxutegi2018 §6): the window is modelled by eq. 6.3, without the
    /// part of it that waits in queues, and the estimates start from those of the connection. Window and threshold become
    /// window × lowest RTT / smoothed RTT.
    #[default]
    Context,
    /// Switch as Linux does it on `setsockopt(TCP_CONGESTION)`: the window, the slow-start threshold and the pacing
    /// rate stay as they are, and the new congestion control starts from them. BBR begins with its start-up; after BBR,
    /// pacing stays on.
    Kernel,
}

/// Transport protocol context: the state of a connection that a switch transfers to the new congestion control
/// (atxutegi2018 §6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct TransferState {
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow-start threshold, segments.
    pub ssthresh: u32,
    /// Smoothed RTT.
    pub srtt: Duration,
    /// Lowest RTT.
    pub min_rtt: Duration,
    /// Pacing rate.
    pub pacing_rate: Rate,
}

/// Returns the part of the congestion window that a connection uses, in segments.
///
/// If pacing limits the connection, this is the number of segments in flight, but not less than an initial window. BBR
/// has about half of its window in flight. If the application limits the connection, the number in flight says nothing
/// about the path, and the whole window is returned.
pub fn used_window(cwnd: u32, packets_out: u32, app_limited: bool) -> u32 {
    if app_limited {
        cwnd
    } else {
        cwnd.min(packets_out.max(INITIAL_WINDOW))
    }
}

/// Returns the window that fills the path without a queue, in segments (atxutegi2018 eq. 6.3:
/// CWND = sCWND / (sD / Dmin)).
///
/// The smoothed RTT stands for the mean delay sD, and the [used window](used_window) for sCWND. The result is
/// at least two segments. Before the first RTT sample the window is returned unchanged.
pub fn modelled_window(cwnd: u32, srtt: Duration, min_rtt: Duration) -> u32 {
    if srtt.is_zero() || min_rtt >= srtt {
        return cwnd;
    }
    let window = u128::from(cwnd) * u128::from(min_rtt.as_nanos()) / u128::from(srtt.as_nanos());
    (window as u32).max(2)
}

#[cfg(test)]
mod tests {
    use super::{modelled_window, used_window};
    use units::Duration;

    /// BBR in steady state has half of its window in flight.
    #[test]
    fn a_switch_transfers_only_the_used_window() {
        assert_eq!(used_window(200, 100, false), 100);
        assert_eq!(used_window(200, 210, false), 200);
        assert_eq!(used_window(200, 0, true), 200);
        assert_eq!(used_window(200, 3, false), 10);
        assert_eq!(used_window(4, 3, false), 4);
    }

    /// The example of the thesis: 100 segments, and an RTT of 150 ms over a base of 60 ms.
    #[test]
    fn a_window_is_deflated_by_the_queueing_delay() {
        let ms = Duration::from_millis;
        assert_eq!(modelled_window(100, ms(150), ms(60)), 40);
        assert_eq!(modelled_window(100, ms(60), ms(60)), 100);
        assert_eq!(modelled_window(3, ms(600), ms(60)), 2);
        assert_eq!(modelled_window(10, Duration::ZERO, Duration::MAX), 10);
    }
}

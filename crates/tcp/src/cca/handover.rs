//! The window that a congestion control hands to the next.

use units::Duration;

/// Segments of an initial window (RFC 6928 section 2).
const INITIAL_WINDOW: u32 = 10;

/// How a congestion control takes over a live connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HandOver {
    /// As `setsockopt(TCP_CONGESTION)` does in Linux: window, threshold and pacing stay as they are, and
    /// the newcomer begins on them.
    Kernel,
    /// By the transport protocol context (atxutegi2018 §6): the window modelled by eq. 6.3, and estimates
    /// seeded by what the connection has learnt.
    Context,
}

/// The window that a connection makes use of, segments: what is out, where pacing and not the window holds
/// it back, as BBR's does at half its window. What an application leaves unused says nothing of the path,
/// and less than an initial window is not taken for one.
pub fn used_window(cwnd: u32, packets_out: u32, app_limited: bool) -> u32 {
    if app_limited {
        cwnd
    } else {
        cwnd.min(packets_out.max(INITIAL_WINDOW))
    }
}

/// The window that fills the path without a queue: the present one, less the share of it that waits
/// (atxutegi2018 eq. 6.3, CWND = sCWND / (sD / Dmin); the smoothed RTT stands for the mean delay sD and
/// the [used window](used_window) for sCWND). At least two segments; unchanged before the first RTT sample.
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

    /// BBR in its cruise has half its window in flight.
    #[test]
    fn only_what_is_used_of_a_window_is_handed_over() {
        assert_eq!(used_window(200, 100, false), 100);
        assert_eq!(used_window(200, 210, false), 200);
        assert_eq!(used_window(200, 0, true), 200);
        assert_eq!(used_window(200, 3, false), 10);
        assert_eq!(used_window(4, 3, false), 4);
    }

    /// The example of the thesis: 100 segments, 150 ms over a base of 60 ms.
    #[test]
    fn a_window_is_deflated_by_the_queueing_delay() {
        let ms = Duration::from_millis;
        assert_eq!(modelled_window(100, ms(150), ms(60)), 40);
        assert_eq!(modelled_window(100, ms(60), ms(60)), 100);
        assert_eq!(modelled_window(3, ms(600), ms(60)), 2);
        assert_eq!(modelled_window(10, Duration::ZERO, Duration::MAX), 10);
    }
}

//! Test bench: a window and a path of constant RTT.

use cca::{AckSample, CongestionControl, Window};
use units::Duration;
use units::random::{Purpose, RngStream};

/// RTT of the path.
pub const RTT: Duration = Duration::from_millis(100);

/// Returns a window in full use.
pub fn window(cwnd: u32) -> Window {
    let mut window = Window::new(1448, cwnd, RngStream::new(1, Purpose::CongestionControl, 0));
    window.cwnd_limited = true;
    window.srtt = RTT;
    window.min_rtt = RTT;
    window
}

/// Runs one round trip of congestion avoidance, with an ACK for each segment of the window.
pub fn round(cca: &mut dyn CongestionControl, w: &mut Window) {
    let segments = w.cwnd;
    for _ in 0..segments {
        w.now += RTT / u64::from(segments);
        cca.pkts_acked(
            w,
            &AckSample {
                acked: 1,
                rtt: Some(RTT),
                in_flight: segments,
            },
        );
        cca.cong_avoid(w, 1);
    }
}

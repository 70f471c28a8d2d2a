//! Tests of the window that is not used: after a pause (RFC 2861), and while the application sends little (RFC 7661).

use tcp::{Connection, Tcp, TcpConfig};

use crate::alone::{ack, at, exact, opened, request, sent};

const MSS: u32 = 1_460;

/// Connection that sends, and the bytes that were acknowledged.
struct Sending {
    socket: Connection,
    acked: u32,
    ms: u64,
}

impl Sending {
    /// Returns a connection whose window has grown to 80 segments in slow start over a path with an RTT of 20 ms.
    fn grown(cca: &str, shrinks: bool) -> Self {
        let settings = Tcp {
            slow_start_after_idle: shrinks,
            ..Tcp::default()
        };
        let config = TcpConfig {
            settings,
            ..exact()
        };
        let asks = tcp::Segment {
            window_scale: Some(4),
            ..request()
        };
        let socket = opened(config, cca, &asks);
        let mut sending = Self {
            socket,
            acked: 0,
            ms: 100,
        };
        for segments in [10, 20, 40] {
            sending.round(segments);
        }
        assert_eq!(sending.socket.view().cwnd, 80);
        sending
    }

    /// Sends as many segments, which are acknowledged one by one 20 ms later.
    fn round(&mut self, segments: u32) {
        self.socket.write(at(self.ms), u64::from(segments * MSS));
        assert_eq!(sent(&mut self.socket).len() as u32, segments);
        self.ms += 20;
        for _ in 0..segments {
            self.acked += MSS;
            self.socket.on_segment(at(self.ms), &ack(self.acked));
        }
        sent(&mut self.socket);
    }

    /// Lets as many time-outs pass, in tenths, sends a segment, and returns the window.
    fn after(&mut self, tenths: u64) -> u32 {
        let rto = self.socket.view().rto.as_millis();
        self.ms += rto * tenths / 10 - 20;
        self.round(1);
        self.socket.view().cwnd
    }
}

/// RFC 2861 §3.1, Linux `tcp_cwnd_restart`: the window is halved for each whole time-out of the pause, down to the
/// initial window, which slow start may leave again.
#[test]
fn a_pause_halves_the_window_for_each_time_out() {
    for (tenths, window) in [(9, 80), (12, 40), (25, 20), (35, 10), (90, 10)] {
        let mut sending = Sending::grown("reno", true);
        assert_eq!(sending.after(tenths), window, "{tenths}");
        let view = sending.socket.view();
        if window < 80 {
            // Three quarters of the window before remain the threshold, or what it was.
            assert!(view.ssthresh >= 60, "{}", view.ssthresh);
        }
    }
}

/// `tcp_slow_start_after_idle`: the administrator may keep the window as it is.
#[test]
fn a_pause_may_leave_the_window_as_it_is() {
    assert_eq!(Sending::grown("reno", false).after(50), 80);
}

/// RFC 7661 §4.4.1, Linux `tcp_is_cwnd_limited`: slow start goes on only while more than half of the window is in use.
#[test]
fn a_window_in_use_grows() {
    let mut sending = Sending::grown("reno", true);
    sending.round(30);
    assert_eq!(sending.socket.view().cwnd, 80, "less than half was used");
    sending.round(50);
    assert!(sending.socket.view().cwnd > 80, "more was used");
}

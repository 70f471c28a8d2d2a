//! Round trips with all that an ACK brings: RTT samples, growth, sequence numbers and timestamps.

use tcp::cca::slow_start::Standard;
use tcp::cca::{AckSample, CongestionControl, Window};
use units::Duration;

use crate::lab::window;

/// The other side's timestamps clock is ahead of ours by so much, ms.
const CLOCKS_APART: u32 = 5_000;

/// A window in full use with all of it in flight, in congestion avoidance.
pub fn flying(cwnd: u32) -> Window {
    let mut w = window(cwnd);
    w.now += Duration::from_secs(10);
    w.ssthresh = cwnd;
    fill(&mut w);
    w
}

fn fill(w: &mut Window) {
    w.packets_out = w.cwnd;
    w.inflight = w.cwnd;
    w.snd_nxt = w.snd_una + u64::from(w.cwnd) * u64::from(w.mss);
}

/// An ACK for one segment after `rtt`, of which `one_way` was spent on the way there.
pub fn ack(cca: &mut dyn CongestionControl, w: &mut Window, rtt: Duration, one_way: Duration) {
    w.snd_una += u64::from(w.mss);
    w.snd_nxt = w.snd_nxt.max(w.snd_una);
    w.delivered += 1;
    let now = w.clock_ms();
    let sent = now.wrapping_sub(rtt.as_millis() as u32);
    let arrived = sent.wrapping_add(one_way.as_millis() as u32);
    w.timestamps = Some((arrived.wrapping_add(CLOCKS_APART), sent));
    let sample = AckSample {
        acked: 1,
        rtt: Some(rtt),
        in_flight: w.cwnd,
    };
    cca.pkts_acked(w, &sample);
    cca.grow(w, &mut Standard, 1);
    fill(w);
}

/// A round trip of `rtt`: an ACK for each segment of the window. Half of the base RTT of 100 ms, and all
/// that is beyond it, is spent on the way there.
pub fn round(cca: &mut dyn CongestionControl, w: &mut Window, rtt: Duration) {
    let one_way = rtt.saturating_sub(Duration::from_millis(50));
    let segments = w.cwnd;
    for _ in 0..segments {
        w.now += rtt / u64::from(segments);
        ack(cca, w, rtt, one_way);
    }
}

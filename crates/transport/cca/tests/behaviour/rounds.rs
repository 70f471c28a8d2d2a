//! Round trips with complete ACKs: RTT samples, growth, sequence numbers and timestamps.

use cca::slow_start::Standard;
use cca::{AckSample, CongestionControl, Window};
use units::Duration;

use crate::lab::window;

/// Offset of the peer's timestamp clock from the sender's, ms.
const CLOCK_OFFSET_MS: u32 = 5_000;

/// Returns a window in congestion avoidance, with all of its segments in flight.
pub fn full_window(cwnd: u32) -> Window {
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

/// Receives an ACK for one segment after `rtt`, of which `one_way` is the forward path.
pub fn ack(cca: &mut dyn CongestionControl, w: &mut Window, rtt: Duration, one_way: Duration) {
    ack_segments(cca, w, rtt, one_way, 1);
}

/// Receives an ACK for several segments.
fn ack_segments(
    cca: &mut dyn CongestionControl,
    w: &mut Window,
    rtt: Duration,
    one_way: Duration,
    segments: u32,
) {
    w.snd_una += u64::from(segments) * u64::from(w.mss);
    w.snd_nxt = w.snd_nxt.max(w.snd_una);
    w.delivered += u64::from(segments);
    let now = w.clock_ms();
    let sent = now.wrapping_sub(rtt.as_millis() as u32);
    let arrived = sent.wrapping_add(one_way.as_millis() as u32);
    w.timestamps = Some((arrived.wrapping_add(CLOCK_OFFSET_MS), sent)).into();
    let sample = AckSample {
        acked: segments,
        rtt: Some(rtt),
        in_flight: w.cwnd,
    };
    cca.pkts_acked(w, &sample);
    cca.grow(w, &mut Standard, segments);
    fill(w);
}

/// Runs a round trip of `rtt` with an ACK for each segment of the window. Half of the base RTT of 100 ms, and
/// all delay beyond the base, is on the forward path.
pub fn round(cca: &mut dyn CongestionControl, w: &mut Window, rtt: Duration) {
    round_with_stretch_acks(cca, w, rtt, 1);
}

/// Runs a round trip with an ACK for every `segments_per_ack` segments.
pub fn round_with_stretch_acks(
    cca: &mut dyn CongestionControl,
    w: &mut Window,
    rtt: Duration,
    segments_per_ack: u32,
) {
    let one_way = rtt.saturating_sub(Duration::from_millis(50));
    let segments = w.cwnd;
    for _ in 0..segments / segments_per_ack {
        w.now += rtt * u64::from(segments_per_ack) / u64::from(segments);
        ack_segments(cca, w, rtt, one_way, segments_per_ack);
    }
}

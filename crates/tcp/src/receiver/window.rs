//! Offered window and its growth, tuned like in Linux (`tcp_grow_window`, `tcp_rcv_space_adjust`).

use units::{Duration, Instant};

use crate::config::TcpConfig;
use crate::segment::{IP_HEADER, TCP_HEADER, TIMESTAMPS_OPTION};

/// Segments that the tuning expects in the first round trip (`TCP_INIT_CWND`).
const FIRST_ROUND: u64 = 10;
/// RTT below which the window grows more gently (`tcp_rcvbuf_low_rtt`).
const LOW_RTT: Duration = Duration::from_millis(1);
/// Initial memory of the receive buffer (`tcp_rmem[1]`), bytes.
const FIRST_BUFFER: u64 = 131_072;
/// Memory of the header of a buffer (`sizeof(struct sk_buff)`, rounded up), bytes.
const BUFFER_HEADER: u64 = 256;
/// Payload below which a segment does not grow the window, bytes.
const WORTH_GROWING: u64 = 128;

/// Window that a receiver offers.
#[derive(Debug)]
pub(super) struct WindowTuning {
    /// Bytes that the buffer can hold.
    space: u64,
    max: u64,
    /// Limit of growth that keeps a burst from overrunning the buffer (`rcv_ssthresh`).
    threshold: u64,
    /// Growth of the threshold per segment.
    step: u64,
    /// Bytes that the first buffer holds, known once the first full segment shows how much memory one takes.
    first_space: Option<u64>,
    /// Bytes that a segment saves if it is merged with the previous one.
    saved: u64,
    /// Right edge that was offered.
    edge: u64,
    scale: u8,
    rtt: Duration,
    last_echo_ms: Option<u64>,
    /// Time at which the measured window was offered, and its end.
    offered: Option<(Instant, u64)>,
    measured_from: Instant,
    measured_at: u64,
    /// Bytes read in the best round trip so far.
    per_rtt: u64,
}

/// Returns the payload that fits in `memory`, in segments of `payload` bytes that arrive in packets of
/// `packet` bytes. With the buffers of most network drivers a packet takes its own size and 64 bytes, rounded
/// up to cache lines, and 576 bytes for two headers (`SKB_TRUESIZE`, `tcp_measure_rcv_mss`).
fn payload_in(memory: u64, payload: u64, packet: u64) -> u64 {
    let taken = (packet + 64).next_multiple_of(64) + 576;
    (memory * ((payload << 8) / taken)) >> 8
}

/// Returns the window that a SYN offers, bytes: whole segments of the announced MSS, if there is room for one
/// (`tcp_select_initial_window`).
pub(crate) fn first_window(config: &TcpConfig) -> u32 {
    let announced = config.mss + TIMESTAMPS_OPTION * u32::from(config.timestamps);
    let space = config.receive_window_initial.min(config.receive_window_max);
    if space > announced {
        space - space % announced
    } else {
        space
    }
}

impl WindowTuning {
    /// Creates a window whose first number is `first`.
    pub(super) fn new(config: &TcpConfig, first: u64, scale: u8) -> Self {
        let mss = u64::from(config.mss);
        let header = IP_HEADER + TCP_HEADER + TIMESTAMPS_OPTION * u32::from(config.timestamps);
        let initial = u64::from(config.receive_window_initial.min(config.receive_window_max));
        // Room for one segment is kept back (`tcp_init_buffer_space`).
        let threshold = initial.saturating_sub(mss).max(initial.min(2 * mss));
        Self {
            space: initial,
            max: u64::from(config.receive_window_max),
            threshold,
            step: 2 * mss,
            first_space: Some(payload_in(FIRST_BUFFER, mss, mss + u64::from(header))),
            saved: payload_in(BUFFER_HEADER, mss, mss + u64::from(header)).min(mss - 1),
            edge: first + u64::from(first_window(config)),
            scale,
            rtt: Duration::ZERO,
            last_echo_ms: None,
            offered: None,
            measured_from: Instant::ZERO,
            measured_at: first,
            per_rtt: threshold.min(FIRST_ROUND * mss),
        }
    }

    /// Begins the first round trip when the connection opens.
    pub(super) fn start(&mut self, now: Instant) {
        self.measured_from = now;
    }

    /// Returns the right edge that was offered.
    pub(super) fn edge(&self) -> u64 {
        self.edge
    }

    /// Returns the bytes of window that a segment saves if it is merged with the previous one: one header of
    /// a buffer (`skb_try_coalesce`).
    pub(super) fn saved_by_merging(&self) -> u64 {
        self.saved
    }

    /// Returns the offered bytes from `next` on, which set the number of quick ACKs.
    pub(super) fn offered_from(&self, next: u64) -> u64 {
        self.edge.saturating_sub(next)
    }

    /// Returns the RTT that the receiver has measured; zero before the first sample.
    pub(super) fn rtt(&self) -> Duration {
        self.rtt
    }

    /// Handles a segment of `len` payload bytes; returns whether the threshold grew.
    pub(super) fn grow(&mut self, len: u64, held: u64) -> bool {
        if let Some(space) = self.first_space.take() {
            self.space = self.space.max(space.min(self.max));
        }
        let room = self
            .space
            .saturating_sub(held)
            .saturating_sub(self.threshold);
        if len < WORTH_GROWING || room == 0 {
            return false;
        }
        self.threshold += room.min(self.step.max(2 * len));
        true
    }

    /// Returns the bytes that could be offered while `held` bytes wait (`__tcp_select_window`).
    ///
    /// `least` is the smallest window that is worth offering when little is free, against silly windows (RFC 9293
    /// §3.8.6.2.2). It is absent for an application that reads at once: what little is free then is soon more.
    fn offer(&self, held: u64, least: Option<u64>) -> u64 {
        let unit = 1_u64 << self.scale;
        let mut free = self.space.saturating_sub(held);
        if let Some(least) = least
            && free < self.space / 2
        {
            free -= free % unit;
            if free < self.space / 16 || free < least.min(self.space) {
                return 0;
            }
        }
        free.min(self.threshold).next_multiple_of(unit)
    }

    /// Returns whether less than half of the buffer is free while `held` bytes wait.
    pub(super) fn is_scarce(&self, held: u64) -> bool {
        self.space.saturating_sub(held) < self.space / 2
    }

    /// Returns whether the window that could be offered while `held` bytes wait is at least the one that the
    /// last ACK offered, which acknowledged all before `acked` (`__tcp_select_window` compared with
    /// `rcv_wnd`).
    pub(super) fn keeps(&self, held: u64, acked: u64, least: Option<u64>) -> bool {
        self.offer(held, least) >= self.edge.saturating_sub(acked)
    }

    /// Returns whether the window could be twice the present one, where `next` is expected and `held` bytes wait
    /// (`tcp_cleanup_rbuf`).
    pub(super) fn doubles(&self, next: u64, held: u64, least: Option<u64>) -> bool {
        let (present, offer) = (self.offered_from(next), self.offer(held, least));
        2 * present <= self.max && offer > 0 && offer >= 2 * present
    }

    /// Returns the window field of a segment that leaves when `next` is expected and `held` bytes wait. The right
    /// edge never moves back (RFC 9293 §3.8.6.2).
    pub(super) fn field(&mut self, next: u64, held: u64, least: Option<u64>) -> u16 {
        let target = (next + self.offer(held, least)).max(self.edge);
        let field = ((target - next) >> self.scale).min(u64::from(u16::MAX));
        self.edge = self.edge.max(next + (field << self.scale));
        field as u16
    }

    /// Measures the RTT from our own timestamp that in-order data of a full segment echoes, in whole
    /// milliseconds.
    pub(super) fn measure_by_timestamp(&mut self, now: Instant, echo_ms: Option<u64>) {
        let Some(echo) = echo_ms else { return };
        if self.last_echo_ms == Some(echo) {
            return;
        }
        self.last_echo_ms = Some(echo);
        let sample = now.since_start().as_millis().saturating_sub(echo);
        if sample == 0 {
            return;
        }
        let sample = Duration::from_millis(sample);
        self.rtt = if self.rtt.is_zero() || sample < self.rtt {
            sample
        } else {
            self.rtt.saturating_sub(self.rtt / 8) + sample / 8
        };
    }

    /// Measures the RTT as the time in which a whole offered window arrives, an upper bound (the kernel's
    /// `tcp_rcv_rtt_measure`).
    pub(super) fn measure_by_window(&mut self, now: Instant, next: u64) {
        if let Some((from, end)) = self.offered {
            if next < end {
                return;
            }
            let sample = now.saturating_since(from).max(Duration::from_micros(1));
            if self.rtt.is_zero() || sample < self.rtt {
                self.rtt = sample;
            }
        }
        self.offered = Some((now, self.edge.max(next)));
    }

    /// Grows the window once per round trip if more was read than ever before, ahead of a sender that doubles
    /// its rate. `beyond` is the extent of the data beyond `next`.
    pub(super) fn tune(&mut self, now: Instant, next: u64, beyond: u64) {
        if self.rtt.is_zero() || now.saturating_since(self.measured_from) < self.rtt {
            return;
        }
        let copied = next - self.measured_at;
        if copied > self.per_rtt {
            self.expect(copied, beyond);
        }
        self.measured_from = now;
        self.measured_at = next;
    }

    /// Makes additional room for data beyond a hole, which reaches `beyond` from the next number.
    pub(super) fn make_room_beyond(&mut self, beyond: u64) {
        self.expect(self.per_rtt, beyond);
    }

    /// Makes room for twice `per_rtt` in every round trip, and for its growth.
    fn expect(&mut self, per_rtt: u64, beyond: u64) {
        let before = self.per_rtt.max(1);
        self.per_rtt = per_rtt;
        let window = 2 * per_rtt;
        let growth = if self.rtt < LOW_RTT {
            window * self.rtt.as_micros() / LOW_RTT.as_micros()
        } else {
            2 * window * per_rtt.saturating_sub(before) / before
        };
        let wanted = window + growth + beyond;
        self.space = self.space.max(wanted.min(self.max));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tuning() -> WindowTuning {
        let config = TcpConfig {
            receive_window_initial: 64_240,
            ..TcpConfig::default()
        };
        WindowTuning::new(&config, 1_000, 7)
    }

    /// Linux `tcp_rcvbuf_grow`: twice the bytes of a round trip, and twice their growth again.
    #[test]
    fn the_window_grows_ahead_of_a_sender_that_doubles() {
        let mut w = tuning();
        let ms = |n| Instant::ZERO + Duration::from_millis(n);
        w.start(ms(0));
        w.measure_by_timestamp(ms(50), Some(0));
        assert_eq!(w.rtt(), Duration::from_millis(50));
        w.tune(ms(50), 1_000 + 28_960, 0);
        // 2 · 28 960 + 2 · 57 920 · (28 960 − 14 480) / 14 480
        assert_eq!(w.space, 57_920 + 2 * 57_920);
        w.tune(ms(60), 1_000 + 90_000, 0);
        assert_eq!(w.per_rtt, 28_960, "a round trip has not passed");
        w.make_room_beyond(200_000);
        assert_eq!(w.space, 57_920 + 200_000);
    }

    #[test]
    fn the_threshold_grows_by_two_segments_as_long_as_there_is_room() {
        let mut w = tuning();
        let before = w.threshold;
        assert!(w.grow(1_448, 0));
        assert_eq!(w.threshold, before + 2 * 1_448);
        assert!(!w.grow(100, 0));
        // A packet of 1500 bytes takes 2176: the first buffer holds 170/256 of 128 KiB.
        while w.grow(1_448, 0) {}
        assert_eq!(w.threshold, 87_040);
    }

    #[test]
    fn a_shorter_rtt_counts_in_full_and_a_longer_one_by_an_eighth() {
        let mut w = tuning();
        let ms = |n| Instant::ZERO + Duration::from_millis(n);
        w.measure_by_timestamp(ms(80), Some(0));
        w.measure_by_timestamp(ms(160), Some(0));
        assert_eq!(w.rtt(), Duration::from_millis(80), "the same echo again");
        w.measure_by_timestamp(ms(161), Some(1));
        assert_eq!(w.rtt(), Duration::from_millis(90));
        w.measure_by_timestamp(ms(202), Some(162));
        assert_eq!(w.rtt(), Duration::from_millis(40));
    }
}

//! The receiving half of a connection: reassembly, when to acknowledge, what window to offer.

use units::{Duration, Instant};

use crate::config::Config;
use crate::segment::SackBlocks;

/// Longest run of ACKs for single segments after a start or a disturbance (`TCP_MAX_QUICKACKS`).
const MAX_QUICK_ACKS: u32 = 16;
/// Duplicate ACKs that are never held back, so that fast retransmit is not late.
const DUPLICATE_THRESHOLD: u32 = 3;
/// ACKs that may be merged while there are holes (`tcp_comp_sack_nr`).
const COMPRESSED_ACKS: u32 = 44;
/// Longest time that they are held back (`tcp_comp_sack_delay_ns`).
const COMPRESSION_DELAY: Duration = Duration::from_millis(1);
/// Blocks that are remembered to be reported, the latest first (`TCP_NUM_SACKS`).
const REPORTED_BLOCKS: usize = 4;

/// The receiving half. Numbers are 64-bit sequence numbers.
#[derive(Debug)]
pub(crate) struct Receiver {
    rcv_nxt: u64,
    mss: u32,
    /// What arrived beyond a hole, in order and not touching.
    out_of_order: Vec<(u64, u64)>,
    /// Blocks of `out_of_order` to be reported, the most recently changed first (RFC 2018 §4).
    recent: Vec<(u64, u64)>,
    duplicate: Option<(u64, u64)>,
    fin: Option<u64>,
    first: u64,
    delayed_ack: bool,
    delayed_ack_timeout: Duration,
    /// `rcv_nxt` when the last ACK was sent.
    acked: u64,
    ack_now: bool,
    quick_acks: u32,
    started: bool,
    last_arrival: Instant,
    /// Adaptive delay of the delayed ACK.
    ack_timeout: Duration,
    delayed_at: Instant,
    compressed: u32,
    compressed_at: Instant,
    duplicates_sent: u32,
    duplicates_for: u64,
    window: WindowTuning,
    srtt_hint: Duration,
}

/// The offered window and its growth (dynamic right-sizing as in Linux's `tcp_rcv_space_adjust`).
#[derive(Debug)]
struct WindowTuning {
    /// What the buffer can hold.
    space: u64,
    max: u64,
    /// Growing limit that keeps a burst from overrunning the buffer (`rcv_ssthresh`).
    threshold: u64,
    /// Right edge that was offered.
    edge: u64,
    scale: u8,
    rtt: Duration,
    last_echo_ms: Option<u64>,
    measured_from: Instant,
    measured_at: u64,
    /// Bytes read in the best round trip so far.
    per_rtt: u64,
}

impl Receiver {
    /// A receiver that expects `first`; `scale` is the window scale in force.
    pub(crate) fn new(config: &Config, first: u64, scale: u8) -> Self {
        let initial = u64::from(config.receive_window_initial.min(config.receive_window_max));
        Self {
            rcv_nxt: first,
            mss: config.mss,
            out_of_order: Vec::with_capacity(16),
            recent: Vec::with_capacity(REPORTED_BLOCKS + 1),
            duplicate: None,
            fin: None,
            first,
            delayed_ack: config.delayed_ack,
            delayed_ack_timeout: config.delayed_ack_timeout,
            acked: first,
            ack_now: false,
            quick_acks: 0,
            started: false,
            last_arrival: Instant::ZERO,
            ack_timeout: config.delayed_ack_timeout,
            delayed_at: Instant::NEVER,
            compressed: 0,
            compressed_at: Instant::NEVER,
            duplicates_sent: 0,
            duplicates_for: first,
            window: WindowTuning {
                space: initial,
                max: u64::from(config.receive_window_max),
                threshold: initial,
                edge: first + initial,
                scale,
                rtt: Duration::ZERO,
                last_echo_ms: None,
                measured_from: Instant::ZERO,
                measured_at: first,
                per_rtt: u64::from(config.initial_window * config.mss),
            },
            srtt_hint: Duration::ZERO,
        }
    }

    /// Next number expected.
    pub(crate) fn rcv_nxt(&self) -> u64 {
        self.rcv_nxt
    }

    /// Payload bytes that arrived in order.
    pub(crate) fn delivered(&self) -> u64 {
        let fin = u64::from(self.fin_received());
        self.rcv_nxt - self.first - fin
    }

    /// Whether all data and the FIN after it have arrived.
    pub(crate) fn fin_received(&self) -> bool {
        self.fin.is_some_and(|fin| self.rcv_nxt > fin)
    }

    /// When a held-back ACK is due.
    pub(crate) fn deadline(&self) -> Instant {
        self.delayed_at.min(self.compressed_at)
    }

    /// Whether an ACK must be sent now.
    pub(crate) fn ack_due(&self, now: Instant) -> bool {
        self.ack_now || self.deadline() <= now
    }

    /// Asks for an ACK at once.
    pub(crate) fn acknowledge_now(&mut self) {
        self.ack_now = true;
    }

    /// Whether a segment of `len` numbers from `seq` touches the window (RFC 9293 §3.4).
    pub(crate) fn is_acceptable(&self, seq: u64, len: u64) -> bool {
        seq + len >= self.acked.min(self.rcv_nxt) && seq <= self.window.edge
    }

    /// Payload arrived. `echo_ms` is our own timestamp that came back with it.
    pub(crate) fn on_data(
        &mut self,
        now: Instant,
        seq: u64,
        len: u32,
        fin: bool,
        echo_ms: Option<u64>,
    ) {
        let mut end = seq + u64::from(len);
        if fin {
            self.fin = Some(end);
            end += 1;
        }
        self.adapt_ack_timeout(now);
        if end <= self.rcv_nxt {
            // Seen before: report it, and be quick until the sender is in order again.
            self.duplicate = Some((seq, end));
            self.enter_quick_ack_mode();
            self.ack_now = true;
            return;
        }
        if end > self.window.edge + 1 {
            self.ack_now = true;
            return;
        }
        if seq > self.rcv_nxt {
            self.store_out_of_order(seq, end);
            self.acknowledge_hole(now);
            return;
        }
        if seq < self.rcv_nxt {
            self.duplicate = Some((seq, self.rcv_nxt));
        }
        self.rcv_nxt = end;
        let had_holes = !self.out_of_order.is_empty();
        self.take_in_order();
        if len == self.mss {
            self.measure_rtt(now, echo_ms);
            self.window.threshold =
                (self.window.threshold + 2 * u64::from(self.mss)).min(self.window.space);
        }
        self.tune_window(now);
        if fin || (had_holes && self.out_of_order.is_empty()) {
            // RFC 5681 §4.2: a filled gap is acknowledged at once.
            self.ack_now = true;
        }
        let unacked = self.rcv_nxt - self.acked;
        if unacked > u64::from(self.mss) || self.quick_acks > 0 || !self.delayed_ack {
            self.ack_now = true;
        } else if !self.out_of_order.is_empty() {
            self.acknowledge_hole(now);
        } else if self.delayed_at == Instant::NEVER {
            self.delayed_at = now + self.ack_timeout.min(Duration::from_millis(200));
        }
    }

    /// The ACK fields of a segment that leaves now: number and SACK blocks (at most `room` of them).
    pub(crate) fn acknowledge(&mut self, room: usize) -> (u64, SackBlocks) {
        let mut sack = SackBlocks::EMPTY;
        let mut left = room;
        if let Some((from, to)) = self.duplicate.take() {
            sack.push(from as u32, to as u32);
            left -= 1;
        }
        for &(from, to) in self.recent.iter().take(left) {
            sack.push(from as u32, to as u32);
        }
        self.acked = self.rcv_nxt;
        self.ack_now = false;
        self.delayed_at = Instant::NEVER;
        self.compressed_at = Instant::NEVER;
        self.compressed = 0;
        self.quick_acks = self.quick_acks.saturating_sub(1);
        (self.rcv_nxt, sack)
    }

    /// The window field of a segment that leaves now. The right edge never moves back
    /// (RFC 9293 §3.8.6.2).
    pub(crate) fn window_field(&mut self) -> u16 {
        let held: u64 = self.out_of_order.iter().map(|(from, to)| to - from).sum();
        let free = self
            .window
            .space
            .saturating_sub(held)
            .min(self.window.threshold);
        let unit = 1_u64 << self.window.scale;
        let target = (self.rcv_nxt + free.next_multiple_of(unit)).max(self.window.edge);
        let field = ((target - self.rcv_nxt) >> self.window.scale).min(u64::from(u16::MAX));
        self.window.edge = self
            .window
            .edge
            .max(self.rcv_nxt + (field << self.window.scale));
        field as u16
    }

    fn take_in_order(&mut self) {
        while let Some(&(from, to)) = self.out_of_order.first() {
            if from > self.rcv_nxt {
                break;
            }
            self.rcv_nxt = self.rcv_nxt.max(to);
            self.out_of_order.remove(0);
        }
        let next = self.rcv_nxt;
        self.recent.retain(|&(from, _)| from > next);
    }

    fn store_out_of_order(&mut self, seq: u64, end: u64) {
        let at = self.out_of_order.partition_point(|&(_, to)| to < seq);
        let mut merged = (seq, end);
        let mut last = at;
        while let Some(&(from, to)) = self.out_of_order.get(last) {
            if from > end {
                break;
            }
            if from <= seq && end <= to {
                self.duplicate = Some((seq, end));
            }
            merged = (merged.0.min(from), merged.1.max(to));
            last += 1;
        }
        self.out_of_order.splice(at..last, [merged]);
        self.recent
            .retain(|&(from, to)| to < merged.0 || from > merged.1);
        self.recent.insert(0, merged);
        self.recent.truncate(REPORTED_BLOCKS);
    }

    /// Data beyond a hole: the first duplicate ACKs leave at once, later ones may be merged for a
    /// fraction of the RTT (Linux's SACK compression).
    fn acknowledge_hole(&mut self, now: Instant) {
        if self.duplicates_for != self.rcv_nxt {
            self.duplicates_for = self.rcv_nxt;
            self.duplicates_sent = 0;
        }
        if self.duplicates_sent < DUPLICATE_THRESHOLD || self.compressed >= COMPRESSED_ACKS {
            self.duplicates_sent += 1;
            self.ack_now = true;
            return;
        }
        self.compressed += 1;
        if self.compressed_at == Instant::NEVER {
            let rtt = if self.window.rtt.is_zero() {
                self.srtt_hint
            } else {
                self.window.rtt
            };
            self.compressed_at = now + COMPRESSION_DELAY.min(rtt / 20);
        }
    }

    /// RTT of the handshake, for want of better.
    pub(crate) fn hint_rtt(&mut self, rtt: Duration) {
        self.srtt_hint = rtt;
        self.window.rtt = rtt;
    }

    fn enter_quick_ack_mode(&mut self) {
        let wanted = (self.window.threshold / (2 * u64::from(self.mss))).clamp(2, 16) as u32;
        self.quick_acks = self.quick_acks.max(wanted.min(MAX_QUICK_ACKS));
        self.ack_timeout = self.delayed_ack_timeout;
    }

    /// The delay follows the spacing of arrivals (the kernel's `tcp_event_data_recv`).
    fn adapt_ack_timeout(&mut self, now: Instant) {
        if !self.started {
            self.started = true;
            self.enter_quick_ack_mode();
        } else {
            let gap = now.saturating_since(self.last_arrival);
            let least = self.delayed_ack_timeout;
            if gap <= least / 2 {
                self.ack_timeout = self.ack_timeout / 2 + least / 2;
            } else if gap < self.ack_timeout {
                self.ack_timeout = self.ack_timeout / 2 + gap;
            } else if gap > Duration::from_secs(1) {
                self.enter_quick_ack_mode();
            }
        }
        self.last_arrival = now;
    }

    fn measure_rtt(&mut self, now: Instant, echo_ms: Option<u64>) {
        let Some(echo) = echo_ms else { return };
        if self.window.last_echo_ms == Some(echo) {
            return;
        }
        self.window.last_echo_ms = Some(echo);
        let now_ms = now.as_nanos() / 1_000_000;
        let sample = Duration::from_millis(now_ms.saturating_sub(echo).max(1));
        let rtt = &mut self.window.rtt;
        *rtt = if rtt.is_zero() {
            sample
        } else {
            *rtt * 7 / 8 + sample / 8
        };
    }

    /// Once per round trip: if more was read than ever before, the window grows ahead of a sender
    /// that doubles its rate.
    fn tune_window(&mut self, now: Instant) {
        let w = &mut self.window;
        if w.rtt.is_zero() || now.saturating_since(w.measured_from) < w.rtt {
            return;
        }
        let copied = self.rcv_nxt - w.measured_at;
        if copied > w.per_rtt {
            let base = 2 * copied + 16 * u64::from(self.mss);
            let growth = base * (copied - w.per_rtt) / w.per_rtt;
            w.space = w.space.max((base + 2 * growth).min(w.max));
            w.per_rtt = copied;
        }
        w.measured_from = now;
        w.measured_at = self.rcv_nxt;
    }
}

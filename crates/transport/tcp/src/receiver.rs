//! Receiver: the receiving half of a connection. It processes segments, and fills in the ACK fields of outgoing ones.

mod ack_timing;
mod ecn_echo;
mod proxy;
mod read;
mod reassembly;
pub(crate) mod truesize;
mod window;

use units::{Duration, Instant};

use crate::config::TcpConfig;
use crate::segment::{Flags, SackBlocks, Segment};
use crate::timer_wheel::Timers;
use ack_timing::MAX_QUICK_ACKS;
use ecn_echo::Echo;
pub(crate) use ecn_echo::EchoMode;
use proxy::Proxy;
use reassembly::REPORTED_BLOCKS;
use window::WindowTuning;
pub(crate) use window::first_window;

/// ACK of the state before the current segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PriorStateAck {
    pub(crate) number: u64,
    pub(crate) sack: SackBlocks,
    pub(crate) window: u16,
    pub(crate) echo: bool,
}

/// Receiving half of a connection. Sequence numbers have 64 bits.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// Next expected sequence number.
    pub(crate) rcv_nxt: u64,
    /// Ranges beyond a hole, in order and not adjacent.
    out_of_order: Vec<(u64, u64)>,
    /// Blocks to be reported, the most recently changed first (RFC 2018 §4).
    recent: Vec<(u64, u64)>,
    /// SACK blocks that have room in a header.
    block_room: usize,
    /// ACK that leaves before the current segment counts.
    prior_state_ack: Option<PriorStateAck>,
    duplicate: Option<(u64, u64)>,
    fin: Option<u64>,
    /// Number of the first byte of payload.
    pub(crate) first: u64,
    sack: bool,
    delayed_ack: bool,
    delayed_ack_timeout: Duration,
    /// `rcv_nxt` when the last ACK was sent.
    acked: u64,
    ack_now: bool,
    /// Whether data has arrived since the last ACK.
    ack_scheduled: bool,
    /// Whether the end of a message has arrived since the last ACK.
    ack_pushed: bool,
    /// Whether two messages have ended since the last ACK (`ICSK_ACK_PUSHED2`).
    ack_pushed2: bool,
    /// Whether data leaves soon after data has come, so that ACKs wait for it (`inet_csk_in_pingpong_mode`).
    pingpong: bool,
    /// Bytes in order that an application that reads at once has not read yet.
    waiting: u64,
    quick_acks: u32,
    started: bool,
    last_arrival: Instant,
    /// Adaptive delay of delayed ACKs.
    pub(crate) ack_timeout: Duration,
    delayed_at: Instant,
    compressed: u32,
    compressed_at: Instant,
    duplicates_sent: u32,
    duplicates_for: u64,
    window: WindowTuning,
    /// Sequence number of the next byte to read, if the application reads by request.
    read_to: Option<u64>,
    /// Acknowledgements of a host in the middle.
    relay: Option<Proxy>,
    /// RTT of the handshake, and the time-out computed from it.
    srtt: Duration,
    rto: Duration,
    min_rto: Duration,
    timers: Timers,
    echo: Echo,
}

impl Receiver {
    /// Creates a receiver that expects `first` and has offered `window` bytes; `scale` is the negotiated window scale,
    /// and `timestamps` whether timestamps were agreed on.
    pub(crate) fn new(
        config: &TcpConfig,
        first: u64,
        scale: u8,
        timestamps: bool,
        window: u64,
    ) -> Self {
        Self {
            // RFC 2018 §3: with timestamps there is room for three blocks.
            block_room: if timestamps { 3 } else { 4 },
            prior_state_ack: None,
            rcv_nxt: first,
            out_of_order: Vec::with_capacity(16),
            recent: Vec::with_capacity(REPORTED_BLOCKS + 1),
            duplicate: None,
            fin: None,
            first,
            sack: config.sack,
            delayed_ack: config.settings.delayed_ack,
            delayed_ack_timeout: config.delayed_ack_timeout,
            acked: first,
            ack_now: false,
            ack_scheduled: false,
            ack_pushed: false,
            ack_pushed2: false,
            pingpong: false,
            waiting: 0,
            quick_acks: 0,
            started: false,
            last_arrival: Instant::ZERO,
            ack_timeout: config.delayed_ack_timeout,
            delayed_at: Instant::NEVER,
            compressed: 0,
            compressed_at: Instant::NEVER,
            duplicates_sent: 0,
            duplicates_for: first,
            window: WindowTuning::new(config, first, scale, timestamps, window),
            read_to: None,
            relay: None,
            srtt: Duration::ZERO,
            rto: config.initial_rto,
            min_rto: config.settings.min_rto,
            timers: config.timers,
            echo: Echo::default(),
        }
    }

    /// Bounds the first guess of the peer's segments by the payload of this end's full ones.
    pub(crate) fn expect_segments(&mut self, mss: u32) {
        self.window.init_rcv_mss(u64::from(mss));
    }

    /// Returns the payload of the segments that arrive.
    pub(crate) fn mss(&self) -> u32 {
        self.window.mss as u32
    }

    /// Returns the payload bytes that have arrived in order.
    pub(crate) fn delivered(&self) -> u64 {
        let fin = u64::from(self.fin_received());
        self.rcv_nxt - self.first - fin
    }

    /// Returns whether all data and the FIN have arrived.
    pub(crate) fn fin_received(&self) -> bool {
        self.fin.is_some_and(|fin| self.rcv_nxt > fin)
    }

    /// Returns whether `len` sequence numbers from `seq` touch the window (RFC 9293 §3.4).
    pub(crate) fn is_acceptable(&self, seq: u64, len: u64) -> bool {
        seq + len >= self.acked.min(self.rcv_nxt) && seq <= self.window.edge.max(self.rcv_nxt)
    }

    /// Answers `len` sequence numbers from `seq` that are not acceptable with an ACK (RFC 9293 §3.10.7.4). Old data is
    /// reported as a duplicate (RFC 2883 §4; the kernel's `tcp_send_dupack`).
    pub(crate) fn on_unacceptable(&mut self, seq: u64, len: u64) {
        if len > 0 && seq < self.rcv_nxt {
            self.duplicate = Some((seq, (seq + len).min(self.rcv_nxt)));
            self.enter_quick_ack_mode(MAX_QUICK_ACKS);
        }
        self.ack_now = true;
    }

    /// Handles the payload of `segment`, which begins at `seq`. `echo` is our own timestamp that it
    /// echoes.
    pub(crate) fn on_data(&mut self, now: Instant, seq: u64, segment: &Segment, echo: Option<u32>) {
        // A duplicate that was not yet reported is dropped.
        self.duplicate = None;
        let len = segment.len;
        let fin = segment.flags.contains(Flags::FIN);
        let mut end = seq + u64::from(len);
        if fin {
            self.fin = Some(end);
            end += 1;
        }
        if end <= self.rcv_nxt {
            // Received before: report it, and acknowledge quickly until the sender is in order again.
            self.duplicate = Some((seq, end));
            self.enter_quick_ack_mode(MAX_QUICK_ACKS);
            self.ack_scheduled = true;
            self.ack_now = true;
            return;
        }
        if end > self.window.edge + 1 && !self.may_overrun(seq, len, fin) {
            self.enter_quick_ack_mode(MAX_QUICK_ACKS);
            self.ack_scheduled = true;
            self.ack_now = true;
            return;
        }
        self.ack_now |= fin && len == 0 && end > self.window.edge + 1;
        let bytes = u64::from(len);
        let unread = self.waiting > 0 || self.unread() > 0;
        self.window.rcv_rtt_measure_ts(now, echo, bytes, unread);
        if self.window.clamp_window(self.held()) {
            self.quick_acks = 0;
            // There is no memory for it (the kernel's `ICSK_ACK_NOMEM`).
            self.ack_now |= fin && len == 0 && seq == self.rcv_nxt;
        }
        let message = fin || segment.flags.contains(Flags::PSH);
        self.ack_scheduled = true;
        if seq > self.rcv_nxt {
            self.ecn_check_ce(segment.ecn);
            self.measure_segment(bytes, message);
            // A segment that is merged with the previous one is counted before the window grows
            // (`tcp_ooo_try_coalesce`).
            let merges = self.out_of_order.last().is_some_and(|&(_, to)| to == seq);
            if !merges {
                self.grow_window(bytes);
            }
            self.store_out_of_order(seq, end);
            if merges {
                self.grow_window(bytes);
            }
            self.window.make_room_beyond(self.ofo_span());
            self.decide_on_ack(now);
            return;
        }
        if seq < self.rcv_nxt {
            self.duplicate = Some((seq, self.rcv_nxt));
        }
        let fresh = end - u64::from(fin) - self.rcv_nxt.min(end - u64::from(fin));
        self.rcv_nxt = end;
        let at_once = self.read_to.is_none();
        if at_once {
            self.waiting += fresh;
        }
        if len > 0 {
            self.measure_segment(bytes, message);
            self.window.rcv_rtt_measure(now, self.rcv_nxt);
            self.adapt_ack_timeout(now);
            self.ecn_check_ce(segment.ecn);
            if WindowTuning::is_worth_growing(bytes) {
                self.grow_window(bytes);
            }
        }
        if fin {
            self.end_stream();
        }
        let had_holes = !self.out_of_order.is_empty();
        self.take_in_order();
        if at_once {
            self.waiting += self.rcv_nxt - end;
        }
        // An application that reads at once also answers the end of the stream at once.
        if (fin && at_once) || (had_holes && self.out_of_order.is_empty()) {
            // RFC 5681 §4.2: a filled gap is acknowledged at once.
            self.ack_now = true;
        }
        if fin {
            // No more requests follow that an early ACK would speed up (the kernel's `tcp_fin`).
            self.pingpong = true;
        }
        if self.relay.is_some() {
            self.use_room();
            if self.keeps_all_back() {
                return;
            }
        }
        self.decide_on_ack(now);
    }

    /// Returns whether a segment is accepted beyond the window: one segment if no data in order waits to be read, and a
    /// bare FIN in order (the kernel's `tcp_sequence` and `tcp_data_queue`).
    fn may_overrun(&self, seq: u64, len: u32, fin: bool) -> bool {
        let in_order = seq <= self.rcv_nxt;
        let alone = self.read_to.is_some() && self.unread() == 0;
        alone || in_order && fin && len == 0
    }

    /// Handles a read of all data in order, unless the application reads by request. Returns whether there was any.
    pub(crate) fn on_read(&mut self, now: Instant) -> bool {
        let taken = core::mem::take(&mut self.waiting);
        let reads = self.read_to.is_none() && taken > 0;
        if reads {
            let read_to = self.first + self.delivered();
            self.after_read(now, read_to, taken);
        }
        reads
    }

    /// Handles a read of `taken` bytes up to `read_to`: the window may grow, and an ACK may be due (the kernel's
    /// `tcp_cleanup_rbuf`).
    fn after_read(&mut self, now: Instant, read_to: u64, taken: u64) {
        let (unread, beyond) = (self.unread(), self.ofo_span());
        self.window.after_read(now, read_to, taken, unread, beyond);
        if self.ack_now {
            return;
        }
        let held = self.held();
        let message_read = held == 0 && (self.ack_pushed2 || self.ack_pushed && !self.pingpong);
        let due = self.ack_scheduled && (self.is_late() || message_read);
        self.ack_now = due && !self.keeps_all_back()
            || !self.fin_received() && self.window.doubles(self.rcv_nxt, held);
    }

    /// Learns from the size of a segment of `bytes` payload bytes; `message` if it has the push flag or the FIN.
    fn measure_segment(&mut self, bytes: u64, message: bool) {
        let small = bytes < self.window.mss;
        let ended = self.window.measure_rcv_mss(bytes, message);
        self.ack_pushed2 |= small && ended && self.ack_pushed;
        self.ack_pushed |= ended;
    }

    /// Grows the window for a segment of `bytes` payload bytes.
    fn grow_window(&mut self, bytes: u64) {
        if self.window.can_grow() && self.window.grow(bytes, self.held()) {
            // The sender should learn about it soon.
            self.quick_acks |= 1;
        }
    }

    /// Returns the memory of waiting data, bytes: data beyond holes, and data in order that was not read. Most of the time
    /// no data waits.
    #[inline]
    fn held(&self) -> u64 {
        if self.waiting == 0 && self.read_to.is_none() && self.out_of_order.is_empty() {
            return 0;
        }
        self.held_data()
    }

    fn held_data(&self) -> u64 {
        let in_order = self.window.memory_of(self.waiting + self.unread());
        if self.out_of_order.is_empty() {
            in_order
        } else {
            in_order + self.ofo_bytes()
        }
    }

    /// Removes and returns the ACK that leaves before the current segment counts.
    pub(crate) fn take_early_ack(&mut self) -> Option<PriorStateAck> {
        self.prior_state_ack.take()
    }

    /// Returns the ACK fields of a segment that leaves now: number and SACK blocks.
    pub(crate) fn acknowledge(&mut self) -> (u64, SackBlocks) {
        let mut sack = SackBlocks::EMPTY;
        let mut left = self.block_room;
        let number = self.ack_number();
        self.note_acknowledged(number);
        if let Some((from, to)) = self.take_duplicate(number) {
            sack.push(from as u32, to as u32);
            left -= 1;
        }
        for &(from, to) in self.recent.iter().take(left) {
            sack.push(from as u32, to as u32);
        }
        self.acked = self.rcv_nxt;
        let counts = self.ack_scheduled;
        self.ack_now = false;
        self.ack_scheduled = false;
        self.ack_pushed = false;
        self.ack_pushed2 = false;
        self.delayed_at = Instant::NEVER;
        self.compressed_at = Instant::NEVER;
        self.compressed = 0;
        if counts {
            if self.quick_acks == 1 {
                self.ack_timeout = self.delayed_ack_timeout;
            }
            self.quick_acks = self.quick_acks.saturating_sub(1);
        }
        (number, sack)
    }

    /// Returns the window field of a segment that leaves now.
    pub(crate) fn window_field(&mut self) -> u16 {
        let held = self.held();
        if self.window.is_scarce(held) {
            self.quick_acks = 0;
        }
        if self.relay.is_some() {
            return self.relayed_window_field(held);
        }
        self.window.field(self.rcv_nxt, held)
    }

    /// Handles the end of the handshake, which took `rtt` if no part of it was repeated.
    pub(crate) fn establish(&mut self, now: Instant, rtt: Option<Duration>) {
        self.window.start(now);
        if let Some(rtt) = rtt {
            self.srtt = rtt;
            self.rto = rtt + (rtt * 2).max(self.min_rto);
        }
    }
}

#[cfg(test)]
mod tests;

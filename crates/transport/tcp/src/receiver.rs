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
use crate::timer_wheel::TimerExpiry;
use ack_timing::MAX_QUICK_ACKS;
use ecn_echo::Echo;
pub(crate) use ecn_echo::EchoMode;
use proxy::Proxy;
use reassembly::REPORTED_BLOCKS;
use window::WindowTuning;
pub(crate) use window::first_window;

/// Merged ACK that leaves before the current segment counts (the kernel's `tcp_sack_compress_send_ack`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlushedAck {
    pub(crate) number: u64,
    pub(crate) sack: SackBlocks,
    pub(crate) window: u16,
    pub(crate) ece: bool,
}

/// Receiving half of a connection. Sequence numbers have 64 bits.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// Next expected sequence number.
    pub(crate) rcv_nxt: u64,
    /// Ranges beyond a hole, in order and not adjacent.
    out_of_order: Vec<(u64, u64)>,
    /// SACK blocks to be reported, the most recently changed first (RFC 2018 §4).
    sack_blocks: Vec<(u64, u64)>,
    /// SACK blocks that fit into a header.
    max_sack_blocks: usize,
    flushed_ack: Option<FlushedAck>,
    /// Range that the next ACK reports as a duplicate (RFC 2883).
    duplicate_sack: Option<(u64, u64)>,
    /// Sequence number of the FIN.
    fin: Option<u64>,
    /// Number of the first byte of payload.
    pub(crate) first: u64,
    uses_sack: bool,
    delays_acks: bool,
    delayed_ack_timeout: Duration,
    /// `rcv_nxt` when the last ACK was sent (`rcv_wup`).
    rcv_wup: u64,
    ack_now: bool,
    /// Whether data has arrived since the last ACK.
    ack_scheduled: bool,
    /// Whether a message, ended by the push flag, has arrived since the last ACK (`ICSK_ACK_PUSHED`).
    ack_pushed: bool,
    /// Whether two messages have arrived since the last ACK (`ICSK_ACK_PUSHED2`).
    ack_pushed2: bool,
    /// Whether data leaves soon after data has come, so that ACKs wait for it (`inet_csk_in_pingpong_mode`).
    pingpong: bool,
    /// Bytes in order that an application that reads at once has not read yet.
    pending_read: u64,
    /// ACKs that are still sent at once, one for each segment.
    quick_acks: u32,
    has_received_data: bool,
    /// Arrival of the latest data.
    last_arrival: Instant,
    /// Adaptive delay of delayed ACKs (`icsk_ack.ato`).
    pub(crate) ack_timeout: Duration,
    /// Time of the delayed ACK.
    delayed_ack_at: Instant,
    /// ACKs that were merged since the last one, and the time at which their ACK leaves (SACK compression).
    compressed_acks: u32,
    compressed_ack_at: Instant,
    /// Duplicate ACKs that were sent at once for the hole at this number.
    dup_acks_sent: u32,
    dup_acks_rcv_nxt: u64,
    window: WindowTuning,
    /// Sequence number of the next byte to read (`copied_seq`); `None` if the application reads at once.
    copied_seq: Option<u64>,
    /// Limits of a split-TCP proxy; `None` if the data goes to an application.
    proxy: Option<Proxy>,
    /// RTT of the handshake, and the time-out computed from it.
    handshake_rtt: Duration,
    rto: Duration,
    min_rto: Duration,
    timers: TimerExpiry,
    echo: Echo,
}

impl Receiver {
    /// Creates a receiver that expects `first` and has offered `window` bytes; `timestamps` if they were negotiated.
    pub(crate) fn new(
        config: &TcpConfig,
        first: u64,
        scale: u8,
        timestamps: bool,
        window: u64,
    ) -> Self {
        Self {
            // RFC 2018 §3: with timestamps there is room for three blocks.
            max_sack_blocks: if timestamps { 3 } else { 4 },
            flushed_ack: None,
            rcv_nxt: first,
            out_of_order: Vec::with_capacity(16),
            sack_blocks: Vec::with_capacity(REPORTED_BLOCKS + 1),
            duplicate_sack: None,
            fin: None,
            first,
            uses_sack: config.sack,
            delays_acks: config.settings.delayed_ack,
            delayed_ack_timeout: config.delayed_ack_timeout,
            rcv_wup: first,
            ack_now: false,
            ack_scheduled: false,
            ack_pushed: false,
            ack_pushed2: false,
            pingpong: false,
            pending_read: 0,
            quick_acks: 0,
            has_received_data: false,
            last_arrival: Instant::ZERO,
            ack_timeout: config.delayed_ack_timeout,
            delayed_ack_at: Instant::NEVER,
            compressed_acks: 0,
            compressed_ack_at: Instant::NEVER,
            dup_acks_sent: 0,
            dup_acks_rcv_nxt: first,
            window: WindowTuning::new(config, first, scale, timestamps, window),
            copied_seq: None,
            proxy: None,
            handshake_rtt: Duration::ZERO,
            rto: config.initial_rto,
            min_rto: config.settings.min_rto,
            timers: config.timers,
            echo: Echo::default(),
        }
    }

    /// Bounds the first guess of the peer's segments by the payload of this end's full ones.
    pub(crate) fn init_rcv_mss(&mut self, mss: u32) {
        self.window.init_rcv_mss(u64::from(mss));
    }

    /// Returns the payload of the peer's full segments, as measured.
    pub(crate) fn rcv_mss(&self) -> u32 {
        self.window.rcv_mss as u32
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

    /// Returns whether a segment of `len` sequence numbers from `seq` touches the window (RFC 9293 §3.4).
    pub(crate) fn is_acceptable(&self, seq: u64, len: u64) -> bool {
        seq + len >= self.rcv_wup.min(self.rcv_nxt)
            && seq <= self.window.right_edge.max(self.rcv_nxt)
    }

    /// Answers a segment that is not acceptable with an ACK (RFC 9293 §3.10.7.4). Old data is
    /// reported as a duplicate (RFC 2883 §4; the kernel's `tcp_send_dupack`).
    pub(crate) fn on_unacceptable(&mut self, seq: u64, len: u64) {
        if len > 0 && seq < self.rcv_nxt {
            self.duplicate_sack = Some((seq, (seq + len).min(self.rcv_nxt)));
            self.enter_quickack_mode(MAX_QUICK_ACKS);
        }
        self.ack_now = true;
    }

    /// Handles the payload of `segment`, which begins at `seq`. `echo` is our own timestamp in it, milliseconds.
    pub(crate) fn on_data(&mut self, now: Instant, seq: u64, segment: &Segment, echo: Option<u32>) {
        // A duplicate that was not yet reported is dropped.
        self.duplicate_sack = None;
        let len = segment.len;
        let fin = segment.flags.contains(Flags::FIN);
        let mut end = seq + u64::from(len);
        if fin {
            self.fin = Some(end);
            end += 1;
        }
        if end <= self.rcv_nxt {
            // Received before: report it, and acknowledge quickly until the sender is in order again.
            self.duplicate_sack = Some((seq, end));
            self.enter_quickack_mode(MAX_QUICK_ACKS);
            self.ack_scheduled = true;
            self.ack_now = true;
            return;
        }
        if end > self.window.right_edge + 1 && !self.may_overrun(seq, len, fin) {
            self.enter_quickack_mode(MAX_QUICK_ACKS);
            self.ack_scheduled = true;
            self.ack_now = true;
            return;
        }
        self.ack_now |= fin && len == 0 && end > self.window.right_edge + 1;
        let bytes = u64::from(len);
        let has_unread = self.pending_read > 0 || self.unread() > 0;
        self.window.rcv_rtt_measure_ts(now, echo, bytes, has_unread);
        if self.window.clamp_window(self.rmem_alloc()) {
            self.quick_acks = 0;
            // There is no memory for the FIN (the kernel's `ICSK_ACK_NOMEM`).
            self.ack_now |= fin && len == 0 && seq == self.rcv_nxt;
        }
        let pushed = fin || segment.flags.contains(Flags::PSH);
        self.ack_scheduled = true;
        if seq > self.rcv_nxt {
            self.ecn_check_ce(segment.ecn);
            self.measure_segment(bytes, pushed);
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
            self.window.grow_for_ofo(self.ofo_span());
            self.decide_on_ack(now);
            return;
        }
        if seq < self.rcv_nxt {
            self.duplicate_sack = Some((seq, self.rcv_nxt));
        }
        let new_bytes = (end - u64::from(fin)).saturating_sub(self.rcv_nxt);
        self.rcv_nxt = end;
        let reads_at_once = self.copied_seq.is_none();
        if reads_at_once {
            self.pending_read += new_bytes;
        }
        if len > 0 {
            self.measure_segment(bytes, pushed);
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
        self.merge_in_order();
        if reads_at_once {
            self.pending_read += self.rcv_nxt - end;
        }
        // An application that reads at once also answers the end of the stream at once.
        if (fin && reads_at_once) || (had_holes && self.out_of_order.is_empty()) {
            // RFC 5681 §4.2: a filled gap is acknowledged at once.
            self.ack_now = true;
        }
        if fin {
            // No request follows that an ACK at once would speed up (the kernel's `tcp_fin`).
            self.pingpong = true;
        }
        if self.proxy.is_some() {
            self.update_room();
            if self.withholds_all() {
                return;
            }
        }
        self.decide_on_ack(now);
    }

    /// Returns whether a segment is accepted beyond the window: any of an application that reads by request and has read
    /// all, and a bare FIN in order (the kernel's `tcp_sequence` and `tcp_data_queue`).
    fn may_overrun(&self, seq: u64, len: u32, fin: bool) -> bool {
        let in_order = seq <= self.rcv_nxt;
        let all_read = self.copied_seq.is_some() && self.unread() == 0;
        all_read || in_order && fin && len == 0
    }

    /// Reads all data in order, unless the application reads by request. Returns whether there was any.
    pub(crate) fn read_all(&mut self, now: Instant) -> bool {
        let bytes = core::mem::take(&mut self.pending_read);
        let has_read = self.copied_seq.is_none() && bytes > 0;
        if has_read {
            self.after_read(now, self.first + self.delivered(), bytes);
        }
        has_read
    }

    /// Handles a read of `bytes` up to `copied_seq`: the window may grow, and an ACK may be due (the kernel's
    /// `tcp_cleanup_rbuf`).
    fn after_read(&mut self, now: Instant, copied_seq: u64, bytes: u64) {
        let (unread, ofo_span) = (self.unread(), self.ofo_span());
        self.window
            .after_read(now, copied_seq, bytes, unread, ofo_span);
        if self.ack_now {
            return;
        }
        let rmem_alloc = self.rmem_alloc();
        let message_read =
            rmem_alloc == 0 && (self.ack_pushed2 || self.ack_pushed && !self.pingpong);
        let due = self.ack_scheduled && (self.full_segment_unacked() || message_read);
        self.ack_now = due && !self.withholds_all()
            || !self.fin_received() && self.window.could_double(self.rcv_nxt, rmem_alloc);
    }

    /// Measures the peer's MSS by a segment of `bytes` payload bytes; `pushed` if it has the push flag or the FIN.
    fn measure_segment(&mut self, bytes: u64, pushed: bool) {
        let small = bytes < self.window.rcv_mss;
        let ends_message = self.window.measure_rcv_mss(bytes, pushed);
        self.ack_pushed2 |= small && ends_message && self.ack_pushed;
        self.ack_pushed |= ends_message;
    }

    /// Grows the window, up to its clamp, for a segment of `bytes` payload bytes.
    fn grow_window(&mut self, bytes: u64) {
        if self.window.is_below_clamp() && self.window.grow_window(bytes, self.rmem_alloc()) {
            // An ACK at once tells the sender soon.
            self.quick_acks |= 1;
        }
    }

    /// Returns the memory of waiting data, bytes (`sk_rmem_alloc`): data beyond holes, and data in order that was not
    /// read. Most of the time no data waits.
    #[inline]
    fn rmem_alloc(&self) -> u64 {
        if self.pending_read == 0 && self.copied_seq.is_none() && self.out_of_order.is_empty() {
            return 0;
        }
        self.window.truesize_of(self.pending_read + self.unread()) + self.ofo_memory()
    }

    /// Removes and returns the merged ACK that leaves first.
    pub(crate) fn take_flushed_ack(&mut self) -> Option<FlushedAck> {
        self.flushed_ack.take()
    }

    /// Returns the ACK fields of a segment that leaves now: number and SACK blocks.
    pub(crate) fn acknowledge(&mut self) -> (u64, SackBlocks) {
        let mut sack = SackBlocks::EMPTY;
        let mut blocks_left = self.max_sack_blocks;
        let number = self.ack_number();
        self.note_acknowledged(number);
        if let Some((from, to)) = self.take_duplicate_sack(number) {
            sack.push(from as u32, to as u32);
            blocks_left -= 1;
        }
        for &(from, to) in self.sack_blocks.iter().take(blocks_left) {
            sack.push(from as u32, to as u32);
        }
        self.rcv_wup = self.rcv_nxt;
        let acks_data = self.ack_scheduled;
        self.ack_now = false;
        self.ack_scheduled = false;
        self.ack_pushed = false;
        self.ack_pushed2 = false;
        self.delayed_ack_at = Instant::NEVER;
        self.compressed_ack_at = Instant::NEVER;
        self.compressed_acks = 0;
        if acks_data {
            if self.quick_acks == 1 {
                self.ack_timeout = self.delayed_ack_timeout;
            }
            self.quick_acks = self.quick_acks.saturating_sub(1);
        }
        (number, sack)
    }

    /// Returns the window field of a segment that leaves now.
    pub(crate) fn window_field(&mut self) -> u16 {
        let rmem_alloc = self.rmem_alloc();
        if self.window.is_scarce(rmem_alloc) {
            self.quick_acks = 0;
        }
        if self.proxy.is_some() {
            return self.proxy_window_field(rmem_alloc);
        }
        self.window.window_field(self.rcv_nxt, rmem_alloc)
    }

    /// Handles the end of the handshake, which took `rtt` if no part of it was repeated.
    pub(crate) fn establish(&mut self, now: Instant, rtt: Option<Duration>) {
        self.window.start(now);
        if let Some(rtt) = rtt {
            self.handshake_rtt = rtt;
            self.rto = rtt + (rtt * 2).max(self.min_rto);
        }
    }
}

#[cfg(test)]
mod tests;

//! Offered window and the memory of the receive buffer behind it, both tuned as in Linux (`tcp_measure_rcv_mss`,
//! `tcp_grow_window`, `tcp_rcv_space_adjust`).
//!
//! The parameter `rmem_alloc` is the memory of the data that waits to be read, bytes.

use units::{Duration, Instant};

use super::truesize::{BUFFER_HEADER, can_coalesce, gso_truesize, truesize};
use crate::config::TcpConfig;
use crate::segment::{IP_HEADER, TCP_HEADER, TIMESTAMPS_OPTION};

/// Segments expected in the first round trip (`TCP_INIT_CWND`).
const INIT_CWND: u64 = 10;
/// RTT below which the window grows more gently (`tcp_rcvbuf_low_rtt`).
const LOW_RTT: Duration = Duration::from_millis(1);
/// Maximum segments in one buffer (`MAX_SKB_FRAGS` and the first one).
const MAX_COALESCED: u64 = 18;
/// Minimum payload of a segment in order that grows the window, bytes.
const WORTH_GROWING: u64 = 128;
/// Upper bound of the first guess of the peer's MSS (`TCP_MSS_DEFAULT`), and minimum MSS (`TCP_MIN_MSS`), bytes.
const DEFAULT_MSS: u64 = 536;
const MIN_MSS: u64 = 88;
/// Payload in 256 bytes of memory before a segment was measured (`TCP_DEFAULT_SCALING_RATIO`).
const DEFAULT_SCALING_RATIO: u64 = 128;

/// Tuning of the window that a receiver offers.
#[derive(Debug)]
pub(super) struct WindowTuning {
    /// Memory that waiting data may take (`sk_rcvbuf`), and its upper bound (`tcp_rmem[2]`), bytes.
    rcvbuf: u64,
    rcvbuf_max: u64,
    /// Payload in 256 bytes of memory (`scaling_ratio`).
    scaling_ratio: u64,
    /// Upper bound of the window (`window_clamp`), and the one that the application has set, bytes.
    window_clamp: u64,
    window_cap: u64,
    /// Room that a proxy has for more data, bytes.
    room: u64,
    /// Limit of growth that prevents a burst from overrunning the buffer (`rcv_ssthresh`).
    rcv_ssthresh: u64,
    /// Payload of the peer's full segments, as measured, and that of the latest segment if shorter, bytes.
    pub(super) rcv_mss: u64,
    last_short_len: u64,
    /// Memory of a full segment, bytes.
    full_truesize: u64,
    /// Payload of a full segment by our announced MSS, and the headers of a data packet, bytes.
    advmss: u64,
    header_len: u64,
    /// Payload of the segments that the device merges into one; `None` if it merges none.
    gso_size: Option<u64>,
    /// Offered window, the number at which it began, and the highest end of any, which never moves back.
    pub(super) rcv_wnd: u64,
    rcv_wnd_start: u64,
    pub(super) right_edge: u64,
    rcv_wscale: u8,
    /// RTT that the receiver has measured; zero before the first sample.
    pub(super) rcv_rtt: Duration,
    /// Our own timestamp that the latest segment echoed.
    last_echo: Option<u32>,
    /// Time at which the window was offered that measures the RTT, and its end (`rcv_rtt_est`).
    rtt_window: Option<(Instant, u64)>,
    /// Start of the current round trip, the next number to be read then, and the bytes read in the best round trip so
    /// far (`rcvq_space`).
    rcvq_time: Instant,
    rcvq_seq: u64,
    rcvq_space: u64,
}

/// Returns the window of a SYN or SYN-ACK, bytes: whole segments, if there is room for one
/// (`tcp_select_initial_window`). Only the end that answers knows whether segments have the timestamps option.
pub(crate) fn first_window(config: &TcpConfig, mss: u32, answers_timestamps: bool) -> u64 {
    let adds_option = config.settings.timestamps && !answers_timestamps;
    let segment = u64::from(mss + TIMESTAMPS_OPTION * u32::from(adds_option));
    let space = (config.receive_buffer_initial * DEFAULT_SCALING_RATIO) >> 8;
    let space = space.min(config.settings.window_cap());
    if space > segment {
        space - space % segment
    } else {
        space
    }
}

/// Returns the next multiple of `unit`, a power of two, without a slow division.
fn next_multiple(bytes: u64, unit: u64) -> u64 {
    (bytes + unit - 1) & !(unit - 1)
}

impl WindowTuning {
    /// Creates the tuning of a receiver that expects `first` and has offered `window` bytes; `timestamps` if they were
    /// negotiated.
    pub(super) fn new(
        config: &TcpConfig,
        first: u64,
        scale: u8,
        timestamps: bool,
        window: u64,
    ) -> Self {
        let advmss = u64::from(config.mss);
        let option = TIMESTAMPS_OPTION * u32::from(timestamps);
        let window_cap = config.settings.window_cap();
        let rcvbuf = config.receive_buffer_initial;
        let full = (rcvbuf * DEFAULT_SCALING_RATIO) >> 8;
        let mut window_clamp = (65_535 << scale).min(window_cap).min(full);
        if window_clamp > 2 * advmss && window_clamp + advmss > full {
            // Room for one segment is reserved (`tcp_init_buffer_space`).
            window_clamp = (2 * advmss).max(full - advmss);
        }
        let rcv_ssthresh = window.min(window_clamp);
        let rcv_mss = advmss.min(window / 2).clamp(MIN_MSS, DEFAULT_MSS);
        let header_len = u64::from(IP_HEADER + TCP_HEADER + option);
        Self {
            rcvbuf,
            rcvbuf_max: config.settings.receive_buffer_max.get(),
            scaling_ratio: DEFAULT_SCALING_RATIO,
            window_clamp,
            window_cap,
            room: u64::MAX,
            rcv_ssthresh,
            rcv_mss,
            last_short_len: 0,
            full_truesize: truesize(rcv_mss + header_len),
            advmss,
            header_len,
            gso_size: config.gso_size.map(u64::from),
            rcv_wnd: window,
            rcv_wnd_start: first,
            right_edge: first + window,
            rcv_wscale: scale,
            rcv_rtt: Duration::ZERO,
            last_echo: None,
            rtt_window: None,
            rcvq_time: Instant::ZERO,
            rcvq_seq: first,
            rcvq_space: rcv_ssthresh.min(INIT_CWND * advmss).max(1),
        }
    }

    /// Bounds the first guess of the peer's segments by `mss` (the kernel's `tcp_initialize_rcv_mss`).
    pub(super) fn init_rcv_mss(&mut self, mss: u64) {
        self.set_mss(self.rcv_mss.min(mss).max(MIN_MSS));
    }

    /// Starts the first round trip.
    pub(super) fn start(&mut self, now: Instant) {
        self.rcvq_time = now;
    }

    /// Returns the payload that fits into `memory` bytes (`tcp_win_from_space`).
    fn win_from_space(&self, memory: u64) -> u64 {
        (memory * self.scaling_ratio) >> 8
    }

    /// Returns the memory that `bytes` of adjacent data take, in full segments but for the last one.
    #[inline]
    pub(super) fn truesize_of(&self, bytes: u64) -> u64 {
        if bytes == 0 {
            0
        } else if bytes == self.rcv_mss {
            self.full_truesize
        } else if self.gso_size.is_some() {
            gso_truesize(bytes + self.header_len)
        } else {
            self.segments_truesize(bytes)
        }
    }

    /// Returns the memory of a packet with `len` payload bytes.
    fn packet_truesize(&self, len: u64) -> u64 {
        let packet = len + self.header_len;
        match self.gso_size {
            Some(_) => gso_truesize(packet),
            None => truesize(packet),
        }
    }

    /// Returns the memory of `bytes` of adjacent data in segments. One that is coalesced saves the header of its buffer.
    fn segments_truesize(&self, bytes: u64) -> u64 {
        let (mut segments, rest) = (bytes / self.rcv_mss, bytes % self.rcv_mss);
        let mut memory = segments * self.full_truesize;
        if rest > 0 {
            memory += truesize(rest + self.header_len);
            segments += 1;
        }
        if self.coalesces() {
            memory -= (segments - segments.div_ceil(MAX_COALESCED)) * BUFFER_HEADER;
        }
        memory
    }

    /// Measures the peer's MSS, and the memory of a full segment, by a packet of `packet_len` payload bytes; `pushed` if
    /// it has the push flag or the FIN. Returns whether the packet ends a message (the kernel's `tcp_measure_rcv_mss`).
    pub(super) fn measure_rcv_mss(&mut self, packet_len: u64, pushed: bool) -> bool {
        let last = core::mem::take(&mut self.last_short_len);
        let len = self
            .gso_size
            .map_or(packet_len, |size| packet_len.min(size));
        if len >= self.rcv_mss {
            if len != self.rcv_mss {
                let ratio = ((packet_len << 8) / self.packet_truesize(packet_len)).max(1);
                if ratio != self.scaling_ratio {
                    self.scaling_ratio = ratio;
                    self.window_clamp = self.win_from_space(self.rcvbuf).min(self.window_cap);
                    self.rcvq_space = self.rcvq_space.min(self.window_clamp);
                }
            }
            self.set_mss(len.min(self.advmss));
            return pushed;
        }
        let tcp_header = u64::from(TCP_HEADER);
        let segment = len + self.header_len - u64::from(IP_HEADER);
        if segment >= DEFAULT_MSS + tcp_header || (segment >= MIN_MSS + tcp_header && !pushed) {
            self.last_short_len = len;
            if len == last {
                self.set_mss(len);
                return false;
            }
        }
        true
    }

    /// Returns whether full segments are coalesced in the buffer.
    fn coalesces(&self) -> bool {
        can_coalesce(self.rcv_mss + self.header_len)
    }

    fn set_mss(&mut self, mss: u64) {
        if mss != self.rcv_mss {
            self.rcv_mss = mss;
            self.full_truesize = truesize(mss + self.header_len);
        }
    }

    /// Returns whether the window may still grow.
    #[inline]
    pub(super) fn is_below_clamp(&self) -> bool {
        self.rcv_ssthresh < self.window_clamp
    }

    /// Grows the window for a segment of `len` payload bytes; returns whether it grew (the kernel's `tcp_grow_window`).
    pub(super) fn grow_window(&mut self, len: u64, rmem_alloc: u64) -> bool {
        let free = self.win_from_space(self.rcvbuf.saturating_sub(rmem_alloc));
        let room = self
            .window_clamp
            .min(free)
            .saturating_sub(self.rcv_ssthresh);
        if room == 0 {
            return false;
        }
        let memory = self.win_from_space(self.packet_truesize(len));
        let step = if memory <= len {
            2 * self.advmss
        } else {
            self.grow_step(len, memory)
        };
        if step == 0 {
            return false;
        }
        self.rcv_ssthresh += room.min(step.max(2 * len));
        true
    }

    /// Returns the growth for a segment that wastes memory: nothing if a buffer full of such segments would not hold the
    /// window (the kernel's `__tcp_grow_window`).
    fn grow_step(&self, len: u64, memory: u64) -> u64 {
        let mut memory = memory >> 1;
        let mut window = self.win_from_space(self.rcvbuf_max) >> 1;
        while self.rcv_ssthresh <= window {
            if memory <= len {
                return 2 * self.rcv_mss;
            }
            memory >>= 1;
            window >>= 1;
        }
        0
    }

    /// Returns whether a segment in order of `len` payload bytes may grow the window.
    pub(super) fn is_worth_growing(len: u64) -> bool {
        len >= WORTH_GROWING
    }

    /// Enlarges the buffer, up to its bound, if waiting data has outgrown it; returns whether it had (the kernel's
    /// `tcp_clamp_window`).
    pub(super) fn clamp_window(&mut self, rmem_alloc: u64) -> bool {
        if rmem_alloc <= self.rcvbuf {
            return false;
        }
        self.rcvbuf = self.rcvbuf.max(rmem_alloc.min(self.rcvbuf_max));
        if rmem_alloc > self.rcvbuf {
            self.rcv_ssthresh = self.window_clamp.min(2 * self.advmss);
        }
        true
    }

    /// Returns the window that could be offered (the kernel's `__tcp_select_window`). Little room is not offered (RFC 9293
    /// §3.8.6.2.2).
    fn select_window(&self, rmem_alloc: u64) -> u64 {
        let unit = 1_u64 << self.rcv_wscale;
        let allowed = self.win_from_space(self.rcvbuf);
        let full = self.window_clamp.min(allowed);
        let mss = self.rcv_mss.min(full);
        let mut free = self.win_from_space(self.rcvbuf.saturating_sub(rmem_alloc));
        if mss == 0 {
            return 0;
        }
        if free < full / 2 {
            free &= !(unit - 1);
            if free < allowed / 16 || free < mss {
                return 0;
            }
        }
        if self.room < mss {
            return 0;
        }
        let free = free.min(self.rcv_ssthresh).min(self.room);
        if self.rcv_wscale > 0 {
            return next_multiple(free, unit);
        }
        // Without a scale, whole segments; the current window stays if it is less than a segment off.
        let window = self.rcv_wnd;
        if window + mss <= free || window > free {
            free - free % mss
        } else if mss == full && free > window + full / 2 {
            free
        } else {
            window
        }
    }

    /// Returns the part of the offered window beyond `rcv_nxt` (`tcp_receive_window`).
    pub(super) fn receive_window(&self, rcv_nxt: u64) -> u64 {
        (self.rcv_wnd_start + self.rcv_wnd).saturating_sub(rcv_nxt)
    }

    /// Returns whether less than half of the window is free.
    #[inline]
    pub(super) fn is_scarce(&self, rmem_alloc: u64) -> bool {
        if rmem_alloc == 0 {
            return false;
        }
        let full = self.window_clamp.min(self.win_from_space(self.rcvbuf));
        self.win_from_space(self.rcvbuf.saturating_sub(rmem_alloc)) < full / 2
    }

    /// Returns whether the window that could be offered is at least the one that the last ACK offered.
    pub(super) fn keeps_window(&self, rmem_alloc: u64) -> bool {
        self.select_window(rmem_alloc) >= self.rcv_wnd
    }

    /// Returns whether the window beyond `rcv_nxt` could be twice the offered one (`tcp_cleanup_rbuf`).
    pub(super) fn could_double(&self, rcv_nxt: u64, rmem_alloc: u64) -> bool {
        let left = self.receive_window(rcv_nxt);
        if 2 * left > self.window_clamp {
            return false;
        }
        let offer = self.select_window(rmem_alloc);
        offer > 0 && offer >= 2 * left
    }

    /// Returns whether the window beyond `rcv_nxt` could be two segments larger than the offered one.
    pub(super) fn could_grow(&self, rcv_nxt: u64, rmem_alloc: u64) -> bool {
        self.select_window(rmem_alloc) >= self.receive_window(rcv_nxt) + 2 * self.rcv_mss
    }

    /// Offers a window from `rcv_nxt` on, and returns its field in the header. The right edge never moves back (RFC 9293
    /// §3.8.6.2).
    pub(super) fn window_field(&mut self, rcv_nxt: u64, rmem_alloc: u64) -> u16 {
        let left = self.receive_window(rcv_nxt);
        let mut window = self.select_window(rmem_alloc);
        if window < left {
            window = next_multiple(left, 1 << self.rcv_wscale);
        }
        (self.rcv_wnd, self.rcv_wnd_start) = (window, rcv_nxt);
        self.right_edge = self.right_edge.max(rcv_nxt + window);
        self.to_field(window)
    }

    /// Returns the window field `field` with `unacked` bytes more, for an ACK whose number is that much lower.
    pub(super) fn extend_field(&self, field: u16, unacked: u64) -> u16 {
        self.to_field((u64::from(field) << self.rcv_wscale) + unacked)
    }

    fn to_field(&self, window: u64) -> u16 {
        (window >> self.rcv_wscale).min(u64::from(u16::MAX)) as u16
    }

    /// Bounds the offered window to `bytes`.
    pub(super) fn set_room(&mut self, bytes: u64) {
        self.room = bytes;
    }

    /// Withdraws the offered window.
    pub(super) fn close(&mut self, rcv_nxt: u64) {
        (self.rcv_wnd, self.rcv_wnd_start) = (0, rcv_nxt);
    }

    /// Measures the RTT by our own timestamp `echo`, milliseconds, in a segment of `len` payload bytes. A longer RTT than
    /// before counts only if all data was read (the kernel's `tcp_rcv_rtt_measure_ts`).
    pub(super) fn rcv_rtt_measure_ts(
        &mut self,
        now: Instant,
        echo: Option<u32>,
        len: u64,
        has_unread: bool,
    ) {
        let Some(echo) = echo else { return };
        if self.last_echo == Some(echo) {
            return;
        }
        self.last_echo = Some(echo);
        if len < self.rcv_mss {
            return;
        }
        let sample = (now.since_start().as_millis() as u32).wrapping_sub(echo) as i32;
        if sample <= 0 {
            return;
        }
        let sample = Duration::from_millis(sample as u64);
        if self.rcv_rtt.is_zero() || sample < self.rcv_rtt {
            self.rcv_rtt = sample;
        } else if !has_unread {
            self.rcv_rtt = self.rcv_rtt.saturating_sub(self.rcv_rtt / 8) + sample / 8;
        }
    }

    /// Measures the RTT as the time in which a whole offered window arrives, an upper bound (the kernel's
    /// `tcp_rcv_rtt_measure`).
    pub(super) fn rcv_rtt_measure(&mut self, now: Instant, rcv_nxt: u64) {
        if let Some((offered_at, end)) = self.rtt_window {
            if rcv_nxt < end {
                return;
            }
            let sample = now
                .saturating_since(offered_at)
                .max(Duration::from_micros(1));
            if self.rcv_rtt.is_zero() || sample < self.rcv_rtt {
                self.rcv_rtt = sample;
            }
        }
        self.rtt_window = Some((now, rcv_nxt + self.rcv_wnd));
    }

    /// Tunes the window when the application has read `bytes` up to `copied_seq`. The kernel does so after it has read the
    /// first buffer, while the data in later ones counts as unread (`tcp_recvmsg_locked`).
    pub(super) fn after_read(
        &mut self,
        now: Instant,
        copied_seq: u64,
        bytes: u64,
        unread: u64,
        ofo_span: u64,
    ) {
        let segments = if self.coalesces() { MAX_COALESCED } else { 1 };
        let later = bytes.saturating_sub(segments * self.rcv_mss);
        self.rcv_space_adjust(now, copied_seq - later, unread + later, ofo_span);
    }

    /// Grows the window once per round trip if more was read than ever before, ahead of a sender that doubles
    /// its rate. `unread` bytes in order wait behind `copied_seq`; `ofo_span` is the extent of the data beyond holes.
    fn rcv_space_adjust(&mut self, now: Instant, copied_seq: u64, unread: u64, ofo_span: u64) {
        if self.rcv_rtt.is_zero() || now.saturating_since(self.rcvq_time) < self.rcv_rtt {
            return;
        }
        let copied = (copied_seq - self.rcvq_seq).saturating_sub(unread);
        if copied > self.rcvq_space {
            self.rcvbuf_grow(copied, ofo_span);
        }
        self.rcvq_time = now;
        self.rcvq_seq = copied_seq;
    }

    /// Makes additional room for the data beyond holes.
    pub(super) fn grow_for_ofo(&mut self, ofo_span: u64) {
        self.rcvbuf_grow(self.rcvq_space, ofo_span);
    }

    /// Makes room for twice `per_rtt` bytes in every round trip, for their growth, and for the data beyond holes (the
    /// kernel's `tcp_rcvbuf_grow`).
    fn rcvbuf_grow(&mut self, per_rtt: u64, ofo_span: u64) {
        let before = self.rcvq_space.max(1);
        self.rcvq_space = per_rtt;
        let window = 2 * per_rtt;
        let growth = if self.rcv_rtt < LOW_RTT {
            window * self.rcv_rtt.as_micros() / LOW_RTT.as_micros()
        } else {
            2 * window * per_rtt.saturating_sub(before) / before
        };
        let target = ((window + growth + ofo_span) << 8) / self.scaling_ratio;
        let target = target.min(self.rcvbuf_max);
        if target > self.rcvbuf {
            self.rcvbuf = target;
            self.window_clamp = self.win_from_space(target).min(self.window_cap);
        }
    }
}

#[cfg(test)]
mod tests;

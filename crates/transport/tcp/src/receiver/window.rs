//! Offered window, the memory of the receive buffer behind it, and their growth, tuned like in Linux
//! (`tcp_measure_rcv_mss`, `tcp_grow_window`, `tcp_rcv_space_adjust`).

use units::{Duration, Instant};

use super::truesize::{BUFFER_HEADER, joined_truesize, truesize};
use crate::config::TcpConfig;
use crate::segment::{IP_HEADER, TCP_HEADER, TIMESTAMPS_OPTION};

/// Segments that the tuning expects in the first round trip (`TCP_INIT_CWND`).
const FIRST_ROUND: u64 = 10;
/// RTT below which the window grows more gently (`tcp_rcvbuf_low_rtt`).
const LOW_RTT: Duration = Duration::from_millis(1);
/// Segments that fit into one buffer by their pages (`MAX_SKB_FRAGS` and the first one).
const JOINED: u64 = 18;
/// Payload below which a segment in order does not grow the window, bytes.
const WORTH_GROWING: u64 = 128;
/// Payload of a segment as long as nothing is known (`TCP_MSS_DEFAULT`), and the least one (`TCP_MIN_MSS`), bytes.
const DEFAULT_MSS: u64 = 536;
const MIN_MSS: u64 = 88;
/// Share of payload in the memory as long as no segment was measured, of 256 (`TCP_DEFAULT_SCALING_RATIO`).
const FIRST_RATIO: u64 = 128;

/// Window that a receiver offers.
#[derive(Debug)]
pub(super) struct WindowTuning {
    /// Memory that waiting data may take (`sk_rcvbuf`), and its upper bound (`tcp_rmem[2]`), bytes.
    buffer: u64,
    buffer_max: u64,
    /// Payload in 256 bytes of memory (`scaling_ratio`).
    ratio: u64,
    /// Upper bound of the window (`window_clamp`), and the application's.
    clamp: u64,
    cap: u64,
    /// Room that a host in the middle has for more data, bytes.
    room: u64,
    /// Limit of growth that prevents a burst from overrunning the buffer (`rcv_ssthresh`).
    threshold: u64,
    /// Payload of the peer's full segments, as measured, and the latest size below it.
    pub(super) mss: u64,
    last_size: u64,
    /// Memory of such a full segment, and whether it may join another one.
    full: (u64, bool),
    /// Payload of a full segment by our announced MSS, and the headers of a data packet.
    announced: u64,
    header: u64,
    /// Payload of the segments that the device joins into one.
    joined: Option<u64>,
    /// Offered window (`rcv_wnd`), the number at which it began, and the greatest end of any.
    pub(super) window: u64,
    from: u64,
    pub(super) edge: u64,
    scale: u8,
    /// RTT that the receiver has measured; zero before the first sample.
    pub(super) rtt: Duration,
    last_echo: Option<u32>,
    /// Time at which the measured window was offered, and its end.
    offered: Option<(Instant, u64)>,
    measured_from: Instant,
    measured_at: u64,
    /// Bytes read in the best round trip so far.
    per_rtt: u64,
}

/// Returns the window of a SYN or SYN-ACK, bytes: whole segments, if there is room for one
/// (`tcp_select_initial_window`). Only the end that answers knows whether a segment has the timestamps option.
pub(crate) fn first_window(config: &TcpConfig, answers_timestamps: bool) -> u64 {
    let option = config.settings.timestamps && !answers_timestamps;
    let segment = u64::from(config.mss + TIMESTAMPS_OPTION * u32::from(option));
    let space = (config.receive_buffer_initial * FIRST_RATIO) >> 8;
    let space = space.min(config.settings.window_cap());
    if space > segment {
        space - space % segment
    } else {
        space
    }
}

/// Returns the next multiple of `unit`, a power of two. Each ACK needs it, and a division takes long.
fn next_multiple(bytes: u64, unit: u64) -> u64 {
    (bytes + unit - 1) & !(unit - 1)
}

impl WindowTuning {
    /// Creates a window whose first number is `first`, after `window` bytes were offered; `timestamps` if they were
    /// agreed on.
    pub(super) fn new(
        config: &TcpConfig,
        first: u64,
        scale: u8,
        timestamps: bool,
        window: u64,
    ) -> Self {
        let announced = u64::from(config.mss);
        let option = TIMESTAMPS_OPTION * u32::from(timestamps);
        let cap = config.settings.window_cap();
        let buffer = config.receive_buffer_initial;
        let full = (buffer * FIRST_RATIO) >> 8;
        let mut clamp = (65_535 << scale).min(cap).min(full);
        if clamp > 2 * announced && clamp + announced > full {
            // Room for one segment is reserved (`tcp_init_buffer_space`).
            clamp = (2 * announced).max(full - announced);
        }
        let threshold = window.min(clamp);
        let mss = announced.min(window / 2).clamp(MIN_MSS, DEFAULT_MSS);
        let header = u64::from(IP_HEADER + TCP_HEADER + option);
        Self {
            buffer,
            buffer_max: config.settings.receive_buffer_max.get(),
            ratio: FIRST_RATIO,
            clamp,
            cap,
            room: u64::MAX,
            threshold,
            mss,
            last_size: 0,
            full: truesize(mss + header),
            announced,
            header,
            joined: config.joined_segments.map(u64::from),
            window,
            from: first,
            edge: first + window,
            scale,
            rtt: Duration::ZERO,
            last_echo: None,
            offered: None,
            measured_from: Instant::ZERO,
            measured_at: first,
            per_rtt: threshold.min(FIRST_ROUND * announced).max(1),
        }
    }

    /// Bounds the first guess of the peer's segments by `mss` (the kernel's `tcp_initialize_rcv_mss`).
    pub(super) fn init_rcv_mss(&mut self, mss: u64) {
        self.set_mss(self.mss.min(mss).max(MIN_MSS));
    }

    /// Begins the first round trip when the connection opens.
    pub(super) fn start(&mut self, now: Instant) {
        self.measured_from = now;
    }

    /// Returns the window that `memory` is good for (`tcp_win_from_space`).
    fn window_in(&self, memory: u64) -> u64 {
        (memory * self.ratio) >> 8
    }

    /// Returns the memory that `bytes` of adjacent data take, in full segments but for the last one. Segments that
    /// join a buffer save its header.
    #[inline]
    pub(super) fn memory_of(&self, bytes: u64) -> u64 {
        if bytes == 0 {
            0
        } else if bytes == self.mss {
            self.full.0
        } else if self.joined.is_some() {
            joined_truesize(bytes + self.header)
        } else {
            self.memory_of_segments(bytes)
        }
    }

    /// Returns the memory of a packet with `len` payload bytes.
    fn memory_of_packet(&self, len: u64) -> u64 {
        let packet = len + self.header;
        match self.joined {
            Some(_) => joined_truesize(packet),
            None => truesize(packet).0,
        }
    }

    fn memory_of_segments(&self, bytes: u64) -> u64 {
        let (mut segments, rest) = (bytes / self.mss, bytes % self.mss);
        let (memory, joins) = self.full;
        let mut memory = segments * memory;
        if rest > 0 {
            memory += truesize(rest + self.header).0;
            segments += 1;
        }
        if joins {
            memory -= (segments - segments.div_ceil(JOINED)) * BUFFER_HEADER;
        }
        memory
    }

    /// Learns the size of the peer's segments, and how much memory one takes, from a segment of `len` payload
    /// bytes; `ends` if it has the push flag or the FIN. Returns whether it is the end of a message (the kernel's
    /// `tcp_measure_rcv_mss`).
    pub(super) fn measure_rcv_mss(&mut self, len: u64, ends: bool) -> bool {
        let last = core::mem::take(&mut self.last_size);
        let whole = len;
        let len = self.joined.map_or(whole, |segment| whole.min(segment));
        if len >= self.mss {
            if len != self.mss {
                let ratio = ((whole << 8) / self.memory_of_packet(whole)).max(1);
                if ratio != self.ratio {
                    self.ratio = ratio;
                    self.clamp = self.window_in(self.buffer).min(self.cap);
                    self.per_rtt = self.per_rtt.min(self.clamp);
                }
            }
            self.set_mss(len.min(self.announced));
            return ends;
        }
        let tcp_header = u64::from(TCP_HEADER);
        let segment = len + self.header - u64::from(IP_HEADER);
        if segment >= DEFAULT_MSS + tcp_header || (segment >= MIN_MSS + tcp_header && !ends) {
            self.last_size = len;
            if len == last {
                self.set_mss(len);
                return false;
            }
        }
        true
    }

    fn set_mss(&mut self, mss: u64) {
        if mss != self.mss {
            self.mss = mss;
            self.full = truesize(mss + self.header);
        }
    }

    /// Returns whether the threshold is below the upper bound of the window, which it mostly reaches soon.
    #[inline]
    pub(super) fn can_grow(&self) -> bool {
        self.threshold < self.clamp
    }

    /// Handles a segment of `len` payload bytes while waiting data takes `held` bytes of memory; returns whether the
    /// threshold grew.
    pub(super) fn grow(&mut self, len: u64, held: u64) -> bool {
        let free = self.window_in(self.buffer.saturating_sub(held));
        let room = self.clamp.min(free).saturating_sub(self.threshold);
        if room == 0 {
            return false;
        }
        let memory = self.window_in(self.memory_of_packet(len));
        let step = if memory <= len {
            2 * self.announced
        } else {
            self.grow_step(len, memory)
        };
        if step == 0 {
            return false;
        }
        self.threshold += room.min(step.max(2 * len));
        true
    }

    /// Returns the growth for a segment that wastes memory: nothing if the window is already so large that a buffer full
    /// of them would not hold it (the kernel's `__tcp_grow_window`).
    fn grow_step(&self, len: u64, memory: u64) -> u64 {
        let mut memory = memory >> 1;
        let mut window = self.window_in(self.buffer_max) >> 1;
        while self.threshold <= window {
            if memory <= len {
                return 2 * self.mss;
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

    /// Enlarges a buffer that waiting data has outgrown; returns whether it had (the kernel's `tcp_clamp_window`).
    pub(super) fn clamp_window(&mut self, held: u64) -> bool {
        if held <= self.buffer {
            return false;
        }
        self.buffer = self.buffer.max(held.min(self.buffer_max));
        if held > self.buffer {
            self.threshold = self.clamp.min(2 * self.announced);
        }
        true
    }

    /// Returns the window that could be offered while waiting data takes `held` bytes of memory (the kernel's
    /// `__tcp_select_window`). Little room is not worth offering (RFC 9293 §3.8.6.2.2).
    fn offer(&self, held: u64) -> u64 {
        let unit = 1_u64 << self.scale;
        let allowed = self.window_in(self.buffer);
        let full = self.clamp.min(allowed);
        let mss = self.mss.min(full);
        let mut free = self.window_in(self.buffer.saturating_sub(held));
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
        let free = free.min(self.threshold).min(self.room);
        if self.scale > 0 {
            return next_multiple(free, unit);
        }
        // Without a scale, whole segments; the current window stays if it is less than a segment off.
        let window = self.window;
        if window + mss <= free || window > free {
            free - free % mss
        } else if mss == full && free > window + full / 2 {
            free
        } else {
            window
        }
    }

    /// Returns the part of the offered window that is left when `next` is expected (`tcp_receive_window`).
    pub(super) fn receive_window(&self, next: u64) -> u64 {
        (self.from + self.window).saturating_sub(next)
    }

    /// Returns whether less than half of the window is free while waiting data takes `held` bytes of memory.
    #[inline]
    pub(super) fn is_scarce(&self, held: u64) -> bool {
        if held == 0 {
            return false;
        }
        let full = self.clamp.min(self.window_in(self.buffer));
        self.window_in(self.buffer.saturating_sub(held)) < full / 2
    }

    /// Returns whether the window that could be offered while waiting data takes `held` bytes of memory is at least the
    /// one that the last ACK offered.
    pub(super) fn keeps(&self, held: u64) -> bool {
        self.offer(held) >= self.window
    }

    /// Returns whether the window could be twice what is left of it, where `next` is expected and waiting data takes
    /// `held` bytes of memory (`tcp_cleanup_rbuf`).
    pub(super) fn doubles(&self, next: u64, held: u64) -> bool {
        let left = self.receive_window(next);
        if 2 * left > self.clamp {
            return false;
        }
        let offer = self.offer(held);
        offer > 0 && offer >= 2 * left
    }

    /// Returns whether the window could be two segments more than what is left of it, where `next` is expected and waiting
    /// data takes `held` bytes of memory.
    pub(super) fn grows(&self, next: u64, held: u64) -> bool {
        self.offer(held) >= self.receive_window(next) + 2 * self.mss
    }

    /// Returns the window field of a segment that leaves when `next` is expected and waiting data takes `held` bytes of
    /// memory. The right edge never moves back (RFC 9293 §3.8.6.2).
    pub(super) fn field(&mut self, next: u64, held: u64) -> u16 {
        let left = self.receive_window(next);
        let mut window = self.offer(held);
        if window < left {
            window = next_multiple(left, 1 << self.scale);
        }
        (self.window, self.from) = (window, next);
        self.edge = self.edge.max(next + window);
        self.in_header(window)
    }

    /// Returns the window field of a segment that acknowledges `unacked` bytes less than the next expected number, whose
    /// window field would be `field`.
    pub(super) fn extended(&self, field: u16, unacked: u64) -> u16 {
        self.in_header((u64::from(field) << self.scale) + unacked)
    }

    fn in_header(&self, window: u64) -> u16 {
        (window >> self.scale).min(u64::from(u16::MAX)) as u16
    }

    /// Bounds the offered window to `bytes`.
    pub(super) fn set_room(&mut self, bytes: u64) {
        self.room = bytes;
    }

    /// Withdraws the window that was offered; `next` is the number of the ACK that withdraws it.
    pub(super) fn close(&mut self, next: u64) {
        (self.window, self.from) = (0, next);
    }

    /// Measures the RTT from our own timestamp that a segment of `len` payload bytes echoes, in whole milliseconds. A
    /// longer RTT than before counts only if all data was read (`unread` is false).
    pub(super) fn rcv_rtt_measure_ts(
        &mut self,
        now: Instant,
        echo: Option<u32>,
        len: u64,
        unread: bool,
    ) {
        let Some(echo) = echo else { return };
        if self.last_echo == Some(echo) {
            return;
        }
        self.last_echo = Some(echo);
        if len < self.mss {
            return;
        }
        let sample = (now.since_start().as_millis() as u32).wrapping_sub(echo) as i32;
        if sample <= 0 {
            return;
        }
        let sample = Duration::from_millis(sample as u64);
        if self.rtt.is_zero() || sample < self.rtt {
            self.rtt = sample;
        } else if !unread {
            self.rtt = self.rtt.saturating_sub(self.rtt / 8) + sample / 8;
        }
    }

    /// Measures the RTT as the time in which a whole offered window arrives, an upper bound (the kernel's
    /// `tcp_rcv_rtt_measure`).
    pub(super) fn rcv_rtt_measure(&mut self, now: Instant, next: u64) {
        if let Some((from, end)) = self.offered {
            if next < end {
                return;
            }
            let sample = now.saturating_since(from).max(Duration::from_micros(1));
            if self.rtt.is_zero() || sample < self.rtt {
                self.rtt = sample;
            }
        }
        self.offered = Some((now, next + self.window));
    }

    /// Tunes the window when the application has read `taken` bytes up to `read_to`. The kernel does so after the first
    /// buffer, when the data in the others counts as unread (`tcp_recvmsg_locked`): what a burst brings at the end of a
    /// round trip does not belong to it.
    pub(super) fn after_read(
        &mut self,
        now: Instant,
        read_to: u64,
        taken: u64,
        unread: u64,
        beyond: u64,
    ) {
        let (_, joins) = self.full;
        let buffer = if joins { JOINED * self.mss } else { self.mss };
        let later = taken.saturating_sub(buffer);
        self.tune(now, read_to - later, unread + later, beyond);
    }

    /// Grows the window once per round trip if more was read than ever before, ahead of a sender that doubles
    /// its rate. The application has read up to `next`, and `unread` bytes behind it wait. `beyond` is the extent of
    /// the data beyond holes.
    fn tune(&mut self, now: Instant, next: u64, unread: u64, beyond: u64) {
        if self.rtt.is_zero() || now.saturating_since(self.measured_from) < self.rtt {
            return;
        }
        let copied = (next - self.measured_at).saturating_sub(unread);
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
        let target = ((window + growth + beyond) << 8) / self.ratio;
        let target = target.min(self.buffer_max);
        if target > self.buffer {
            self.buffer = target;
            self.clamp = self.window_in(target).min(self.cap);
        }
    }
}

#[cfg(test)]
mod tests;

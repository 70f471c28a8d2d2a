//! Send buffer: written data in buffers, the memory that it takes, and the limit that follows the window, as in
//! Linux (`sk_sndbuf`, `tcp_sndbuf_expand`, `sk_stream_write_space`).

use std::collections::VecDeque;

use cca::SendLimit;
use units::Instant;

use super::Sender;
use super::nagle::SendFlags;
use super::pacing::GSO_MAX_SIZE;
use super::transmit::Push;
use crate::receiver::truesize::{BUFFER_HEADER, SHARED_INFO, SMALL_BUFFER};
use crate::segment::TIMESTAMPS_OPTION;

/// Room for headers in a buffer (`MAX_TCP_HEADER`), bytes.
const HEADERS: u64 = 192;
/// Memory that a buffer takes besides its data: a header and a small head (`SKB_SMALL_HEAD_CACHE_SIZE`), bytes.
pub(super) const BUFFER_OVERHEAD: u64 = BUFFER_HEADER + SMALL_BUFFER;
/// Minimum number of segments that the limit is made for (`TCP_INIT_CWND`).
const MIN_SEGMENTS: u32 = 10;
/// Maximum offered window that a buffer may use as a whole (`TCP_MSS_DEFAULT`), bytes.
const TINY_WINDOW: u64 = 536;

/// Buffer of data that has not been sent, or not all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WriteBuffer {
    /// Number after its last byte.
    end: u64,
    /// Whether its last segment has the push flag.
    push: bool,
    /// Whether it ends a record, so that no data joins it.
    record: bool,
}

/// Send buffer: the unsent data, and the memory for all data.
#[derive(Debug)]
pub(super) struct SendBuffer {
    /// Memory that data may take.
    limit: u64,
    /// Whether the application has set it.
    fixed: bool,
    /// Whether the application has found no room and waits for it (`SOCK_NOSPACE`).
    pub(super) waits: bool,
    unsent: VecDeque<WriteBuffer>,
    /// End of the data that was last marked to be pushed (`pushed_seq`).
    pushed: u64,
}

impl SendBuffer {
    pub(super) fn new(first: u64, limit: u64) -> Self {
        Self {
            limit,
            fixed: false,
            waits: false,
            unsent: VecDeque::with_capacity(8),
            pushed: first,
        }
    }

    /// Returns whether at most one buffer has unsent data, so that more data may join it.
    pub(super) fn head_is_last(&self) -> bool {
        self.unsent.len() <= 1
    }

    /// Returns the room in the last buffer for data up to `goal` bytes; `next` is the next number to be sent.
    fn room(&self, next: u64, goal: u64) -> u64 {
        let Some(last) = self.unsent.back().filter(|last| !last.record) else {
            return 0;
        };
        let before = self.unsent.len().checked_sub(2);
        let from = before.map_or(next, |index| self.unsent[index].end);
        goal.saturating_sub(last.end - from)
    }

    /// Begins a buffer at `at`.
    fn begin(&mut self, at: u64) {
        self.unsent.push_back(WriteBuffer {
            end: at,
            push: false,
            record: false,
        });
    }

    /// Appends data to the last buffer; the first data of a write takes its push flag away.
    fn append(&mut self, bytes: u64, first: bool) {
        if let Some(last) = self.unsent.back_mut() {
            last.end += bytes;
            last.push &= !first;
        }
    }

    /// Marks the last buffer to be pushed (the kernel's `tcp_mark_push`).
    fn push(&mut self) {
        if let Some(last) = self.unsent.back_mut() {
            last.push = true;
            self.pushed = last.end;
        }
    }

    /// Marks the last buffer as the end of a record.
    fn end_record(&mut self) {
        if let Some(last) = self.unsent.back_mut() {
            last.record = true;
        }
    }

    /// Fills the first buffer from the second for a burst that ends at `target` (the kernel's `tcp_grow_skb`).
    /// Returns the end of the first one, and whether it is to be pushed; `None` if there is no data.
    pub(super) fn head(&mut self, target: u64) -> Option<(u64, bool)> {
        if let (Some(&head), Some(&next)) = (self.unsent.front(), self.unsent.get(1))
            && head.end < target
            && !head.record
        {
            let end = target.min(next.end);
            let whole = end == next.end;
            if whole {
                self.unsent.remove(1);
            }
            let push = head.push || whole && next.push;
            let record = whole && next.record;
            self.unsent[0] = WriteBuffer { end, push, record };
        }
        self.unsent.front().map(|head| (head.end, head.push))
    }

    /// Divides the first buffer at `end`.
    fn split(&mut self, end: u64) {
        if let Some(head) = self.unsent.front()
            && end < head.end
        {
            self.unsent.push_front(WriteBuffer {
                end,
                push: false,
                record: false,
            });
        }
    }

    /// Removes buffers whose data was sent up to `next`.
    pub(super) fn sent(&mut self, next: u64) {
        while self.unsent.front().is_some_and(|head| head.end <= next) {
            self.unsent.pop_front();
        }
    }
}

impl Sender {
    /// Accepts up to `bytes` from the application and sends what may be sent; returns the bytes accepted. An
    /// application that finds no room goes on as soon as a third of the buffer is free (the kernel's
    /// `tcp_sendmsg_locked`).
    pub(crate) fn write(&mut self, now: Instant, bytes: u64, ending: SendFlags) -> u64 {
        if self.seq.fin_queued {
            return 0;
        }
        self.set_now(now);
        let mut accepted = 0;
        while accepted < bytes {
            let took = self.fill(now, bytes - accepted);
            if took == 0 {
                break;
            }
            accepted += took;
            let ends = accepted == bytes;
            if !(ends && ending == SendFlags::More) {
                self.buffer.push();
            }
            if ends {
                if ending == SendFlags::Record {
                    self.buffer.end_record();
                }
                self.hold.more = ending == SendFlags::More;
                self.transmit_as(now, Push::Pending);
                self.hold.more = false;
            } else {
                self.transmit_as(now, Push::All);
                if self.buffer.waits {
                    break;
                }
            }
        }
        accepted
    }

    /// Returns whether the application waits for room in the buffer.
    pub(crate) fn writer_waits(&self) -> bool {
        self.buffer.waits
    }

    /// Sets the memory that the buffer may take, bytes, which then stays (`SO_SNDBUF`).
    pub(crate) fn set_send_buffer(&mut self, bytes: u64) {
        self.buffer.limit = bytes;
        self.buffer.fixed = true;
    }

    /// Fills buffers until there is no memory for another one; returns the bytes accepted.
    fn fill(&mut self, now: Instant, bytes: u64) -> u64 {
        self.note_app_limit();
        let mut left = bytes;
        while left > 0 {
            let goal = self.xmit_size_goal();
            let mut room = self.buffer.room(self.seq.snd_nxt, goal);
            if room == 0 {
                if self.memory() >= self.buffer.limit || self.seq.unsent() >= self.most_unsent() {
                    self.buffer.waits = true;
                    break;
                }
                self.buffer.begin(self.seq.write_seq);
                room = goal;
            }
            let accepted = room.min(left);
            self.buffer.append(accepted, left == bytes);
            self.seq.write_seq += accepted;
            self.chronograph.start(now, SendLimit::InFlight);
            left -= accepted;
            if left == 0 || accepted < room {
                break;
            }
            if self.seq.write_seq > self.buffer.pushed + self.seq.max_window / 2 {
                self.buffer.push();
                self.transmit_as(now, Push::Full);
            } else if self.buffer.head_is_last() {
                self.transmit_as(now, Push::One);
            }
        }
        bytes - left
    }

    /// Returns the bytes of data in a buffer: whole segments, at most half of the largest window that the peer
    /// has offered (the kernel's `tcp_xmit_size_goal`).
    fn xmit_size_goal(&self) -> u64 {
        let mss = u64::from(self.config.mss);
        let half = if self.seq.max_window > TINY_WINDOW {
            self.seq.max_window / 2
        } else {
            self.seq.max_window
        };
        let device = self
            .config
            .settings
            .tso
            .segments()
            .map_or(u64::MAX, u64::from);
        (GSO_MAX_SIZE.min(half) / mss).min(device).max(1) * mss
    }

    /// Keeps data from `number` on, although it may be acknowledged.
    pub(crate) fn retain_from(&mut self, number: u64) {
        self.signals.retained_from = Some(number);
    }

    /// Returns the lowest sequence number whose data is retained.
    pub(super) fn retained_from(&self) -> u64 {
        let una = self.seq.snd_una;
        self.signals.retained_from.map_or(una, |from| from.min(una))
    }

    /// Returns the memory of the stored data, bytes, including that of the buffers of unacknowledged data.
    fn memory(&self) -> u64 {
        let buffers = self.board.bursts_out() + self.buffer.unsent.len() as u64;
        self.seq.write_seq.saturating_sub(self.retained_from()) + buffers * BUFFER_OVERHEAD
    }

    /// Returns the unsent bytes at which the application has to wait (`tcp_notsent_lowat`). It goes on below half of them
    /// (the kernel's `tcp_stream_memory_free`).
    fn most_unsent(&self) -> u64 {
        let lowat = self.config.settings.notsent_lowat;
        lowat.map_or(u64::MAX, units::Bytes::get)
    }

    /// Makes a buffer of its own of a burst that ends at `end` and has to wait (the kernel's `tso_fragment`).
    pub(super) fn tso_fragment(&mut self, end: u64) {
        self.buffer.split(end);
    }

    /// Raises the limit to the windows of data that the congestion control wants (the kernel's `tcp_sndbuf_expand`).
    pub(super) fn expand_buffer(&mut self) {
        if self.buffer.fixed {
            return;
        }
        let announced = u64::from(self.config.mss + TIMESTAMPS_OPTION);
        let segment = (announced + HEADERS + SHARED_INFO).next_power_of_two() + BUFFER_HEADER;
        let segments = MIN_SEGMENTS
            .max(self.congestion.window.cwnd)
            .max(self.reordering.degree + 1);
        let windows = u64::from(self.congestion.sndbuf_expand());
        let target = windows * u64::from(segments) * segment;
        let max = self.config.settings.send_buffer_max.get();
        self.buffer.limit = self.buffer.limit.max(target.min(max));
    }

    /// Wakes an application that waits for room if there is enough (the kernel's `tcp_check_space`). The buffer grows
    /// first if the window is not filled.
    #[inline]
    pub(super) fn check_space(&mut self, now: Instant) {
        if self.buffer.waits {
            self.look_for_room(now);
        }
    }

    fn look_for_room(&mut self, now: Instant) {
        if self.board.in_flight() < self.congestion.window.cwnd {
            self.expand_buffer();
            self.usage.touch(now);
        }
        let memory = self.memory();
        let free = self.buffer.limit.saturating_sub(memory);
        let scarce = 2 * self.seq.unsent() >= self.most_unsent();
        self.buffer.waits = free == 0 || free < memory / 2 || scarce;
        if !self.buffer.waits {
            self.stop_limit(now, SendLimit::SendBuffer);
        }
    }
}

#[cfg(test)]
mod tests;

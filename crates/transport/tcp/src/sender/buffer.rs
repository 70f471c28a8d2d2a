//! Send buffer: written data in skbs, the memory that it takes, and the limit that follows the window, as in
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

/// Room for headers in an skb (`MAX_TCP_HEADER`), bytes.
const HEADERS: u64 = 192;
/// Memory that an skb takes besides its data: a header and a small head (`SKB_SMALL_HEAD_CACHE_SIZE`), bytes.
pub(super) const BUFFER_OVERHEAD: u64 = BUFFER_HEADER + SMALL_BUFFER;
/// Minimum segments for which the send buffer has room (`TCP_INIT_CWND`).
const MIN_SEGMENTS: u32 = 10;
/// Maximum offered window that one skb may fill (`TCP_MSS_DEFAULT`), bytes.
const TINY_WINDOW: u64 = 536;

/// Skb with unsent data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WriteBuffer {
    /// Number after its last byte.
    end: u64,
    /// Whether its last segment has the push flag.
    push: bool,
    /// Whether it ends a record (`MSG_EOR`), so that no data joins it.
    eor: bool,
}

/// Send buffer: the skbs with unsent data, and the limit of the memory of all data.
#[derive(Debug)]
pub(super) struct SendBuffer {
    /// Memory that data may take, bytes (`sk_sndbuf`).
    sndbuf: u64,
    /// Whether the application has set the limit (`SO_SNDBUF`).
    is_fixed: bool,
    /// Whether the application waits for room (`SOCK_NOSPACE`).
    pub(super) nospace: bool,
    unsent: VecDeque<WriteBuffer>,
    /// End of the data that was last marked to be pushed (`pushed_seq`).
    pushed_seq: u64,
}

impl SendBuffer {
    pub(super) fn new(first: u64, limit: u64) -> Self {
        Self {
            sndbuf: limit,
            is_fixed: false,
            nospace: false,
            unsent: VecDeque::with_capacity(8),
            pushed_seq: first,
        }
    }

    /// Returns whether at most one skb has unsent data, so that more data may join it.
    pub(super) fn head_is_last(&self) -> bool {
        self.unsent.len() <= 1
    }

    /// Returns the room in the last skb for data up to `goal` bytes.
    fn room(&self, snd_nxt: u64, goal: u64) -> u64 {
        let Some(last) = self.unsent.back().filter(|last| !last.eor) else {
            return 0;
        };
        let before = self.unsent.len().checked_sub(2);
        let start = before.map_or(snd_nxt, |index| self.unsent[index].end);
        goal.saturating_sub(last.end - start)
    }

    /// Adds an empty skb for data from `seq` on.
    fn begin_skb(&mut self, seq: u64) {
        self.unsent.push_back(WriteBuffer {
            end: seq,
            push: false,
            eor: false,
        });
    }

    /// Appends data to the last skb; the first data of a write clears its push flag.
    fn append(&mut self, bytes: u64, is_first: bool) {
        if let Some(last) = self.unsent.back_mut() {
            last.end += bytes;
            last.push &= !is_first;
        }
    }

    /// Sets the push flag of the last skb (the kernel's `tcp_mark_push`).
    fn mark_push(&mut self) {
        if let Some(last) = self.unsent.back_mut() {
            last.push = true;
            self.pushed_seq = last.end;
        }
    }

    /// Marks the end of the last skb as the end of a record.
    fn mark_eor(&mut self) {
        if let Some(last) = self.unsent.back_mut() {
            last.eor = true;
        }
    }

    /// Fills the first skb from the second for a burst that ends at `target` (the kernel's `tcp_grow_skb`).
    /// Returns the end of the first one, and its push flag; `None` if there is no data.
    pub(super) fn grow_head(&mut self, target: u64) -> Option<(u64, bool)> {
        if let (Some(&head), Some(&next)) = (self.unsent.front(), self.unsent.get(1))
            && head.end < target
            && !head.eor
        {
            let end = target.min(next.end);
            let takes_all = end == next.end;
            if takes_all {
                self.unsent.remove(1);
            }
            let push = head.push || takes_all && next.push;
            let eor = takes_all && next.eor;
            self.unsent[0] = WriteBuffer { end, push, eor };
        }
        self.unsent.front().map(|head| (head.end, head.push))
    }

    /// Splits the first skb at `end`, for a burst that has to wait (the kernel's `tso_fragment`).
    pub(super) fn tso_fragment(&mut self, end: u64) {
        if let Some(head) = self.unsent.front()
            && end < head.end
        {
            self.unsent.push_front(WriteBuffer {
                end,
                push: false,
                eor: false,
            });
        }
    }

    /// Removes the skbs whose data was sent.
    pub(super) fn remove_sent(&mut self, snd_nxt: u64) {
        while self.unsent.front().is_some_and(|head| head.end <= snd_nxt) {
            self.unsent.pop_front();
        }
    }
}

impl Sender {
    /// Accepts up to `bytes` from the application and sends what may be sent; returns the bytes accepted. An
    /// application that finds no room waits until a third of the buffer is free (the kernel's `tcp_sendmsg_locked`).
    pub(crate) fn write(&mut self, now: Instant, bytes: u64, flags: SendFlags) -> u64 {
        if self.seq.fin_queued {
            return 0;
        }
        self.set_now(now);
        let mut accepted = 0;
        while accepted < bytes {
            let filled = self.fill(now, bytes - accepted);
            if filled == 0 {
                break;
            }
            accepted += filled;
            let is_complete = accepted == bytes;
            if !(is_complete && flags == SendFlags::More) {
                self.buffer.mark_push();
            }
            if is_complete {
                if flags == SendFlags::Record {
                    self.buffer.mark_eor();
                }
                self.nagle.has_more = flags == SendFlags::More;
                self.transmit_as(now, Push::Pending);
                self.nagle.has_more = false;
            } else {
                self.transmit_as(now, Push::All);
                if self.buffer.nospace {
                    break;
                }
            }
        }
        accepted
    }

    /// Returns whether the application waits for room in the buffer.
    pub(crate) fn nospace(&self) -> bool {
        self.buffer.nospace
    }

    /// Sets the memory that the buffer may take, bytes, which then stays (`SO_SNDBUF`).
    pub(crate) fn set_send_buffer(&mut self, bytes: u64) {
        self.buffer.sndbuf = bytes;
        self.buffer.is_fixed = true;
    }

    /// Fills skbs until there is no memory for another one; returns the bytes accepted.
    fn fill(&mut self, now: Instant, bytes: u64) -> u64 {
        self.check_app_limited();
        let mut left = bytes;
        while left > 0 {
            let goal = self.xmit_size_goal();
            let mut room = self.buffer.room(self.seq.snd_nxt, goal);
            if room == 0 {
                if self.wmem_queued() >= self.buffer.sndbuf
                    || self.seq.unsent() >= self.notsent_lowat()
                {
                    self.buffer.nospace = true;
                    break;
                }
                self.buffer.begin_skb(self.seq.write_seq);
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
            if self.seq.write_seq > self.buffer.pushed_seq + self.seq.max_window / 2 {
                self.buffer.mark_push();
                self.transmit_as(now, Push::Full);
            } else if self.buffer.head_is_last() {
                self.transmit_as(now, Push::One);
            }
        }
        bytes - left
    }

    /// Returns the bytes of data in an skb: whole segments, at most half of the largest window that the peer
    /// has offered (the kernel's `tcp_xmit_size_goal`).
    fn xmit_size_goal(&self) -> u64 {
        let mss = u64::from(self.config.mss);
        let half = if self.seq.max_window > TINY_WINDOW {
            self.seq.max_window / 2
        } else {
            self.seq.max_window
        };
        let max_segments = self
            .config
            .settings
            .tso
            .segments()
            .map_or(u64::MAX, u64::from);
        (GSO_MAX_SIZE.min(half) / mss).min(max_segments).max(1) * mss
    }

    /// Retains data from `number` on, even if acknowledged.
    pub(crate) fn retain_from(&mut self, number: u64) {
        self.signals.retained_from = Some(number);
    }

    /// Returns the lowest sequence number whose data is retained.
    pub(super) fn retained_from(&self) -> u64 {
        let una = self.seq.snd_una;
        self.signals.retained_from.map_or(una, |from| from.min(una))
    }

    /// Returns the memory of the stored data, bytes (`sk_wmem_queued`). An unacknowledged burst is one skb.
    fn wmem_queued(&self) -> u64 {
        let skbs = self.board.bursts_out + self.buffer.unsent.len() as u64;
        self.seq.write_seq.saturating_sub(self.retained_from()) + skbs * BUFFER_OVERHEAD
    }

    /// Returns the unsent bytes at which the application has to wait, until half of them are left (`tcp_notsent_lowat`).
    fn notsent_lowat(&self) -> u64 {
        let lowat = self.config.settings.notsent_lowat;
        lowat.map_or(u64::MAX, units::Bytes::get)
    }

    /// Raises the limit to as many windows of data as the CCA needs (the kernel's `tcp_sndbuf_expand`).
    pub(super) fn expand_buffer(&mut self) {
        if self.buffer.is_fixed {
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
        self.buffer.sndbuf = self.buffer.sndbuf.max(target.min(max));
    }

    /// Wakes an application that waits for room if there is enough (the kernel's `tcp_check_space`).
    #[inline]
    pub(super) fn check_space(&mut self, now: Instant) {
        if self.buffer.nospace {
            self.new_space(now);
        }
    }

    /// Raises the limit if the window is not filled, and wakes the application if there is room (the kernel's
    /// `tcp_new_space`).
    fn new_space(&mut self, now: Instant) {
        if self.board.in_flight() < self.congestion.window.cwnd {
            self.expand_buffer();
            self.cwnd_usage.touch(now);
        }
        let wmem_queued = self.wmem_queued();
        let free = self.buffer.sndbuf.saturating_sub(wmem_queued);
        let has_backlog = 2 * self.seq.unsent() >= self.notsent_lowat();
        self.buffer.nospace = free == 0 || free < wmem_queued / 2 || has_backlog;
        if !self.buffer.nospace {
            self.stop_limit(now, SendLimit::SendBuffer);
        }
    }
}

#[cfg(test)]
mod tests;

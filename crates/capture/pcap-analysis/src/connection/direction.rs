//! Direction: the segments that one side of a connection sends, and the ACKs of the other side.

mod acks;
mod gaps;
mod probe;
mod resumption;
mod window;

use std::collections::VecDeque;

use tcp::{Flags, Segment};

use super::cca_inference::Reductions;
use super::counts::{Counts, PeakRate};
use super::delayed_ack::DelayedAcks;
use super::flight::{Flight, SentRange};
use super::ignored_duplicates::IgnoredDuplicates;
use super::interval::Interval;
use super::lateness::Lateness;
use super::limits::{Limit, LimitTimes};
use super::loss::{Loss, Repair};
use super::messages::Messages;
use super::queue_delay::QueueDelays;
use super::rtt::{Rtts, Sample};
use super::sender_clock::SenderClock;
use super::stalls::Stalls;
use super::timestamp_rtt::TimestampRtt;
use super::trains::{Arrival, Trains};
use super::undecided::Undecided;
use super::units::Units;
use crate::sequence;
use gaps::Gap;
use resumption::Resumption;

/// RTT between capture and sender below which both count as receiving ACKs at the same time, ns.
const AWAY_NS: u64 = 1_000_000;
/// Maximum number of stored losses that are not acknowledged.
const MAX_OPEN_LOSSES: usize = 1 << 16;
/// RTT that is assumed without a sample, ns.
const DEFAULT_RTT_NS: u64 = 100_000_000;
/// Maximum length of the options of a segment, which take some of the announced size, bytes.
const MAX_OPTIONS: u64 = 40;
/// Minimum silence of a sender whose reason is sought, ns: the shortest retransmission time-out of Linux.
const MIN_SILENCE_NS: u64 = 200_000_000;
/// Maximum number of segments per overtaken one at which SACK blocks report reordering rather than losses.
const MAX_SEGMENTS_PER_REORDERED: u64 = 100;

/// Kind of a segment with regard to its sequence numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SegmentKind {
    New,
    Retransmission,
    OutOfOrder,
    Probe,
    NoPayload,
}

impl SegmentKind {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Retransmission => "again",
            Self::OutOfOrder => "late",
            Self::Probe => "probe",
            Self::NoPayload => "empty",
        }
    }
}

/// State of one direction of a connection.
#[derive(Default)]
pub(super) struct Direction {
    pub(super) counts: Counts,
    /// Sequence number of the first payload byte.
    pub(super) base: Option<u64>,
    pub(super) flight: Flight,
    gaps: Vec<Gap>,
    resumption: Resumption,
    /// First probe of a closed window with the byte behind all others.
    probe: Option<SeenSegment>,
    /// RTT between the capture and the other side.
    pub(super) answers: Rtts,
    /// Delay of the queue between the capture and the other side.
    pub(super) queue: QueueDelays,
    /// Delay of the queue between the capture and this side.
    pub(super) near_queue: QueueDelays,
    /// Timestamps of this side that wait for their echo.
    pub(super) timestamp_rtt: TimestampRtt,
    pub(super) clock: SenderClock,
    pub(super) lateness: Lateness,
    /// RTT between the capture and this side, from its echoes of the other side's timestamps.
    pub(super) near: Rtts,
    pub(super) mss: Option<u16>,
    pub(super) scale: Option<u8>,
    /// Whether the capture cut off options of this side's SYN.
    pub(super) is_syn_cut: bool,
    pub(super) offers_sack: bool,
    pub(super) offers_ecn: bool,
    pub(super) has_timestamps: bool,
    pub(super) has_syn: bool,
    pub(super) used_sack: bool,
    /// Whether the capture cut off options of ACKs for this side's data, so that SACK blocks are missing.
    pub(super) are_acks_cut: bool,
    /// End of the data that were captured.
    captured_end: u64,
    /// Whether the scale of window fields is known.
    pub(super) is_scale_known: bool,
    /// Window that this side offers, bytes; `None` if its scale is unknown.
    pub(super) window: Option<u64>,
    /// Last window field, unscaled.
    window_field: u16,
    pub(super) window_min: Option<u64>,
    pub(super) window_max: u64,
    pub(super) closed_since: Option<u64>,
    pub(super) closed_ns: u64,
    pub(super) has_fin: bool,
    /// Whether the other side has sent a RST: it accepts no more data, so that nothing is lost.
    pub(super) is_refused: bool,
    /// Losses that the other side has not acknowledged.
    pub(super) open_losses: VecDeque<Loss>,
    /// Losses that the other side has acknowledged, before they are classified.
    pub(super) acked_losses: VecDeque<Loss>,
    /// Losses whose kind depends on the queue.
    pub(super) undecided: Undecided,
    pub(super) reductions: Reductions,
    pub(super) interval: Interval,
    pub(super) stalls: Stalls,
    /// First and last time of payload.
    pub(super) payload_ns: Option<(u64, u64)>,
    pub(super) messages: Messages,
    pub(super) units: Units,
    /// Trains of its data from the sender to the capture, and of their ACKs.
    pub(super) data_trains: Trains,
    pub(super) acked_trains: Trains,
    /// Payload of its last segment with any, bytes.
    pub(super) last_len: u32,
    last_ack: Option<u64>,
    /// Duplicate ACKs of the other side.
    duplicates: u64,
    /// Bytes that the last new ACK acknowledged and that were not captured.
    pub(super) last_missed: u64,
    /// Longest segment, bytes.
    pub(super) longest_segment: u64,
    /// End of the data in flight at the last duplicate ACK.
    reported_end: u64,
    /// Time without data in flight, ns.
    pub(super) empty_ns: u64,
    /// Time with data in flight, ns.
    pub(super) busy_ns: u64,
    /// Integral of the bytes in flight over time, byte ns.
    pub(super) flight_area: f64,
    /// Time in which data in flight filled the window, ns.
    pub(super) window_limited_ns: u64,
    pub(super) limits: LimitTimes,
    pub(super) in_flight_max: u64,
    /// Time up to which the integrals go, ns.
    integrated_ns: u64,
    /// Time since which data have been in flight without a pause, ns.
    pub(super) busy_since: Option<u64>,
    /// Time of the last ACK that left nothing in flight, ns.
    pub(super) acked_ns: u64,
    pub(super) peak: PeakRate,
    pub(super) delayed_acks: DelayedAcks,
    pub(super) ignored_duplicates: IgnoredDuplicates,
}

/// A captured segment with its time and unwrapped sequence numbers.
#[derive(Clone, Copy)]
pub(super) struct SeenSegment {
    pub(super) at_ns: u64,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) len: u32,
    pub(super) is_fin: bool,
    pub(super) timestamp: Option<u32>,
    pub(super) identification: u16,
    /// Lowest RTT between the capture and the sender, who does not know yet of later packets; 0 if unknown.
    pub(super) near_ns: u64,
    /// Smoothed RTT between the capture and the sender, with its queueing delay.
    pub(super) near_usual_ns: u64,
}

impl Direction {
    /// Returns the unwrapped sequence number of a segment; the first one initializes the direction.
    pub(super) fn unwrap_seq(&mut self, segment: &Segment) -> u64 {
        let syn = segment.flags.contains(Flags::SYN);
        let wire = segment.seq.wrapping_add(u32::from(syn));
        if self.base.is_some() {
            return sequence::near(self.flight.highest, wire);
        }
        let first = sequence::first(wire);
        self.base = Some(first);
        self.flight.begin(first);
        first
    }

    /// Returns whether payload is in flight, not only a FIN.
    pub(super) fn has_data_in_flight(&self) -> bool {
        let only_fin = self.has_fin && self.flight.bytes() == 1;
        !self.flight.is_empty() && !only_fin
    }

    /// Returns whether the application, and no ACK, decided when a segment passed at `at_ns`: the one before it was not
    /// full, and more than an RTT has passed without data of the other side, which it could answer.
    pub(super) fn was_application_limited(&self, at_ns: u64, receiver: &Self) -> bool {
        let last_ns = |side: &Self| side.payload_ns.map_or(0, |(_, last)| last);
        let rtt_ns = self.near.min_ns().unwrap_or(0);
        u64::from(self.last_len) < self.min_full_segment(receiver)
            && last_ns(receiver) < last_ns(self)
            && at_ns.saturating_sub(last_ns(self)) > rtt_ns + rtt_ns / 4
    }

    /// Returns the length from which a segment is full: the size that the receiver announced, without options.
    pub(super) fn min_full_segment(&self, receiver: &Self) -> u64 {
        receiver.mss.map_or(self.full_segment(), |mss| {
            u64::from(mss).saturating_sub(MAX_OPTIONS)
        })
    }

    /// Processes the timestamp of a segment with payload, before it counts: what ended the silence before it.
    /// `has_all_acks`: it echoes the latest timestamp of the other side.
    pub(super) fn on_silence(&mut self, value: u32, at_ns: u64, has_all_acks: bool) {
        let Some((_, last_ns)) = self.payload_ns else {
            return;
        };
        let silence_ns = at_ns.saturating_sub(last_ns);
        if silence_ns < MIN_SILENCE_NS {
            return;
        }
        let Some(held_ns) = self.clock.surplus_ns(value, at_ns) else {
            return;
        };
        if 2 * held_ns >= silence_ns {
            self.interval.held_ns += silence_ns;
        } else if has_all_acks && 4 * held_ns < silence_ns {
            self.interval.paused_ns += silence_ns;
        }
    }

    /// Adds new data to the trains on the way to the capture, by the times at which its sender sent them.
    pub(super) fn on_train_data(&mut self, segment: &SeenSegment, kind: SegmentKind) {
        let sent = segment
            .timestamp
            .and_then(|value| self.clock.sent_ns(value));
        match sent.filter(|_| kind == SegmentKind::New) {
            Some((sent_ns, tick_ns)) => {
                let arrival = Arrival {
                    sent_ns,
                    at_ns: segment.at_ns,
                    bytes: u64::from(segment.len),
                };
                self.data_trains.on_arrival(arrival, tick_ns);
            }
            None => self.data_trains.end(),
        }
    }

    /// Adds an RTT sample of the handshake, whose ACKs are never delayed.
    pub(super) fn add_handshake_rtt(&mut self, sample: Sample) {
        self.answers.add(sample);
        self.queue.add(sample);
        self.queue.add_recent(sample);
    }

    /// Adds the time since the last call to the integrals. `window` is the one that the other side offers.
    pub(super) fn integrate(&mut self, at_ns: u64, window: Option<u64>) {
        let from = core::mem::replace(&mut self.integrated_ns, at_ns);
        if from == 0 || self.payload_ns.is_none() {
            return;
        }
        let passed = at_ns.saturating_sub(from);
        if self.flight.is_empty() {
            self.empty_ns += passed;
            let is_closed = window == Some(0);
            let limit = if is_closed {
                Limit::ReceiveWindow
            } else {
                Limit::Idle
            };
            self.limits.add(limit, passed);
            self.interval.is_limited = true;
            return;
        }
        self.busy_ns += passed;
        let bytes = self.flight.bytes();
        self.flight_area += bytes as f64 * passed as f64;
        let outstanding = self.flight.highest.saturating_sub(self.flight.acked);
        if window.is_some_and(|window| outstanding + self.longest_segment > window) {
            self.window_limited_ns += passed;
            self.limits.add(Limit::ReceiveWindow, passed);
            self.interval.is_limited = true;
        } else if self.has_missing_segments() {
            self.limits.add(Limit::Recovery, passed);
        } else {
            self.limits.add(Limit::Network, passed);
        }
    }

    /// Returns whether segments are missing: retransmitted, or reported as missing on a path without reordering.
    fn has_missing_segments(&self) -> bool {
        let is_reordered =
            MAX_SEGMENTS_PER_REORDERED * self.counts.overtaken > self.counts.segments;
        !self.open_losses.is_empty()
            || !is_reordered && self.flight.highest_sacked > self.flight.acked
    }

    /// Processes a segment of this side with payload or FIN. `is_closed`: the other side's window is closed.
    pub(super) fn on_data(&mut self, segment: &SeenSegment, is_closed: bool) -> SegmentKind {
        let SeenSegment { start, end, .. } = *segment;
        if self.on_probe(segment, is_closed) {
            self.counts.keep_alives += 1;
            return SegmentKind::Probe;
        }
        self.count_probe(start);
        if self.counts.segments == 0 && segment.len > 0 && !self.has_syn {
            self.begin_midstream(start);
        }
        let highest = self.flight.highest;
        self.counts.segments += u64::from(segment.len > 0);
        if segment.len > 0 {
            self.limits.on_data();
            self.stalls.on_data(segment.at_ns, end);
        }
        self.longest_segment = self.longest_segment.max(u64::from(segment.len));
        let is_outage = segment.len > 0
            && self
                .resumption
                .on_data(segment, highest, self.longest_segment);
        self.captured_end = self.captured_end.max(end);
        if start >= highest {
            self.open_gap(segment, highest, is_outage);
            self.on_new_data(segment, highest.max(start), end);
            return SegmentKind::New;
        }
        let old_end = end.min(highest);
        let late_bytes = self.flight.on_late_capture(start, old_end);
        let kind = if late_bytes > 0 {
            self.on_late_capture(segment, late_bytes);
            SegmentKind::New
        } else if let Some(kind) = self.fill_gaps(segment, old_end) {
            kind
        } else {
            self.on_retransmission(segment, old_end);
            SegmentKind::Retransmission
        };
        if end > highest {
            self.on_new_data(segment, highest, end);
        }
        kind
    }

    /// Starts at the first payload of a capture that begins within the connection: earlier data does not count as missing.
    fn begin_midstream(&mut self, start: u64) {
        if start > self.flight.highest {
            self.flight.begin(start);
        }
        self.counts.missed = 0;
        self.last_missed = 0;
    }

    fn on_new_data(&mut self, segment: &SeenSegment, start: u64, end: u64) {
        if self.flight.is_empty() {
            self.busy_since = Some(segment.at_ns);
        }
        self.flight.push(start, end, segment.at_ns);
        let fresh = (end - start).min(u64::from(segment.len));
        self.counts.bytes += fresh;
        self.interval.bytes += fresh;
        let bytes = self.flight.bytes();
        self.in_flight_max = self.in_flight_max.max(bytes);
        self.interval.add_in_flight(bytes);
        self.reductions
            .on_new_data(segment.at_ns, bytes, self.longest_segment);
    }

    /// Processes a segment of which `late_bytes` were captured after their ACK.
    fn on_late_capture(&mut self, segment: &SeenSegment, late_bytes: u64) {
        let fresh = late_bytes.min(u64::from(segment.len));
        self.counts.captured_late += 1;
        self.counts.missed = self.counts.missed.saturating_sub(late_bytes);
        self.counts.bytes += fresh;
        self.interval.bytes += fresh;
    }

    fn on_retransmission(&mut self, segment: &SeenSegment, end: u64) {
        let SeenSegment { at_ns, start, .. } = *segment;
        self.counts.unanswered += 1;
        self.counts.oversize_retransmissions +=
            u64::from(u64::from(segment.len) > self.flight.longest_acked);
        self.counts.retransmissions += 1;
        let retransmitted = (end - start).min(u64::from(segment.len));
        self.counts.retransmitted_bytes += retransmitted;
        if self.is_refused {
            return;
        }
        self.interval.retransmitted += retransmitted;
        let outstanding = self.flight.highest.saturating_sub(self.flight.acked);
        let before = self.flight.on_retransmission(start, end, at_ns);
        let is_spurious = before.is_none_or(|sent| sent.is_sacked);
        if is_spurious {
            // A segment that was reordered and then retransmitted is reported once.
            self.acked_losses
                .retain(|loss| !loss.is_reordering || loss.start != start);
        }
        let before = before.or_else(|| self.flight.recently_acked_at(start));
        let sent = before.unwrap_or(SentRange::new(start, end, at_ns));
        let is_reported = self.is_reported(segment, sent.end, sent.last_ns);
        let repair = self.classify_repair(at_ns, sent.last_ns, is_reported);
        if repair == Repair::TimeOut {
            self.counts.timeouts += 1;
        }
        self.reductions
            .on_retransmission(repair != Repair::Fast, outstanding, self.flight.highest);
        self.add_loss(Loss {
            start: sent.start,
            end: end.min(sent.end).max(sent.start + 1),
            lost_ns: sent.last_ns,
            repaired_ns: at_ns,
            repair,
            is_reported,
            timestamp: segment.timestamp,
            spurious: is_spurious.then_some("it passed again after it had been acknowledged"),
            acked_ns: is_spurious.then_some(at_ns),
            ahead: sent
                .start
                .saturating_sub(self.base.unwrap_or(sent.start) + sent.delivered),
            ..Loss::default()
        });
    }

    /// Returns whether the sender of `segment` knew that the receiver had data behind `end`.
    fn is_reported(&self, segment: &SeenSegment, end: u64, sent_ns: u64) -> bool {
        let delay_ns = if segment.near_ns < AWAY_NS {
            0
        } else {
            segment.near_ns - segment.near_ns / 16
        };
        let known_ns = segment.at_ns.saturating_sub(delay_ns);
        self.flight.reported_until(known_ns) > end || self.has_duplicates_for(end, sent_ns)
    }

    /// Returns the way in which the sender detected a loss that it repaired at `at_ns`.
    fn classify_repair(&self, at_ns: u64, sent_ns: u64, is_reported: bool) -> Repair {
        let waited = at_ns.saturating_sub(self.stalls.last_ns().unwrap_or(sent_ns));
        let rtt = self.answers.smoothed_ns().unwrap_or(DEFAULT_RTT_NS);
        // Without SACK, only a duplicate ACK causes a retransmission before the time-out, and it does so at once.
        let max_reaction_ns = if self.used_sack {
            200_000_000
        } else {
            20_000_000
        };
        if is_reported && waited < rtt.max(max_reaction_ns) {
            Repair::Fast
        } else if !is_reported && waited < 190_000_000.max(rtt) {
            Repair::Probe
        } else {
            Repair::TimeOut
        }
    }

    /// Returns whether duplicate ACKs without SACK blocks report a missing segment before `end`, which passed at `sent_ns`.
    fn has_duplicates_for(&self, end: u64, sent_ns: u64) -> bool {
        (!self.used_sack || self.are_acks_cut)
            && self.reported_end > end
            && self.stalls.last_ns().is_some_and(|at| at > sent_ns)
    }

    fn add_loss(&mut self, mut loss: Loss) {
        let delays = self.delays(&loss);
        if let Some(sample) = delays.nearest_sample(loss.lost_ns, loss.start) {
            loss.queue.rtt_ns = Some(sample.rtt_ns);
            loss.queue.length = delays.length(&sample);
        }
        let outstanding = self.flight.highest.saturating_sub(self.flight.acked);
        loss.packets_in_flight = (outstanding / self.longest_segment.max(1)) as u32;
        if loss.acked_ns.is_some() {
            self.acked_losses.push_back(loss);
        } else {
            if self.open_losses.len() == MAX_OPEN_LOSSES {
                self.acked_losses.extend(self.open_losses.pop_front());
            }
            self.open_losses.push_back(loss);
        }
    }
}

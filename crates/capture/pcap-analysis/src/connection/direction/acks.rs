//! ACKs: the processing of the other side's acknowledgements of a direction's segments.

use tcp::{Flags, Segment};

use super::super::delayed_ack::LastAck;
use super::super::flight::{AckResult, SentRange};
use super::super::loss::Loss;
use super::super::rtt::Sample;
use super::super::trains::Arrival;
use super::Direction;
use crate::sequence;

/// Smallest full-sized segment, bytes: that without an announced size (RFC 9293 §3.7.1).
const MIN_FULL: u64 = 536;
/// Largest full-sized segment, bytes: that of Ethernet.
const MAX_FULL: u64 = 1_460;
/// Longest time for which a receiver holds back SACK blocks to report several segments at once, ns (Linux
/// `tcp_comp_sack_delay_ns`).
const COMPRESSION_NS: u64 = 1_000_000;
/// Distance of a SACK block from the cumulative acknowledgement that no data have, bytes.
const FAR_BYTES: u64 = 1 << 24;
/// Reason why a retransmission is spurious, if a D-SACK reports it.
const DSACK_REASON: &str = "the receiver reported it twice (D-SACK)";

impl Direction {
    /// Processes the acknowledgement in a segment of the other side. `min_full`: length from which a segment is full.
    pub(in crate::connection) fn acknowledge(
        &mut self,
        segment: &Segment,
        at_ns: u64,
        since_ns: u64,
        min_full: u64,
    ) {
        if self.base.is_none() {
            // Only ACKs of this direction are captured.
            let first = sequence::first(segment.ack);
            self.base = Some(first);
            self.flight.begin(first);
        }
        let ack = sequence::near(self.flight.highest, segment.ack);
        let far_ahead = ack > self.flight.highest.saturating_add(1 << 30);
        if far_ahead {
            return;
        }
        self.count_probe(ack);
        let previous = self.flight.acked;
        let is_outside = self.count_sack_outside(segment);
        let result = self.flight.on_ack(ack, &segment.sack, at_ns);
        // Without the handshake, what is beyond all captured data may have passed before the capture began.
        let earlier = if self.has_syn || self.counts.segments == 0 {
            0
        } else {
            ack.saturating_sub(self.captured_end.max(previous))
        };
        let missed = result.uncaptured.saturating_sub(earlier);
        self.counts.missed += missed;
        if result.advanced > 0 {
            self.last_missed = missed;
        }
        self.interval.acked += result.delivered;
        self.interval.add_in_flight(self.flight.bytes());
        if self.flight.is_empty() {
            self.interval.is_limited = true;
            if result.advanced > 0 {
                self.acked_ns = at_ns;
            }
        }
        self.peak.add(since_ns, result.delivered);
        let in_turns = segment.len > 0 || self.units.are_turns();
        if let Some(sample) = result.sample {
            // A capture that began later may have delayed ACKs and ACKs of the other side's data alone.
            let min_ns = self.queue.min_ns().or(self.answers.min_ns());
            let delay_ns = sample.rtt_ns.saturating_sub(min_ns.unwrap_or(u64::MAX));
            let is_alone = segment.len == 0 && result.advanced <= self.full_segment();
            let is_alone = is_alone && !result.is_selective;
            // It ends a message, which its receiver reads.
            let ends_message = result.advanced < min_full || self.flight.is_empty();
            if is_alone && ends_message && min_ns.is_some() && !in_turns {
                self.delayed_acks.on_message(delay_ns);
            }
            if is_alone && self.flight.is_empty() {
                self.delayed_acks.on_ack(LastAck {
                    at_ns,
                    rtt_ns: sample.rtt_ns,
                    delay_ns,
                    bytes: result.advanced,
                });
            }
            self.answers.add(sample);
        }
        if let Some(sample) = self.undelayed_sample(segment, &result, min_full) {
            self.interval.add_rtt(sample);
            // During an outage more can wait than the queue of the path holds.
            if !self.stalls.is_in_latest(sample.at_ns) {
                self.queue.add(sample);
            }
            self.queue
                .add_recent(self.uncompressed_sample(sample, &result));
        }
        for sent in &result.reordered {
            self.add_reordering(sent, at_ns);
        }
        if !is_outside {
            self.on_dsack(segment, ack);
        }
        if ack > previous {
            let full_segment = self.full_segment();
            // What may have been held back, until later data too, is dated by the RTT beside it, or else by the longest
            // time for which it was: what is beyond that waited in a queue.
            let released_ns = at_ns - self.delayed_acks.max_held_ns(in_turns).min(at_ns);
            let acked_ns = |last_ns: u64, end: u64| {
                if segment.len == 0 && end > previous + full_segment {
                    return at_ns;
                }
                let arrived_ns = match self.queue.nearest_sample(last_ns, end) {
                    Some(beside) => last_ns + beside.rtt_ns,
                    None => {
                        let least_ns = self.queue.min_ns().map(|min_ns| last_ns + min_ns);
                        least_ns.map_or(at_ns, |least_ns| least_ns.max(released_ns))
                    }
                };
                arrived_ns.min(at_ns)
            };
            self.units.on_ack(ack, at_ns, acked_ns);
            match result.sample.filter(|_| !result.is_selective) {
                Some(sample) => {
                    let arrival = Arrival {
                        sent_ns: sample.at_ns,
                        at_ns,
                        bytes: result.advanced,
                    };
                    self.acked_trains.on_arrival(arrival, 0);
                }
                None => self.acked_trains.end(),
            }
            self.ignored_duplicates.on_advance();
            self.gaps.retain(|gap| gap.end > ack);
            let rtt = self.answers.smoothed_ns().unwrap_or(0);
            self.reductions
                .on_ack(at_ns, ack, rtt, self.longest_segment);
            self.acknowledge_losses(segment, previous, ack, at_ns);
        }
    }

    /// Returns the RTT sample of an ACK without the time in which the receiver may have held it back.
    ///
    /// An ACK of more than one full-sized segment was not held back (RFC 9293 §3.8.6.3: "an ACK SHOULD be generated for at
    /// least every second full-sized segment"). One segment alone waits until the next one comes, which is as long as
    /// the next one passed later; if none passed, until a timer ends. Of one that is not full, no longer than its host
    /// holds ACKs. SACK blocks for several segments at once may have waited as well. An ACK with payload waits for the
    /// application.
    fn undelayed_sample(
        &self,
        segment: &Segment,
        result: &AckResult,
        min_full: u64,
    ) -> Option<Sample> {
        let sample = result.sample?;
        let full_segment = self.full_segment();
        let held = |held_ns: u64| {
            let rtt_ns = sample.rtt_ns.saturating_sub(held_ns);
            // Nothing was faster than the lowest RTT so far, unless this ACK was as well.
            let lowest_ns = self.queue.min_ns().unwrap_or(sample.rtt_ns);
            let rtt_ns = rtt_ns.max(lowest_ns.min(sample.rtt_ns));
            Sample { rtt_ns, ..sample }
        };
        if result.is_selective {
            let is_held = result.delivered > full_segment;
            return Some(held(if is_held { COMPRESSION_NS } else { 0 }));
        }
        if segment.len > 0 {
            return None;
        }
        if result.advanced > full_segment {
            return Some(sample);
        }
        let max_held_ns = if result.advanced < min_full {
            self.delayed_acks.max_held_ns(self.units.are_turns())
        } else {
            u64::MAX
        };
        let followed_ns = result.followed_after_ns?;
        Some(held(followed_ns.min(max_held_ns)))
    }

    /// Returns the likely RTT of several segments in SACK blocks, for which [`Self::undelayed_sample`] returns a lower bound:
    /// the first one waited longest, and the sample is of the newest one.
    fn uncompressed_sample(&self, undelayed: Sample, result: &AckResult) -> Sample {
        let others = (result.delivered / self.full_segment()).saturating_sub(1);
        match result.sample {
            Some(sample) if result.is_selective && others > 0 => {
                let waited_ns = COMPRESSION_NS.saturating_sub(others * self.packet_ns());
                let rtt_ns = sample.rtt_ns.saturating_sub(waited_ns);
                Sample {
                    rtt_ns: rtt_ns.max(undelayed.rtt_ns),
                    ..sample
                }
            }
            _ => undelayed,
        }
    }

    /// Returns the length of the segment of which a receiver delays the ACK.
    pub(super) fn full_segment(&self) -> u64 {
        self.longest_segment.clamp(MIN_FULL, MAX_FULL)
    }

    /// Counts an ACK with SACK blocks that no data of this direction can have; returns whether it is such an ACK. Its
    /// blocks are ignored, but it counts as a duplicate ACK.
    fn count_sack_outside(&mut self, segment: &Segment) -> bool {
        let far = FAR_BYTES.max(2 * self.in_flight_max);
        let is_far = |(left, _): &(u32, u32)| {
            sequence::near(self.flight.highest, *left).abs_diff(self.flight.acked) > far
        };
        let is_outside = self.counts.segments > 0 && segment.sack.as_slice().iter().any(is_far);
        self.counts.sack_outside += u32::from(is_outside);
        is_outside
    }

    /// Adds a segment that was overtaken, as an ACK shows.
    fn add_reordering(&mut self, sent: &SentRange, at_ns: u64) {
        self.counts.overtaken += 1;
        self.add_loss(Loss {
            start: sent.start,
            end: sent.end,
            lost_ns: sent.last_ns,
            repaired_ns: at_ns,
            is_reported: true,
            is_reordering: true,
            acked_ns: Some(at_ns),
            ..Loss::default()
        });
    }

    /// Processes a D-SACK, a first block below the acknowledgement or within the second one (RFC 2883 §4): it marks
    /// retransmissions as spurious.
    fn on_dsack(&mut self, segment: &Segment, ack: u64) {
        let [first, rest @ ..] = segment.sack.as_slice() else {
            return;
        };
        self.used_sack = true;
        let edge = |wire| sequence::near(self.flight.highest, wire);
        let (left, right) = (edge(first.0), edge(first.1));
        let is_within = rest
            .first()
            .is_some_and(|outer| edge(outer.0) <= left && right <= edge(outer.1));
        if right > ack && !is_within {
            return;
        }
        // Of several retransmissions of a segment the last one was spurious. One block can report several segments.
        let mut reported = left;
        while reported < right {
            let all = self
                .open_losses
                .iter_mut()
                .chain(self.acked_losses.iter_mut());
            let is_candidate = |loss: &&mut Loss| {
                let overlaps = loss.start < right && reported < loss.end;
                overlaps && !loss.is_reordering && loss.spurious != Some(DSACK_REASON)
            };
            let Some(loss) = all
                .filter(is_candidate)
                .min_by_key(|loss| (loss.start, u64::MAX - loss.repaired_ns))
            else {
                return;
            };
            loss.spurious = Some(DSACK_REASON);
            reported = loss.end;
        }
    }

    /// Moves the losses that an ACK covers to the acknowledged ones, and detects spurious retransmissions by timestamps.
    fn acknowledge_losses(&mut self, segment: &Segment, previous: u64, ack: u64, at_ns: u64) {
        if self.open_losses.is_empty() {
            return;
        }
        let echoed = segment.timestamps.map(|(_, echo)| echo);
        let mut open = core::mem::take(&mut self.open_losses);
        open.retain_mut(|loss| {
            if loss.end > ack {
                return true;
            }
            loss.acked_ns = Some(at_ns);
            let is_first = loss.start <= previous;
            if let (Some(sent), Some(echo), true) = (loss.timestamp, echoed, is_first)
                && !loss.is_upstream
                && sequence::older(echo, sent)
            {
                let reason = "the ACK echoes an earlier timestamp (Eifel)";
                loss.spurious.get_or_insert(reason);
            }
            self.acked_losses.push_back(*loss);
            false
        });
        self.open_losses = open;
    }

    /// Counts an ACK of the other side if it is a duplicate (RFC 5681 §2); returns whether it is.
    pub(in crate::connection) fn count_duplicate_ack(
        &mut self,
        segment: &Segment,
        is_window_same: bool,
        at_ns: u64,
    ) -> bool {
        let control = Flags::SYN | Flags::FIN | Flags::RST;
        let is_pure_ack = segment.len == 0 && segment.flags.bits() & control.bits() == 0;
        let ack = sequence::near(self.flight.highest, segment.ack);
        let is_same = self.last_ack.replace(ack) == Some(ack);
        let is_duplicate = is_pure_ack && is_same && is_window_same && !self.flight.is_empty();
        if is_duplicate {
            self.reported_end = self.flight.highest;
            self.ignored_duplicates.on_duplicate(at_ns);
            self.duplicates += 1;
        }
        is_duplicate
    }
}

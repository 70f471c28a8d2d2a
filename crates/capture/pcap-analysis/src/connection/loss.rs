//! Loss: a segment that was retransmitted or reordered, and the rules that decide its kind.
//!
//! The rules are tried in this order; the first that holds decides.
//!
//! 1. *spurious*, by one of three signs: the receiver reports a duplicate (D-SACK, RFC 2883); the ACK for the first segment
//!    in flight echoes a timestamp from before the retransmission (Eifel, RFC 3522); the segment was retransmitted after
//!    its ACK.
//! 2. *reordering*: later segments were reported first, and the segment was acknowledged without a retransmission.
//! 3. *outage*: the segment was sent during a stall, a silence of the receiver for 200 ms and two RTTs in which three
//!    segments got no answer, and which did not end with the ACK of its retransmission, an RTT later. Or up to an RTT
//!    before it, and the receiver had reported nothing later. Before the capture: the sender was silent as long, and went
//!    on after a time-out (`direction::resumption`).
//! 4. *tail*: no later segment had been reported when it was retransmitted.
//! 5. *congestion*: the queue was full at the time, or many segments were lost with it (`full_queue`).
//! 6. *random*: anything else.

use strum::{IntoStaticStr, VariantNames};

use crate::tables::LossRow;

use super::full_queue::QueueEvidence;
use super::queue_delay::Length;

/// Names of the kinds of losses in the table of losses.
pub const LOSS_KINDS: &[&str] = Kind::VARIANTS;

/// Kind of a loss.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Kind {
    Congestion,
    Random,
    Outage,
    Tail,
    Spurious,
    Reordering,
}

impl Kind {
    /// Returns the name in the table of losses.
    fn name(self) -> &'static str {
        self.into()
    }
}

/// Way in which the sender detected a loss.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) enum Repair {
    Fast,
    Probe,
    TimeOut,
    #[default]
    None,
}

impl Repair {
    fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Probe => "probe",
            Self::TimeOut => "time-out",
            Self::None => "none",
        }
    }
}

/// Queue in which a segment was lost.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Queue {
    /// RTT of the nearest segment with a sample, ns.
    pub(super) rtt_ns: Option<u64>,
    /// Length of the queue that the segment met.
    pub(super) length: Length,
    /// Greatest length at about that time.
    pub(super) max_length: Length,
}

/// A loss, with the observations by which its kind is decided.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Loss {
    pub(super) start: u64,
    pub(super) end: u64,
    /// Time at which the segment passed, or at which its gap showed, ns.
    pub(super) lost_ns: u64,
    pub(super) repaired_ns: u64,
    pub(super) repair: Repair,
    /// Whether it was lost between sender and capture.
    pub(super) is_upstream: bool,
    /// Whether the receiver had reported later segments when it passed again.
    pub(super) is_reported: bool,
    pub(super) queue: Queue,
    /// Timestamp of the retransmission.
    pub(super) timestamp: Option<u32>,
    /// Reason why the retransmission was spurious.
    pub(super) spurious: Option<&'static str>,
    pub(super) is_reordering: bool,
    /// Whether its sender was silent, and went on after a time-out.
    pub(super) is_outage: bool,
    pub(super) acked_ns: Option<u64>,
    /// Other losses that passed within an RTT around it.
    pub(super) losses_nearby: u32,
    /// Other losses among the segments right before and behind it that were sent at once.
    pub(super) losses_beside: u32,
    /// Packets in flight at the retransmission.
    pub(super) packets_in_flight: u32,
    /// Bytes in flight before the segment when it passed.
    pub(super) ahead: u64,
}

/// Kind of a loss, the confidence, and the rule that decided it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Judgement {
    pub(super) kind: Kind,
    confidence: f64,
    reason: &'static str,
}

impl Judgement {
    fn new(kind: Kind, confidence: f64, reason: &'static str) -> Self {
        Self {
            kind,
            confidence,
            reason,
        }
    }
}

impl Loss {
    /// Returns the judgement by the rules that need no queue. `stall_end` is the end of the stall in which the segment
    /// passed, ns.
    pub(super) fn classify(&self, stall_end: Option<u64>, rtt_ns: u64) -> Option<Judgement> {
        if let Some(reason) = self.spurious {
            return Some(Judgement::new(Kind::Spurious, 0.95, reason));
        }
        if self.is_reordering {
            let reason = "it came after later segments and did not pass again";
            return Some(Judgement::new(Kind::Reordering, 0.9, reason));
        }
        if self.is_outage {
            let reason = "its sender was silent, and went on after a time-out";
            return Some(Judgement::new(Kind::Outage, 0.8, reason));
        }
        // A segment that was lost before the capture and repaired at once was lost in no outage.
        let can_be_outage = !self.is_upstream || self.repair == Repair::TimeOut;
        if can_be_outage && stall_end.is_some_and(|until| !self.explains(until, rtt_ns)) {
            let reason = "nothing came from the receiver for long when it passed";
            return Some(Judgement::new(Kind::Outage, 0.8, reason));
        }
        if !self.is_reported {
            let reason = "no later segment had been reported when it passed again";
            return Some(Judgement::new(Kind::Tail, 0.8, reason));
        }
        None
    }

    /// Returns the judgement by the queue; `false_discovery_rate` is the probability that a loss at a full queue is
    /// random.
    pub(super) fn judge_queue(
        &self,
        evidence: QueueEvidence,
        false_discovery_rate: f64,
    ) -> Judgement {
        match evidence {
            QueueEvidence::Burst => {
                Judgement::new(Kind::Congestion, 0.7, "many segments were lost with it")
            }
            QueueEvidence::Full { is_burst: true } => {
                let reason = "many segments were lost with it in a full queue";
                Judgement::new(Kind::Congestion, 0.7, reason)
            }
            QueueEvidence::Unknown => Judgement::new(Kind::Random, 0.3, "no RTT tells of a queue"),
            QueueEvidence::Full { .. } if false_discovery_rate <= 0.5 => {
                let confidence = 1.0 - false_discovery_rate;
                Judgement::new(Kind::Congestion, confidence, "the queue beside it was full")
            }
            QueueEvidence::Full { .. } => {
                let reason = "the queue beside it was no longer than usual";
                Judgement::new(Kind::Random, false_discovery_rate, reason)
            }
            QueueEvidence::Short => {
                let confidence = (1.0 - self.queue.delay_share().unwrap_or(0.0)).clamp(0.5, 0.95);
                Judgement::new(Kind::Random, confidence, "the queue beside it was short")
            }
        }
    }

    /// Returns whether the loss itself explains a stall: the stall ended one RTT after the repair.
    fn explains(&self, until_ns: u64, rtt_ns: u64) -> bool {
        let answer = until_ns.saturating_sub(self.repaired_ns);
        (rtt_ns * 4 / 5..=rtt_ns * 2).contains(&answer)
    }

    /// Returns the row of the loss. `begin_ns` is the start of the connection, `base` the first sequence number of the
    /// direction.
    pub(super) fn row(
        &self,
        judgement: Judgement,
        connection: u32,
        is_uplink: bool,
        begin_ns: u64,
        base: u64,
    ) -> LossRow {
        let since = |at: u64| at.saturating_sub(begin_ns) as f64 / 1e9;
        LossRow {
            connection,
            up: u32::from(is_uplink),
            t_s: since(self.lost_ns),
            repaired_s: since(self.repaired_ns),
            seq: self.start.saturating_sub(base),
            len: (self.end - self.start) as u32,
            kind: judgement.kind.name().to_owned(),
            repair: self.repair.name().to_owned(),
            is_upstream: u32::from(self.is_upstream),
            ahead_bytes: self.ahead,
            rtt_ms: self.queue.rtt_ns.map_or(f64::NAN, |rtt| rtt as f64 / 1e6),
            queue: self.queue.delay_share().unwrap_or(f64::NAN),
            confidence: judgement.confidence,
            reason: judgement.reason.to_owned(),
        }
    }
}

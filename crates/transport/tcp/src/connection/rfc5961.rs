//! Validity of incoming segments against blind attacks (RFC 5961).

use units::Instant;

use super::{Connection, Failure, State};
use crate::segment::{Flags, Segment};
use crate::sequence::unwrap;

impl Connection {
    /// Handles a reset. Only one at the expected number counts; another one inside the window is challenged (RFC 5961
    /// §3.2).
    pub(super) fn on_reset(&mut self, now: Instant, seq: u64) {
        let Some(receiver) = &mut self.receiver else {
            return;
        };
        if seq == receiver.rcv_nxt {
            self.fail(match self.state {
                State::SynReceived => Failure::Refused,
                State::CloseWait => Failure::Pipe,
                _ => Failure::Reset,
            });
        } else if receiver.is_acceptable(seq, 0) {
            self.challenge(now);
        }
    }

    /// Handles a SYN of an existing connection, which is challenged (RFC 5961 §4.2). It may be the SYN-ACK again,
    /// whose ACK was lost, or the SYN again, whose SYN-ACK was lost.
    pub(super) fn on_syn_established(&mut self, now: Instant, seq: u64) {
        let first = self
            .receiver
            .as_ref()
            .is_some_and(|receiver| seq + 1 == receiver.rcv_nxt);
        if self.state == State::SynReceived && first {
            self.retransmit_synack(now);
        } else {
            self.challenge(now);
        }
    }

    /// Returns whether the acknowledgement could be one of ours; a segment with another one is dropped, and challenged
    /// if it has one (RFC 5961 §5.2).
    pub(super) fn is_ack_plausible(&mut self, now: Instant, segment: &Segment) -> bool {
        if !segment.flags.contains(Flags::ACK) {
            return false;
        }
        let una = self.sender.seq.snd_una;
        let ack = unwrap(una, segment.ack);
        if self.state == State::SynReceived {
            let expected = ack == self.iss + 1;
            if !expected {
                self.reset_unexpected(segment);
            }
            return expected;
        }
        let plausible = ack <= self.sender.seq.snd_nxt && ack + self.sender.seq.max_window >= una;
        if !plausible {
            self.challenge(now);
        }
        plausible
    }

    /// Sends an ACK that the peer would answer by a reset if it knew nothing of the connection.
    fn challenge(&mut self, now: Instant) {
        if let Some(receiver) = &mut self.receiver {
            receiver.acknowledge_now();
        }
        self.flush(now);
    }
}

//! Protection against blind attacks: resets, SYNs and ACK numbers are checked (RFC 5961).

use units::Instant;

use super::{Connection, Failure, State};
use crate::segment::{Flags, Segment};
use crate::sequence::unwrap;

impl Connection {
    /// Handles a reset. Only one at `rcv_nxt` counts; another one within the window gets a challenge ACK (RFC 5961 §3.2).
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
            self.send_challenge_ack(now);
        }
    }

    /// Handles a SYN of an existing connection, which gets a challenge ACK (RFC 5961 §4.2), unless it is the first SYN
    /// again, whose SYN-ACK was lost.
    pub(super) fn on_syn_established(&mut self, now: Instant, seq: u64) {
        let is_first_syn = self
            .receiver
            .as_ref()
            .is_some_and(|receiver| seq + 1 == receiver.rcv_nxt);
        if self.state == State::SynReceived && is_first_syn {
            self.retransmit_synack(now);
        } else {
            self.send_challenge_ack(now);
        }
    }

    /// Returns whether the ACK number is acceptable (RFC 5961 §5.2). A segment without one is not; an unacceptable number
    /// gets a challenge ACK, or a reset in SYN-RECEIVED.
    pub(super) fn check_ack(&mut self, now: Instant, segment: &Segment) -> bool {
        if !segment.flags.contains(Flags::ACK) {
            return false;
        }
        let una = self.sender.seq.snd_una;
        let ack = unwrap(una, segment.ack);
        if self.state == State::SynReceived {
            let is_expected = ack == self.iss + 1;
            if !is_expected {
                self.reset_unexpected(segment);
            }
            return is_expected;
        }
        let is_acceptable =
            ack <= self.sender.seq.snd_nxt && ack + self.sender.seq.max_window >= una;
        if !is_acceptable {
            self.send_challenge_ack(now);
        }
        is_acceptable
    }

    /// Sends an ACK, which a peer without the connection answers by a reset.
    fn send_challenge_ack(&mut self, now: Instant) {
        if let Some(receiver) = &mut self.receiver {
            receiver.acknowledge_now();
        }
        self.flush(now);
    }
}

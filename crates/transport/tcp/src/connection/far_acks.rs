//! Far acknowledgements: the TCP option of AS-TCP, at both ends of a leg (Kim 2016, section 5.5).
//!
//! A host in the middle acknowledges data like any receiver, so that the window of the sender advances. With the option
//! it also reports what the far end has. The sender retains its data until then.
//!
//! The publication does not cover the loss of the last far acknowledgement. Here the sender probes for it after an RTO,
//! and after twice the wait each further time. The probe is a segment like a keep-alive of Linux: without data, before
//! the next expected number.

use units::Instant;

use super::{Connection, Failure};
use crate::segment::{FAR_ACK_OPTION, FarAck, Segment};
use crate::sequence::unwrap;

/// Far acknowledgements of one connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct FarAcks {
    /// Kind of the option.
    kind: u8,
    /// Whether this end is a host in the middle, which forwards the data to a far end.
    is_middle: bool,
    /// Whether this end, and whether the peer, sends far ACKs (negotiated).
    sends: bool,
    receives: bool,
    /// Payload that the far end behind this host has, and the part of it that was reported to the peer, bytes.
    confirmed: u64,
    sent_to: u64,
    /// Payload of this end that the far end behind the peer has, bytes.
    received_to: u64,
    /// Probes since the last far ACK, those of them without an answer, and the time of the next.
    probes: u32,
    probes_unacked: u32,
    probe_at: Instant,
}

impl FarAcks {
    fn new(kind: u8, is_middle: bool) -> Self {
        Self {
            kind,
            is_middle,
            sends: false,
            receives: false,
            confirmed: 0,
            sent_to: 0,
            received_to: 0,
            probes: 0,
            probes_unacked: 0,
            probe_at: Instant::NEVER,
        }
    }
}

impl Connection {
    /// Makes the connection negotiate far ACKs, with the option `kind`, as the sending host: it retains its data until
    /// the far end has it. Call it before the handshake.
    pub fn accept_far_acks(&mut self, kind: u8) {
        self.far_acks = Some(FarAcks::new(kind, false));
    }

    /// Makes the connection negotiate far ACKs, with the option `kind`, as a host in the middle: it reports the data that
    /// is [confirmed](Self::confirm). Call it before the handshake.
    pub fn send_far_acks(&mut self, kind: u8) {
        self.far_acks = Some(FarAcks::new(kind, true));
    }

    /// Returns whether this end sends far ACKs (negotiated).
    pub fn sends_far_acks(&self) -> bool {
        self.far_acks.is_some_and(|far| far.sends)
    }

    /// Returns whether a far acknowledgement is due.
    pub fn far_ack_due(&self) -> bool {
        self.far_acks
            .is_some_and(|far| far.sends && far.confirmed > far.sent_to)
    }

    /// Returns the payload bytes of the peer that are covered by far ACKs sent to it.
    pub fn far_acked(&self) -> u64 {
        self.far_acks.map_or(0, |far| far.sent_to)
    }

    /// Returns the payload bytes that have reached their reader, as far as this end knows: those that far ACKs cover, or
    /// ACKs if the peer sends no far ACKs.
    pub fn delivered(&self) -> u64 {
        let acknowledged = self.acknowledged();
        match &self.far_acks {
            Some(far) if far.receives => far.received_to.min(acknowledged),
            _ => acknowledged,
        }
    }

    /// Returns the option for a SYN or SYN-ACK.
    pub(super) fn far_ack_offer(&self) -> Option<FarAck> {
        self.far_acks.map(|far| FarAck {
            kind: far.kind,
            number: u32::from(far.is_middle),
        })
    }

    /// Processes the option of the peer's SYN or SYN-ACK. Without it, or if no end is a host in the middle, there are no
    /// far ACKs.
    pub(super) fn agree_on_far_acks(&mut self, segment: &Segment) {
        let Some(far) = &mut self.far_acks else {
            return;
        };
        if let Some(offer) = segment.far_ack.filter(|offer| offer.kind == far.kind) {
            (far.sends, far.receives) = (far.is_middle, offer.number == 1);
        }
        if !(far.sends || far.receives) {
            self.far_acks = None;
            return;
        }
        if far.receives {
            self.sender.retain_from(self.iss + 1);
        }
        if let Some(receiver) = &mut self.receiver
            && far.sends
        {
            receiver.reserve_option_space();
        }
    }

    /// Notes that the far end has the first `bytes` of the payload.
    pub(super) fn note_far_progress(&mut self, bytes: u64) {
        if let Some(far) = &mut self.far_acks {
            far.confirmed = far.confirmed.max(bytes);
        }
    }

    /// Returns the option for a segment with `len` bytes of payload, if a far ACK is due and fits; it counts as sent.
    pub(super) fn take_far_ack(&mut self, len: u32) -> Option<FarAck> {
        let fits = len + FAR_ACK_OPTION <= self.config.mss;
        if !fits || !self.far_ack_due() {
            return None;
        }
        let first = self.receiver.as_ref()?.first;
        let far = self.far_acks.as_mut()?;
        far.sent_to = far.confirmed;
        Some(FarAck {
            kind: far.kind,
            number: (first + far.confirmed) as u32,
        })
    }

    /// Repeats the far ACK with the next ACK, because the peer has probed.
    pub(super) fn repeat_far_ack(&mut self) {
        if let Some(far) = &mut self.far_acks {
            far.sent_to = 0;
        }
    }

    /// Handles the option of a segment. Returns whether it acknowledges new data.
    pub(super) fn on_far_ack(&mut self, segment: &Segment) -> bool {
        let (una, next) = (self.sender.seq.snd_una, self.sender.seq.snd_nxt);
        let Some(far) = self.far_acks.as_mut().filter(|far| far.receives) else {
            return false;
        };
        far.probes_unacked = 0;
        let Some(option) = segment.far_ack.filter(|option| option.kind == far.kind) else {
            return false;
        };
        let number = unwrap(una, option.number);
        let bytes = number.saturating_sub(self.iss + 1);
        if number > next || bytes <= far.received_to {
            return false;
        }
        far.received_to = bytes;
        far.probes = 0;
        far.probe_at = Instant::NEVER;
        self.sender.retain_from(number);
        true
    }

    /// Schedules a probe if the peer has all data and the far end may not.
    pub(super) fn schedule_probe(&mut self, now: Instant) {
        if self.far_acks.is_none() {
            return;
        }
        let rto = self.sender.rto();
        let needs_probe = self.sender.seq.all_acked() && self.delivered() < self.acknowledged();
        let max_rto = self.config.max_rto;
        let Some(far) = &mut self.far_acks else {
            return;
        };
        if !needs_probe {
            far.probe_at = Instant::NEVER;
        } else if far.probe_at == Instant::NEVER {
            far.probe_at = now + (rto * (1 << far.probes.min(16))).min(max_rto);
        }
    }

    /// Returns the time of the next probe.
    pub(super) fn next_probe_at(&self) -> Instant {
        self.far_acks.map_or(Instant::NEVER, |far| far.probe_at)
    }

    /// Probes for a far ACK. The connection times out after as many unanswered probes as data has retransmissions.
    pub(super) fn probe_far_end(&mut self, now: Instant) {
        let retries = self.config.retries;
        let Some(far) = self.far_acks.as_mut().filter(|far| far.probe_at <= now) else {
            return;
        };
        far.probe_at = Instant::NEVER;
        far.probes += 1;
        far.probes_unacked += 1;
        if far.probes_unacked > retries {
            self.fail(Failure::TimedOut);
            return;
        }
        self.send_probe(now);
        self.schedule_probe(now);
    }

    /// Sends a segment without data that the peer has to answer (the kernel's `tcp_xmit_probe_skb`).
    pub(super) fn send_probe(&mut self, now: Instant) {
        let seq = (self.sender.seq.snd_una - 1) as u32;
        let ack = self.current_ack(now);
        self.out.extend(ack.map(|ack| Segment { seq, ..ack }));
    }
}

//! Observer of the recorder: measures packets at the taps, bottlenecks and the radio.

use ::radio::ran::{ConnectionEvent, ControlRecord, TtiRecord, UserId};
use net::{DropReason, HostId, LinkId, Observer, Packet};
use results::Ack;
use tcp::Flags;
use units::Instant;

use crate::{Recorder, radio};

impl Recorder {
    /// Counts payload dropped by a reset tracker.
    fn count_suppressed(&mut self, packet: &Packet) {
        let Some(segment) = packet.segment() else {
            return;
        };
        let watched = &mut self.watched[packet.flow as usize];
        if watched.record.waste.abandoned && packet.destination == watched.hosts.1 {
            watched.record.waste.suppressed += u64::from(segment.len);
        }
    }

    /// Counts a data segment that was dropped.
    fn count_drop(&mut self, at: Instant, packet: &Packet, reason: DropReason) {
        let Some(segment) = packet.segment().filter(|segment| segment.len > 0) else {
            return;
        };
        let watched = &mut self.watched[packet.flow as usize];
        if packet.destination == watched.hosts.1
            && let Some(seq) = watched.stream.acknowledgement(segment.seq)
        {
            let meter = &watched.record.meter;
            watched.recoveries.dropped(at, seq, reason, meter);
        }
    }

    /// Keeps the delay of a packet of the uplink.
    #[cold]
    fn log_uplink(&mut self, link: LinkId, packet: &Packet, start: Instant) {
        let index = self.bottlenecks.of_link(link);
        if let Some(index) = index.filter(|index| self.bottlenecks.is_uplink(*index))
            && packet.segment().is_some()
        {
            let ue = self.bottlenecks.number(index);
            self.tables.uplink.push(radio::uplink(start, ue, packet));
        }
    }
}

impl Observer for Recorder {
    fn on_sent(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let Some(segment) = packet.segment() else {
            return;
        };
        let watched = &mut self.watched[packet.flow as usize];
        if host != watched.hosts.0 {
            if host == watched.hosts.1 && segment.flags.contains(Flags::RST) {
                watched.record.waste.resets += 1;
            }
            return;
        }
        watched.far_acks.sent(segment);
        if segment.len == 0 {
            return;
        }
        let seq = watched.stream.segment(segment.seq);
        watched.record.meter.data_sent(at, seq, segment.len);
        watched.recoveries.sent(seq);
        if let Some(fates) = &mut self.fates {
            fates.sent(at, packet, (seq, segment.len));
        }
    }

    fn on_received(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let Some(segment) = packet.segment() else {
            return;
        };
        let watched = &mut self.watched[packet.flow as usize];
        let meter = &mut watched.record.meter;
        if host == watched.hosts.1 {
            if segment.len > 0 {
                meter.data_arrived(at, packet.sent_at, packet.size);
                if let Some(fates) = &mut self.fates {
                    fates.received(at, packet);
                }
            }
            if watched.record.waste.abandoned {
                watched.record.waste.discarded += u64::from(segment.len);
            }
            return;
        }
        if host != watched.hosts.0 {
            return;
        }
        watched.far_acks.received(segment);
        if segment.flags.contains(Flags::ACK)
            && let Some(number) = watched.stream.acknowledgement(segment.ack)
        {
            let edge = |wire| watched.stream.acknowledgement(wire);
            let sacks = segment.sack.as_slice().iter();
            let sacks = sacks.filter_map(|&(left, right)| Some((edge(left)?, edge(right)?)));
            if let Some(fates) = &mut self.fates {
                for (_, right) in sacks.clone() {
                    fates.reported(packet.flow, right);
                }
                fates.reported(packet.flow, number);
            }
            let connects = segment.flags.contains(Flags::SYN) || segment.flags.contains(Flags::FIN);
            let delivered = if watched.far_acks.is_negotiated() {
                segment.far_ack.and_then(|far| edge(far.number))
            } else {
                Some(number)
            };
            let ack = Ack {
                number,
                delivered,
                window: segment.window,
                is_pure_ack: segment.len == 0 && !connects && segment.far_ack.is_none(),
            };
            meter.ack_arrived(at, ack, sacks);
        }
    }

    fn on_absorbed(&mut self, _: Instant, _: HostId, packet: &Packet) {
        self.count_suppressed(packet);
    }

    fn on_dropped(&mut self, at: Instant, _: LinkId, packet: &Packet, reason: DropReason) {
        if reason == DropReason::Reset {
            self.count_suppressed(packet);
        }
        if let Some(fates) = &mut self.fates {
            fates.dropped(at, packet, reason);
        }
        self.count_drop(at, packet, reason);
    }

    #[inline]
    fn on_transmitted(&mut self, link: LinkId, packet: &Packet, start: Instant, _: Instant) {
        let connection = packet.segment().map(|_| packet.flow);
        self.bottlenecks
            .count_carried(link, connection, packet.size);
        if self.log_control {
            self.log_uplink(link, packet, start);
        }
    }

    fn on_tti(&mut self, at: Instant, record: &TtiRecord) {
        if self.log_radio {
            self.tables.radio.push(radio::row(at, record));
        }
    }

    fn on_control(&mut self, at: Instant, record: &ControlRecord) {
        self.tables.control.push(radio::signalling(at, record));
    }

    fn on_connection(&mut self, at: Instant, user: UserId, event: &ConnectionEvent) {
        let (kind, detail) = radio::event(event);
        let ue = self.bottlenecks.ue(user as usize);
        for connection in 0..self.watched.len() {
            let watched = &self.watched[connection];
            let concerns = Some(watched.hosts.0) == ue || Some(watched.hosts.1) == ue;
            if concerns && watched.record.completed().is_none() {
                self.event(at, connection as u32, kind, detail.clone());
            }
        }
    }
}

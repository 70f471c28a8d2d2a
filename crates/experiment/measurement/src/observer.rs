//! Observer of the recorder: measures packets at the taps, bottlenecks and the radio.

use ::radio::ran::{ConnectionEvent, ControlRecord, TtiRecord, UserId};
use net::{DropReason, HostId, LinkId, Observer, Packet};
use results::{Ack, FarLossRow};
use tcp::Flags;
use units::Instant;

use crate::segment_outcomes::name_of;
use crate::{Recorder, radio};

impl Recorder {
    /// Counts payload that a reset tracker dropped.
    fn count_suppressed(&mut self, packet: &Packet) {
        let Some(segment) = packet.segment() else {
            return;
        };
        let connection = &mut self.connections[packet.flow as usize];
        if connection.record.after_reset.is_aborted && packet.destination == connection.receiver {
            connection.record.after_reset.suppressed += u64::from(segment.len);
        }
    }

    /// Records a dropped packet of the handshake, or with payload of the receiving end, such as a request.
    fn record_far_loss(&mut self, at: Instant, packet: &Packet, reason: DropReason) {
        let Some(segment) = packet.segment() else {
            return;
        };
        let connection = &self.connections[packet.flow as usize];
        let kind = if segment.flags.contains(Flags::SYN) {
            "handshake"
        } else if segment.len > 0 && packet.destination == connection.sender {
            "data"
        } else {
            return;
        };
        self.tables.far_losses.push(FarLossRow {
            flow: packet.flow,
            t_s: at.as_secs_f64(),
            kind: kind.into(),
            cause: name_of(reason).into(),
        });
    }

    /// Counts a data segment that was dropped.
    fn count_drop(&mut self, at: Instant, packet: &Packet, reason: DropReason) {
        let Some(segment) = packet.segment().filter(|segment| segment.len > 0) else {
            return;
        };
        let connection = &mut self.connections[packet.flow as usize];
        if packet.destination == connection.receiver
            && let Some(seq) = connection.stream.acknowledgement(segment.seq)
        {
            let meter = &connection.record.meter;
            connection.recoveries.on_drop(at, seq, reason, meter);
        }
    }

    /// Records the delay of a packet of the uplink.
    #[cold]
    fn log_uplink(&mut self, link: LinkId, packet: &Packet, start: Instant) {
        let index = self.bottlenecks.index_of_link(link);
        if let Some(index) = index.filter(|index| self.bottlenecks.is_uplink(*index))
            && packet.segment().is_some()
        {
            let ue = self.bottlenecks.ue_index(index);
            self.tables
                .uplink
                .push(radio::uplink_row(start, ue, packet));
        }
    }
}

impl Observer for Recorder {
    fn on_sent(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let Some(segment) = packet.segment() else {
            return;
        };
        let connection = &mut self.connections[packet.flow as usize];
        if host != connection.sender {
            if host == connection.receiver && segment.flags.contains(Flags::RST) {
                connection.record.after_reset.resets += 1;
            }
            return;
        }
        connection.far_acks.on_sent(segment);
        if segment.len == 0 {
            return;
        }
        let seq = connection.stream.segment(segment.seq);
        connection.record.meter.on_data_sent(at, seq, segment.len);
        connection.recoveries.on_sent(seq);
        if let Some(outcomes) = &mut self.outcomes {
            outcomes.on_sent(at, packet, (seq, segment.len));
        }
    }

    fn on_received(&mut self, at: Instant, host: HostId, packet: &Packet) {
        let Some(segment) = packet.segment() else {
            return;
        };
        let connection = &mut self.connections[packet.flow as usize];
        let meter = &mut connection.record.meter;
        if host == connection.receiver {
            if segment.len > 0 {
                let is_hidden = self.bottlenecks.is_hidden(connection.bottleneck);
                let sent_at = (!is_hidden).then_some(packet.sent_at);
                let seq = connection.stream.acknowledgement(segment.seq);
                let end = seq.unwrap_or_default() + u64::from(segment.len);
                meter.on_data_arrived(at, sent_at, end, packet.size);
                if let Some(outcomes) = &mut self.outcomes {
                    outcomes.on_received(at, packet);
                }
            }
            if connection.record.after_reset.is_aborted {
                connection.record.after_reset.discarded += u64::from(segment.len);
            }
            return;
        }
        if host != connection.sender {
            return;
        }
        connection.far_acks.on_received(segment);
        if segment.flags.contains(Flags::ACK)
            && let Some(number) = connection.stream.acknowledgement(segment.ack)
        {
            let unwrap = |wire| connection.stream.acknowledgement(wire);
            let sacks = segment.sack.as_slice().iter();
            let sacks = sacks.filter_map(|&(left, right)| Some((unwrap(left)?, unwrap(right)?)));
            if let Some(outcomes) = &mut self.outcomes {
                for (_, right) in sacks.clone() {
                    outcomes.on_report(packet.flow, right);
                }
                outcomes.on_report(packet.flow, number);
            }
            let connects = segment.flags.contains(Flags::SYN) || segment.flags.contains(Flags::FIN);
            let delivered = if connection.far_acks.is_negotiated() {
                segment.far_ack.and_then(|far| unwrap(far.number))
            } else {
                Some(number)
            };
            let ack = Ack {
                number,
                delivered,
                window: segment.window,
                is_pure_ack: segment.len == 0 && !connects && segment.far_ack.is_none(),
            };
            meter.on_ack(at, ack, sacks);
        }
    }

    fn on_absorbed(&mut self, _: Instant, _: HostId, packet: &Packet) {
        self.count_suppressed(packet);
    }

    fn on_dropped(&mut self, at: Instant, _: LinkId, packet: &Packet, reason: DropReason) {
        if reason == DropReason::Reset {
            self.count_suppressed(packet);
        } else {
            self.record_far_loss(at, packet, reason);
        }
        if let Some(outcomes) = &mut self.outcomes {
            outcomes.on_dropped(at, packet, reason);
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
            self.tables.radio.push(radio::tti_row(at, record));
        }
    }

    fn on_control(&mut self, at: Instant, record: &ControlRecord) {
        self.tables.control.push(radio::control_row(at, record));
    }

    fn on_connection(&mut self, at: Instant, user: UserId, event: &ConnectionEvent) {
        let (kind, detail) = radio::describe_event(event);
        let ue = self.bottlenecks.ue(user as usize);
        for index in 0..self.connections.len() {
            let connection = &self.connections[index];
            let is_end = Some(connection.sender) == ue || Some(connection.receiver) == ue;
            if is_end && connection.record.completed_at().is_none() {
                self.event(at, index as u32, kind, detail.clone());
            }
        }
    }
}

//! Arrivals: packets of the peer, and ICMP messages.

use tcp::{Ecn, Failure, Flags, Segment, State, reset_reply};

use super::socket::{Role, TestConnection};
use super::{PlayError, Player, SentPacket};
use crate::compare::parse_flags;
use crate::script::{Icmp, IpEcn, Packet, TcpOption};

impl Player {
    /// Delivers a packet to the socket under test, or to a new connection of a listening one.
    pub(super) fn receive_packet(&mut self, packet: &Packet) {
        let flags = parse_flags(&packet.flags);
        let is_request = flags.contains(Flags::SYN) && !flags.contains(Flags::ACK);
        if let Some(listener) = self.under_test
            && let Role::Listener(_) = &self.sockets[listener].role
            && is_request
            && self.sockets[listener].is_open
        {
            self.open_passive(listener);
        }
        let Some(index) = self.under_test else { return };
        let segment = translate(packet, flags, self.sockets[index].connection());
        let now = self.now;
        if let Some(connection) = self.sockets[index].connection_mut()
            && connection.tcp.state() != State::Closed
        {
            connection.tcp.process_segment(now, &segment);
            self.collect(index);
            return;
        }
        if let Some(mut reply) = reset_reply(&segment) {
            let offset = self.sockets[index]
                .connection()
                .map_or(0, |connection| connection.seq_offset);
            if segment.flags.contains(Flags::ACK) {
                reply.seq = reply.seq.wrapping_add(offset);
            }
            self.sent_packets.push_back(SentPacket {
                sent_at: now,
                socket: index,
                packet: reply,
            });
        }
    }

    /// Handles an ICMP message about the connection under test.
    pub(super) fn icmp(&mut self, line: u32, icmp: &Icmp) -> Result<(), PlayError> {
        let Some(index) = self.under_test else {
            return Ok(());
        };
        let Some(connection) = self.sockets[index].connection_mut() else {
            return Ok(());
        };
        match (icmp.kind.as_str(), icmp.code.as_str()) {
            ("unreachable", "frag_needed") | ("packet_too_big", _) => {
                return Err(PlayError::NotApplicable(
                    line,
                    "path MTU discovery".to_owned(),
                ));
            }
            ("unreachable" | "dest_unreach" | "unreach" | "time_exceeded", code) => {
                let failure = match code {
                    "port_unreachable" | "protocol_unreachable" => Failure::Refused,
                    "net_unreachable" | "net_unknown" => Failure::NetworkUnreachable,
                    _ => Failure::HostUnreachable,
                };
                connection.tcp.on_unreachable(failure);
            }
            ("source_quench", _) => {}
            (kind, _) => return Err(PlayError::NotApplicable(line, format!("ICMP {kind}"))),
        }
        self.collect(index);
        Ok(())
    }
}

/// Returns the segment of a packet of the script, with the actual sequence numbers and timestamps of our end.
fn translate(packet: &Packet, flags: Flags, connection: Option<&TestConnection>) -> Segment {
    let offset = connection.map_or(0, |connection| connection.seq_offset);
    let mut segment = Segment {
        seq: packet.seq,
        ack: packet.ack.map_or(0, |ack| ack.wrapping_sub(offset)),
        len: packet.len,
        window: packet.window.unwrap_or(0),
        flags,
        ecn: match packet.ecn {
            None | Some(IpEcn::None) => Ecn::NotEct,
            Some(IpEcn::Ect0 | IpEcn::EitherEct) => Ecn::Ect0,
            Some(IpEcn::Ect1) => Ecn::Ect1,
            Some(IpEcn::Ce) => Ecn::Ce,
        },
        ..Segment::default()
    };
    for option in packet.options.iter().flatten() {
        match option {
            TcpOption::Mss(mss) => segment.mss = Some(*mss),
            TcpOption::WindowScale(scale) => segment.window_scale = Some(*scale),
            TcpOption::SackPermitted => segment.sack_permitted = true,
            TcpOption::Sack(blocks) => {
                for (left, right) in blocks {
                    segment
                        .sack
                        .push(left.wrapping_sub(offset), right.wrapping_sub(offset));
                }
            }
            TcpOption::Timestamps(value, echo) => {
                let echo =
                    connection.map_or(*echo, |connection| connection.actual_timestamp(*echo));
                segment.timestamps = Some((*value, echo));
            }
            TcpOption::Nop | TcpOption::Eol | TcpOption::Unmodelled(_) => {}
        }
    }
    segment
}

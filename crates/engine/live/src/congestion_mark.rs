//! Congestion mark: the ECN field of a packet that a queue has marked (RFC 3168 section 5).

use etherparse::{IpEcn, Ipv4Header, Ipv6Header};

/// Sets the ECN field of an IPv4 or IPv6 packet to "congestion experienced", and the checksum that covers it.
pub(crate) fn set_mark(packet: &mut [u8]) {
    if let Ok((mut header, _)) = Ipv4Header::from_slice(packet) {
        header.ecn = IpEcn::CongestionExperienced;
        header.header_checksum = header.calc_header_checksum();
        let bytes = header.to_bytes();
        packet[..bytes.len()].copy_from_slice(&bytes);
    } else if let Ok((mut header, _)) = Ipv6Header::from_slice(packet) {
        header.traffic_class |= IpEcn::CongestionExperienced.value();
        let bytes = header.to_bytes();
        packet[..bytes.len()].copy_from_slice(&bytes);
    }
}

#[cfg(test)]
mod tests {
    use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice, PacketBuilder};

    use super::*;

    #[test]
    fn a_mark_changes_the_ecn_field_and_the_checksum_only() {
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64).udp(1, 2);
        builder.write(&mut packet, &[7; 9]).unwrap();
        packet[1] = 0b1011_1010;
        let before = packet.clone();
        set_mark(&mut packet);
        let header = Ipv4HeaderSlice::from_slice(&packet).unwrap();
        assert_eq!(packet[1], 0b1011_1011);
        assert_eq!(
            header.header_checksum(),
            header.to_header().calc_header_checksum()
        );
        assert_eq!(packet[2..10], before[2..10]);
        assert_eq!(packet[12..], before[12..]);
    }

    #[test]
    fn an_ipv6_packet_keeps_its_class_and_flow() {
        let mut packet = Vec::new();
        let builder = PacketBuilder::ipv6([1; 16], [2; 16], 64).udp(1, 2);
        builder.write(&mut packet, &[7; 9]).unwrap();
        (packet[0], packet[1]) = (0x6a, 0x2c);
        set_mark(&mut packet);
        assert_eq!((packet[0], packet[1]), (0x6a, 0x3c));
        let header = Ipv6HeaderSlice::from_slice(&packet).unwrap();
        assert_eq!(header.traffic_class(), 0b1010_0011);
    }
}

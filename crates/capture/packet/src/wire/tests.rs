use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice, TcpHeaderSlice, TcpOptionElement};
use proptest::prelude::*;
use tcp::{Ecn, FarAck, Flags, SackBlocks};

use super::checksum::Sum;
use super::*;
use crate::addressing::{address, address_v6};

fn datagram(segment: Segment) -> IpPacket {
    IpPacket {
        source: SocketAddr::new(address(0).into(), 443),
        destination: SocketAddr::new(address(258).into(), 50_000),
        identification: 7,
        segment,
    }
}

/// The same between IPv6 addresses.
fn datagram_v6(segment: Segment) -> IpPacket {
    IpPacket {
        source: SocketAddr::new(address_v6(0).into(), 443),
        destination: SocketAddr::new(address_v6(258).into(), 50_000),
        identification: 0,
        segment,
    }
}

fn bytes(segment: Segment) -> Vec<u8> {
    let mut out = Vec::new();
    encode(&datagram(segment), usize::MAX, &mut out).unwrap();
    out
}

/// Returns true if the checksums of the IP and the TCP header are right. The packet must be whole, not cut.
fn checksums_hold(packet: &[u8]) -> bool {
    let Some(&first) = packet.first() else {
        return false;
    };
    let header_len = usize::from(first & 0x0f) * 4;
    let Some((header, segment)) = packet.split_at_checked(header_len) else {
        return false;
    };
    if header_len < 20 {
        return false;
    }
    let len = u16::from_be_bytes([header[2], header[3]]);
    let whole = usize::from(len) == packet.len();
    let tcp = Sum::pseudo_header(&header[12..20], segment.len() as u16).add(segment);
    whole && Sum::default().add(header).checksum() == 0 && tcp.checksum() == 0
}

fn sack(blocks: &[(u32, u32)]) -> SackBlocks {
    let mut sack = SackBlocks::EMPTY;
    blocks
        .iter()
        .for_each(|&(left, right)| sack.push(left, right));
    sack
}

/// A SYN as Linux sends it: mss 1460, sackOK, TS, nop, wscale 7.
#[test]
fn the_options_of_a_syn_are_those_of_linux() {
    let syn = Segment {
        flags: Flags::SYN,
        mss: Some(1_460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some((0x0102_0304, 0)),
        ..Segment::default()
    };
    let expected = [
        2, 4, 5, 180, 4, 2, 8, 10, 1, 2, 3, 4, 0, 0, 0, 0, 1, 3, 3, 7,
    ];
    assert_eq!(bytes(syn)[40..], expected);
}

#[test]
fn an_ack_carries_timestamps_before_sack_blocks() {
    let ack = Segment {
        flags: Flags::ACK,
        timestamps: Some((1, 2)),
        sack: sack(&[(5, 6)]),
        ..Segment::default()
    };
    let expected = [
        1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2, 1, 1, 5, 10, 0, 0, 0, 5, 0, 0, 0, 6,
    ];
    assert_eq!(bytes(ack)[40..], expected);
}

#[test]
fn what_does_not_fit_is_rejected() {
    let blocks = sack(&[(1, 2), (3, 4), (5, 6), (7, 8)]);
    let crowded = Segment {
        timestamps: Some((1, 2)),
        sack: blocks,
        ..Segment::default()
    };
    let encoded = |segment| encode(&datagram(segment), 0, &mut Vec::new());
    assert_eq!(encoded(crowded), Err(WireError::OptionsTooLong(48)));
    let huge = Segment {
        len: 65_500,
        ..Segment::default()
    };
    assert_eq!(encoded(huge), Err(WireError::TooLong(65_540)));
    let mixed = IpPacket {
        source: datagram_v6(huge).source,
        ..datagram(Segment::default())
    };
    let rejected = encode(&mixed, 0, &mut Vec::new());
    assert_eq!(rejected, Err(WireError::TwoVersions));
}

#[test]
fn what_is_no_segment_is_rejected() {
    let good = bytes(Segment::default());
    assert_eq!(parse(&[]), Err(WireError::Truncated(0)));
    assert_eq!(parse(&good[..30]), Err(WireError::Truncated(30)));
    let mut udp = good.clone();
    udp[9] = 17;
    assert_eq!(parse(&udp), Err(WireError::NotTcp));
    let mut fragment = Vec::new();
    encode(&datagram_v6(Segment::default()), 99, &mut fragment).unwrap();
    assert_eq!(parse(&fragment[..39]), Err(WireError::Truncated(39)));
    // The header of a fragment follows.
    fragment[6] = 44;
    assert_eq!(parse(&fragment), Err(WireError::NotTcp));
    let mut option = bytes(Segment {
        timestamps: Some((1, 2)),
        ..Segment::default()
    });
    option[43] = 200;
    assert_eq!(parse(&option), Err(WireError::Option { kind: 8 }));
}

prop_compose! {
    fn segments()(
        numbers in any::<(u32, u32, u16)>(), flags in any::<u8>(), len in 0_u32..60_000,
        mss in any::<Option<u16>>(), window_scale in any::<Option<u8>>(),
        sack_permitted in any::<bool>(), timestamps in any::<Option<(u32, u32)>>(),
        blocks in prop::collection::vec(any::<(u32, u32)>(), 0..=4),
        far_ack in prop::option::of((253..=254_u8, any::<u32>())), eln in any::<bool>(),
        ecn in prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce])
    ) -> Segment {
        let syn = Flags::from_bits(flags).contains(Flags::SYN);
        // A SYN has nothing to report, and with timestamps there is room for three.
        let room = if syn { 0 } else if timestamps.is_some() { 3 } else { 4 };
        // A far acknowledgement takes the room of one block.
        let room = room - usize::from(far_ack.is_some() && room > 0);
        let (seq, ack, window) = numbers;
        Segment {
            seq, ack, len, window, timestamps,
            flags: Flags::from_bits(flags),
            mss: mss.filter(|_| syn),
            window_scale: window_scale.filter(|_| syn),
            sack_permitted: syn && sack_permitted,
            sack: sack(&blocks[..blocks.len().min(room)]),
            far_ack: far_ack.map(|(kind, number)| FarAck { kind, number }),
            eln,
            ecn,
            more_in_burst: false,
        }
    }
}

proptest! {
    #[test]
    fn segments_come_back_as_they_were(segment in segments()) {
        let encoded = bytes(segment);
        prop_assert_eq!(encoded.len(), segment.ip_len() as usize);
        prop_assert!(checksums_hold(&encoded));
        prop_assert_eq!(parse(&encoded), Ok(datagram(segment)));
    }

    #[test]
    fn a_cut_payload_changes_neither_headers_nor_length(segment in segments(), snaplen in 80_usize..200) {
        let mut cut = Vec::new();
        let total = encode(&datagram(segment), snaplen, &mut cut).unwrap();
        prop_assert_eq!(u32::from(total), segment.ip_len());
        prop_assert!(cut.len() <= snaplen);
        prop_assert_eq!(parse(&cut), Ok(datagram(segment)));
    }

    /// An implementation that is not ours agrees on checksums and options.
    #[test]
    fn etherparse_agrees(segment in segments()) {
        // It stops at an option that it does not know.
        let segment = Segment { far_ack: None, ..segment };
        let encoded = bytes(segment);
        let ip = Ipv4HeaderSlice::from_slice(&encoded).unwrap();
        prop_assert_eq!(ip.to_header().calc_header_checksum(), ip.header_checksum());
        let tcp = TcpHeaderSlice::from_slice(&encoded[20..]).unwrap();
        let payload = &encoded[20 + tcp.slice().len()..];
        prop_assert_eq!(tcp.calc_checksum_ipv4(&ip, payload).unwrap(), tcp.checksum());
        for option in tcp.options_iterator() {
            match option.unwrap() {
                TcpOptionElement::MaximumSegmentSize(mss) => prop_assert_eq!(Some(mss), segment.mss),
                TcpOptionElement::WindowScale(shift) => {
                    prop_assert_eq!(Some(shift), segment.window_scale);
                }
                TcpOptionElement::Timestamp(value, echo) => {
                    prop_assert_eq!(Some((value, echo)), segment.timestamps);
                }
                TcpOptionElement::SelectiveAcknowledgement(first, _) => {
                    prop_assert_eq!(first, segment.sack.as_slice()[0]);
                }
                TcpOptionElement::SelectiveAcknowledgementPermitted => {
                    prop_assert!(segment.sack_permitted);
                }
                TcpOptionElement::Noop => {}
            }
        }
    }

    /// The bytes of an IPv6 packet are those that etherparse reads, and come back as they were.
    #[test]
    fn etherparse_agrees_on_ipv6(segment in segments()) {
        let mut encoded = Vec::new();
        let total = encode(&datagram_v6(segment), usize::MAX, &mut encoded).unwrap();
        prop_assert_eq!(encoded.len(), usize::from(total));
        let ip = Ipv6HeaderSlice::from_slice(&encoded).unwrap();
        prop_assert_eq!(usize::from(ip.payload_length()), encoded.len() - 40);
        let tcp = TcpHeaderSlice::from_slice(&encoded[40..]).unwrap();
        let payload = &encoded[40 + tcp.slice().len()..];
        prop_assert_eq!(tcp.calc_checksum_ipv6(&ip, payload).unwrap(), tcp.checksum());
        prop_assert_eq!(parse(&encoded), Ok(datagram_v6(segment)));
    }

    #[test]
    fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        let _ = parse(&bytes);
        let _ = checksums_hold(&bytes);
    }
}

//! Order and time of what is captured: records out of order, clocks that are set, data behind their ACKs, copies.

use std::io::Cursor;

use pcap_analysis::tables::{ConnectionRow, Tables};
use pcap_analysis::{Analysis, Summary};
use proptest::prelude::*;
use tcp::{Flags, Segment};

use crate::connections::{at_server, only, tables};
use crate::made_up::{ISN, MS, MSS, Script, TimedPacket, pcap};

fn analysed(packets: &[TimedPacket]) -> (Summary, Tables) {
    let mut analysis = Analysis::new(Box::new(Cursor::new(pcap(packets, 101, false, true))), true);
    while analysis.advance(1_000) {}
    (analysis.summary(), analysis.take_tables())
}

fn is_up(packet: &TimedPacket) -> bool {
    packet.1[12..16] == crate::made_up::CLIENT.ip().octets()
}

/// A download at the server with timestamps of 1 ms, two segments every 2 ms, each ACK 40 ms later.
fn with_timestamps(pairs: u32) -> Script {
    let mut script = Script::default();
    let syn = Segment {
        seq: ISN[0],
        flags: Flags::SYN,
        window: 65_535,
        window_scale: Some(7),
        timestamps: Some((50_000, 0)),
        ..Segment::default()
    };
    script.segment(0.0, true, syn);
    let answer = Segment {
        seq: ISN[1],
        ack: ISN[0].wrapping_add(1),
        flags: Flags::SYN | Flags::ACK,
        timestamps: Some((9_000, 50_000)),
        ..syn
    };
    script.segment(0.1, false, answer);
    let mut events = vec![(40.1, true, 0)];
    for pair in 0..pairs {
        let ms = 60.0 + 2.0 * f64::from(pair);
        events.push((ms, false, 2 * pair));
        events.push((ms + 0.1, false, 2 * pair + 1));
        events.push((ms + 40.1, true, 2 * pair + 2));
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (ms, up, segments) in events {
        let sent = (9_000.0 + ms - if up { 40.1 } else { 0.0 }) as u32;
        let client = 50_000 + (ms - 20.0).max(0.0) as u32;
        let segment = Segment {
            seq: if up {
                ISN[0].wrapping_add(1)
            } else {
                ISN[1].wrapping_add(1 + segments * MSS)
            },
            ack: if up {
                ISN[1].wrapping_add(1 + segments * MSS)
            } else {
                ISN[0].wrapping_add(1)
            },
            len: if up { 0 } else { MSS },
            flags: Flags::ACK,
            window: 500,
            timestamps: Some(if up {
                (client, sent)
            } else {
                (sent, client.saturating_sub(20).max(50_000))
            }),
            ..Segment::default()
        };
        script.segment(ms, up, segment);
    }
    script
}

fn same(row: &ConnectionRow, expected: &ConnectionRow) {
    assert_eq!(row.bytes_down, expected.bytes_down);
    assert_eq!(row.handshake, expected.handshake);
    assert_eq!(row.retransmissions_down, expected.retransmissions_down);
    assert_eq!(row.out_of_order_down, expected.out_of_order_down);
    assert_eq!(
        (row.spurious, row.losses),
        (expected.spurious, expected.losses)
    );
    assert_eq!((row.reordered, row.missed_bytes), (0, 0));
    // The time between the packets around a step is unknown.
    assert!((row.rtt_min_ms - expected.rtt_min_ms).abs() < 2.5);
    assert!((row.duration_s - expected.duration_s).abs() < 0.01);
    assert!((row.harm_s - expected.harm_s).abs() < 0.01);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    /// Several queues: each record is late by up to this many records, and its time is right.
    #[test]
    fn records_out_of_time_order_are_sorted(
        late in prop::collection::vec(0..300_usize, 500),
        has_timestamps in any::<bool>(),
    ) {
        let script = if has_timestamps { with_timestamps(150) } else { at_server(200) };
        let expected = only(&script.packets);
        let mut records: Vec<_> = script.packets.iter().cloned().enumerate().collect();
        records.sort_by_key(|(place, _)| place + late[*place]);
        // A connection begins with its SYN.
        let shuffled: Vec<_> = records.into_iter().map(|(_, packet)| packet).collect();
        let (summary, tables) = analysed(&shuffled);
        prop_assert_eq!(summary.clock_steps, 0);
        let reversals = shuffled.windows(2).filter(|two| two[1].0 < two[0].0).count();
        prop_assert_eq!(summary.time_reversals, reversals as u64);
        same(&tables.connections.row(0), &expected);
    }

    /// The clock is set at any place by any time; the timestamps go on.
    #[test]
    fn a_clock_that_is_set_costs_no_time(
        at in 150..400_usize,
        step_ms in prop_oneof![-20_000..-60_i64, 700..20_000_i64],
    ) {
        let script = with_timestamps(150);
        let expected = only(&script.packets);
        let mut packets = script.packets;
        for (at_ns, _) in packets.iter_mut().skip(at) {
            *at_ns = at_ns.saturating_add_signed(step_ms * MS as i64);
        }
        let (summary, tables) = analysed(&packets);
        prop_assert_eq!(summary.clock_steps, 1);
        same(&tables.connections.row(0), &expected);
    }
}

#[test]
fn a_pause_of_the_network_is_no_step_of_the_clock() {
    // Waiting segments of both directions arrive 5 s later with their old timestamps, and the rest follows.
    let mut packets = with_timestamps(150).packets;
    let begin = packets[200].0;
    let mut later = with_timestamps(200).packets.split_off(packets.len());
    for packet in packets.iter_mut().skip(200) {
        packet.0 += 5_000 * MS;
    }
    for (at, bytes) in &mut later {
        *at += 5_000 * MS;
        // The timestamps are the last option but for padding: they tell the time that has passed.
        let value = bytes.len() - 8 - (bytes.len() - timestamps_end(bytes));
        let old = u32::from_be_bytes(bytes[value..value + 4].try_into().unwrap());
        bytes[value..value + 4].copy_from_slice(&(old + 5_000).to_be_bytes());
    }
    packets.extend(later);
    packets.sort_by_key(|packet| packet.0);
    let (summary, tables) = analysed(&packets);
    assert_eq!(summary.clock_steps, 0);
    assert!(tables.connections.harm_s[0] > 4.5);
    assert!(packets.last().unwrap().0 > begin + 5_000 * MS);
}

/// Returns where the options of a packet of IPv4 and TCP end.
fn timestamps_end(bytes: &[u8]) -> usize {
    20 + usize::from(bytes[32] >> 4) * 4
}

/// Two taps: what one side sends comes so much later that it stands behind its ACKs.
#[test]
fn data_behind_their_acks_are_no_retransmissions() {
    for has_timestamps in [false, true] {
        let script = if has_timestamps {
            with_timestamps(100)
        } else {
            at_server(200)
        };
        let expected = only(&script.packets);
        let mut packets = script.packets;
        for packet in &mut packets {
            packet.0 += if is_up(packet) { 0 } else { 55 * MS };
        }
        packets.sort_by_key(|packet| packet.0);
        let row = only(&packets);
        assert_eq!(row.handshake, "whole");
        assert_eq!(row.bytes_down, expected.bytes_down);
        assert_eq!((row.retransmissions_down, row.spurious), (0, 0));
        assert_eq!((row.losses, row.missed_bytes), (0, 0));
        assert_eq!(row.captured_late, 200);
        assert!(row.rtt_min_ms.is_nan() && row.far_rtt_min_ms.is_nan());
    }
}

#[test]
fn a_hole_of_the_capture_fills_late_once() {
    let mut script = at_server(50);
    script.ack(200.0, 52).data(201.0, 50).data(203.0, 51);
    script.data(500.0, 51).ack(540.0, 52);
    let row = only(&script.packets);
    assert_eq!((row.captured_late, row.missed_bytes), (2, 0));
    assert_eq!((row.retransmissions_down, row.spurious), (1, 1));
    assert_eq!(
        (row.bytes_down, row.retransmitted_bytes_down),
        (52_000, 1_000)
    );
    assert!((row.far_rtt_min_ms - 40.0).abs() < 0.5);
}

fn large(first: u32, segments: u32) -> Segment {
    Segment {
        seq: ISN[1].wrapping_add(1 + first * MSS),
        ack: ISN[0].wrapping_add(1),
        len: segments * MSS,
        flags: Flags::ACK,
        window: 500,
        ..Segment::default()
    }
}

#[test]
fn of_a_merged_segment_only_what_passed_before_is_counted_again() {
    let mut script = Script::default();
    script.handshake(0.1, 40.0);
    script.segment(100.0, false, large(0, 10));
    script.sack(140.0, 0, &[(1, 4)]).sack(141.0, 0, &[(1, 10)]);
    // The retransmission has two new segments behind it.
    script.segment(142.0, false, large(0, 1));
    script.ack(182.0, 10);
    script.segment(183.0, false, large(10, 6)).ack(223.0, 12);
    script.segment(500.0, false, large(12, 8)).ack(540.0, 20);
    let row = only(&script.packets);
    assert_eq!(
        (row.bytes_down, row.retransmitted_bytes_down),
        (20_000, 5_000)
    );
    assert_eq!((row.retransmissions_down, row.reordered), (2, 0));
}

#[test]
fn a_merged_segment_fills_all_gaps_that_it_covers() {
    let mut script = Script::default();
    script.handshake(40.0, 2.0);
    script.data(100.0, 0).data(101.0, 2).data(102.0, 4);
    script.segment(150.0, false, large(1, 3)).ack(152.0, 5);
    let row = only(&script.packets);
    assert_eq!((row.bytes_down, row.missed_bytes), (5_000, 0));
    assert_eq!(
        (row.retransmissions_down, row.retransmitted_bytes_down),
        (1, 3_000)
    );
    assert_eq!((row.losses, row.reordered), (2, 0));
}

/// A snapshot length that ends within the options of the SYN.
#[test]
fn a_scale_that_is_cut_off_is_unknown() {
    for (kept, known) in [(43, false), (44, false), (60, true)] {
        let mut packets = at_server(20).packets;
        let file = {
            let whole = pcap(&packets, 101, false, true);
            for (_, bytes) in packets.iter_mut().take(2) {
                bytes.truncate(kept);
            }
            assert!(whole.len() >= pcap(&packets, 101, false, true).len());
            packets
        };
        let row = only(&file);
        assert_eq!(row.scale_client.is_nan(), !known, "{kept}");
        assert_eq!(row.window_max.is_nan(), !known);
        assert_eq!(row.window_limited.is_nan(), !known);
    }
}

#[test]
fn a_side_that_offers_no_scale_makes_it_known_whatever_is_cut() {
    let mut packets = at_server(20).packets;
    packets[0].1.truncate(41);
    let mut bare = Script::default();
    let answer = Segment {
        seq: ISN[1],
        ack: ISN[0].wrapping_add(1),
        flags: Flags::SYN | Flags::ACK,
        window: 65_535,
        ..Segment::default()
    };
    bare.segment(0.1, false, answer);
    packets[1] = bare.packets.remove(0);
    assert_eq!(only(&packets).window_max, 500.0);
}

/// Copies without an identification, as of IPv6, whatever lies between a packet and its copy.
#[test]
fn copies_without_an_identification_count_once() {
    for gap_us in [15, 90, 700] {
        let mut script = at_server(60);
        // Duplicate ACKs that are alike.
        script
            .data(300.0, 61)
            .ack(340.0, 60)
            .data(341.0, 62)
            .ack(381.0, 60);
        script.data(382.0, 60).ack(422.0, 63);
        let mut packets = script.packets;
        for (_, bytes) in &mut packets {
            bytes[4..6].fill(0);
        }
        let expected = only(&packets);
        assert_eq!(
            (expected.captured_twice, expected.duplicate_acks_up),
            (0, 2)
        );
        let mut twice = packets.clone();
        twice.extend(
            packets
                .iter()
                .map(|(at, bytes)| (at + gap_us * 1_000, bytes.clone())),
        );
        twice.sort_by_key(|packet| packet.0);
        let row = only(&twice);
        assert_eq!(row.captured_twice, packets.len() as u64, "{gap_us}");
        assert_eq!(row.duplicate_acks_up, 2);
        assert_eq!(row.retransmissions_down, expected.retransmissions_down);
        assert_eq!((row.syns, row.harm_s), (1, expected.harm_s));
    }
}

/// A hole that fills 1.5 ms later: identifications tell, and without them an RTT and three duplicate ACKs.
#[test]
fn a_gap_on_a_short_path_is_told_from_reordering() {
    let fill = |shift: i32, is_random: bool, duplicates: u32| {
        let mut script = Script::default();
        script.handshake(1.0, 0.1);
        script.data(100.0, 0).ack(100.05, 1);
        for number in 2..6 {
            script.data(100.0 + 0.1 * f64::from(number), number);
            if number < 2 + duplicates {
                script.ack(100.05 + 0.1 * f64::from(number), 1);
            }
        }
        script.data(101.9, 1).ack(101.95, 6);
        let last = script.packets.len() - 2;
        let id = |bytes: &[u8]| u16::from_be_bytes([bytes[4], bytes[5]]);
        if is_random {
            for (number, (_, bytes)) in script.packets.iter_mut().enumerate() {
                let random = (number as u16 + 1).wrapping_mul(20_011);
                bytes[4..6].copy_from_slice(&random.to_be_bytes());
            }
        } else {
            let own = (i32::from(id(&script.packets[last].1)) + shift) as u16;
            script.packets[last].1[4..6].copy_from_slice(&own.to_be_bytes());
        }
        let row = only(&script.packets);
        (row.retransmissions_down, row.out_of_order_down)
    };
    assert_eq!(fill(0, false, 0), (1, 0));
    assert_eq!(fill(-11, false, 3), (0, 1));
    assert_eq!(fill(0, true, 3), (1, 0));
    assert_eq!(fill(0, true, 2), (0, 1));
}

#[test]
fn a_handshake_with_data_in_the_syn_is_whole() {
    let mut script = Script::default();
    let syn = Segment {
        seq: ISN[0],
        len: 200,
        flags: Flags::SYN,
        window: 65_535,
        window_scale: Some(7),
        ..Segment::default()
    };
    let answer = Segment {
        seq: ISN[1],
        ack: ISN[0].wrapping_add(201),
        len: 0,
        flags: Flags::SYN | Flags::ACK,
        ..syn
    };
    script.segment(0.0, true, syn).segment(0.1, false, answer);
    script.data(0.3, 0).data(0.4, 1).ack(20.4, 2);
    let row = only(&script.packets);
    assert_eq!((row.handshake.as_str(), row.bytes_up), ("whole", 200));
    assert_eq!(row.scale_client, 7.0);
    assert!(row.rtt_min_ms > 19.0, "{}", row.rtt_min_ms);
}

#[test]
fn a_fin_that_is_acknowledged_and_not_captured_is_no_payload() {
    let mut script = at_server(20);
    let fin = Segment {
        seq: ISN[0].wrapping_add(1),
        ack: ISN[1].wrapping_add(2 + 20 * MSS),
        flags: Flags::FIN | Flags::ACK,
        window: 500,
        ..Segment::default()
    };
    script.segment(300.0, true, fin);
    let up: Vec<_> = script.packets.into_iter().filter(is_up).collect();
    assert_eq!(tables(&up).connections.missed_bytes, [20_000]);
}

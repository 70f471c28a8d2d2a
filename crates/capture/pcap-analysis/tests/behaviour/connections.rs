//! Connections as an engineer describes them: handshakes, losses and their kinds, windows, resets, and what was
//! repaired.

use std::io::Cursor;

use pcap_analysis::Analysis;
use pcap_analysis::tables::{ConnectionRow, LossRow, Tables};
use tcp::{Flags, Segment};

use crate::made_up::{ISN, MSS, Script, TimedPacket, pcap};

pub fn tables(packets: &[TimedPacket]) -> Tables {
    let file = pcap(packets, 101, false, true);
    let mut analysis = Analysis::new(Box::new(Cursor::new(file)), true);
    while analysis.advance(1_000) {}
    assert_eq!(analysis.summary().error, None);
    analysis.take_tables()
}

pub fn only(packets: &[TimedPacket]) -> ConnectionRow {
    let tables = tables(packets);
    assert_eq!(tables.connections.len(), 1);
    tables.connections.row(0)
}

/// The losses of a capture that is 40 ms from the server and 2 ms from the client, or the other way round.
pub fn losses(script: &Script) -> Vec<LossRow> {
    let losses = tables(&script.packets).losses;
    (0..losses.len()).map(|row| losses.row(row)).collect()
}

/// A capture at the server: segments leave one per ms, each ACK comes 40 ms after its segment.
pub fn at_server(segments: u32) -> Script {
    let mut script = Script::default();
    script.handshake(0.1, 40.0);
    let mut events = Vec::new();
    for number in 0..segments {
        events.push((100.0 + f64::from(number), number, true));
        events.push((140.0 + f64::from(number), number + 1, false));
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (ms, number, is_data) in events {
        if is_data {
            script.data(ms, number);
        } else {
            script.ack(ms, number);
        }
    }
    script
}

#[test]
fn a_handshake_tells_options_and_both_rtts() {
    let row = only(&crate::made_up::download(10));
    assert_eq!(row.handshake, "whole");
    assert_eq!((row.mss_up, row.scale_client, row.sack), (1_460.0, 7.0, 1));
    assert_eq!(row.client, "10.0.0.2:50000");
    assert_eq!(
        (row.near_rtt_min_ms, row.direction.as_str()),
        (40.0, "down")
    );
    assert!(row.far_rtt_min_ms < 2.0);
    assert_eq!(
        (row.place.as_str(), row.retransmissions_down),
        ("receiver", 0)
    );
    // RFC 7323 §2.2: the field is shifted by the scale outside of SYN segments.
    assert_eq!(row.window_min, 500.0 * 128.0);
}

#[test]
fn a_burst_that_overflows_a_queue_loses_several_segments_beside_each_other() {
    // The bottleneck takes a segment per ms. The first burst meets a longer queue, and loses nothing.
    let mut script = at_server(200);
    for number in 200..220 {
        script.data(400.0, number);
    }
    for number in 200..220 {
        script.ack(240.0 + f64::from(number), number + 1);
    }
    for number in 220..230 {
        script.data(600.0, number);
    }
    for number in 220..225 {
        script.ack(420.0 + f64::from(number), number + 1);
    }
    script.sack(645.0, 225, &[(227, 228)]);
    script.sack(646.0, 225, &[(229, 230), (227, 228)]);
    for number in [225, 226, 228] {
        script.data(646.1, number);
    }
    script.ack(687.0, 230);
    for loss in losses(&script) {
        assert!(loss.queue < 0.5);
        assert_eq!(loss.kind, "congestion");
    }
    assert_eq!(losses(&script).len(), 3);
}

#[test]
fn duplicate_acks_report_losses_without_sack() {
    for (again_ms, repair) in [(243.2, "fast"), (443.2, "time-out")] {
        let mut script = at_server(20);
        for number in 20..24 {
            script.data(200.0 + f64::from(number - 20), number);
        }
        for ms in [241.0, 242.0, 243.0] {
            script.ack(ms, 20);
        }
        script.data(again_ms, 20).ack(again_ms + 40.0, 24);
        let losses = losses(&script);
        assert_eq!(losses.len(), 1);
        assert_eq!(losses[0].kind, "random");
        assert_eq!(losses[0].repair, repair);
    }
}

#[test]
fn bytes_and_throughput_count_each_byte_once() {
    let mut script = at_server(100);
    script.data(300.0, 99).ack(340.0, 100);
    let row = only(&script.packets);
    assert_eq!((row.bytes_down, row.segments_down), (100_000, 101));
    assert_eq!(
        (row.retransmissions_down, row.retransmitted_bytes_down),
        (1, 1_000)
    );
    // From 100 ms to 300 ms.
    assert_eq!(row.throughput_mbps, 4.0);
}

/// A capture at the server in which segment 50 is lost while the RTT is `rtt_ms`. It is sent again after `repaired_ms`,
/// and another segment after `later_ms`.
fn with_hole(rtt_ms: f64, repaired_ms: f64, later_ms: f64) -> Script {
    let mut script = at_server(50);
    let begin = 200.0;
    for number in 50..60 {
        script.data(begin + f64::from(number - 50), number);
    }
    // RFC 2018 §4: "the first SACK block MUST specify the block that triggered this ACK".
    for number in 51..60 {
        let at = begin + rtt_ms + f64::from(number - 50);
        script.sack(at, 50, &[(51, number + 1)]);
    }
    script
        .data(repaired_ms, 50)
        .ack(repaired_ms + rtt_ms, 60)
        .data(later_ms, 60)
        .ack(later_ms + rtt_ms, 61);
    script
}

/// A hole that SACK reports, repaired while the RTT is as low as ever.
#[test]
fn a_loss_beside_a_short_queue_is_random() {
    let script = with_hole(40.0, 250.0, 600.0);
    let losses = losses(&script);
    assert_eq!(losses.len(), 1);
    assert_eq!(
        (losses[0].kind.as_str(), losses[0].repair.as_str()),
        ("random", "fast")
    );
    assert_eq!((losses[0].seq, losses[0].len), (50_000, MSS));
    let row = only(&script.packets);
    assert_eq!(row.duplicate_acks_up, 9);
}

/// The same hole, while segments next to it took three times as long.
#[test]
fn a_loss_beside_a_long_queue_is_congestion() {
    let script = with_hole(120.0, 330.0, 900.0);
    let losses = losses(&script);
    assert_eq!(losses.len(), 1);
    assert_eq!(losses[0].kind, "congestion");
    assert_eq!(losses[0].rtt_ms, 120.0);
}

/// RFC 2883 §4: a first block below the acknowledgement reports a segment that came twice.
#[test]
fn a_d_sack_makes_a_retransmission_spurious() {
    let mut script = at_server(50);
    script.data(200.0, 50).data(201.0, 51);
    script
        .data(450.0, 50)
        .ack(460.0, 52)
        .sack(490.0, 52, &[(50, 51)]);
    script.data(600.0, 52).ack(640.0, 53);
    let losses = losses(&script);
    assert_eq!(losses.len(), 1);
    assert_eq!(losses[0].kind, "spurious");
    assert!(losses[0].reason.contains("D-SACK"));
}

/// RFC 3522 §3.2: an ACK that echoes a timestamp from before the retransmission was sent for the original.
#[test]
fn an_earlier_echo_makes_a_retransmission_spurious() {
    let mut script = Script::default();
    script.handshake(40.0, 2.0);
    let data = |value: u32| Segment {
        seq: ISN[1].wrapping_add(1),
        len: MSS,
        flags: Flags::ACK,
        ack: ISN[0].wrapping_add(1),
        window: 500,
        timestamps: Some((value, 1)),
        ..Segment::default()
    };
    script.segment(100.0, false, data(100));
    script.segment(400.0, false, data(400));
    let ack = Segment {
        seq: ISN[0].wrapping_add(1),
        ack: ISN[1].wrapping_add(1 + MSS),
        flags: Flags::ACK,
        window: 500,
        timestamps: Some((2, 100)),
        ..Segment::default()
    };
    script.segment(410.0, true, ack);
    let losses = losses(&script);
    assert_eq!((losses.len(), losses[0].kind.as_str()), (1, "spurious"));
    assert!(losses[0].reason.contains("Eifel"));
}

#[test]
fn the_last_segments_of_a_flight_are_tail_losses() {
    let mut script = at_server(50);
    script.data(200.0, 50).data(201.0, 51);
    // Nothing reports them; a probe after two RTTs, as RFC 8985 §7.2 has it.
    script.data(285.0, 51).sack(325.0, 50, &[(51, 52)]);
    script
        .data(326.0, 50)
        .ack(366.0, 52)
        .data(900.0, 52)
        .ack(940.0, 53);
    let losses = losses(&script);
    assert_eq!(
        (losses[0].kind.as_str(), losses[0].repair.as_str()),
        ("tail", "probe")
    );
}

#[test]
fn a_closed_window_is_time_that_data_waited() {
    let mut script = at_server(20);
    let mut closed = Segment {
        seq: ISN[0].wrapping_add(1),
        ack: ISN[1].wrapping_add(1 + 20 * MSS),
        flags: Flags::ACK,
        window: 0,
        ..Segment::default()
    };
    script.segment(300.0, true, closed);
    closed.window = 500;
    script.segment(1_300.0, true, closed);
    script.data(1_301.0, 20).ack(1_340.0, 21);
    let row = only(&script.packets);
    assert_eq!((row.zero_windows_up, row.zero_window_s), (1, 1.0));
    assert!(row.harm_s >= 1.0);
}

#[test]
fn a_reset_has_its_sender_and_its_phase() {
    let mut script = at_server(20);
    script.data(300.0, 20);
    let reset = Segment {
        seq: ISN[0].wrapping_add(1),
        flags: Flags::RST,
        ..Segment::default()
    };
    script
        .segment(301.0, true, reset)
        .segment(302.0, true, reset);
    let tables = tables(&script.packets);
    assert_eq!(tables.resets.up, [1, 1]);
    assert_eq!(tables.resets.phase, ["data", "after reset"]);
    assert_eq!(tables.resets.in_flight[0], u64::from(MSS));
    assert_eq!(tables.connections.ending, ["reset by client"]);
}

#[test]
fn ports_that_are_used_again_are_another_connection() {
    let mut script = at_server(20);
    script.packets.extend({
        let syn = Segment {
            seq: 99_999,
            flags: Flags::SYN,
            ..Segment::default()
        };
        let mut again = Script::default();
        again.segment(5_000.0, true, syn);
        again.packets
    });
    let tables = tables(&script.packets);
    assert_eq!(tables.connections.len(), 2);
    assert_eq!(tables.connections.is_reused, [0, 1]);
    assert_eq!(tables.connections.handshake, ["whole", "no SYN-ACK"]);
}

#[test]
fn packets_captured_twice_count_once() {
    let script = at_server(20);
    let twice: Vec<_> = script
        .packets
        .iter()
        .flat_map(|(at, bytes)| [(*at, bytes.clone()), (at + 30_000, bytes.clone())])
        .collect();
    let row = only(&twice);
    assert_eq!(row.captured_twice, script.packets.len() as u64);
    assert_eq!((row.retransmissions_down, row.duplicate_acks_up), (0, 0));
}

#[test]
fn one_direction_is_enough_for_a_row() {
    let down: Vec<_> = at_server(20)
        .packets
        .into_iter()
        .filter(|(_, bytes)| bytes[12..16] == crate::made_up::SERVER.ip().octets())
        .collect();
    let row = only(&down);
    assert_eq!((row.is_one_way, row.handshake.as_str()), (1, "no SYN"));
    assert_eq!(row.bytes_down, 20_000);
    let up: Vec<_> = at_server(20)
        .packets
        .into_iter()
        .filter(|(_, bytes)| bytes[12..16] == crate::made_up::CLIENT.ip().octets())
        .collect();
    assert_eq!(only(&up).is_one_way, 1);
}

/// A capture 20 ms from the server and 20 ms from the client: segment 1 is lost before the capture, or after it.
fn in_between(is_before: bool, later: u32) -> Script {
    let mut script = Script::default();
    script.handshake(20.0, 20.0).data(100.0, 0);
    if !is_before {
        script.data(100.1, 1);
    }
    for number in 2..2 + later {
        script.data(100.0 + f64::from(number) / 10.0, number);
    }
    script.ack(120.0, 1);
    for number in 2..2 + later {
        script.sack(120.0 + f64::from(number) / 10.0, 1, &[(2, number + 1)]);
    }
    script
}

/// A segment that fills a gap has its row already; the receiver reports it after later segments as well.
#[test]
fn a_loss_before_the_capture_is_told_once() {
    let mut script = in_between(true, 6);
    script.data(141.0, 1).ack(161.0, 8);
    let losses = losses(&script);
    assert_eq!(losses.len(), 1);
    assert_eq!(
        (losses[0].is_upstream, losses[0].kind.as_str()),
        (1, "random")
    );
    assert_eq!(only(&script.packets).place, "between");
}

/// A report that passed the capture less than its RTT to the sender ago was not known there.
#[test]
fn a_report_counts_when_the_sender_has_it() {
    for is_before in [true, false] {
        let mut known = in_between(is_before, 6);
        known.data(141.0, 1).ack(161.0, 8);
        assert_eq!(losses(&known)[0].kind, "random");
        let mut unknown = in_between(is_before, 6);
        unknown.data(125.0, 1).ack(145.0, 8);
        assert_eq!(losses(&unknown)[0].kind, "tail");
    }
}

/// A segment passes three times; the receiver has it twice. The first time it was lost, the second time not.
#[test]
fn of_several_passes_the_last_was_needless() {
    let mut script = at_server(50);
    for number in 50..60 {
        script.data(150.0 + f64::from(number), number);
    }
    for number in 51..60 {
        script.sack(190.0 + f64::from(number), 50, &[(51, number + 1)]);
    }
    script.data(250.0, 50).data(280.0, 50);
    script.ack(290.0, 60).sack(320.0, 60, &[(50, 51)]);
    script.data(600.0, 60).ack(640.0, 61);
    let kinds: Vec<_> = losses(&script).into_iter().map(|loss| loss.kind).collect();
    assert_eq!(kinds, ["random", "spurious"]);
}

#[test]
fn segments_that_a_network_card_has_yet_to_cut_are_repeated_in_parts() {
    let mut script = Script::default();
    script.handshake(0.1, 40.0);
    let large = Segment {
        seq: ISN[1].wrapping_add(1),
        ack: ISN[0].wrapping_add(1),
        len: 10 * MSS,
        flags: Flags::ACK,
        window: 500,
        ..Segment::default()
    };
    script.segment(100.0, false, large);
    for number in 1..10 {
        script.sack(140.0 + f64::from(number) / 10.0, 0, &[(1, number + 1)]);
    }
    script.data(145.0, 0).ack(185.0, 10);
    let row = only(&script.packets);
    assert_eq!((row.bytes_down, row.retransmissions_down), (10_000, 1));
    assert_eq!(losses(&script)[0].kind, "random");
}

#[test]
fn intervals_add_up_to_the_connection() {
    let tables = tables(&at_server(500).packets);
    let intervals = &tables.intervals;
    assert_eq!(intervals.bytes.iter().sum::<u64>(), 500_000);
    assert_eq!(intervals.acked_bytes.iter().sum::<u64>(), 500_000);
    assert!(intervals.len() >= 5);
}

//! Silence and order: outages, gaps that close at once or after an RTT, and segments that are overtaken.

use tcp::{Flags, Segment};

use crate::connections::{at_server, losses, only};
use crate::made_up::{ISN, MSS, Script};

#[test]
fn a_loss_within_a_long_silence_is_an_outage() {
    let mut script = at_server(50);
    for number in 50..70 {
        script.data(145.0 + f64::from(number - 50), number);
    }
    // Nothing comes for two seconds; then what had waited arrives, and what had not is repaired.
    script.data(500.0, 50);
    for number in 50..60 {
        script.ack(2_200.0 + f64::from(number), number + 1);
    }
    for number in 60..70 {
        script.data(2_300.0 + f64::from(number), number);
        script.ack(2_340.0 + f64::from(number), number + 1);
    }
    script.data(3_000.0, 70).ack(3_040.0, 71);
    let kinds: Vec<_> = losses(&script).into_iter().map(|loss| loss.kind).collect();
    let outages = kinds.iter().filter(|kind| *kind == "outage").count();
    assert!(outages >= 10, "{kinds:?}");
    assert!(only(&script.packets).stalled_s > 1.0);
}

/// A capture 2 ms from the client: 50 segments pass, and nothing for 3 s. Then these pass, an RTT apart; 60 and 61 are
/// behind a gap, and what was lost is repaired an RTT later.
fn after_silence(first: &[u32], lost: std::ops::Range<u32>) -> Vec<String> {
    let mut script = Script::default();
    script.handshake(40.0, 2.0);
    for number in 0..50 {
        let ms = 100.0 + f64::from(number);
        script.data(ms, number).ack(ms + 2.0, number + 1);
    }
    for number in first {
        script.data(3_150.0, *number);
    }
    script.ack(3_152.0, lost.start);
    script.data(3_193.0, lost.end).data(3_194.0, lost.end + 1);
    script.sack(3_195.0, lost.start, &[(lost.end, lost.end + 2)]);
    for number in lost.clone() {
        script.data(3_240.0 + f64::from(number), number);
    }
    script.ack(3_400.0, lost.end + 2);
    script
        .data(9_000.0, lost.end + 2)
        .ack(9_002.0, lost.end + 3);
    losses(&script)
        .into_iter()
        .filter(|loss| loss.is_upstream == 1)
        .map(|loss| loss.kind)
        .collect()
}

/// A time-out repeats a segment whose ACK was lost, or sends one that was lost; F-RTO then sends new data.
#[test]
fn a_gap_that_shows_after_a_time_out_was_lost_in_an_outage_before_the_capture() {
    assert_eq!(after_silence(&[49], 50..60), ["outage"; 10]);
    assert_eq!(after_silence(&[50], 51..60), ["outage"; 9]);
    // An application that paused sends a burst, or a segment of which the next one is lost at random.
    assert_eq!(after_silence(&[50, 51, 52, 53], 54..55), ["random"]);
    assert_eq!(after_silence(&[50], 51..52), ["random"]);
}

/// A segment that is overtaken before the capture fills its gap at once.
#[test]
fn a_gap_that_closes_at_once_is_reordering() {
    let mut script = Script::default();
    script.handshake(40.0, 2.0);
    script
        .data(100.0, 0)
        .data(101.0, 2)
        .data(101.5, 1)
        .ack(103.0, 3);
    let row = only(&script.packets);
    assert_eq!((row.out_of_order_down, row.retransmissions_down), (1, 0));
    assert_eq!(losses(&script)[0].kind, "reordering");
}

/// Sent in one tick, it comes 15 ms later, with an identification of the order in which packets pass.
#[test]
fn a_gap_that_closes_before_its_sender_may_know_is_reordering() {
    let kind = |own: u32| {
        let mut script = Script::default();
        script.handshake(40.0, 2.0).data(100.0, 0);
        for (ms, number, value) in [(101.0, 2, 7), (116.0, 1, own)] {
            let segment = Segment {
                seq: ISN[1].wrapping_add(1 + number * MSS),
                len: MSS,
                flags: Flags::ACK,
                timestamps: Some((value, 1)),
                ..Segment::default()
            };
            script.segment(ms, false, segment);
        }
        script.ack(118.0, 3);
        losses(&script)[0].kind.clone()
    };
    assert_eq!(kind(7), "reordering");
    assert_eq!(kind(8), "tail");
}

/// Nothing comes for 700 ms, so that the receiver is silent, and a hole from before is filled after it.
#[test]
fn a_receiver_to_which_nothing_comes_is_in_no_outage() {
    let mut script = Script::default();
    script.handshake(300.0, 1.0);
    let mut data = |ms: f64, number: u32, (acked, reported): (u32, u32)| {
        let value = ms as u32;
        let segment = Segment {
            seq: ISN[1].wrapping_add(1 + number * MSS),
            len: MSS,
            flags: Flags::ACK,
            timestamps: Some((value - 150, value - 300)),
            ..Segment::default()
        };
        script.segment(ms, false, segment);
        let edge = |segments: u32| ISN[1].wrapping_add(1 + segments * MSS);
        let mut ack = Segment {
            seq: ISN[0].wrapping_add(1),
            ack: edge(acked),
            flags: Flags::ACK,
            window: 500,
            timestamps: Some((value, value - 150)),
            ..Segment::default()
        };
        if acked < reported {
            ack.sack.push(edge(acked + 1), edge(reported));
        }
        // The ACK of the segment that showed the hole was not captured.
        if ms != 801.0 {
            script.segment(ms + 0.1, true, ack);
        }
    };
    data(400.0, 0, (1, 1));
    data(800.0, 1, (2, 2));
    data(801.0, 3, (2, 4));
    data(1_500.0, 4, (2, 5));
    data(1_800.0, 5, (2, 6));
    data(1_810.0, 2, (6, 6));
    let losses = losses(&script);
    let loss = losses.last().expect("a loss");
    assert_eq!((loss.is_upstream, loss.repair.as_str()), (1, "fast"));
    assert_ne!(loss.kind, "outage");
}

/// A segment that was lost before the capture fills its gap an RTT later.
#[test]
fn a_gap_that_closes_after_an_rtt_was_a_loss_upstream() {
    let mut script = Script::default();
    script.handshake(40.0, 2.0);
    script
        .data(100.0, 0)
        .data(101.0, 2)
        .data(142.0, 1)
        .ack(144.0, 3);
    let losses = losses(&script);
    assert_eq!(
        (losses[0].is_upstream, losses[0].repair.as_str()),
        (1, "fast")
    );
    assert_eq!(only(&script.packets).retransmissions_down, 1);
}

#[test]
fn a_segment_overtaken_behind_the_capture_did_not_pass_again() {
    let mut script = at_server(50);
    script.data(200.0, 50).data(201.0, 51).data(202.0, 52);
    script.sack(241.0, 50, &[(51, 52)]).ack(242.0, 53);
    let losses = losses(&script);
    assert_eq!((losses.len(), losses[0].kind.as_str()), (1, "reordering"));
    assert_eq!(losses[0].repair, "none");
}

/// Every second segment is overtaken, and reported 0.9 ms after the one behind it.
#[test]
fn segments_that_are_overtaken_are_not_in_recovery() {
    let mut script = Script::default();
    script.handshake(0.1, 40.0);
    let mut events = Vec::new();
    for pair in 0..200 {
        let ms = 100.0 + 2.0 * f64::from(pair);
        events.extend([(ms, pair, 0), (ms + 41.0, pair, 1), (ms + 41.9, pair, 2)]);
    }
    events.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (ms, pair, event) in events {
        match event {
            0 => script.data(ms, 2 * pair).data(ms + 1.0, 2 * pair + 1),
            1 => script.sack(ms, 2 * pair, &[(2 * pair + 1, 2 * pair + 2)]),
            _ => script.ack(ms, 2 * pair + 2),
        };
    }
    let row = only(&script.packets);
    assert!(row.reordered > 150, "{}", row.reordered);
    assert!(row.limit_recovery < 0.02, "{}", row.limit_recovery);
}

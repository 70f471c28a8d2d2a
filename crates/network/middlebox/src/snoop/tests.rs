//! Recovery of one connection, step by step.

use net::Packet;
use tcp::{Flags, SackBlocks, Segment};
use units::{Duration, Instant};

use super::flow::{AckVerdict, SnoopFlow};

/// Limit of the cache.
const CACHE_BYTES: u64 = 1_000_000;

pub(super) fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Segment `number` of 1000 bytes.
fn data(number: u32) -> Segment {
    Segment {
        seq: 1_000 * number,
        len: 1_000,
        flags: Flags::ACK,
        ..Segment::default()
    }
}

fn send(flow: &mut SnoopFlow, number: u32, at: u64) {
    send_with_room(flow, number, at, CACHE_BYTES);
}

/// Sends a segment of which a cache of `max_bytes` stores a copy, if it fits.
pub(super) fn send_with_room(flow: &mut SnoopFlow, number: u32, at: u64, max_bytes: u64) {
    let segment = data(number);
    let packet = Packet {
        id: u64::from(number),
        payload: segment.into(),
        ..Packet::default()
    };
    flow.on_data(ms(at), (&packet, &segment), None, max_bytes);
}

/// A flow on which the far host has sent five segments of 1000 bytes, 1 ms apart.
fn flow_with_five_segments() -> SnoopFlow {
    let mut flow = SnoopFlow::default();
    for number in 0..5 {
        send(&mut flow, number, u64::from(number));
    }
    flow
}

pub(super) fn ack(number: u32, blocks: &[(u32, u32)]) -> Segment {
    let mut sack = SackBlocks::EMPTY;
    blocks.iter().for_each(|&(from, to)| sack.push(from, to));
    Segment {
        ack: number,
        flags: Flags::ACK,
        sack,
        ..Segment::default()
    }
}

fn repaired(flow: &mut SnoopFlow, at: u64) -> Vec<u32> {
    let repairs = flow.repairs(ms(at), None);
    repairs
        .iter()
        .map(|(packet, _)| packet.segment().unwrap().seq)
        .collect()
}

#[test]
fn a_loss_is_repaired_and_the_sender_gets_no_duplicate_ack() {
    let mut flow = flow_with_five_segments();
    assert_eq!(flow.on_ack(ms(20), &ack(1_000, &[])), AckVerdict::Forward);
    let duplicate = ack(1_000, &[(2_000, 3_000)]);
    assert_eq!(flow.on_ack(ms(22), &duplicate), AckVerdict::Suppress);
    assert_eq!(repaired(&mut flow, 22), [1_000]);
    let duplicate = ack(1_000, &[(2_000, 4_000)]);
    assert_eq!(flow.on_ack(ms(23), &duplicate), AckVerdict::Suppress);
    assert_eq!(repaired(&mut flow, 23), [0; 0], "once in a round trip");
    assert_eq!(flow.on_ack(ms(42), &ack(5_000, &[])), AckVerdict::Forward);
    assert_eq!(flow.deadline(), Instant::NEVER);
}

#[test]
fn a_partial_ack_is_forwarded_without_sack_blocks_above_the_next_repair() {
    let mut flow = flow_with_five_segments();
    flow.on_ack(ms(20), &ack(0, &[]));
    assert_eq!(
        flow.on_ack(ms(21), &ack(0, &[(1_000, 2_000)])),
        AckVerdict::Suppress
    );
    assert_eq!(repaired(&mut flow, 21), [0]);
    let duplicate = ack(0, &[(3_000, 5_000), (1_000, 2_000)]);
    assert_eq!(flow.on_ack(ms(24), &duplicate), AckVerdict::Suppress);
    assert_eq!(repaired(&mut flow, 24), [2_000]);
    let partial = ack(2_000, &[(3_000, 5_000)]);
    let verdict = flow.on_ack(ms(41), &partial);
    assert_eq!(verdict, AckVerdict::LessSack(ack(2_000, &[])));
}

#[test]
fn the_oldest_copy_is_sent_again_if_nothing_comes_back() {
    let mut flow = flow_with_five_segments();
    let due = flow.deadline();
    assert_eq!(due, ms(300));
    flow.on_deadline(due, false);
    assert_eq!(repaired(&mut flow, 300), [0]);
    assert_eq!(flow.deadline(), ms(600), "the persist timer");
}

/// There is room for the first, third and fifth of five. A sender with RACK takes for lost what its next retransmission
/// overtakes and no SACK block covers: so it sees all blocks, and repairs all losses up to where it was then.
#[test]
fn losses_beside_one_that_the_cache_cannot_repair_are_left_to_the_sender() {
    let mut flow = SnoopFlow::default();
    for number in 0..5 {
        let room = if number == 1 { 0 } else { CACHE_BYTES };
        send_with_room(&mut flow, number, u64::from(number), room);
    }
    let duplicate = ack(1_000, &[(2_000, 3_000)]);
    assert_eq!(flow.on_ack(ms(22), &duplicate), AckVerdict::Forward);
    let duplicate = ack(1_000, &[(4_000, 5_000), (2_000, 3_000)]);
    assert_eq!(flow.on_ack(ms(24), &duplicate), AckVerdict::Forward);
    assert_eq!(
        repaired(&mut flow, 24),
        [0; 0],
        "nor does it repair the fourth"
    );
    // The sender has done so at 25 ms, and has sent more: of this the cache repairs losses.
    for number in [1, 3, 5, 6] {
        send(&mut flow, number, 25);
    }
    let blocks = [(6_000, 7_000), (4_000, 5_000), (2_000, 3_000)];
    let verdict = flow.on_ack(ms(45), &ack(1_000, &blocks));
    assert_eq!(verdict, AckVerdict::LessSack(ack(1_000, &blocks[1..])));
    assert_eq!(repaired(&mut flow, 45), [5_000]);
}

/// Behind the cache is a queue which it does not see: a loss at over twice the lowest RTT is an overflow, for which the
/// sender has to slow down.
#[test]
fn a_loss_at_a_high_local_delay_is_left_to_the_sender() {
    for (delay, is_repaired) in [(75, false), (55, false), (35, true), (25, true)] {
        let mut flow = SnoopFlow::default();
        for (number, rtt) in [(0, 20), (1, 80), (2, 20)] {
            let sent_at = 100 * u64::from(number);
            send(&mut flow, number, sent_at);
            flow.on_ack(ms(sent_at + rtt), &ack(1_000 * (number + 1), &[]));
        }
        send(&mut flow, 3, 300);
        send(&mut flow, 4, 300);
        let duplicate = ack(3_000, &[(4_000, 5_000)]);
        let verdict = flow.on_ack(ms(300 + delay), &duplicate);
        let expected = if is_repaired {
            AckVerdict::Suppress
        } else {
            AckVerdict::Forward
        };
        assert_eq!(verdict, expected, "{delay} ms");
        assert_eq!(repaired(&mut flow, 300 + delay).is_empty(), !is_repaired);
    }
}

/// In the paper (Balakrishnan 1995) the sender also repairs what it has retransmitted; it needs the duplicate ACKs for
/// that.
#[test]
fn losses_that_the_sender_has_retransmitted_are_left_to_it() {
    let mut flow = flow_with_five_segments();
    send(&mut flow, 1, 10);
    assert_eq!(flow.on_ack(ms(20), &ack(1_000, &[])), AckVerdict::Forward);
    let duplicate = ack(1_000, &[(2_000, 3_000)]);
    assert_eq!(flow.on_ack(ms(22), &duplicate), AckVerdict::Forward);
    assert_eq!(repaired(&mut flow, 22), [0; 0]);
}

/// The mobile host discards data that is older than what is below it (RFC 7323 section 5.3).
#[test]
fn a_copy_is_at_least_as_recent_as_a_retransmission_below_it() {
    let mut flow = SnoopFlow::default();
    let mut send = |number: u32, timestamp: u32| {
        let segment = Segment {
            seq: 1_000 * number,
            len: 1_000,
            timestamps: Some((timestamp, 0)),
            ..Segment::default()
        };
        let packet = Packet {
            payload: segment.into(),
            ..Packet::default()
        };
        let now = ms(u64::from(timestamp));
        flow.on_data(now, (&packet, &segment), None, CACHE_BYTES);
    };
    (0..5).for_each(|number| send(number, 10 + number));
    // The time-out of the sender, and a packet that was delayed on its way.
    send(1, 900);
    send(2, 300);
    flow.on_ack(ms(920), &ack(3_000, &[]));
    flow.on_deadline(flow.deadline(), false);
    let repairs = flow.repairs(ms(1_300), None);
    let segment = repairs[0].0.segment().unwrap();
    assert_eq!((segment.seq, segment.timestamps), (3_000, Some((900, 0))));
}

/// Duplicate ACKs of what was sent before a retransmission do not say that it is lost, however many come.
#[test]
fn a_copy_is_sent_again_only_if_a_later_transmission_has_arrived() {
    let mut flow = flow_with_five_segments();
    flow.on_ack(ms(20), &ack(0, &[(1_000, 2_000)]));
    assert_eq!(repaired(&mut flow, 20), [0]);
    for at in 21..200 {
        flow.on_ack(ms(at), &ack(0, &[(1_000, 5_000)]));
        assert_eq!(repaired(&mut flow, at), [0; 0]);
    }
    send(&mut flow, 5, 210);
    flow.on_ack(ms(230), &ack(0, &[(1_000, 6_000)]));
    assert_eq!(repaired(&mut flow, 230), [0]);
}

/// All of a window is lost: the time-out sends the oldest packet, and its ACK says that those from before are lost.
#[test]
fn a_lost_window_is_repaired_a_round_trip_after_the_time_out() {
    let mut flow = flow_with_five_segments();
    flow.on_deadline(ms(300), false);
    assert_eq!(repaired(&mut flow, 300), [0]);
    let verdict = flow.on_ack(ms(320), &ack(1_000, &[]));
    assert_eq!(repaired(&mut flow, 320), [1_000, 2_000, 3_000, 4_000]);
    assert_ne!(verdict, AckVerdict::Suppress, "the sender may go on");
}

/// The packets were only late (RFC 3522): an ACK for one that was sent once, before the time-out, ends the repair.
#[test]
fn a_late_packet_ends_the_repair_after_a_time_out() {
    let mut flow = flow_with_five_segments();
    flow.on_deadline(ms(300), false);
    assert_eq!(repaired(&mut flow, 300), [0]);
    flow.on_ack(ms(320), &ack(2_000, &[]));
    assert_eq!(repaired(&mut flow, 320), [0; 0]);
}

/// A window of 40 packets, of which 10 (RFC 6928) and one for the delivered one are sent at once, and twice as many a round trip later.
#[test]
fn repairs_of_a_long_window_begin_with_ten() {
    let mut flow = SnoopFlow::default();
    (0..40).for_each(|number| send(&mut flow, number, 0));
    flow.on_deadline(ms(300), false);
    assert_eq!(repaired(&mut flow, 300).len(), 1);
    flow.on_ack(ms(320), &ack(1_000, &[]));
    assert_eq!(repaired(&mut flow, 320).len(), 10 + 1);
    flow.on_ack(ms(340), &ack(12_000, &[]));
    assert_eq!(repaired(&mut flow, 340).len(), 2 * (10 + 1));
}

/// The queue behind the cache has room for two of them.
#[test]
fn repairs_do_not_overflow_a_visible_queue() {
    let mut flow = flow_with_five_segments();
    flow.on_ack(ms(20), &ack(0, &[(4_000, 5_000)]));
    assert_eq!(flow.repairs(ms(20), Some(2)).len(), 2);
}

/// A visible queue behind the cache explains missing ACKs.
#[test]
fn the_time_out_waits_for_a_visible_queue() {
    let mut flow = flow_with_five_segments();
    flow.sees_queue = true;
    flow.on_deadline(ms(300), true);
    assert_eq!(repaired(&mut flow, 300), [0; 0]);
    flow.on_deadline(flow.deadline(), false);
    assert_eq!(repaired(&mut flow, 600), [0]);
}

#[test]
fn a_reset_is_forwarded() {
    let mut flow = flow_with_five_segments();
    let reset = Segment {
        flags: Flags::RST | Flags::ACK,
        ..ack(0, &[])
    };
    assert_eq!(flow.on_ack(ms(20), &reset), AckVerdict::Forward);
}

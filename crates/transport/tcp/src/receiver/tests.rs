//! Tests of the timing of ACKs.

use super::*;

const FIRST: u64 = 1_000;
const MSS: u64 = 1_448;

/// Returns a receiver that has used up the quick ACKs of the start, with the next number that it expects.
fn settled_receiver() -> (Receiver, u64, Instant) {
    let config = TcpConfig {
        timers: TimerExpiry::Exact,
        ..TcpConfig::default()
    };
    let mut receiver = Receiver::new(&config, FIRST, 7, true, 64_240);
    receiver.establish(Instant::ZERO, Some(Duration::from_millis(100)));
    let (mut next, mut now) = (FIRST, Instant::ZERO);
    loop {
        now += Duration::from_millis(5);
        if !arrives(&mut receiver, now, next, MSS, Flags::ACK) {
            break;
        }
        next += MSS;
    }
    next += MSS;
    assert!(arrives(&mut receiver, now, next, MSS, Flags::ACK));
    (receiver, next + MSS, now)
}

/// Receives and reads a segment; returns whether an ACK leaves at once.
fn arrives(receiver: &mut Receiver, now: Instant, seq: u64, len: u64, flags: Flags) -> bool {
    let before = arrives_unread(receiver, now, seq, len, flags);
    receiver.read_all(now);
    before || acknowledges(receiver, now)
}

/// Receives a segment; returns whether an ACK leaves before it is read.
fn arrives_unread(receiver: &mut Receiver, now: Instant, seq: u64, len: u64, flags: Flags) -> bool {
    let segment = Segment {
        len: len as u32,
        flags,
        ..Segment::default()
    };
    receiver.on_data(now, seq, &segment, None);
    acknowledges(receiver, now)
}

fn acknowledges(receiver: &mut Receiver, now: Instant) -> bool {
    let due = receiver.ack_due(now);
    if due {
        receiver.acknowledge();
        receiver.window_field();
    }
    due
}

/// Linux `tcp_incr_quickack` and `tcp_grow_window`: sixteen quick ACKs at the start, and one more for every
/// segment by which the window grows, eight of them.
#[test]
fn the_first_segments_are_acknowledged_one_by_one() {
    let (_, next, _) = settled_receiver();
    assert_eq!((next - FIRST) / MSS, 16 + 8 + 2);
}

/// RFC 1122 §4.2.3.2: an ACK for every second full segment, or after 40 ms. A delay that has expired doubles,
/// up to the RTT.
#[test]
fn the_ack_of_a_single_segment_is_delayed_longer_each_time() {
    let (mut receiver, mut next, mut now) = settled_receiver();
    for wait in [40, 80, 100] {
        assert!(!arrives(&mut receiver, now, next, MSS, Flags::ACK));
        assert_eq!(receiver.deadline(), now + Duration::from_millis(wait));
        next += MSS;
        now = receiver.deadline();
        assert!(acknowledges(&mut receiver, now));
    }
}

/// Linux `__tcp_ack_snd_check`: while unread data would shrink the window, segments that arrive together
/// share the ACK that the reader sends.
#[test]
fn a_burst_is_acknowledged_once_after_it_is_read() {
    let (mut receiver, mut next, now) = settled_receiver();
    for _ in 0..7 {
        assert!(!arrives_unread(&mut receiver, now, next, MSS, Flags::ACK));
        next += MSS;
    }
    receiver.read_all(now);
    assert!(acknowledges(&mut receiver, now));
    assert!(!acknowledges(&mut receiver, now));
}

/// RFC 2883 §4, Linux `tcp_send_dupack`: data wholly before the last ACK is reported as well, so that an
/// unneeded time-out can be undone.
#[test]
fn old_duplicate_data_is_reported_by_dsack() {
    let (mut receiver, next, now) = settled_receiver();
    for segment in 0..4 {
        arrives(&mut receiver, now, next + segment * MSS, MSS, Flags::ACK);
    }
    receiver.acknowledge();
    assert!(!receiver.is_acceptable(next, MSS));
    receiver.on_unacceptable(next, MSS);
    assert!(receiver.ack_due(now));
    let (number, sack) = receiver.acknowledge();
    assert_eq!(number, next + 4 * MSS);
    assert_eq!(sack.as_slice(), [(next as u32, (next + MSS) as u32)]);
}

/// Linux `tcp_cleanup_rbuf`: the end of a message is acknowledged once it is read.
#[test]
fn a_pushed_or_short_segment_is_acknowledged_at_once() {
    let (mut receiver, next, now) = settled_receiver();
    assert!(arrives(
        &mut receiver,
        now,
        next,
        MSS,
        Flags::ACK | Flags::PSH
    ));
    assert!(arrives(&mut receiver, now, next + MSS, 100, Flags::ACK));
}

/// Linux `tcp_comp_sack_*`: three duplicate ACKs leave at once, the next ones are delayed by a third of the
/// RTT or a millisecond, and a filled gap is acknowledged at once.
#[test]
fn duplicate_acks_are_merged_after_the_third() {
    let (mut receiver, next, now) = settled_receiver();
    receiver.window.rcv_rtt_measure_ts(now, Some(0), MSS, false);
    let mut beyond = |hole: u64| arrives(&mut receiver, now, next + hole * MSS, MSS, Flags::ACK);
    assert!(beyond(1), "the window grows by a last segment");
    for hole in 2..=4 {
        assert!(beyond(hole));
    }
    assert!(!beyond(5));
    let wait = Duration::from_millis(1) + Duration::from_micros(10);
    assert_eq!(receiver.deadline(), now + wait);
    assert!(arrives(&mut receiver, now, next, MSS, Flags::ACK));
    assert_eq!(receiver.deadline(), Instant::NEVER);
}

/// Linux acknowledges a filled hole before it wakes the application: the data still occupies the window, and
/// the window field shows it. The next ACK offers the room again.
#[test]
fn the_ack_of_a_filled_hole_offers_less() {
    let (mut receiver, next, now) = settled_receiver();
    let window = |receiver: &mut Receiver| {
        receiver.acknowledge();
        u64::from(receiver.window_field()) << 7
    };
    let segment = Segment {
        len: MSS as u32,
        flags: Flags::ACK,
        ..Segment::default()
    };
    for beyond in 1..=20 {
        receiver.on_data(now, next + beyond * MSS, &segment, None);
    }
    let before = window(&mut receiver);
    receiver.on_data(now, next, &segment, None);
    assert!(receiver.ack_due(now));
    let filled = window(&mut receiver);
    assert!(
        filled + 10 * MSS < before && filled + 21 * MSS >= before,
        "{filled} after {before}"
    );
    receiver.read_all(now);
    receiver.on_data(now, next + 21 * MSS, &segment, None);
    receiver.read_all(now);
    receiver.acknowledge_now();
    let read = window(&mut receiver);
    assert!(read >= before, "{read} after {filled}");
}

/// Linux `tcp_sack_new_ofo_skb`: merged ACKs report three blocks at most, so that one leaves before a third block is
/// displaced.
#[test]
fn an_ack_leaves_before_a_block_would_be_displaced() {
    let (mut receiver, next, now) = settled_receiver();
    let beyond = |receiver: &mut Receiver, hole: u64| {
        let at_once = arrives(receiver, now, next + hole * MSS, MSS, Flags::ACK);
        (at_once, receiver.take_flushed_ack())
    };
    for hole in [1, 3, 5, 7] {
        assert!(beyond(&mut receiver, hole).0, "{hole}");
    }
    // Merged from now on: nothing waits before this one.
    let (at_once, flushed) = beyond(&mut receiver, 9);
    assert!(!at_once && flushed.is_none());
    let (at_once, flushed) = beyond(&mut receiver, 11);
    let block = |hole: u64| ((next + hole * MSS) as u32, (next + (hole + 1) * MSS) as u32);
    let flushed = flushed.expect("an ACK before the sixth block");
    assert!(!at_once);
    assert_eq!(flushed.number, next);
    assert_eq!(flushed.sack.as_slice(), [block(9), block(7), block(5)]);
    // The latest block grows: nothing is displaced.
    assert!(beyond(&mut receiver, 12).1.is_none());
    // Nor by the second latest one. The third is another matter.
    assert!(
        beyond(&mut receiver, 10).1.is_none(),
        "it joins the first two"
    );
    assert_eq!(receiver.sack_blocks.len(), 3);
    assert!(beyond(&mut receiver, 8).1.is_none());
    assert!(beyond(&mut receiver, 6).1.is_none());
}

/// A block that was displaced is not reported again by new data next to it, only that data.
#[test]
fn a_displaced_block_is_forgotten() {
    let (mut receiver, next, now) = settled_receiver();
    for hole in [1, 3, 5, 7, 9] {
        arrives(&mut receiver, now, next + hole * MSS, MSS, Flags::ACK);
    }
    assert_eq!(receiver.sack_blocks.len(), REPORTED_BLOCKS);
    receiver.report_block(next + 2 * MSS, next + 3 * MSS);
    let two_and_three = (next + 2 * MSS, next + 4 * MSS);
    assert_eq!(receiver.sack_blocks[0], two_and_three);
}

/// Receives one segment in order `gap` milliseconds after the latest, and takes the ACK if one leaves.
fn after(receiver: &mut Receiver, now: &mut Instant, gap: u64, len: u64) -> bool {
    *now += Duration::from_millis(gap);
    let next = receiver.rcv_nxt;
    arrives(receiver, *now, next, len, Flags::ACK)
}

#[test]
fn every_segment_is_acknowledged_without_delayed_acks() {
    let (mut receiver, _, mut now) = settled_receiver();
    receiver.delays_acks = false;
    for _ in 0..5 {
        assert!(after(&mut receiver, &mut now, 1, MSS));
    }
}

/// RFC 1122 §4.2.3.2: more than a full segment is acknowledged at once, not exactly one.
#[test]
fn more_than_a_full_segment_is_acknowledged() {
    let (mut receiver, next, now) = settled_receiver();
    assert!(!arrives_unread(&mut receiver, now, next, MSS, Flags::ACK));
    assert!(!receiver.full_segment_unacked());
    assert!(!acknowledges(&mut receiver, now));
    // The window does not shrink by it: half of the memory is free, and the threshold is below.
    receiver.window.grow_for_ofo(1 << 20);
    assert!(arrives_unread(
        &mut receiver,
        now,
        next + MSS,
        1,
        Flags::ACK
    ));
}

/// Linux `tcp_send_delayed_ack`: the delay is at most the RTT, where that is known, but never below its minimum,
/// and 200 ms.
#[test]
fn the_delay_is_bounded_by_the_rtt() {
    let (mut receiver, ..) = settled_receiver();
    let mut delay = |timeout: u64, srtt: u64| {
        receiver.ack_timeout = Duration::from_millis(timeout);
        receiver.handshake_rtt = Duration::from_millis(srtt);
        receiver.ack_delay().as_millis()
    };
    assert_eq!(delay(40, 10), 40);
    assert_eq!(delay(30, 10), 30);
    assert_eq!(delay(41, 10), 40);
    assert_eq!(delay(150, 10), 40);
    assert_eq!(delay(150, 100), 100);
    assert_eq!(delay(150, 180), 150);
    assert_eq!(delay(150, 0), 150);
    assert_eq!(delay(500, 300), 200);
    assert_eq!(delay(500, 0), 200);
}

/// A delayed ACK leaves with a segment in the last quarter of its delay. An earlier time-out replaces a later one.
#[test]
fn an_ack_that_is_about_to_leave_leaves_with_the_next_segment() {
    for (gap, at_once) in [(1, false), (29, false), (30, true), (39, true)] {
        let (mut receiver, _, mut now) = settled_receiver();
        receiver.ack_timeout = Duration::from_millis(40);
        receiver.delayed_ack_at = now + Duration::from_millis(40);
        let due = receiver.deadline();
        now += Duration::from_millis(gap);
        receiver.delay_ack(now);
        assert_eq!(receiver.ack_now, at_once, "{gap} ms");
        assert_eq!(receiver.deadline(), due);
    }
    let (mut receiver, _, now) = settled_receiver();
    receiver.delayed_ack_at = now + Duration::from_millis(150);
    receiver.ack_timeout = Duration::from_millis(40);
    receiver.delay_ack(now);
    assert_eq!(receiver.deadline(), now + Duration::from_millis(40));
}

/// Linux `tcp_event_data_recv`: the delay follows the spacing of arrivals, and a pause of more than a time-out calls
/// for quick ACKs.
#[test]
fn the_delay_follows_the_spacing_of_arrivals() {
    let after_gap = |timeout: u64, gap: u64| {
        let (mut receiver, _, mut now) = settled_receiver();
        receiver.ack_timeout = Duration::from_millis(timeout);
        receiver.rto = Duration::from_millis(300);
        receiver.last_arrival = now;
        now += Duration::from_millis(gap);
        receiver.adapt_ack_timeout(now);
        assert_eq!(receiver.last_arrival, now);
        (receiver.ack_timeout.as_millis(), receiver.quick_acks)
    };
    assert_eq!(after_gap(40, 0), (40, 0));
    assert_eq!(after_gap(160, 20), (100, 0), "halfway down");
    assert_eq!(after_gap(160, 21), (101, 0), "half and the gap");
    assert_eq!(after_gap(160, 159), (200, 0), "at most 200 ms");
    assert_eq!(after_gap(160, 160), (160, 0), "a longer gap says nothing");
    assert_eq!(after_gap(160, 300), (160, 0));
    assert_eq!(after_gap(160, 301), (160, 16));
    let (mut receiver, _, now) = settled_receiver();
    receiver.rto = Duration::from_millis(90);
    receiver.ack_timeout = Duration::from_millis(80);
    receiver.last_arrival = now;
    receiver.adapt_ack_timeout(now + Duration::from_millis(70));
    assert_eq!(receiver.ack_timeout.as_millis(), 90, "at most an RTO");
}

/// Linux `tcp_incr_quickack`: half of the window in segments, at least two and at most what is asked for.
#[test]
fn quick_acks_cover_half_of_the_window() {
    let (mut receiver, ..) = settled_receiver();
    let mut quick = |before: u32, max: u32| {
        receiver.quick_acks = before;
        receiver.incr_quickack(max);
        receiver.quick_acks
    };
    assert_eq!((quick(0, 16), quick(0, 3), quick(20, 16)), (16, 3, 20));
    assert_eq!(quick(0, 100), 29, "of 85 632 bytes");
}

/// Linux `tcp_delack_max`: a host whose minimum RTO is lowered acknowledges a tick before it, as its peer may have the
/// same one. The default bounds nothing.
#[test]
fn a_lowered_minimum_rto_bounds_the_delay_of_acks() {
    let delay = |min_rto: u64, ack_timeout: u64| {
        let (mut receiver, ..) = settled_receiver();
        receiver.min_rto = Duration::from_millis(min_rto);
        receiver.ack_timeout = Duration::from_millis(ack_timeout);
        receiver.handshake_rtt = Duration::from_millis(300);
        receiver.ack_delay().as_millis()
    };
    assert_eq!((delay(200, 40), delay(200, 200)), (40, 200), "the default");
    assert_eq!((delay(5, 40), delay(20, 160)), (4, 19), "a tick before");
    assert_eq!(
        (delay(41, 40), delay(60, 40)),
        (40, 40),
        "a shorter delay stays"
    );
    assert_eq!((delay(1, 40), delay(2, 40)), (1, 1), "at least a tick");
}

/// Linux `tcp_event_data_sent` and `inet_csk_in_pingpong_mode`: an end that answers delays its ACKs, so that they leave
/// with the answer. An ACK that had to leave alone ends that (`tcp_delack_timer_handler`).
#[test]
fn an_end_that_answers_delays_its_acks() {
    let (mut receiver, next, mut now) = settled_receiver();
    receiver.incr_quickack(16);
    now += Duration::from_millis(39);
    receiver.note_data_sent(now);
    assert!(receiver.pingpong, "within the delay of an ACK");
    let pushed = Flags::ACK | Flags::PSH;
    assert!(!arrives(&mut receiver, now, next, 100, pushed));
    let late = arrives(&mut receiver, now, next + 100, MSS, Flags::ACK);
    assert!(late, "more than a segment");
    assert_eq!(receiver.deadline(), Instant::NEVER);
    assert!(!arrives(&mut receiver, now, next + 100 + MSS, 100, pushed));
    receiver.ack_timeout = Duration::from_millis(160);
    let due = receiver.deadline();
    assert!(receiver.ack_due(due));
    assert_eq!(
        (receiver.pingpong, receiver.ack_timeout.as_millis()),
        (false, 40)
    );
}

/// Linux `tcp_cleanup_rbuf`: two messages that are read (`ICSK_ACK_PUSHED2`) are acknowledged by an end that answers,
/// too.
#[test]
fn two_small_messages_are_acknowledged() {
    let (mut receiver, next, now) = settled_receiver();
    receiver.note_data_sent(now);
    let pushed = Flags::ACK | Flags::PSH;
    assert!(!arrives(&mut receiver, now, next, 100, pushed));
    assert!(arrives(&mut receiver, now, next + 100, 100, pushed));
}

/// Linux `tcp_event_data_sent`: what leaves later than an ACK would is no answer, nor is data before any has come.
#[test]
fn late_data_is_no_answer() {
    let (mut receiver, _, now) = settled_receiver();
    receiver.note_data_sent(now + Duration::from_millis(40));
    assert!(!receiver.pingpong);
    receiver.has_received_data = false;
    receiver.note_data_sent(now);
    assert!(!receiver.pingpong);
}

/// Linux `tcp_dec_quickack_mode`: only segments that acknowledge new data use up quick ACKs.
#[test]
fn data_that_leaves_uses_up_no_quick_acks() {
    let (mut receiver, next, now) = settled_receiver();
    receiver.incr_quickack(16);
    receiver.acknowledge();
    assert_eq!(receiver.quick_acks, 16);
    arrives(&mut receiver, now, next, MSS, Flags::ACK);
    receiver.acknowledge();
    assert_eq!(receiver.quick_acks, 15);
}

/// A message that is read ends the wait, unless data beyond a hole waits.
#[test]
fn the_end_of_a_message_beyond_a_hole_is_not_acknowledged_twice() {
    let (mut receiver, next, now) = settled_receiver();
    for beyond in 2..=6 {
        arrives(&mut receiver, now, next + beyond * MSS, MSS, Flags::ACK);
    }
    receiver.compressed_ack_at = Instant::NEVER;
    let pushed = Flags::ACK | Flags::PSH;
    receiver.dup_acks_rcv_nxt = next + MSS;
    receiver.dup_acks_sent = 3;
    assert!(!arrives(&mut receiver, now, next, MSS, pushed));
    assert!(receiver.ack_pushed && receiver.compressed_acks > 0);
}

/// Linux `tcp_comp_sack_nr` and `tcp_comp_sack_rtt_percent`: 44 ACKs are merged at most, for a third of a short RTT.
#[test]
fn as_many_acks_are_merged() {
    let (mut receiver, next, now) = settled_receiver();
    receiver.handshake_rtt = Duration::from_micros(600);
    receiver.window.rcv_rtt_measure_ts(now, Some(0), MSS, false);
    for beyond in 1..=4 {
        assert!(arrives(
            &mut receiver,
            now,
            next + beyond * MSS,
            MSS,
            Flags::ACK
        ));
    }
    for beyond in 5..49 {
        assert!(!arrives(
            &mut receiver,
            now,
            next + beyond * MSS,
            MSS,
            Flags::ACK
        ));
    }
    assert_eq!(receiver.deadline(), now + Duration::from_micros(198 + 10));
    assert!(arrives(
        &mut receiver,
        now,
        next + 49 * MSS,
        MSS,
        Flags::ACK
    ));
    assert_eq!(receiver.compressed_acks, 0);
}

/// RFC 9293 §3.10.7.4: the FIN is acknowledged at once, and is no payload.
#[test]
fn a_fin_is_acknowledged_at_once() {
    let (mut receiver, next, now) = settled_receiver();
    let before = receiver.delivered();
    let fin = Flags::ACK | Flags::FIN;
    assert!(arrives_unread(&mut receiver, now, next, 100, fin));
    assert!(receiver.fin_received());
    assert_eq!(receiver.delivered(), before + 100);
    assert_eq!(receiver.rcv_nxt, next + 101);
}

/// Data that repeats only in part is taken, and the repeated part is reported.
#[test]
fn the_new_part_of_a_segment_counts() {
    let (mut receiver, next, now) = settled_receiver();
    let before = receiver.delivered();
    let segment = Segment {
        len: 300,
        flags: Flags::ACK,
        ..Segment::default()
    };
    receiver.on_data(now, next - 100, &segment, None);
    assert_eq!(receiver.delivered(), before + 200);
    assert_eq!(receiver.pending_read, 200);
    assert_eq!(receiver.duplicate_sack, Some((next - 100, next)));
}

/// Linux `tcp_data_queue`: what lies beyond the window is dropped, and acknowledged.
#[test]
fn data_beyond_the_window_is_dropped() {
    let (mut receiver, _, now) = settled_receiver();
    let edge = receiver.window.right_edge;
    assert!(receiver.is_acceptable(edge, MSS) && !receiver.is_acceptable(edge + 1, MSS));
    assert!(arrives_unread(&mut receiver, now, edge - 9, 11, Flags::ACK));
    assert!(receiver.out_of_order.is_empty());
    arrives_unread(&mut receiver, now, edge - 9, 9, Flags::ACK);
    assert_eq!(receiver.out_of_order.len(), 1);
}

/// RFC 1122 §4.2.3.2 for an application that reads at once: a single segment without the end of a message waits, the
/// end of the stream does not.
#[test]
fn the_end_of_the_stream_is_acknowledged_at_once_and_one_segment_is_not() {
    let (mut receiver, next, now) = settled_receiver();
    assert!(!arrives_unread(&mut receiver, now, next, MSS, Flags::ACK));
    assert!(
        arrives(&mut receiver, now, next + MSS, MSS, Flags::ACK),
        "the second"
    );
    let end = Flags::ACK | Flags::FIN;
    assert!(arrives_unread(&mut receiver, now, next + 2 * MSS, 0, end));
}

/// RFC 2883 §4: a duplicate is reported as far as the ACK covers it, wholly if it lies beyond a hole.
#[test]
fn a_duplicate_is_reported_up_to_the_acknowledged_data() {
    let (mut receiver, next, _) = settled_receiver();
    receiver.duplicate_sack = Some((next - 2 * MSS, next - MSS));
    assert_eq!(
        receiver.take_duplicate_sack(next),
        Some((next - 2 * MSS, next - MSS))
    );
    receiver.duplicate_sack = Some((next - 2 * MSS, next));
    assert_eq!(
        receiver.take_duplicate_sack(next - MSS),
        Some((next - 2 * MSS, next - MSS))
    );
    receiver.duplicate_sack = Some((next - MSS, next));
    assert_eq!(receiver.take_duplicate_sack(next - MSS), None);
    receiver.duplicate_sack = Some((next + MSS, next + 2 * MSS));
    assert_eq!(
        receiver.take_duplicate_sack(next - MSS),
        Some((next + MSS, next + 2 * MSS))
    );
}

/// RFC 2018 §4: blocks that the cumulative number has passed are reported no more, those beyond it are.
#[test]
fn only_blocks_beyond_the_number_are_reported() {
    let (mut receiver, next, now) = settled_receiver();
    arrives(&mut receiver, now, next + MSS, MSS, Flags::ACK);
    arrives(&mut receiver, now, next + 3 * MSS, MSS, Flags::ACK);
    arrives_unread(&mut receiver, now, next, MSS, Flags::ACK);
    let (number, blocks) = receiver.acknowledge();
    assert_eq!(number, next + 2 * MSS);
    let beyond = ((next + 3 * MSS) as u32, (next + 4 * MSS) as u32);
    assert_eq!(blocks.as_slice(), [beyond]);
    assert_eq!(format!("{blocks:?}"), format!("[{beyond:?}]"));
}

/// RFC 2883 §4: duplicates are reported whole where nothing is kept back, and up to the number of the ACK where it is.
#[test]
fn duplicates_are_reported_up_to_what_is_acknowledged() {
    let (mut receiver, next, _) = settled_receiver();
    let range = (next - 2 * MSS, next - MSS);
    let mut reported = |number: u64, range: (u64, u64)| {
        receiver.duplicate_sack = Some(range);
        receiver.take_duplicate_sack(number)
    };
    assert_eq!(reported(next, range), Some(range));
    assert_eq!(
        reported(next - MSS - 100, range),
        Some((range.0, next - MSS - 100))
    );
    assert_eq!(reported(range.0, range), None);
    let beyond = (next + MSS, next + 2 * MSS);
    assert_eq!(reported(next - MSS, beyond), Some(beyond));
}

/// Linux `tcp_clamp_window`: a buffer that waiting data outgrows is enlarged. That ends the quick ACKs, and is no reason
/// for an ACK at once.
#[test]
fn an_outgrown_buffer_makes_no_acks() {
    for (waiting, at_once) in [(3, true), (40, false)] {
        let (mut receiver, mut next, now) = settled_receiver();
        receiver.read(now, 0);
        for _ in 0..waiting {
            arrives_unread(&mut receiver, now, next, MSS, Flags::ACK);
            next += MSS;
        }
        // Segments of a hundred bytes take eight times their memory.
        for _ in 0..3 {
            arrives_unread(&mut receiver, now, next, 100, Flags::ACK);
            next += 100;
        }
        receiver.acknowledge();
        receiver.incr_quickack(MAX_QUICK_ACKS);
        let acked = arrives_unread(&mut receiver, now, next, 100, Flags::ACK);
        assert_eq!(acked, at_once, "{waiting} segments wait");
        assert_eq!(receiver.quick_acks > 0, at_once);
    }
}

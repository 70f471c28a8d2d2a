//! Tests of retransmission time-outs: their times, the window after them, and F-RTO (RFC 6298, 5681, 5682).

use cca::CaState;
use tcp::{Connection, SackBlocks, Segment, State, Tcp, TcpConfig};
use units::{Duration, Instant};

use crate::alone::{OWN, ack, at, exact, opened, pass, request, sent};

const MSS: u32 = 1_460;

/// Returns a connection over a path with an RTT of 20 ms that has sent its first segments at 100 ms.
fn sending(segments: u32) -> Connection {
    let mut socket = opened(exact(), "reno", &request());
    socket.write(at(100), u64::from(segments * MSS));
    sent(&mut socket);
    socket
}

/// Returns an ACK of the first `segments` with a SACK block of those from `from` to before `to`.
fn sacked(segments: u32, from: u32, to: u32) -> Segment {
    let mut sack = SackBlocks::EMPTY;
    sack.push(OWN + 1 + from * MSS, OWN + 1 + to * MSS);
    Segment {
        sack,
        ..ack(segments * MSS)
    }
}

/// Returns the numbers of the segments.
fn numbers(all: &[Segment]) -> Vec<u32> {
    all.iter().map(|each| (each.seq - OWN - 1) / MSS).collect()
}

/// Returns the times, in milliseconds, and the numbers of what was sent.
fn record(all: &[(Instant, Segment)]) -> Vec<(u64, u32)> {
    all.iter()
        .map(|(at, each)| (at.since_start().as_millis(), (each.seq - OWN - 1) / MSS))
        .collect()
}

/// RFC 6298 §5.4 to §5.6, RFC 8985 §7: a probe after twice the RTT, then the first segment after time-outs that double,
/// the first of them from the probe on. RFC 5681 §3.1: the threshold is halved once, however many time-outs follow.
#[test]
fn time_outs_double_and_reduce_the_window_once() {
    let mut socket = sending(10);
    let rto = socket.view().rto.as_millis();
    assert_eq!(rto, 220);
    let all = pass(&mut socket, at(3_000));
    assert_eq!(record(&all), [(142, 9), (362, 0), (802, 0), (1_682, 0)]);
    let view = socket.view();
    assert_eq!((view.cwnd, view.ssthresh), (1, 5));
    assert_eq!((view.ca_state, view.inflight), (CaState::Loss, 1));
    assert_eq!((view.timeouts, view.loss_probes), (Some(3), Some(1)));
    let info = socket.info(at(3_000));
    assert_eq!((info.retransmits, info.backoff, info.lost), (3, 3, 10));
    assert_eq!(view.rto.as_millis(), rto * 8);
}

/// Returns the times, in milliseconds, at which data of `segments` of 100 bytes is repeated that is sent at 100 ms, over a
/// path with an RTT of 20 ms, under `settings` without loss probes.
fn repetitions(settings: &Tcp, cca: &str, segments: u32) -> Vec<u64> {
    let settings = Tcp {
        tlp: false,
        nodelay: Some(true),
        ..settings.clone()
    };
    let config = TcpConfig {
        timers: exact().timers,
        ..TcpConfig::from(settings)
    };
    let mut socket = opened(config, cca, &request());
    for _ in 0..segments {
        socket.write(at(100), 100);
    }
    sent(&mut socket);
    let all = pass(&mut socket, at(5_000));
    all.iter()
        .map(|(at, _)| at.since_start().as_millis())
        .collect()
}

/// Linux `tcp_retransmit_timer`, `tcp_stream_is_thin`: with fewer than four segments out, six time-outs are as long as the
/// first. Streams that have never reduced their window, as those of BBR, are not thin.
#[test]
fn six_time_outs_of_a_thin_stream_do_not_double_if_that_is_set() {
    let linear = Tcp {
        thin_linear_timeouts: true,
        ..Tcp::default()
    };
    let thin = [320, 540, 760, 980, 1_200, 1_420, 1_640, 2_080, 2_960, 4_720];
    let doubling = [320, 760, 1_640, 3_400];
    assert_eq!(repetitions(&linear, "reno", 1), thin);
    assert_eq!(repetitions(&linear, "reno", 3), thin);
    assert_eq!(repetitions(&linear, "reno", 4), doubling);
    assert_eq!(repetitions(&linear, "bbr", 1), doubling);
    assert_eq!(repetitions(&Tcp::default(), "reno", 1), doubling);
}

/// Linux `tcp_rto_max`: time-outs double up to the longest one that is set.
#[test]
fn time_outs_double_up_to_the_longest_that_is_set() {
    let bounded = Tcp {
        rto_max: Some(Duration::from_secs(1)),
        ..Tcp::default()
    };
    let times = [320, 760, 1_640, 2_640, 3_640, 4_640];
    assert_eq!(repetitions(&bounded, "reno", 1), times);
}

/// RFC 5681 §3.1 and Linux `tcp_enter_loss`: after new data was acknowledged, another time-out reduces again.
#[test]
fn a_time_out_after_progress_reduces_again() {
    let mut socket = sending(10);
    pass(&mut socket, at(400));
    socket.on_segment(at(420), &ack(MSS));
    sent(&mut socket);
    let view = socket.view();
    assert_eq!((view.ssthresh, socket.info(at(420)).retransmits), (5, 0));
    while socket.view().timeouts < Some(2) {
        let due = socket.deadline();
        pass(&mut socket, due);
    }
    assert_eq!((socket.view().ssthresh, socket.view().cwnd), (2, 1));
}

/// Linux `tcp_enter_loss`: a time-out in a recovery does not reduce the threshold a second time. It comes a whole time-out
/// after the first segment was repeated (`tcp_xmit_retransmit_queue`).
#[test]
fn a_time_out_in_recovery_keeps_the_threshold() {
    let mut socket = sending(10);
    socket.on_segment(at(120), &sacked(0, 1, 5));
    assert_eq!(numbers(&sent(&mut socket)), [0]);
    assert_eq!(socket.view().ca_state, CaState::Recovery);
    let rto = socket.view().rto.as_millis();
    while socket.view().timeouts < Some(1) {
        let due = socket.deadline();
        let all = pass(&mut socket, due);
        if socket.view().timeouts == Some(1) {
            assert_eq!(record(&all), [(120 + rto, 0)]);
        }
    }
    let view = socket.view();
    assert_eq!((view.ca_state, view.ssthresh), (CaState::Loss, 5));
    assert_eq!(socket.info(at(600)).sacked, 4, "the reports count");
}

/// RFC 5682 §3.1 step 2b: the first ACK after a time-out brings new data. Step 3b: if then data arrives that was never
/// repeated, the time-out was needless, and the window is what it was.
#[test]
fn a_needless_time_out_is_undone() {
    let mut socket = sending(20);
    let before = socket.view().cwnd;
    let all = pass(&mut socket, at(400));
    assert_eq!(record(&all), [(142, 10), (362, 0)], "a probe of new data");
    socket.on_segment(at(401), &ack(MSS));
    assert_eq!(numbers(&sent(&mut socket)), [11, 12]);
    assert_eq!(socket.view().ca_state, CaState::Loss);
    socket.on_segment(at(402), &ack(3 * MSS));
    let view = socket.view();
    assert_eq!((view.ca_state, view.undone), (CaState::Open, Some(1)));
    assert!(view.cwnd >= before, "{}", view.cwnd);
    assert_eq!(view.retransmissions, 1);
}

/// RFC 5682 §3.1 step 3a: if the new data overtakes what is missing, that is lost and repeated.
#[test]
fn a_real_time_out_goes_on_with_repetitions() {
    let mut socket = sending(20);
    pass(&mut socket, at(400));
    socket.on_segment(at(401), &ack(MSS));
    assert_eq!(numbers(&sent(&mut socket)), [11, 12]);
    socket.on_segment(at(402), &sacked(1, 11, 12));
    assert_eq!(numbers(&sent(&mut socket))[0], 1);
    let view = socket.view();
    assert_eq!((view.ca_state, view.undone), (CaState::Loss, Some(0)));
    assert_eq!(view.ssthresh, 5);
}

/// RFC 5682 §3.1 step 2b: without new data there is nothing to find out, and the next segments are repeated.
#[test]
fn without_new_data_the_next_segments_are_repeated() {
    let mut socket = sending(10);
    pass(&mut socket, at(400));
    socket.on_segment(at(401), &ack(MSS));
    assert_eq!(numbers(&sent(&mut socket)), [1, 2]);
    assert_eq!(socket.view().ca_state, CaState::Loss);
    socket.on_segment(at(421), &ack(10 * MSS));
    let view = socket.view();
    assert_eq!((view.ca_state, view.retransmissions), (CaState::Open, 4));
}

/// RFC 8985 §7.4.2 and RFC 2883 §4: a probe that the peer has twice repaired nothing, so that the window stays. A
/// report beyond what was ever sent is not believed.
#[test]
fn the_report_of_a_needless_probe_leaves_the_window() {
    for (end, reported) in [(10, 1), (11, 0)] {
        let mut socket = sending(10);
        let all = pass(&mut socket, at(150));
        assert_eq!(record(&all), [(142, 9)]);
        socket.on_segment(at(151), &ack(10 * MSS));
        let before = socket.view();
        socket.on_segment(at(162), &sacked(10, 9, end));
        assert_eq!(socket.info(at(162)).duplicates_reported, reported);
        let after = socket.view();
        assert_eq!((after.cwnd, after.ssthresh), (before.cwnd, before.ssthresh));
        assert_eq!(after.ca_state, CaState::Open);
    }
}

/// Linux `tcp_try_keep_open`: a report beyond a hole is a disorder until the hole is filled.
#[test]
fn a_report_is_a_disorder_until_the_hole_is_filled() {
    let mut socket = sending(10);
    socket.on_segment(at(120), &sacked(0, 1, 2));
    assert_eq!(socket.view().ca_state, CaState::Disorder);
    assert_eq!(socket.info(at(120)).sacked, 1);
    socket.on_segment(at(121), &ack(2 * MSS));
    assert_eq!(socket.view().ca_state, CaState::Open);
    let info = socket.info(at(121));
    assert_eq!((info.sacked, info.reordering_seen), (0, 1));
    assert_eq!(socket.view().retransmissions, 0);
}

/// RFC 2018 §5: a block that reaches below what is acknowledged, is empty, or ends beyond what was sent, reports nothing.
#[test]
fn impossible_blocks_report_nothing() {
    for (from, to) in [(3, 3), (4, 2), (9, 11), (11, 12)] {
        let mut socket = sending(10);
        socket.on_segment(at(120), &sacked(0, from, to));
        assert_eq!(socket.info(at(120)).sacked, 0, "{from} to {to}");
        assert_eq!(socket.view().ca_state, CaState::Open);
    }
}

/// RFC 2018 §5: blocks may overlap those of earlier ACKs on either side; each segment counts once.
#[test]
fn overlapping_blocks_count_each_segment_once() {
    let mut socket = sending(10);
    let before = socket.view().delivered;
    for (n, (from, to, all)) in [(4, 6, 2), (3, 7, 4), (5, 6, 4), (2, 4, 5), (6, 9, 7)]
        .into_iter()
        .enumerate()
    {
        socket.on_segment(at(120 + n as u64), &sacked(0, from, to));
        assert_eq!(socket.info(at(130)).sacked, all, "{from} to {to}");
        assert_eq!(socket.view().delivered - before, u64::from(all));
    }
}

/// Linux `tcp_try_keep_open`: a duplicate ACK is a disorder as long as a repeated segment is not acknowledged.
#[test]
fn a_duplicate_is_a_disorder_while_a_probe_is_out() {
    let mut socket = sending(10);
    assert_eq!(record(&pass(&mut socket, at(150))), [(142, 9)]);
    socket.on_segment(at(151), &ack(9 * MSS));
    assert_eq!(socket.view().ca_state, CaState::Open);
    socket.on_segment(at(152), &ack(9 * MSS));
    assert_eq!(socket.view().ca_state, CaState::Disorder);
    socket.on_segment(at(162), &ack(10 * MSS));
    assert_eq!(socket.view().ca_state, CaState::Open);
}

/// RFC 8985 §7.4.2: the report that the probe came twice may be in the ACK that covers the probe. Then the probe is
/// settled, and later ACKs reduce nothing.
#[test]
fn a_report_in_the_ack_of_the_probe_settles_it() {
    let mut socket = sending(10);
    assert_eq!(record(&pass(&mut socket, at(150))), [(142, 9)]);
    socket.on_segment(at(162), &sacked(10, 9, 10));
    let before = socket.view();
    socket.write(at(170), u64::from(2 * MSS));
    assert_eq!(numbers(&sent(&mut socket)), [10, 11]);
    socket.on_segment(at(190), &ack(12 * MSS));
    let after = socket.view();
    assert_eq!(
        (after.ssthresh, after.ca_state),
        (before.ssthresh, CaState::Open)
    );
    assert!(
        after.cwnd >= before.cwnd,
        "{} < {}",
        after.cwnd,
        before.cwnd
    );
}

/// Linux `tcp_write_timeout` with `tcp_retries2` of 15: the connection fails at the first time-out 924.6 s after the
/// first transmission. That is the sum of 15 time-outs from 200 ms on that double up to 120 s.
#[test]
fn a_connection_to_a_silent_peer_times_out() {
    let mut socket = sending(10);
    let all = record(&pass(&mut socket, at(945_100)));
    // Time-outs of 220 ms double ten times, and then take 120 s each.
    assert_eq!(all[1..3], [(362, 0), (802, 0)]);
    assert_eq!(all.last(), Some(&(825_202, 0)));
    assert_eq!(socket.state(), State::Established);
    let later = pass(&mut socket, at(2_000_000));
    assert!(later.is_empty(), "{later:?}");
    assert_eq!(socket.state(), State::Closed);
}

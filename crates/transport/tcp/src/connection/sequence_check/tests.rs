//! Tests of the acceptance of segments, at a client that gets a stream.

use units::random::{Purpose, RngStream};

use super::*;
use crate::config::TcpConfig;
use crate::segment::SackBlocks;
use cca::{CongestionState, cca_by_name};

const MSS: u32 = 1_448;
/// Initial sequence number of the peer.
const ISS: u32 = 5_000;
/// The peer's clock when the connection opens.
const CLOCK: u32 = 10_000;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Returns a connection that a peer has opened at 100 ms.
fn opened() -> Connection {
    let config = TcpConfig::default();
    let draws = RngStream::new(1, Purpose::CongestionControl, 0);
    let window = config.initial_window(draws);
    let built = cca_by_name("reno").expect("a CCA of ours");
    let mut connection = Connection::new(config, CongestionState::new(window, built), 77, 0);
    connection.listen();
    let syn = Segment {
        seq: ISS,
        flags: Flags::SYN,
        window: 64_240,
        mss: Some(1_460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some((CLOCK, 0)),
        ..Segment::default()
    };
    connection.on_segment(at(50), &syn);
    let _ = connection.poll_transmit();
    connection.on_segment(at(100), &ack(&connection, 0, CLOCK));
    assert_eq!(connection.state(), crate::State::Established);
    connection
}

/// Returns an ACK for all that was sent, which begins at the n-th segment of the peer's stream.
fn ack(connection: &Connection, n: u32, clock: u32) -> Segment {
    Segment {
        seq: ISS + 1 + n * MSS,
        ack: connection.sender.seq.snd_nxt as u32,
        flags: Flags::ACK,
        window: 502,
        timestamps: Some((clock, 0)),
        ..Segment::default()
    }
}

fn data(connection: &Connection, n: u32, clock: u32) -> Segment {
    Segment {
        len: MSS,
        ..ack(connection, n, clock)
    }
}

fn answers(connection: &mut Connection) -> Vec<Segment> {
    core::iter::from_fn(|| connection.poll_transmit()).collect()
}

/// Receives the first `n` segments in order, each a millisecond after the other.
fn receives(connection: &mut Connection, n: u32) {
    for segment in 0..n {
        let data = data(connection, segment, CLOCK + 10 + segment);
        connection.on_segment(at(200 + u64::from(segment)), &data);
    }
    assert_eq!(connection.received(), u64::from(n * MSS));
    answers(connection);
}

/// RFC 7323 §5.3 R1: a segment with a timestamp before the latest one is not taken, but acknowledged. Linux accepts
/// one step.
#[test]
fn data_of_an_old_timestamp_is_acknowledged_and_dropped() {
    for (behind, taken) in [(0, true), (1, true), (2, false), (50, false)] {
        let mut connection = opened();
        receives(&mut connection, 4);
        let late = data(&connection, 4, CLOCK + 13 - behind);
        connection.on_segment(at(300), &late);
        let expected = if taken { 5 } else { 4 };
        assert_eq!(connection.received(), u64::from(expected * MSS), "{behind}");
        let answers = answers(&mut connection);
        assert_eq!(answers.len(), 1, "{behind}");
        assert_eq!(answers[0].ack, ISS + 1 + expected * MSS);
        assert!(answers[0].sack.is_empty(), "it is not here");
    }
}

/// RFC 2883 §4: the answer to stale data that is here already reports it.
#[test]
fn an_overtaken_original_is_reported_as_a_duplicate() {
    let mut connection = opened();
    receives(&mut connection, 4);
    let late = data(&connection, 2, CLOCK);
    connection.on_segment(at(300), &late);
    connection.on_segment(at(300), &late);
    let mut sack = SackBlocks::EMPTY;
    sack.push(late.seq, late.seq + MSS);
    let all = answers(&mut connection);
    assert_eq!(all.len(), 2, "data is answered each time");
    assert!(all.iter().all(|answer| answer.sack == sack));
}

/// Linux takes no timestamps into account that begin with zero, and a reset that is old all the same.
#[test]
fn a_clock_of_zero_and_a_reset_are_not_stale() {
    let mut connection = opened();
    connection.ts_recent = 0;
    let odd = data(&connection, 0, u32::MAX - 10);
    connection.on_segment(at(300), &odd);
    assert_eq!(connection.received(), u64::from(MSS));
    let mut connection = opened();
    receives(&mut connection, 2);
    let reset = Segment {
        flags: Flags::RST,
        ..ack(&connection, 2, CLOCK)
    };
    connection.on_segment(at(300), &reset);
    assert_eq!(connection.state(), crate::State::Closed);
}

/// RFC 7323 §5.5: after 24 days the latest timestamp cannot be compared any more, and the next one takes its place.
#[test]
fn the_latest_timestamp_ages() {
    let day = 24 * 3_600 * 1_000;
    for (days, taken) in [(23, false), (24, true), (60, true)] {
        let mut connection = opened();
        receives(&mut connection, 2);
        let wrapped = data(&connection, 2, CLOCK.wrapping_sub(1_000_000_000));
        connection.on_segment(at(300 + days * day), &wrapped);
        assert_eq!(
            connection.received() > u64::from(2 * MSS),
            taken,
            "{days} days"
        );
        let stamp = wrapped.timestamps.expect("it has some").0;
        assert_eq!(connection.ts_recent == stamp, taken, "{days} days");
    }
}

#[test]
fn connections_without_timestamps_know_no_staleness() {
    let mut connection = opened();
    receives(&mut connection, 2);
    connection.tstamp_ok = false;
    let late = data(&connection, 2, CLOCK);
    connection.on_segment(at(300), &late);
    assert_eq!(connection.received(), u64::from(3 * MSS));
}

/// Linux `tcp_disordered_ack_check`: an overtaken pure ACK counts if it repeats what is known and its timestamp is
/// younger than an RTO, at 1200 steps a second.
#[test]
fn a_reordered_duplicate_ack_counts() {
    let mut connection = opened();
    receives(&mut connection, 4);
    let first = ack(&connection, 4, CLOCK + 2_000);
    connection.on_segment(at(300), &first);
    assert_eq!(connection.ts_recent, CLOCK + 2_000);
    let stale = |connection: &Connection, change: fn(&mut Segment)| {
        let mut segment = ack(connection, 4, CLOCK + 1_990);
        change(&mut segment);
        let next = connection
            .receiver
            .as_ref()
            .map(|receiver| receiver.rcv_nxt);
        let seq = unwrap(next.expect("it is open"), segment.seq);
        connection.paws_check(at(300), seq, &segment)
    };
    assert_eq!(stale(&connection, |_| ()), None);
    let answered = Some(PawsResult::Answered);
    assert_eq!(stale(&connection, |s| s.ack += 1), answered, "new data");
    assert_eq!(stale(&connection, |s| s.ack -= 1), answered, "an old ACK");
    assert_eq!(stale(&connection, |s| s.window += 1), answered, "a window");
    assert_eq!(stale(&connection, |s| s.window -= 1), None);
    assert_eq!(stale(&connection, |s| s.window = 0), answered);
    assert_eq!(stale(&connection, |s| s.seq += 1), answered);
    assert_eq!(
        stale(&connection, |s| s.seq -= 1),
        Some(PawsResult::Ignored)
    );
    assert_eq!(stale(&connection, |s| s.len = 1), answered);
    assert_eq!(stale(&connection, |s| s.flags = Flags::NONE), answered);
    let rto = connection.sender.rto().as_millis() as u32;
    connection.ts_recent = CLOCK + 1_990 + rto * 6 / 5;
    assert_eq!(stale(&connection, |_| ()), None);
    connection.ts_recent += 1;
    assert_eq!(stale(&connection, |_| ()), answered);
}

/// Linux `tcp_oow_rate_limited`: segments without data are answered once in half a second, so that two ends do not
/// answer each other without end.
#[test]
fn pure_acks_are_answered_twice_a_second() {
    let mut connection = opened();
    receives(&mut connection, 4);
    let old = Segment {
        seq: ISS,
        ..ack(&connection, 0, CLOCK + 13)
    };
    for (ms, answered) in [
        (300, 1),
        (301, 0),
        (799, 0),
        (800, 1),
        (1_299, 0),
        (1_300, 1),
    ] {
        connection.on_segment(at(ms), &old);
        assert_eq!(answers(&mut connection).len(), answered, "{ms} ms");
    }
}

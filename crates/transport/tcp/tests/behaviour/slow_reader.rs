//! Tests of an application that reads by request: its window closes, the sender probes, the reader resumes.

use cca::cca_by_name;
use proptest::prelude::*;
use tcp::{TcpConfig, TimerExpiry};
use units::random::{Purpose, RngStream};
use units::{Bytes, Duration, Instant};

use crate::pipe::Pipe;

const MSS: u64 = 1448;

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

/// A pipe to a client that reads by request.
fn pipe(config: TcpConfig, bytes: u64) -> Pipe {
    let cca = || cca_by_name("reno").expect("a CCA of ours");
    let mut pipe = Pipe::new(config, cca(), cca(), bytes);
    pipe.client.read(Instant::ZERO, 0);
    pipe
}

fn small() -> TcpConfig {
    crate::pipe::buffer_for(65_535)
}

/// Bytes that a buffer for `window` bytes holds at most: segments behind each other share a header of 170 bytes.
fn holds(window: u64) -> u64 {
    (window + 128) * MSS / (MSS - 170) + MSS
}

fn offered(pipe: &Pipe) -> u64 {
    u64::from(pipe.acks.last().expect("an ACK").1.window) << 7
}

#[test]
fn the_window_closes_when_nobody_reads() {
    let mut pipe = pipe(small(), 1_000_000);
    pipe.run(Duration::from_secs(20));
    let arrived = pipe.client.received();
    assert!((40_000..=holds(65_535)).contains(&arrived), "{arrived}");
    assert_eq!((pipe.client.readable(), offered(&pipe)), (arrived, 0));
    assert_eq!((pipe.repeats(), pipe.server.view().timeouts), (0, Some(0)));
}

/// RFC 9293 §3.8.6.1 and Linux `tcp_probe0_when`: the first probe after an RTO, then the interval doubles up to
/// its maximum; the receiver answers each.
#[test]
fn a_closed_window_is_probed_at_doubling_intervals() {
    let config = TcpConfig {
        max_rto: Duration::from_secs(10),
        timers: TimerExpiry::Exact,
        ..small()
    };
    let mut pipe = pipe(config, 1_000_000);
    pipe.run(Duration::from_secs(60));
    let gaps: Vec<_> = pipe.empty.windows(2).map(|two| two[1] - two[0]).collect();
    assert!(gaps.len() > 7, "{gaps:?}");
    let round_trip = Duration::from_millis(80);
    for two in gaps.windows(2) {
        let doubled = (two[0] * 2).min(Duration::from_secs(10));
        assert!(two[1] <= doubled + round_trip, "{gaps:?}");
        assert!(two[1] + round_trip * 2 >= doubled, "{gaps:?}");
    }
    assert_eq!(pipe.server.view().timeouts, Some(0));
}

#[test]
fn a_reader_that_resumes_gets_every_byte_once() {
    let mut pipe = pipe(small(), 300_000);
    pipe.reads.push_back((at(5_000), u64::MAX));
    pipe.run(Duration::from_millis(5_200));
    let update = pipe
        .acks
        .iter()
        .find(|(time, _)| *time > at(5_000))
        .unwrap();
    assert_eq!(update.0, at(5_034), "a window update leaves with the read");
    assert!(u64::from(update.1.window) << 7 >= 65_535 / 2);
    pipe.reads
        .extend((0..100).map(|n| (at(5_300 + 50 * n), u64::MAX)));
    pipe.run(Duration::from_secs(20));
    assert_eq!((pipe.read, pipe.client.readable()), (300_000, 0));
    assert_eq!((pipe.repeats(), pipe.server.view().timeouts), (0, Some(0)));
}

#[test]
fn a_lost_window_update_is_made_up_for_by_a_probe() {
    let mut pipe = pipe(small(), 300_000);
    pipe.reads
        .extend((0..400).map(|n| (at(5_000 + 50 * n), u64::MAX)));
    pipe.drop_ack = Box::new(|_, now| now == at(5_000));
    pipe.run(Duration::from_secs(25));
    assert_eq!(pipe.read, 300_000);
    assert_eq!(pipe.repeats(), 0);
    let resumed = pipe.seen.iter().find(|seen| seen.at > at(5_000)).unwrap();
    let probe = pipe.empty.iter().rfind(|&&time| time < resumed.at).unwrap();
    assert_eq!(
        resumed.at - *probe,
        Duration::from_millis(68) + pipe.rate.time_to_send(Bytes::new(52))
    );
}

/// RFC 9293 §3.8.6.2.2: no window opens for less than a segment.
#[test]
fn reading_in_small_pieces_makes_no_small_segments() {
    let mut pipe = pipe(small(), 200_000);
    pipe.reads
        .extend((0..20_000).map(|n| (at(2_000 + 4 * n), 100)));
    pipe.run(Duration::from_secs(100));
    assert_eq!(pipe.read, 200_000);
    let small = pipe
        .seen
        .iter()
        .filter(|seen| u64::from(seen.len) < MSS)
        .count();
    // Windows of the start, and the last data, end with a part of a segment (`tcp_mss_split_point`).
    assert!(small <= 5, "{small} of {}", pipe.seen.len());
}

/// Reading everything as it arrives by request is no slower than reading at once.
#[test]
fn a_quick_reader_is_not_held_up() {
    let cca = || cca_by_name("reno").expect("a CCA of ours");
    let mut at_once = Pipe::new(TcpConfig::default(), cca(), cca(), 20_000_000);
    let mut quick = pipe(TcpConfig::default(), 20_000_000);
    quick.reads.extend((0..20_000).map(|n| (at(n), u64::MAX)));
    for pipe in [&mut at_once, &mut quick] {
        pipe.run(Duration::from_secs(6));
    }
    assert!(quick.read * 100 >= at_once.client.received() * 98);
}

proptest! {
    /// Whatever is lost and however slowly the application reads, it reads every byte once.
    #[test]
    fn every_byte_is_read_once(
        seed in any::<u64>(),
        loss in 0.0_f64..0.1,
        ack_loss in 0.0_f64..0.1,
        segments in 1_u64..300,
        window in 3_000_u32..100_000,
        reads in prop::collection::vec((0_u64..20_000, 0_u64..50_000), 1..30),
    ) {
        let config = crate::pipe::buffer_for(window);
        let mut pipe = pipe(config, segments * MSS);
        let draws = |entity| RngStream::new(seed, Purpose::Loss, entity);
        let below = |stream: &RngStream, n: u64, p: f64| (stream.at(n) as f64) < p * u64::MAX as f64;
        let (data, acks) = (draws(0), draws(1));
        pipe.drop = Box::new(move |n, _, _| below(&data, n, loss));
        pipe.drop_ack = Box::new(move |n, _| below(&acks, n, ack_loss));
        let mut time = 0;
        for (pause, bytes) in reads {
            time += pause;
            pipe.reads.push_back((at(time), bytes));
        }
        pipe.run(Duration::from_millis(time + 1));
        prop_assert!(pipe.client.readable() <= holds(window.into()));
        prop_assert_eq!(pipe.read + pipe.client.readable(), pipe.client.received());
        // From here on it reads as a patient application does.
        pipe.reads.extend((0..3_000).map(|n| (at(time + 1_000 * n), u64::MAX)));
        pipe.run(Duration::from_secs(86_400));
        prop_assert_eq!(pipe.read, segments * MSS);
        prop_assert_eq!(pipe.server.acknowledged(), segments * MSS);
    }
}

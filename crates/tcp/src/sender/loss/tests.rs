//! Tests of what a congestion control learns about lost segments.

use std::sync::{Arc, Mutex};

use units::random::{Purpose, Stream};
use units::{Duration, Instant};

use super::*;
use crate::config::TcpConfig;
use crate::sender::AckInput;
use crate::sender::Ending;
use crate::sender::started::{ACK, FIRST, MSS};
use cca::{Ack, BuiltCca, Congestion, CongestionControl, Lost, RateSample, Window};

const RTT: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
struct Seen {
    lost: Vec<Lost>,
    samples: Vec<RateSample>,
}

/// Congestion control that records its calls and keeps a window of 20 segments.
#[derive(Debug)]
struct Watcher(Arc<Mutex<Seen>>);

impl CongestionControl for Watcher {
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        window.cwnd
    }

    fn on_lost(&mut self, _window: &mut Window, lost: &Lost) {
        self.0.lock().expect("one thread").lost.push(*lost);
    }

    fn cong_avoid(&mut self, _window: &mut Window, _acked: u32) {}

    fn owns_window(&self) -> bool {
        true
    }

    fn cong_control(&mut self, _window: &mut Window, ack: &Ack) {
        self.0.lock().expect("one thread").samples.push(ack.rate);
    }
}

/// Returns a sender with ten segments outstanding.
fn ten_out() -> (Sender, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let config = TcpConfig::default();
    let draws = Stream::new(1, Purpose::CongestionControl, 0);
    let window = Window::new(config.mss, 10, draws);
    let watcher = BuiltCca {
        name: "watcher",
        cca: Box::new(Watcher(seen.clone())),
        slow_start: Box::new(cca::slow_start::Standard),
    };
    let congestion = Congestion::new(window, watcher);
    let mut sender = Sender::new(config, congestion, FIRST);
    let start = Instant::ZERO + RTT;
    sender.establish(start, Some(RTT), 1 << 20);
    sender.write(start, 1 << 20, Ending::Message);
    assert_eq!(sender.in_flight(), 10);
    (sender, seen)
}

fn ack(sender: &mut Sender, ms: u64, segments: u64, sack: &[(u64, u64)]) {
    let input = AckInput {
        ack: FIRST + segments * MSS,
        sack,
        ..ACK
    };
    sender.on_ack(Instant::ZERO + RTT * 2 + Duration::from_millis(ms), &input);
}

/// Returns the SACK block of the segments from `from` to before `to`.
fn block(from: u64, to: u64) -> (u64, u64) {
    (FIRST + from * MSS, FIRST + to * MSS)
}

/// draft-ietf-ccwg-bbr-06 §4.1.2.2 and §5.5.10.2: the n-th segment sent has n in flight, including itself.
/// Each lost segment is reported with the losses since it was sent.
#[test]
fn a_lost_segment_is_reported_with_its_inflight_at_transmission() {
    let (mut sender, seen) = ten_out();
    // Three segments were lost before a block of four: without reordering they are marked at once.
    ack(&mut sender, 1, 0, &[block(3, 7)]);
    let seen = seen.lock().expect("one thread");
    let reported: Vec<_> = seen
        .lost
        .iter()
        .map(|l| (l.seq, l.tx_in_flight, l.lost))
        .collect();
    let expected = [(FIRST, 1, 1), (FIRST + MSS, 2, 2), (FIRST + 2 * MSS, 3, 3)];
    assert_eq!(reported, expected);
    let sample = seen.samples.last().expect("an ACK came");
    // The sample is that of the seventh segment.
    assert_eq!((sample.tx_in_flight, sample.lost), (7, 3));
}

/// Segments sent after the losses do not count them.
#[test]
fn losses_before_a_transmission_are_not_in_its_sample() {
    let (mut sender, seen) = ten_out();
    ack(&mut sender, 1, 0, &[block(3, 7)]);
    // The first retransmission arrives.
    let in_flight = sender.board.get(0).load.in_flight;
    assert_eq!(sender.board.get(0).load.lost, 3);
    ack(&mut sender, 60, 1, &[block(3, 7)]);
    let seen = seen.lock().expect("one thread");
    let sample = seen.samples.last().expect("an ACK came");
    let later = seen.lost.len() as u32 - 3;
    assert_eq!((sample.tx_in_flight, sample.lost), (in_flight, later));
}

/// RFC 6298 §5: a time-out reports every segment that it marks as lost.
#[test]
fn a_time_out_reports_all_segments_that_it_marks() {
    let (mut sender, seen) = ten_out();
    for _ in 0..20 {
        if seen.lock().expect("one thread").lost.len() >= 10 {
            break;
        }
        let at = sender.deadline();
        sender.on_deadline(at);
    }
    let seen = seen.lock().expect("one thread");
    assert!(seen.lost.len() >= 10, "{}", seen.lost.len());
    let counts = seen.lost.iter().map(|lost| lost.lost);
    assert!(
        counts.clone().take(10).eq(1..=10),
        "{:?}",
        counts.collect::<Vec<_>>()
    );
}

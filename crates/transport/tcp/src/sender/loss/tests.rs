//! Tests of what a congestion control learns about lost segments.

use std::sync::{Arc, Mutex};

use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

use super::*;
use crate::config::TcpConfig;
use crate::sender::AckInput;
use crate::sender::SendFlags;
use crate::sender::test_sender::{ACK, FIRST, MSS};
use cca::{Ack, AckSample, BuiltCca, CongestionControl, CongestionState, Lost, RateSample, Window};

const RTT: Duration = Duration::from_millis(50);

#[derive(Debug, Default)]
struct Seen {
    lost: Vec<Lost>,
    samples: Vec<RateSample>,
    /// Whether ACKs were probably delayed.
    delayed: Vec<bool>,
    /// Segments that each ACK covers, and those delivered since its newest one was sent.
    arrivals: Vec<(u32, u32)>,
}

/// Congestion control that records its calls and keeps a window of 20 segments.
#[derive(Debug)]
struct Watcher(Arc<Mutex<Seen>>);

impl CongestionControl for Watcher {
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        window.cwnd
    }

    fn pkts_acked(&mut self, _window: &mut Window, sample: &AckSample) {
        let mut seen = self.0.lock().expect("one thread");
        seen.arrivals.push((sample.acked, sample.in_flight));
    }

    fn on_lost(&mut self, _window: &mut Window, lost: &Lost) {
        self.0.lock().expect("one thread").lost.push(*lost);
    }

    fn cong_avoid(&mut self, _window: &mut Window, _acked: u32) {}

    fn has_cong_control(&self) -> bool {
        true
    }

    fn cong_control(&mut self, _window: &mut Window, ack: &Ack) {
        let mut seen = self.0.lock().expect("one thread");
        seen.samples.push(ack.rate);
        seen.delayed.push(ack.delayed);
    }
}

/// Returns a sender with ten segments outstanding.
fn ten_out() -> (Sender, Arc<Mutex<Seen>>) {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let config = TcpConfig::default();
    let draws = RngStream::new(1, Purpose::CongestionControl, 0);
    let window = Window::new(config.mss, 10, draws);
    let watcher = BuiltCca {
        name: "watcher",
        cca: Box::new(Watcher(seen.clone())),
        slow_start: Box::new(cca::slow_start::Standard),
    };
    let congestion = CongestionState::new(window, watcher);
    let mut sender = Sender::new(config, congestion, FIRST);
    let start = Instant::ZERO + RTT;
    sender.establish(start, Some(RTT), 1 << 20, false);
    sender.write(start, 1 << 20, SendFlags::Message);
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
    let in_flight = sender.board.get(0).tx.tx_in_flight;
    assert_eq!(sender.board.get(0).tx.lost, 3);
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

/// Linux `tcp_clean_rtx_queue` (`FLAG_ACK_MAYBE_DELAYED`): the ACK of one short segment, with which nothing else arrived,
/// has probably waited for the delayed-ACK timer.
#[test]
fn the_ack_of_a_single_short_segment_may_be_late() {
    let short = |marked: bool, lens: &[u64]| {
        let (mut sender, seen) = ten_out();
        sender.set_nagle(Instant::ZERO + RTT, false);
        let mut ms = 0;
        while sender.seq.snd_una < sender.seq.write_seq {
            ms += 10;
            let segments = (sender.seq.snd_nxt - FIRST) / MSS;
            ack(&mut sender, ms, segments, &[]);
            if segments * MSS + FIRST < sender.seq.snd_nxt {
                let all = AckInput {
                    ack: sender.seq.snd_nxt,
                    ..ACK
                };
                sender.on_ack(Instant::ZERO + RTT * 2 + Duration::from_millis(ms), &all);
            }
        }
        seen.lock().expect("one thread").delayed.clear();
        let now = Instant::ZERO + RTT * 2 + Duration::from_millis(ms + 100);
        for &len in lens {
            sender.write(now, len, SendFlags::Message);
        }
        let all = AckInput {
            ack: sender.seq.snd_nxt,
            ecn_echo: marked,
            ..ACK
        };
        sender.on_ack(now + RTT, &all);
        let seen = seen.lock().expect("one thread");
        assert_eq!(seen.delayed.len(), 1);
        seen.delayed[0]
    };
    assert!(short(false, &[100]));
    assert!(short(false, &[MSS - 1]));
    assert!(!short(false, &[MSS]), "a full one");
    assert!(!short(false, &[100, 100]), "two of them");
    assert!(!short(true, &[100]), "it is marked");
}

/// draft-cheng-iccrg-delivery-rate-estimation-02 §3.3: a sample counts what was delivered since the segment left, over
/// the longer one of the times in which that was sent and delivered. Linux `tcp_clean_rtx_queue` gives the same count to
/// `pkts_acked`, from which TCP-NV takes the rate.
#[test]
fn a_rate_sample_counts_deliveries_since_the_transmission() {
    let (mut sender, seen) = ten_out();
    ack(&mut sender, 0, 4, &[]);
    ack(&mut sender, 10, 10, &[]);
    // The window is twenty segments, so that sixteen have left by now, four of them after the first ACK.
    ack(&mut sender, 60, 12, &[]);
    let seen = seen.lock().expect("one thread");
    let facts: Vec<_> = seen
        .samples
        .iter()
        .map(|sample| {
            (
                sample.prior_delivered,
                sample.delivered,
                sample.interval.as_millis(),
            )
        })
        .collect();
    // The handshake was delivered first, as in Linux.
    assert_eq!(facts[0], (1, Some(4), 50));
    assert_eq!(facts[1], (1, Some(10), 60));
    assert_eq!(facts[2], (5, Some(8), 60));
    assert_eq!(seen.arrivals, [(4, 4), (6, 10), (2, 8)]);
}

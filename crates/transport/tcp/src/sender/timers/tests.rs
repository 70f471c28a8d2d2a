//! Tests of time-outs: their ticks, and those of a peer that has withdrawn its window.

use units::{Duration, Instant};

use crate::TimerExpiry;
use crate::config::TcpConfig;
use crate::sender::test_sender::{ACK, FIRST, established_sender};
use crate::sender::{AckInput, Sender};
use cca::CaState;

const RTT: Duration = Duration::from_millis(50);

/// Returns a sender with ten segments out whose peer has withdrawn its window, and the time.
fn withdrawn(config: TcpConfig) -> (Sender, Instant) {
    let (mut sender, start) = established_sender(config, RTT, 1 << 20);
    let now = start + RTT;
    closed_window(&mut sender, now, FIRST + 1);
    sender.output.queue.clear();
    (sender, now)
}

/// Handles an ACK of one byte more than the last one that leaves no window.
fn closed_window(sender: &mut Sender, now: Instant, ack: u64) {
    let input = AckInput {
        ack,
        seq: ack,
        window: 0,
        ..ACK
    };
    sender.on_ack(now, &input);
}

/// Passes deadlines until the sender has repeated its first segment `times` times. Returns the times.
fn retransmission_times(sender: &mut Sender, times: usize) -> Vec<Instant> {
    let mut seen = Vec::new();
    while seen.len() < times && !sender.has_timed_out() {
        let now = sender.deadline();
        sender.on_deadline(now);
        let head = |sent: &crate::sender::Outgoing| sent.is_retransmission && sent.seq <= FIRST + 1;
        if sender.output.queue.drain(..).any(|sent| head(&sent)) {
            seen.push(now);
        }
    }
    seen
}

/// Linux `tcp_retransmit_timer`: the retransmission of data for which the window has gone is a probe of the window. It
/// backs off, but is no time-out.
#[test]
fn a_retransmission_into_a_withdrawn_window_is_no_time_out() {
    let config = TcpConfig {
        timers: TimerExpiry::Exact,
        ..TcpConfig::default()
    };
    let (mut sender, _) = withdrawn(config);
    let seen = retransmission_times(&mut sender, 4);
    let waits: Vec<_> = seen.windows(2).map(|two| two[1] - two[0]).collect();
    assert_eq!(waits[1], waits[0] * 2);
    assert_eq!(waits[2], waits[1] * 2);
    assert_eq!(sender.counts.timeouts, 0);
    assert_eq!(sender.timeouts.retransmits, 0);
    assert_eq!(sender.congestion.window.state, CaState::Loss);
}

/// Linux `tcp_rtx_probe0_timed_out`: such a connection ends after twice the longest time-out of silence, and not while
/// the peer answers.
#[test]
fn a_withdrawn_window_is_given_up_after_silence_alone() {
    let config = TcpConfig::default();
    let longest = config.max_rto;
    let (mut silent, heard) = withdrawn(config.clone());
    let seen = retransmission_times(&mut silent, usize::MAX);
    let last = *seen.last().expect("it was repeated");
    assert!(silent.has_timed_out());
    assert!(last > heard + longest, "{last:?}");

    let (mut answered, heard) = withdrawn(config);
    let mut now = heard;
    while now < heard + longest * 5 {
        now = *retransmission_times(&mut answered, 1)
            .last()
            .expect("it goes on");
        closed_window(&mut answered, now + RTT, FIRST + 1);
    }
    assert!(!answered.has_timed_out());
}

/// The time-out of the application (`TCP_USER_TIMEOUT`) holds even while the peer answers.
#[test]
fn a_withdrawn_window_is_given_up_at_the_time_out_of_the_application() {
    let limit = Duration::from_secs(5);
    let config = TcpConfig {
        user_timeout: Some(limit),
        ..TcpConfig::default()
    };
    let (mut sender, heard) = withdrawn(config);
    let mut now = heard;
    while let [at] = retransmission_times(&mut sender, 1)[..] {
        now = at;
        closed_window(&mut sender, now + RTT, FIRST + 1);
        assert!(now < heard + limit * 2);
    }
    assert!(sender.has_timed_out());
    assert!(now > heard + limit / 2, "{now:?}");
}

/// Linux `calc_wheel_index`: a time-out ends on a tick of the timer wheel after its wait, a doubled one of 504 ms or more
/// on a tick of 64 ms.
#[test]
fn a_time_out_ends_on_a_tick_of_the_wheel() {
    let rtt = Duration::from_millis(137);
    let (mut sender, start) = established_sender(TcpConfig::default(), rtt, 1 << 20);
    sender.output.queue.clear();
    let probe = sender.deadline();
    assert!(probe > start + rtt);
    sender.on_deadline(probe);
    let mut set = probe;
    for tick in [8, 64, 64] {
        let wait = sender.rto();
        let due = sender.deadline();
        let late = due - set;
        assert!(late > wait, "{late:?} is not after {wait:?}");
        assert!(
            late <= wait + Duration::from_millis(tick),
            "{late:?} is too late for {wait:?}"
        );
        assert_eq!((due.since_start().as_millis() + 32) % tick, 0);
        sender.on_deadline(due);
        set = due;
    }
}

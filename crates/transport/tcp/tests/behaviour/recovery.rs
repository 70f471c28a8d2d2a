//! Tests of loss recovery on a simple pipe: one lost segment, a lost tail, an outage, a delay.

use cca::{CaState, cca_by_name};
use tcp::{State, TcpConfig};
use units::{Bytes, Duration, Instant};

use crate::pipe::Pipe;

fn reno(bytes: u64) -> Pipe {
    of("reno", bytes)
}

fn of(name: &str, bytes: u64) -> Pipe {
    Pipe::new(
        TcpConfig::default(),
        cca_by_name(name).expect("a CCA of ours"),
        cca_by_name("reno").expect("a CCA of ours"),
        bytes,
    )
}

const MSS: u64 = 1448;

#[test]
fn a_transfer_without_loss_is_complete_without_retransmissions() {
    let mut pipe = reno(100 * MSS);
    pipe.run(Duration::from_secs(5));
    assert_eq!(pipe.client.received(), 100 * MSS);
    assert_eq!(pipe.repeats(), 0);
    assert_eq!(pipe.server.view().timeouts, Some(0));
}

/// RFC 6928: ten segments leave at once after the handshake.
#[test]
fn the_initial_window_is_ten_segments() {
    let mut pipe = reno(100 * MSS);
    pipe.run(Duration::from_millis(130));
    assert_eq!(pipe.seen.len(), 10);
}

/// Linux `tcp_update_skb_after_send`: pacing begins after the first ten segments.
#[test]
fn the_initial_window_is_not_paced() {
    let mut pipe = of("bbr", 100 * MSS);
    pipe.run(Duration::from_millis(130));
    let first = pipe.seen[0].at;
    assert_eq!(pipe.seen.iter().filter(|s| s.at == first).count(), 10);
    let pushed = pipe.pushed.iter().filter(|&&pushed| pushed).count();
    assert!(pushed >= 1, "the end of a burst is pushed");
}

/// RFC 5681 §3.1: slow start doubles the window every round trip.
#[test]
fn slow_start_doubles_every_round_trip() {
    let mut pipe = reno(10_000 * MSS);
    pipe.rate = units::Rate::from_mbps(1000.0);
    pipe.queue = Bytes::new(10_000_000);
    pipe.run(Duration::from_millis(68 + 68 * 4 + 60));
    let mut starts = [0_u32; 5];
    for sighting in &pipe.seen {
        let round = (sighting.at.as_nanos() / 1_000_000).saturating_sub(68) / 68;
        starts[(round as usize).min(4)] += 1;
    }
    assert_eq!(starts[0], 10);
    for pair in starts.windows(2) {
        assert!(
            (pair[1] as f64 / pair[0] as f64 - 2.0).abs() < 0.15,
            "{starts:?}"
        );
    }
}

/// RFC 5681 §3.2: one loss is repaired by one fast retransmission, without a time-out.
#[test]
fn a_single_lost_segment_costs_one_fast_retransmission() {
    for lost in [15, 40, 300] {
        let mut pipe = reno(1000 * MSS);
        pipe.queue = Bytes::new(10_000_000);
        pipe.drop = Box::new(move |n, _, _| n == lost);
        pipe.run(Duration::from_secs(20));
        let view = pipe.server.view();
        assert_eq!(pipe.client.received(), 1000 * MSS, "segment {lost}");
        assert_eq!(
            (pipe.repeats(), view.timeouts),
            (1, Some(0)),
            "segment {lost}"
        );
        assert_eq!(view.fast_recoveries, Some(1), "segment {lost}");
    }
}

/// RFC 9937: a recovery reduces the window to the threshold, half of the previous window.
#[test]
fn a_recovery_ends_at_the_threshold() {
    let mut pipe = reno(3000 * MSS);
    pipe.queue = Bytes::new(10_000_000);
    pipe.drop = Box::new(|n, _, _| n == 200);
    pipe.run(Duration::from_secs(2));
    let entry = pipe
        .windows
        .iter()
        .position(|w| w.2 == CaState::Recovery)
        .unwrap();
    let before = pipe.windows[entry - 1].1;
    let after = pipe.windows[entry..]
        .iter()
        .find(|w| w.2 == CaState::Open)
        .unwrap()
        .1;
    assert!(after.abs_diff(before / 2) <= 2, "{before} -> {after}");
}

/// RFC 8985 §7: a lost tail is repaired by a probe after about two RTTs, not by the time-out.
#[test]
fn a_lost_tail_is_repaired_by_a_probe() {
    let mut pipe = reno(100 * MSS);
    pipe.drop = Box::new(|n, _, _| n == 98 || n == 99);
    pipe.run(Duration::from_secs(5));
    let view = pipe.server.view();
    assert_eq!(pipe.client.received(), 100 * MSS);
    assert_eq!(view.timeouts, Some(0));
    assert_eq!(view.loss_probes, Some(1));
}

/// RFC 8985 §7.4.2: the window is reduced for a loss that only the probe repaired.
#[test]
fn a_probe_that_repaired_a_loss_reduces_the_window() {
    let mut pipe = reno(100 * MSS);
    pipe.drop = Box::new(|n, _, _| n == 99);
    pipe.run(Duration::from_secs(2));
    // The first ACK beyond the probe decides.
    pipe.backlog = 50 * MSS;
    pipe.run(Duration::from_secs(5));
    let view = pipe.server.view();
    assert_eq!(pipe.client.received(), 150 * MSS);
    assert_eq!((view.timeouts, view.loss_probes), (Some(0), Some(1)));
    assert!(view.ssthresh < 100, "{}", view.ssthresh);
}

/// RFC 6298 §5: the time-out doubles during an outage; after it the connection resumes no later than the next
/// time-out.
#[test]
fn an_outage_ends_with_the_next_backed_off_time_out() {
    let mut pipe = reno(u64::MAX / 2);
    let (from, to) = (
        Instant::from_nanos(5_000_000_000),
        Instant::from_nanos(7_000_000_000),
    );
    pipe.drop = Box::new(move |_, _, now| now >= from && now < to);
    pipe.drop_ack = Box::new(move |_, now| now >= from && now < to);
    pipe.run(Duration::from_secs(12));
    let sent: Vec<_> = pipe
        .seen
        .iter()
        .filter(|s| s.at >= from && s.at < to)
        .collect();
    let tries: Vec<_> = sent.iter().filter(|s| s.repeated).map(|s| s.at).collect();
    assert!((2..=4).contains(&tries.len()), "{tries:?}");
    let gaps: Vec<f64> = tries
        .windows(2)
        .map(|t| (t[1] - t[0]).as_secs_f64())
        .collect();
    for pair in gaps.windows(2) {
        assert!((pair[1] / pair[0] - 2.0).abs() < 0.7, "{gaps:?}");
    }
    let back = pipe.seen.iter().find(|s| s.at >= to).unwrap().at;
    assert!(back < Instant::from_nanos(8_500_000_000), "{back:?}");
    let late = pipe
        .seen
        .iter()
        .filter(|s| s.at > back + Duration::from_secs(2))
        .count();
    assert!(late as f64 > 0.8 * 2.5 * 20e6 / 8.0 / 1500.0, "{late}");
}

/// RFC 5682 and 3522: a delay that only looks like a loss leaves the window unchanged.
#[test]
fn a_spurious_time_out_is_undone() {
    let mut pipe = reno(3_000 * MSS);
    pipe.queue = Bytes::new(10_000_000);
    // All segments sent within 3 s are delayed, like in a handover of the cell that loses nothing.
    pipe.stalled = (
        Instant::from_nanos(600_000_000),
        Instant::from_nanos(3_600_000_000),
    );
    pipe.run(Duration::from_secs(10));
    let view = pipe.server.view();
    assert_eq!(pipe.client.received(), 3_000 * MSS);
    assert!(view.timeouts >= Some(1), "{view:?}");
    assert!(view.undone >= Some(1), "{view:?}");
    assert!(pipe.repeats() < 20, "{}", pipe.repeats());
}

/// RFC 8985 §4: reordering within a quarter of the RTT does not count as loss.
#[test]
fn slight_reordering_does_not_count_as_loss_once_seen() {
    let mut pipe = reno(2_000 * MSS);
    pipe.queue = Bytes::new(10_000_000);
    pipe.delay = Box::new(|n, _| {
        if n % 50 == 7 {
            Duration::from_millis(6)
        } else {
            Duration::ZERO
        }
    });
    pipe.run(Duration::from_secs(20));
    assert_eq!(pipe.client.received(), 2_000 * MSS);
    assert!(pipe.repeats() <= 3, "{}", pipe.repeats());
    assert_eq!(pipe.server.view().timeouts, Some(0));
}

/// RFC 9293 §3.6: both ends close, and the one that closed first waits.
#[test]
fn a_connection_closes_from_both_sides() {
    let mut pipe = reno(10 * MSS);
    pipe.run(Duration::from_secs(1));
    let now = pipe.now;
    pipe.server.close(now);
    pipe.run(Duration::from_millis(1200));
    assert_eq!(pipe.client.state(), State::CloseWait);
    let now = pipe.now;
    pipe.client.close(now);
    pipe.run(Duration::from_secs(2));
    assert_eq!(pipe.client.state(), State::Closed);
    assert_eq!(pipe.server.state(), State::TimeWait);
    pipe.run(Duration::from_secs(70));
    assert_eq!(pipe.server.state(), State::Closed);
}

/// A lost SYN, SYN-ACK or FIN is repeated.
#[test]
fn a_lost_handshake_is_repeated_after_a_second() {
    let mut pipe = reno(10 * MSS);
    pipe.drop_ack = Box::new(|n, _| n == 0);
    pipe.run(Duration::from_secs(3));
    assert_eq!(pipe.client.received(), 10 * MSS);
    assert!(pipe.seen[0].at >= Instant::from_nanos(1_000_000_000));
}

/// Bufferbloat: a loss-based window keeps the queue full, as far as the path can hold it.
#[test]
fn a_greedy_flow_fills_a_pipe_of_one_bdp_of_buffer() {
    let mut pipe = reno(u64::MAX / 2);
    pipe.run(Duration::from_secs(30));
    let mbps = pipe.client.received() as f64 * 8.0 / 30e6;
    assert!(mbps > 0.9 * 20.0 * 1448.0 / 1500.0, "{mbps}");
    assert_eq!(pipe.server.view().timeouts, Some(0));
}

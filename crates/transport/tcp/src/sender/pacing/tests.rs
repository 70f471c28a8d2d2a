//! Tests of pacing, of the size of bursts, and of the wait for larger ones (Linux `tcp_tso_should_defer`).

use super::*;
use crate::config::TcpConfig;
use crate::sender::test_sender::{MSS, established_sender};
use units::Rate;

const RTT: Duration = Duration::from_millis(50);
/// Segments of the largest burst.
const LARGEST: u32 = 44;

fn before(at: Instant, by: Duration) -> Instant {
    Instant::ZERO + (at.since_start() - by)
}

/// Returns a sender with ten segments out whose next ACK is due in 0.3 ms, and the time. The peer's window has
/// room for `offered` bytes more.
fn soon_acked(offered: u64) -> (Sender, Instant) {
    let (mut sender, start) = established_sender(TcpConfig::default(), RTT, 1 << 20);
    sender.seq.snd_wnd = 10 * MSS + offered;
    let now = before(start + RTT, Duration::from_micros(300));
    sender.pacer.next = now;
    (sender, now)
}

/// Returns a burst of `bytes` with which the data ends.
fn last_burst(sender: &Sender, bytes: u64) -> Burst {
    Burst {
        segments: 2,
        end: sender.seq.snd_nxt + bytes,
        push: false,
        is_last: true,
    }
}

/// A burst waits for the next ACK, and the reason says which window is too small for it. The windows limit only a burst
/// that fills them.
#[test]
fn a_burst_waits_for_the_window_that_keeps_it_small() {
    let reason = |offered: u64, room: u32, bytes: u64| {
        let (sender, now) = soon_acked(offered);
        sender.defer_limit(now, last_burst(&sender, bytes), room, LARGEST)
    };
    let (large, two) = (1 << 20, 2 * MSS);
    assert_eq!(reason(large, 2, two), Some(BurstLimit::CongestionWindow));
    assert_eq!(reason(two + 1, 2, two), Some(BurstLimit::CongestionWindow));
    assert_eq!(reason(large, 2, two - 1), Some(BurstLimit::Application));
    assert_eq!(reason(two, 2, two), Some(BurstLimit::OfferedWindow));
    assert_eq!(reason(two - 1, 2, two), Some(BurstLimit::OfferedWindow));
    assert_eq!(reason(two, 2, two - 1), Some(BurstLimit::Application));
}

/// A burst that fills a third of the window, is one segment, or ends the stream does not wait. Neither does one in a
/// recovery, after a pause of more than a millisecond, or if the next ACK is far.
#[test]
fn other_bursts_leave_at_once() {
    let waits = |change: &dyn Fn(&mut Sender, &mut Instant), room: u32, bytes: u64| {
        let (mut sender, mut now) = soon_acked(1 << 20);
        change(&mut sender, &mut now);
        let burst = last_burst(&sender, bytes);
        sender.defer_limit(now, burst, room, LARGEST).is_some()
    };
    let two = 2 * MSS;
    assert!(waits(&|_, _| {}, 2, two));
    assert!(waits(&|_, _| {}, 3, two), "three of ten segments");
    assert!(!waits(&|_, _| {}, 4, two), "a third of ten segments");
    assert!(!waits(&|_, _| {}, 2, MSS));
    assert!(waits(&|_, _| {}, 2, MSS + 1));
    assert!(!waits(&|sender, _| sender.seq.fin_queued = true, 3, two));
    for state in [CaState::Recovery, CaState::Loss] {
        let repairs = |sender: &mut Sender, _: &mut Instant| {
            sender.congestion.window.state = state;
        };
        assert!(!waits(&repairs, 2, two), "{state:?}");
    }
    let millis = Duration::from_millis;
    assert!(waits(
        &|sender, now| sender.pacer.next = before(*now, millis(1)),
        2,
        two
    ));
    let longer = millis(1) + Duration::from_nanos(1);
    assert!(!waits(
        &|sender, now| sender.pacer.next = before(*now, longer),
        2,
        two
    ));
    let early = |sender: &mut Sender, now: &mut Instant| {
        *now = before(*now, Duration::from_micros(701));
        sender.pacer.next = *now;
    };
    assert!(!waits(&early, 2, two), "more than a millisecond is left");
}

/// Data that more data follows in the buffer leaves as far as the windows allow.
#[test]
fn a_full_buffer_is_not_held_back() {
    let (sender, now) = soon_acked(1 << 20);
    let burst = Burst {
        is_last: false,
        ..last_burst(&sender, 2 * MSS)
    };
    assert_eq!(sender.defer_limit(now, burst, 2, LARGEST), None);
    assert!(sender.defer_limit(now, burst, 1, LARGEST).is_some());
}

/// Linux `tcp_update_skb_after_send`: the next burst may leave when the rate has sent this one. A sender that is late
/// makes up for at most half of that time.
#[test]
fn a_late_burst_is_made_up_for_by_half() {
    let (mut sender, start) = established_sender(TcpConfig::default(), RTT, 1 << 20);
    sender.congestion.window.paced = true;
    sender.congestion.window.pacing_rate = Rate::from_mbps(11.584);
    let (two, millis) = (2 * MSS, Duration::from_millis);
    let after = |sender: &mut Sender, late: u64| {
        sender.pacer.next = start;
        let now = start + Duration::from_micros(late);
        sender.pace(now, two);
        sender.pacer.next - now
    };
    assert_eq!(after(&mut sender, 0), millis(2));
    assert_eq!(
        after(&mut sender, 500),
        millis(2) - Duration::from_micros(500)
    );
    assert_eq!(after(&mut sender, 1_000), millis(1));
    assert_eq!(after(&mut sender, 9_000), millis(1));
    sender.config.max_pacing_rate = Rate::from_mbps(5.792);
    assert_eq!(after(&mut sender, 0), millis(4), "the application's bound");
    sender.congestion.window.paced = false;
    assert_eq!(after(&mut sender, 0), Duration::ZERO);
}

/// Linux `tcp_tso_autosize`: a burst has what the pacing rate sends in a millisecond, and more over a short path: the
/// largest burst, halved for every 512 µs of the RTT.
#[test]
fn bursts_are_larger_over_short_paths() {
    let burst = |micros: u64| {
        let rtt = Duration::from_micros(micros);
        let (mut sender, _) = established_sender(TcpConfig::default(), rtt, 1 << 20);
        sender.congestion.window.pacing_rate = Rate::from_mbps(40.0);
        sender.burst_segments()
    };
    // 4 882 bytes are three segments, and 65 215 bytes 45.
    assert_eq!(burst(400), 45);
    assert_eq!(burst(600), (4_882 + 65_215 / 2) / 1_448);
    assert_eq!(burst(1_100), (4_882 + 65_215 / 4) / 1_448);
    assert_eq!(burst(50_000), 3);
}

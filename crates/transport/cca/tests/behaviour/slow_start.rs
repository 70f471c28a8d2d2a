//! Other slow-start methods compared with their specifications: HyStart++ (RFC 9406), BBR's Startup, and
//! Hybrid Slow Start of Linux 3.19 and 4.8.

use cca::slow_start::{
    HyStart, HyStartMs, HyStartPlus, Kernel, SlowStartConfig, Standard, Startup,
};
use cca::{AckSample, INFINITE_SSTHRESH, RateSample, SlowStart, Window};
use units::Duration;

use crate::lab::window;

const MS: Duration = Duration::from_millis(1);
const RTT: Duration = Duration::from_millis(100);

/// Returns a window in slow start with all of it in flight.
fn starting(cwnd: u32) -> Window {
    let mut w = window(cwnd);
    w.snd_nxt = u64::from(cwnd) * 1_448;
    w
}

/// Runs a round of slow start: an ACK of `acked` segments each `spacing`, then the rest of the round trip.
fn round(start: &mut dyn SlowStart, w: &mut Window, rtt: Duration, acked: u32, spacing: Duration) {
    let acks = w.cwnd / acked;
    for _ in 0..acks {
        w.now += spacing;
        w.snd_una += u64::from(acked) * 1_448;
        w.delivered += u64::from(acked);
        let sample = AckSample {
            acked,
            rtt: Some(rtt),
            in_flight: w.cwnd,
        };
        start.on_ack(w, &sample);
        if w.in_slow_start() {
            start.grow(w, acked);
        }
        w.snd_nxt = w.snd_una + u64::from(w.cwnd) * 1_448;
    }
    w.now += rtt.saturating_sub(spacing * u64::from(acks));
}

/// RFC 9406 §4.2: a delay that has risen by an eighth of that of the last round, 4 to 16 ms, starts
/// conservative slow start, which grows by a quarter; after five rounds of it slow start is over.
#[test]
fn hystart_plus_slows_down_before_it_leaves() {
    let (mut start, mut w) = (HyStartPlus::new(Default::default()), starting(16));
    start.reset(&mut w);
    round(&mut start, &mut w, RTT, 1, MS);
    let doubled = w.cwnd;
    assert!((31..=32).contains(&doubled), "{doubled}");
    // The eighth sample of the second round enters conservative slow start; with the rest of it these are 5
    // rounds.
    round(&mut start, &mut w, RTT + MS * 13, 1, MS);
    assert!(start.is_conservative());
    let mut before = w.cwnd;
    for _ in 0..3 {
        round(&mut start, &mut w, RTT + MS * 13, 1, MS);
        let growth = f64::from(w.cwnd) / f64::from(before);
        assert!((1.2..1.3).contains(&growth), "{growth}");
        before = w.cwnd;
    }
    assert_eq!(w.ssthresh, INFINITE_SSTHRESH);
    for _ in 0..2 {
        round(&mut start, &mut w, RTT + MS * 13, 1, MS);
    }
    assert!(!w.in_slow_start());
}

/// §4.2: the rise must be an eighth of the lowest RTT of the last round, between 4 and 16 ms, in eight
/// samples.
#[test]
fn hystart_plus_needs_a_minimum_rise_and_enough_samples() {
    let rises = |base: u64, rise: u64, cwnd: u32| {
        let (mut start, mut w) = (HyStartPlus::new(Default::default()), starting(cwnd));
        start.reset(&mut w);
        round(&mut start, &mut w, MS * base, 1, MS / 10);
        round(&mut start, &mut w, MS * (base + rise), 1, MS / 10);
        start.is_conservative()
    };
    assert!(rises(100, 13, 16) && !rises(100, 12, 16));
    assert!(rises(20, 4, 16) && !rises(20, 3, 16));
    assert!(rises(400, 16, 16) && !rises(400, 15, 16));
    assert!(!rises(100, 13, 3));
}

/// §4.2: a delay below the one that started conservative slow start returns to slow start.
#[test]
fn hystart_plus_returns_to_slow_start_after_jitter() {
    let (mut start, mut w) = (HyStartPlus::new(Default::default()), starting(16));
    start.reset(&mut w);
    round(&mut start, &mut w, RTT, 1, MS);
    round(&mut start, &mut w, RTT + MS * 20, 1, MS);
    assert!(start.is_conservative());
    round(&mut start, &mut w, RTT, 1, MS);
    assert!(!start.is_conservative());
    let before = w.cwnd;
    round(&mut start, &mut w, RTT, 1, MS);
    assert!(w.cwnd >= 2 * before - 1, "{} after {before}", w.cwnd);
}

/// §4.2 and §4.3: an ACK adds at most L segments unless the connection is paced, and later slow starts are
/// standard.
#[test]
fn hystart_plus_limits_bursts_and_is_for_the_first_slow_start() {
    let grown = |paced: bool| {
        let (mut start, mut w) = (HyStartPlus::new(Default::default()), starting(100));
        w.paced = paced;
        start.grow(&mut w, 30);
        w.cwnd
    };
    assert_eq!((grown(false), grown(true)), (108, 130));
    let (mut start, mut w) = (HyStartPlus::new(Default::default()), starting(16));
    w.ssthresh = 1_000;
    start.reset(&mut w);
    for rtt in [100, 150, 200] {
        round(&mut start, &mut w, MS * rtt, 1, MS / 10);
    }
    assert!(!start.is_conservative() && w.ssthresh == 1_000);
}

/// Parameters for three rounds of conservative slow start that grows by half.
#[test]
fn the_parameters_of_hystart_plus_take_effect() {
    let config = SlowStartConfig {
        hystartpp_css_growth_divisor: 2,
        hystartpp_css_rounds: 3,
        ..SlowStartConfig::default()
    };
    let (mut start, mut w) = (HyStartPlus::new(config), starting(16));
    start.reset(&mut w);
    round(&mut start, &mut w, RTT, 1, MS);
    round(&mut start, &mut w, RTT + MS * 13, 1, MS);
    let before = w.cwnd;
    round(&mut start, &mut w, RTT + MS * 13, 1, MS);
    let growth = f64::from(w.cwnd) / f64::from(before);
    assert!((1.45..1.55).contains(&growth), "{growth}");
    for _ in 0..2 {
        round(&mut start, &mut w, RTT + MS * 13, 1, MS);
    }
    assert!(!w.in_slow_start());
}

/// Runs Startup over the rates of rounds, in segments per second, until it ends; returns the rounds and the
/// window.
fn start_up(
    config: SlowStartConfig,
    rates: impl Iterator<Item = u32>,
    app_limited: bool,
) -> (u32, Window) {
    let (mut start, mut w) = (Startup::new(config), starting(64));
    start.reset(&mut w);
    let mut rounds = 0;
    for rate in rates {
        let before = w.delivered;
        w.delivered += 100;
        let sample = RateSample {
            delivered: Some(rate),
            interval: Duration::from_secs(1),
            prior_delivered: before,
            app_limited,
            ..RateSample::default()
        };
        start.on_rate(&mut w, &sample);
        rounds += 1;
        if !w.in_slow_start() {
            break;
        }
    }
    (rounds, w)
}

/// draft-cardwell-iccrg-bbr-congestion-control-00 §4.3.2.2: after three rounds without 25 % more the pipe is
/// full, and the window becomes the highest rate times the lowest RTT.
#[test]
fn bbr_startup_ends_when_the_rate_stops_growing() {
    let rates = [100, 200, 400, 500, 510, 520, 530, 540];
    let (rounds, w) = start_up(SlowStartConfig::default(), rates.into_iter(), false);
    assert_eq!(rounds, 7);
    // 530 segments per second over 100 ms.
    assert_eq!((w.cwnd, w.ssthresh), (53, 53));
    let without_drain = SlowStartConfig {
        startup_drain: false,
        ..SlowStartConfig::default()
    };
    let (_, w) = start_up(without_drain, rates.into_iter(), false);
    assert_eq!((w.cwnd, w.ssthresh), (64, 64));
    let (rounds, _) = start_up(
        SlowStartConfig {
            startup_rounds: 1,
            ..without_drain
        },
        rates.into_iter(),
        false,
    );
    assert_eq!(rounds, 5);
}

/// The same draft, §4.2.3: during Startup the window is at most 2.89 times the measured bandwidth-delay
/// product.
#[test]
fn bbr_startup_bounds_the_window_by_the_bdp() {
    let (mut start, mut w) = (Startup::new(Default::default()), starting(64));
    start.reset(&mut w);
    let sample = RateSample {
        delivered: Some(500),
        interval: Duration::from_secs(1),
        ..RateSample::default()
    };
    start.grow(&mut w, 36);
    assert_eq!(w.cwnd, 100);
    start.on_rate(&mut w, &sample);
    start.grow(&mut w, 1_000);
    // 500 segments per second over 100 ms are 50.
    assert_eq!(w.cwnd, 145);
    start.grow(&mut w, 1_000);
    assert_eq!(w.cwnd, 145);
}

/// The same draft, §4.2.3: samples that the application limited do not count, and growth of 25 % continues
/// Startup.
#[test]
fn bbr_startup_continues_while_the_rate_grows_or_the_application_limits_it() {
    let growing = (0..12).map(|round| 100 * 5_u32.pow(round) / 4_u32.pow(round));
    let (_, w) = start_up(SlowStartConfig::default(), growing.take(9), false);
    assert!(w.in_slow_start());
    let (_, w) = start_up(SlowStartConfig::default(), [100; 12].into_iter(), true);
    assert!(w.in_slow_start());
}

/// Linux 4.8 `hystart_update`: the delay of a round is that of its first eight samples. A lower delay later
/// in the round keeps present Linux in slow start, but not 4.8.
#[test]
fn hystart_of_linux_4_8_uses_only_the_first_samples() {
    let leaves = |start: &mut dyn SlowStart| {
        let mut w = starting(40);
        start.reset(&mut w);
        round(start, &mut w, RTT, 1, MS * 3);
        let mut ack = |w: &mut Window, rtt: Duration| {
            w.now += MS * 3;
            w.snd_una += 1_448;
            let sample = AckSample {
                acked: 1,
                rtt: Some(rtt),
                in_flight: 40,
            };
            start.on_ack(w, &sample);
            if w.in_slow_start() {
                start.grow(w, 1);
            }
        };
        // The first ACK begins a round; in 4.8 only once the window has grown for it.
        ack(&mut w, RTT);
        for _ in 0..8 {
            ack(&mut w, RTT + MS * 20);
        }
        ack(&mut w, RTT);
        !w.in_slow_start()
    };
    assert!(leaves(&mut HyStartMs::new(
        Kernel::Linux4_8,
        SlowStartConfig::default()
    )));
    assert!(!leaves(&mut HyStart::new(Default::default())));
}

/// Linux 4.8: an ACK train of half the lowest RTT suffices whether the connection is paced or not. Present
/// Linux needs the whole lowest RTT if it is paced.
#[test]
fn hystart_of_linux_4_8_ignores_pacing() {
    let leaves = |start: &mut dyn SlowStart| {
        let mut w = starting(80);
        w.paced = true;
        start.reset(&mut w);
        round(start, &mut w, RTT, 1, MS);
        !w.in_slow_start()
    };
    assert!(leaves(&mut HyStartMs::new(
        Kernel::Linux4_8,
        SlowStartConfig::default()
    )));
    assert!(!leaves(&mut HyStart::new(Default::default())));
}

/// Linux 4.8 `bictcp_clock`: whole milliseconds. ACKs 2.9 ms apart may be two ticks apart and belong to one
/// train.
#[test]
fn hystart_of_linux_4_8_counts_whole_milliseconds() {
    let leaves = |start: &mut dyn SlowStart| {
        let mut w = starting(40);
        start.reset(&mut w);
        for tick in 1..=30_u64 {
            // Late within one millisecond, early within the one after the next.
            w.now =
                units::Instant::ZERO + MS * (2 * tick) + Duration::from_micros(900 * (tick % 2));
            w.snd_una += 1_448;
            let sample = AckSample {
                acked: 1,
                rtt: Some(RTT),
                in_flight: 40,
            };
            start.on_ack(&mut w, &sample);
        }
        !w.in_slow_start()
    };
    assert!(leaves(&mut HyStartMs::new(
        Kernel::Linux4_8,
        SlowStartConfig::default()
    )));
    assert!(!leaves(&mut HyStart::new(Default::default())));
}

/// `tcp_slow_start` of 3.19 goes one segment beyond the threshold and drops the rest of the ACK; that of 4.8
/// goes up to the threshold, and congestion avoidance uses the rest.
#[test]
fn slow_start_of_linux_3_19_drops_the_rest_of_an_ack() {
    let rest = |kernel| {
        let (mut start, mut w) = (
            HyStartMs::new(kernel, SlowStartConfig::default()),
            starting(18),
        );
        w.ssthresh = 20;
        let rest = start.grow(&mut w, 7);
        (w.cwnd, rest)
    };
    assert_eq!(rest(Kernel::Linux3_19), (21, 0));
    assert_eq!(rest(Kernel::Linux4_8), (20, 5));
}

/// RFC 5681 §3.1: standard slow start ends only at a loss.
#[test]
fn standard_slow_start_ignores_delay() {
    let mut w = starting(16);
    for rtt in [100, 200, 400, 800] {
        round(&mut Standard, &mut w, MS * rtt, 1, MS / 10);
    }
    assert!(w.in_slow_start());
    assert_eq!(w.cwnd, 256);
}

/// Every method can be chosen by name for every congestion control without a slow start of its own.
#[test]
fn every_method_can_be_chosen() {
    let methods = [
        ("standard", "Standard", ""),
        ("hystart", "HyStart {", ""),
        ("hystart++", "HyStartPlus {", ""),
        ("bbr", "Startup {", ""),
        ("linux-3.19", "HyStartMs {", "}, kernel: Linux3_19"),
        ("linux-4.8", "HyStartMs {", "}, kernel: Linux4_8"),
    ];
    for cca in cca::CCAS.iter().filter(|cca| cca.slow_start.is_some()) {
        for (method, kind, of_kind) in methods {
            let settings = [("slow_start".to_owned(), method.to_owned())].into();
            let built = cca.build(&settings).expect("an allowed setting");
            let start = format!("{:?}", built.slow_start);
            let has_method = start.starts_with(kind) && start.contains(of_kind);
            assert!(has_method, "{} with {method}: {start}", cca.name);
        }
    }
}

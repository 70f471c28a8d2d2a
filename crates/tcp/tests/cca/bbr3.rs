//! BBRv3 against draft-ietf-ccwg-bbr-06: the example test cases of its appendix A, then single rules.

use tcp::cca::bbr3::{Bbr3, Bbr3Config};
use tcp::cca::{Ack, CaState, CongestionControl, Context, Lost, RateSample};
use units::{Bytes, Duration, Instant, Rate};

use crate::lab::window;
use crate::path::{MSS, Path, Policer};

const RTT: Duration = Duration::from_millis(40);

fn path(mbps: f64) -> Path<Bbr3> {
    Path::new(Bbr3::default(), mbps, RTT, 1)
}

/// One that never looks for the lowest RTT.
fn path_without_probe_rtt(mbps: f64, rtt_ms: u64) -> Path<Bbr3> {
    let config = Bbr3Config {
        probe_rtt_interval: Duration::from_secs(3600),
        ..Bbr3Config::default()
    };
    Path::new(Bbr3::new(config), mbps, Duration::from_millis(rtt_ms), 3)
}

/// Runs until a state begins that was not there before.
fn run_into(path: &mut Path<Bbr3>, state: &str) {
    path.run_while_not(30, |p| p.cca.state() != state);
    path.run_while_not(30, |p| p.cca.state() == state);
}

fn found(path: &Path<Bbr3>) -> f64 {
    path.cca.max_bandwidth(MSS).as_mbps()
}

/// What was delivered between now and `seconds`, Mbit/s.
fn goodput_until(path: &mut Path<Bbr3>, seconds: f64) -> f64 {
    let (from, before) = (path.w.now.as_secs_f64(), path.w.delivered);
    path.run_until(seconds);
    let bits = (path.w.delivered - before) as f64 * f64::from(MSS) * 8.0;
    bits / (path.w.now.as_secs_f64() - from) / 1e6
}

/// Appendix A.1: a plateau of the delivery rate ends Startup after three rounds, within 2 % of the rate.
#[test]
fn a_plateau_ends_startup() {
    let mut path = path(10.0);
    assert_eq!(path.cca.state(), "startup");
    path.run_while_not(2, |p| p.w.pacing_rate.as_mbps() > 20.0);
    let full_since = path.w.now;
    path.run_while_not(2, |p| p.cca.state() == "drain");
    let rounds = path.w.now.saturating_since(full_since).as_nanos() / RTT.as_nanos();
    assert!((2..=8).contains(&rounds), "{rounds} rounds");
    assert!((found(&path) / 10.0 - 1.0).abs() < 0.02, "{}", found(&path));
}

/// Appendix A.2, §5.3.1.3: loss of more than 2 % in six places of a round of recovery ends Startup, also
/// where the application limits the samples; without loss it does not end.
#[test]
fn loss_ends_startup_of_a_limited_application() {
    let limited = |drops: fn(u64) -> bool| {
        let mut path = path(50.0);
        path.app_rate = Some(Rate::from_mbps(10.0));
        path.drops = Box::new(drops);
        path.run_until(4.5);
        path
    };
    assert_eq!(limited(|_| false).cca.state(), "startup");
    // Losses in fewer places than six, though more than 2 %.
    assert_eq!(limited(|n| (300..320).contains(&n)).cca.state(), "startup");
    let path = limited(|n| n > 300 && n % 4 == 0);
    assert_ne!(path.cca.state(), "startup");
    assert!(path.cca.inflight_longterm().is_some());
}

/// Appendix A.3, §5.3.2: Drain paces at half of the bandwidth until no more than the BDP is in flight.
#[test]
fn drain_ends_when_the_queue_is_gone() {
    let mut path = path(20.0);
    run_into(&mut path, "drain");
    let rate = path.w.pacing_rate.as_mbps();
    assert!((rate / 20.0 - 0.5 * 0.99).abs() < 0.02, "{rate}");
    assert!(path.in_flight() > path.bdp() * 5 / 4);
    path.run_while_not(1, |p| p.cca.state() != "drain");
    assert!(
        path.in_flight() <= path.bdp() * 11 / 10,
        "{}",
        path.in_flight()
    );
    assert!(path.cca.state().starts_with("probe_bw"));
}

/// Appendix A.4, §5.3.2: after three rounds Drain ends whatever is in flight.
#[test]
fn drain_ends_after_three_rounds() {
    let mut path = path(20.0);
    path.run_while_not(5, |p| found(p) > 19.5);
    // The estimate is too high by now: half of it still fills the queue.
    path.rate = Rate::from_mbps(8.0);
    run_into(&mut path, "drain");
    let mut rounds = 0;
    while path.cca.state() == "drain" {
        let end = path.w.delivered + u64::from(path.in_flight());
        path.run_while_not(10, |p| p.w.delivered >= end || p.cca.state() != "drain");
        rounds += 1;
    }
    assert!((3..=5).contains(&rounds), "{rounds} rounds");
    assert_eq!(path.cca.state(), "probe_bw_down");
    assert!(path.in_flight() > 75, "{}", path.in_flight());
}

/// Appendix A.5, §5.3.3.7: a plateau ends ProbeBW_UP; without loss there is no long-term bound.
#[test]
fn a_plateau_ends_a_probe() {
    let mut path = path(20.0);
    run_into(&mut path, "probe_bw_up");
    let (began, sent) = (path.w.now, path.w.delivered);
    let rate = path.w.pacing_rate.as_mbps();
    assert!((rate / 20.0 - 1.25 * 0.99).abs() < 0.03, "{rate}");
    path.run_while_not(2, |p| p.cca.state() != "probe_bw_up");
    assert_eq!(path.cca.state(), "probe_bw_down");
    let rounds = path.w.now.saturating_since(began).as_nanos() / RTT.as_nanos();
    assert!((3..=8).contains(&rounds), "{rounds} rounds");
    assert!(path.w.delivered > sent);
    assert_eq!(path.cca.inflight_longterm(), None);
}

/// Appendix A.6: more than 2 % of loss ends ProbeBW_UP also where the application limits the samples, which
/// then do not set the bound.
#[test]
fn loss_ends_a_probe_of_a_limited_application() {
    let mut path = path(20.0);
    run_into(&mut path, "probe_bw_refill");
    path.app_rate = Some(Rate::from_mbps(15.0));
    path.run_while_not(2, |p| p.cca.state() == "probe_bw_up");
    let first = path.sent;
    path.drops = Box::new(move |n| n >= first && n % 10 == 0);
    path.run_while_not(1, |p| p.cca.state() != "probe_bw_up");
    assert_eq!(path.cca.state(), "probe_bw_down");
    assert_eq!(path.cca.inflight_longterm(), None);
}

/// Appendix A.7: while the application limits the samples and nothing is lost, neither Startup nor
/// ProbeBW_UP ends.
#[test]
fn a_limited_application_that_loses_nothing_stays_where_it_is() {
    let mut path = path_without_probe_rtt(20.0, 40);
    path.app_rate = Some(Rate::from_mbps(10.0));
    path.run_until(20.0);
    assert_eq!(path.cca.state(), "startup");
    path.app_rate = None;
    run_into(&mut path, "probe_bw_refill");
    path.app_rate = Some(Rate::from_mbps(10.0));
    path.run_while_not(1, |p| p.cca.state() == "probe_bw_up");
    path.run_until(60.0);
    assert_eq!(path.cca.state(), "probe_bw_up");
}

/// Appendix A.8, §5.3.3.1: DOWN paces at 90 % until the queue is gone and headroom is left.
#[test]
fn down_ends_when_the_queue_is_gone_and_headroom_is_left() {
    let mut path = path(20.0);
    path.buffer = u64::from(path.bdp() / 4);
    path.run_while_not(30, |p| p.cca.inflight_longterm().is_some());
    run_into(&mut path, "probe_bw_down");
    path.step();
    let rate = path.w.pacing_rate.as_mbps();
    assert!((rate / found(&path) - 0.9 * 0.99).abs() < 0.02, "{rate}");
    path.run_while_not(5, |p| p.cca.state() != "probe_bw_down");
    assert_eq!(path.cca.state(), "probe_bw_cruise");
    let longterm = path.cca.inflight_longterm().expect("it is set");
    assert!(f64::from(path.w.inflight) <= 0.86 * f64::from(longterm));
}

/// Appendix A.9, §5.3.3.8: where the queue does not leave, DOWN ends when the next probe is due, after two to
/// three seconds.
#[test]
fn down_ends_when_the_next_probe_is_due() {
    let mut path = path_without_probe_rtt(20.0, 60);
    run_into(&mut path, "probe_bw_down");
    let began = path.w.now;
    // The link delivers hardly more than comes.
    path.rate = Rate::from_mbps(18.0);
    path.run_while_not(10, |p| p.cca.state() != "probe_bw_down");
    let waited = path.w.now.saturating_since(began).as_secs_f64();
    assert!((2.0..3.2).contains(&waited), "{waited} s");
    assert_eq!(path.cca.state(), "probe_bw_refill");
}

/// Appendix A.10, §5.3.4: five seconds without a lower RTT lead to ProbeRTT with half of the BDP in flight,
/// for 200 ms and a round; then the window comes back.
#[test]
fn the_lowest_rtt_is_probed_for_every_five_seconds() {
    let mut path = path(20.0);
    let mut visits = Vec::new();
    for _ in 0..4 {
        run_into(&mut path, "probe_rtt");
        visits.push(path.w.now.as_secs_f64());
        path.run_while_not(1, |p| p.in_flight() <= p.bdp() / 2 + 1);
        let drained = path.w.now;
        path.run_while_not(1, |p| p.cca.state() != "probe_rtt");
        let stayed = path.w.now.saturating_since(drained);
        assert!(stayed >= Duration::from_millis(199), "{stayed}");
        assert!(stayed < Duration::from_millis(350), "{stayed}");
        assert!(path.cca.state().starts_with("probe_bw"));
        assert!(path.w.cwnd > path.bdp(), "{}", path.w.cwnd);
    }
    for pair in visits.windows(2) {
        assert!((5.0..6.0).contains(&(pair[1] - pair[0])), "{visits:?}");
    }
}

/// Appendix A.11, §5.4.1: silence is as good as ProbeRTT, and the restart is paced at the bandwidth.
#[test]
fn silence_takes_the_place_of_probe_rtt() {
    let mut path = path(20.0);
    path.run_until(3.0);
    path.paused_until = path.w.now + Duration::from_secs(6);
    path.run_while_not(7, |p| p.in_flight() == 0);
    path.step();
    let rate = path.w.pacing_rate.as_mbps();
    assert!((rate / found(&path) - 0.99).abs() < 0.01, "{rate}");
    let restarted = path.w.now;
    while path.w.now < restarted + Duration::from_secs(4) {
        assert_ne!(path.cca.state(), "probe_rtt");
        path.step();
    }
}

/// Appendix A.12: lumps of ACKs do not keep Startup from finding the bandwidth.
#[test]
fn startup_finds_the_bandwidth_behind_lumps_of_acks() {
    let mut path = path(20.0);
    path.ack_interval = Duration::from_millis(25);
    path.run_while_not(5, |p| p.cca.state() == "drain");
    assert!((found(&path) / 20.0 - 1.0).abs() < 0.1, "{}", found(&path));
    // A lump is what the link delivers in 25 ms.
    assert!(path.cca.extra_acked() >= 20, "{}", path.cca.extra_acked());
}

/// Appendix A.13, §5.5.9: the window has room for the lumps, so that CRUISE uses the link.
#[test]
fn cruising_is_not_slowed_by_lumps_of_acks() {
    let mut path = path(20.0);
    path.ack_interval = Duration::from_millis(60);
    path.run_until(3.0);
    let goodput = goodput_until(&mut path, 4.8);
    assert!(goodput > 0.9 * 20.0, "{goodput} Mbit/s");
    let lump = (Rate::from_mbps(20.0).bytes_in(path.ack_interval).get() / u64::from(MSS)) as u32;
    assert!(
        path.cca.extra_acked() > lump / 2,
        "{}",
        path.cca.extra_acked()
    );
}

/// Appendix A.14, §5.6.4.3: four segments are in flight even where less than one fills the path.
#[test]
fn four_segments_are_in_flight_on_a_tiny_path() {
    let mut path = Path::new(Bbr3::default(), 0.3, Duration::from_millis(10), 1);
    path.run_until(20.0);
    let goodput = goodput_until(&mut path, 24.0);
    assert!(path.w.cwnd >= 4, "{}", path.w.cwnd);
    assert!(goodput > 0.9 * 0.3, "{goodput}");
    let rate = path.w.pacing_rate.as_mbps();
    assert!((0.2..0.5).contains(&rate), "{rate}");
}

/// Appendix A.15, §5.3.3.5: ten times the bandwidth is found within the rounds of two probes.
#[test]
fn ten_times_the_bandwidth_is_found() {
    let mut path = path(10.0);
    path.run_until(6.0);
    path.rate = Rate::from_mbps(100.0);
    path.run_while_not(12, |p| found(p) > 95.0);
}

/// Appendix A.15: where a long-term bound is set it grows by 1, 2, 4, 8 … segments per round of UP.
#[test]
fn the_long_term_bound_grows_faster_every_round() {
    let mut path = path(20.0);
    path.buffer = u64::from(path.bdp() / 4);
    path.run_while_not(30, |p| p.cca.inflight_longterm().is_some());
    path.buffer = u64::MAX;
    path.rate = Rate::from_mbps(200.0);
    let low = path.cca.inflight_longterm().expect("it is set");
    path.run_while_not(20, |p| found(p) > 190.0);
    let high = path.cca.inflight_longterm().expect("it stays");
    assert!(high > 4 * low, "{low}, then {high}");
}

/// Appendix A.16: a tenth of the bandwidth shows at once in the short-term bounds, and after two cycles in
/// the maximum.
#[test]
fn a_tenth_of_the_bandwidth_is_believed_within_two_cycles() {
    let mut path = path(100.0);
    path.buffer = u64::from(path.bdp());
    path.run_until(6.0);
    assert!(found(&path) > 95.0, "{}", found(&path));
    path.rate = Rate::from_mbps(10.0);
    path.run_while_not(2, |p| {
        let bound = p.cca.bandwidth_shortterm(MSS);
        bound.is_some_and(|rate| rate.as_mbps() < 75.0)
    });
    path.run_while_not(10, |p| found(p) < 10.5);
}

/// Appendix A.17: behind a token bucket the flow comes to send what the bucket lets pass.
#[test]
fn a_policer_is_obeyed() {
    let mut path = path(100.0);
    path.policer = Some(Policer::new(Rate::from_mbps(10.0), Bytes::new(200_000)));
    let mut bounded = false;
    while path.w.now.as_secs_f64() < 10.0 {
        path.step();
        bounded |= path.cca.inflight_shortterm().is_some();
    }
    assert!(bounded);
    let (lost, sent) = (path.w.lost, path.sent);
    let goodput = goodput_until(&mut path, 40.0);
    let share = (path.w.lost - lost) as f64 / (path.sent - sent) as f64;
    assert!(share < 0.1, "{share} lost");
    assert!(goodput > 0.75 * 10.0, "{goodput} Mbit/s");
}

/// Appendix A.18, §5.5.11.2: when the losses prove spurious, bounds and window are what they were, and a
/// probe that was given up begins anew.
#[test]
fn spurious_losses_are_taken_back() {
    let mut path = path(20.0);
    run_into(&mut path, "probe_bw_up");
    let window = path.w.cwnd;
    let first = path.sent;
    path.drops = Box::new(move |n| (first..first + 12).contains(&n));
    path.run_while_not(2, |p| p.cca.state() == "probe_bw_down");
    assert!(path.cca.inflight_longterm().is_some());
    path.w.cwnd = path.cca.undo_cwnd(&mut path.w);
    assert_eq!(path.cca.inflight_longterm(), None);
    assert_eq!(path.cca.state(), "probe_bw_refill");
    assert!(path.w.cwnd >= window, "{} after {window}", path.w.cwnd);
}

/// Appendix A.18: the same for Startup.
#[test]
fn spurious_losses_lead_back_to_startup() {
    let mut path = path(50.0);
    path.drops = Box::new(|n| (200..600).contains(&n) && n % 8 == 0);
    path.run_while_not(5, |p| p.cca.state() == "drain");
    path.w.cwnd = path.cca.undo_cwnd(&mut path.w);
    assert_eq!(path.cca.state(), "startup");
    assert_eq!(path.cca.inflight_longterm(), None);
}

/// Appendix A.20, §5.3.4.4: from ProbeRTT back to Startup where the path was never full.
#[test]
fn probe_rtt_leads_back_to_startup() {
    let mut path = path(50.0);
    path.app_rate = Some(Rate::from_mbps(5.0));
    // The lowest RTT is not seen again.
    path.run_until(1.0);
    path.rtt = RTT + Duration::from_millis(5);
    run_into(&mut path, "probe_rtt");
    path.run_while_not(2, |p| p.cca.state() != "probe_rtt");
    assert_eq!(path.cca.state(), "startup");
}

/// Appendix A.21, §5.5.10.2: too much loss in ProbeBW_UP lowers the bound to what was in flight, not below
/// 0.7 of the target, and ends the probe.
#[test]
fn too_much_loss_ends_a_probe_and_lowers_the_bound() {
    let mut path = path(20.0);
    path.buffer = u64::from(path.bdp() / 2);
    path.run_while_not(30, |p| p.cca.inflight_longterm().is_some());
    run_into(&mut path, "probe_bw_up");
    let before = path.cca.inflight_longterm().expect("it is set");
    let (first, target) = (path.sent, path.bdp());
    path.drops = Box::new(move |n| n >= first && n % 5 == 0);
    path.run_while_not(1, |p| p.cca.state() != "probe_bw_up");
    assert_eq!(path.cca.state(), "probe_bw_down");
    let after = path.cca.inflight_longterm().expect("it stays set");
    assert!(after < before, "{before}, then {after}");
    assert!(
        f64::from(after) > 0.65 * f64::from(target),
        "{after} of {target}"
    );
}

/// Appendix A.22: samples that the application limits do not lower the bandwidth, and REFILL leads to UP.
#[test]
fn a_limited_refill_does_not_lower_the_bandwidth() {
    let mut path = path(20.0);
    run_into(&mut path, "probe_bw_refill");
    let before = found(&path);
    path.app_rate = Some(Rate::from_mbps(2.0));
    path.run_while_not(2, |p| p.cca.state() != "probe_bw_refill");
    assert_eq!(path.cca.state(), "probe_bw_up");
    assert!(found(&path) >= before);
}

/// §5.5.10.2, `InflightAtLoss`: of 1000 segments in flight 30 are lost; the 20th loss crossed 2 %, whichever
/// was noticed first: (0.02 · 999 − 29) / 0.98 < 0 for the last, so that all before it still fitted.
#[test]
fn the_bound_is_what_was_in_flight_when_losses_crossed_two_percent() {
    let mut path = path(100.0);
    run_into(&mut path, "probe_bw_up");
    let mut w = path.w.clone();
    let mut lose = |lost: u32| {
        let lost = Lost {
            seq: 0,
            end: u64::from(MSS),
            tx_in_flight: 1000,
            lost,
            app_limited: false,
        };
        path.cca.on_lost(&mut w, &lost);
        path.cca.inflight_longterm()
    };
    assert_eq!(lose(20), None);
    // 999 were in flight before, of which 20 were lost: (0.02 · 999 − 20) / 0.98 is nothing.
    assert_eq!(lose(21), Some(999));
    // One answer per probe.
    assert_eq!(lose(500), Some(999));
}

/// §5.5.10.3: a round with loss leaves the larger of 0.7 of the bound and what the round delivered.
#[test]
fn loss_while_cruising_lowers_the_short_term_bounds_by_thirty_percent_at_most() {
    let mut path = path(20.0);
    run_into(&mut path, "probe_bw_cruise");
    let (window, rate) = (path.w.cwnd, found(&path));
    let first = path.sent;
    path.drops = Box::new(move |n| n >= first && n % 2 == 0);
    path.run_while_not(1, |p| p.cca.inflight_shortterm().is_some());
    let inflight = path.cca.inflight_shortterm().expect("it is set");
    let bound = path
        .cca
        .bandwidth_shortterm(MSS)
        .expect("it is set")
        .as_mbps();
    assert!(
        f64::from(inflight) >= (0.69 * f64::from(window)).floor(),
        "{inflight} of {window}"
    );
    assert!(bound >= 0.69 * rate && bound <= rate, "{bound} of {rate}");
    // REFILL drops them.
    path.drops = Box::new(|_| false);
    path.run_while_not(10, |p| p.cca.state() == "probe_bw_refill");
    assert_eq!(path.cca.inflight_shortterm(), None);
}

/// §5.6.4.4: a time-out leaves one segment beyond what is in flight; afterwards the window is that before.
#[test]
fn the_window_comes_back_after_a_time_out() {
    let mut path = path(20.0);
    path.run_until(3.0);
    let before = path.w.cwnd;
    path.cca.ssthresh(&mut path.w);
    path.w.cwnd = 1;
    path.enter(CaState::Loss);
    path.step();
    assert!(path.w.cwnd < before);
    path.enter(CaState::Open);
    assert!(path.w.cwnd >= before, "{} after {before}", path.w.cwnd);
}

/// §5.3.3.8.2: the time between probes is two to three seconds, but no more rounds than the BDP has segments
/// or 63, which lets Reno live.
#[test]
fn small_paths_are_probed_as_often_as_reno_would() {
    let interval = |mbps: f64, rtt_ms: u64| {
        let mut path = path_without_probe_rtt(mbps, rtt_ms);
        run_into(&mut path, "probe_bw_up");
        run_into(&mut path, "probe_bw_down");
        let began = path.w.now;
        run_into(&mut path, "probe_bw_refill");
        path.w.now.saturating_since(began).as_secs_f64()
    };
    let native = interval(50.0, 100);
    assert!((2.0..3.1).contains(&native), "{native}");
    // 62 or 63 rounds of 10 ms.
    let by_reno = interval(100.0, 10);
    assert!((0.55..0.85).contains(&by_reno), "{by_reno}");
    // 17 segments: as many rounds of 20 ms.
    let small = interval(10.0, 20);
    assert!((0.3..0.6).contains(&small), "{small}");
}

/// A hand-over by context: no Startup, the rate is that of the context, the window does not burst.
#[test]
fn a_context_takes_the_place_of_startup() {
    let mut w = window(100);
    w.now = Instant::ZERO + Duration::from_secs(10);
    let context = Context {
        cwnd: 100,
        ssthresh: 100,
        srtt: Duration::from_millis(150),
        min_rtt: Duration::from_millis(100),
        pacing_rate: Rate::of(Bytes::new(100 * u64::from(MSS)), Duration::from_millis(100)),
    };
    let mut bbr = Bbr3::default();
    bbr.init(&mut w);
    bbr.seed(&mut w, &context);
    assert_eq!(bbr.state(), "probe_bw_cruise");
    let rate = w.pacing_rate.as_mbps();
    assert!(
        (rate / context.pacing_rate.as_mbps() - 0.99).abs() < 0.01,
        "{rate}"
    );
    let ack = Ack {
        acked: 1,
        delivered: 1,
        rate: RateSample {
            delivered: Some(1),
            interval: Duration::from_millis(100),
            app_limited: true,
            ..RateSample::default()
        },
        ..Ack::default()
    };
    bbr.cong_control(&mut w, &ack);
    assert_eq!(w.cwnd, 101);
    assert!(w.pacing_rate.as_mbps() <= context.pacing_rate.as_mbps());
}

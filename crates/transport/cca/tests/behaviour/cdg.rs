//! CDG compared with Hayes and Armitage 2011 and with Linux.

use cca::cdg::{Cdg, CdgConfig, Detect};
use cca::{AckSample, CongestionControl, Event, INFINITE_SSTHRESH, Window};
use units::Duration;
use units::random::{Purpose, RngStream};

use crate::rounds::{full_window, round};

const BASE: Duration = Duration::from_millis(100);

fn cdg(config: CdgConfig, cwnd: u32, seed: u64) -> (Cdg, Window) {
    let (mut cdg, mut w) = (Cdg::new(config), full_window(cwnd));
    w.random = RngStream::new(seed, Purpose::CongestionControl, 0);
    cdg.init(&mut w);
    (cdg, w)
}

/// Hayes and Armitage 2011 §3: CDG grows like Reno while the delay is constant or falls.
#[test]
fn cdg_is_reno_while_the_delay_does_not_rise() {
    let (mut cdg, mut w) = cdg(CdgConfig::default(), 40, 1);
    for step in 1..20 {
        let rtt = Duration::from_micros(100_000 - 500 * step);
        round(&mut cdg, &mut w, rtt);
        assert!(!w.cwr_requested);
    }
    assert_eq!(w.cwnd, 59);
}

/// §3.2: the probability of a back-off is 1 − exp(−g/G); in the kernel's terms G = 1000 / (window · factor)
/// ms. At a gradient of 1 ms per round that is 1 − exp(−0.336) = 0.285.
#[test]
fn cdg_backs_off_with_the_probability_of_the_gradient() {
    let seeds = 400;
    let backed_off = |gradient: u64| {
        let count = (0..seeds).filter(|&seed| {
            let (mut cdg, mut w) = cdg(CdgConfig::default(), 20, seed);
            round(&mut cdg, &mut w, BASE);
            // The end of this round compares it with the previous one.
            round(&mut cdg, &mut w, BASE + Duration::from_micros(gradient));
            round(&mut cdg, &mut w, BASE + Duration::from_micros(gradient));
            w.cwr_requested
        });
        count.count() as f64 / seeds as f64
    };
    for (gradient, probability) in [(0, 0.0), (1_000, 0.285), (5_000, 0.814)] {
        let result = backed_off(gradient);
        // The first ACK of the sample and the following round may be evaluated once more.
        assert!(
            (result - probability).abs() < 0.09,
            "{gradient} µs: {result} for {probability}"
        );
    }
}

/// §3.2: a back-off leaves β of the window, √½ in Linux and 0.7 in the paper.
#[test]
fn cdg_leaves_beta_of_the_window() {
    for (backoff_beta, left) in [(724.0 / 1024.0, 70), (0.5, 50)] {
        let config = CdgConfig {
            backoff_beta,
            ..CdgConfig::default()
        };
        let (mut cdg, mut w) = cdg(config, 100, 1);
        round(&mut cdg, &mut w, BASE);
        while !w.cwr_requested {
            w.cwnd = 100;
            let rtt = w.srtt + Duration::from_millis(20);
            w.srtt = rtt;
            round(&mut cdg, &mut w, rtt);
        }
        w.cwnd = 100;
        assert_eq!(cdg.ssthresh(&mut w), left);
    }
}

/// §3.3: after five back-offs without effect on the delay CDG stops backing off, until the delay falls.
#[test]
fn cdg_gives_up_backing_off_where_that_has_no_effect() {
    let back_offs = |use_ineff: u32| {
        let config = CdgConfig {
            use_ineff,
            ..CdgConfig::default()
        };
        let (mut cdg, mut w) = cdg(config, 20, 3);
        let mut count = 0;
        for step in 0..40 {
            w.cwnd = 20;
            round(&mut cdg, &mut w, BASE + Duration::from_millis(10 * step));
            count += u32::from(core::mem::take(&mut w.cwr_requested));
        }
        count
    };
    assert_eq!(back_offs(5), 5);
    assert!(back_offs(0) > 25, "{}", back_offs(0));
}

/// §3.4: the shadow window keeps what back-offs took, so that a loss does not halve a window that is already
/// reduced.
#[test]
fn cdg_does_not_halve_a_window_that_has_backed_off() {
    let after_loss = |use_shadow: bool| {
        let config = CdgConfig {
            use_shadow,
            ..CdgConfig::default()
        };
        let (mut cdg, mut w) = cdg(config, 100, 1);
        round(&mut cdg, &mut w, BASE);
        let mut rtt = BASE;
        while !core::mem::take(&mut w.cwr_requested) {
            w.cwnd = 100;
            rtt += Duration::from_millis(20);
            round(&mut cdg, &mut w, rtt);
        }
        w.cwnd = cdg.ssthresh(&mut w);
        cdg.cwnd_event(&mut w, Event::CompleteCwr);
        (w.cwnd, cdg.ssthresh(&mut w))
    };
    let (left, with) = after_loss(true);
    assert!(with > left * 6 / 10, "{with} of {left}");
    let (left, without) = after_loss(false);
    assert_eq!(without, left / 2);
}

/// §3.5 and Linux `use_tolerance`: a loss while both the minimum and the maximum RTT rise does not come from
/// a full queue.
#[test]
fn cdg_may_tolerate_losses_before_the_queue_is_full() {
    let config = CdgConfig {
        use_tolerance: true,
        backoff_factor: 0,
        ..CdgConfig::default()
    };
    let (mut cdg, mut w) = cdg(config, 50, 1);
    for step in 0..6 {
        round(&mut cdg, &mut w, BASE + Duration::from_millis(step));
    }
    assert_eq!(cdg.ssthresh(&mut w), w.cwnd);
}

/// Linux `tcp_cdg_hystart_update`: slow start ends at a delay an eighth above the lowest one, at any window.
#[test]
fn cdg_leaves_slow_start_by_delay_or_train() {
    let leaves = |hystart_detect: Detect, rtt: Duration| {
        let config = CdgConfig {
            hystart_detect,
            backoff_factor: 0,
            ..CdgConfig::default()
        };
        let (mut cdg, mut w) = cdg(config, 10, 1);
        w.ssthresh = INFINITE_SSTHRESH;
        round(&mut cdg, &mut w, BASE);
        round(&mut cdg, &mut w, rtt);
        // From here on all samples are `rtt`.
        round(&mut cdg, &mut w, rtt);
        !w.in_slow_start()
    };
    let risen = BASE + Duration::from_millis(20);
    assert!(leaves(Detect::Delay, risen));
    assert!(!leaves(Detect::Delay, BASE + Duration::from_millis(10)));
    assert!(!leaves(Detect::Off, risen));
    // Ten ACKs in 100 ms are too far apart for a train; forty are a train of more than 50 ms.
    assert!(leaves(Detect::Train, BASE));
}

/// Hayes, CAIA TR 100219A, as in Linux: the extra RTT of a delayed ACK does not count for the maximum.
#[test]
fn cdg_ignores_delayed_acks() {
    let backs_off = |acked: u32| {
        let config = CdgConfig {
            backoff_factor: 1_000_000,
            ..CdgConfig::default()
        };
        let (mut cdg, mut w) = cdg(config, 20, 1);
        for late in [0, 40_u64] {
            for part in 0..20_u64 {
                w.now += Duration::from_millis(5);
                w.snd_una += 1_448;
                // Every other ACK was delayed.
                let held = if part % 2 == 1 { late } else { 0 };
                let sample = AckSample {
                    acked: if part % 2 == 1 { 1 } else { acked },
                    rtt: Some(BASE + Duration::from_millis(held)),
                    in_flight: 20,
                };
                cdg.pkts_acked(&mut w, &sample);
            }
            w.snd_nxt = w.snd_una;
            w.snd_una += 1_448;
            cdg.grow(&mut w, &mut cca::slow_start::Standard, 1);
        }
        w.cwr_requested
    };
    assert!(backs_off(1));
    assert!(!backs_off(2));
}

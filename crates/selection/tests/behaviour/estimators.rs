//! Estimates of a path whose properties are known.

use selection::{
    Hints, Latency, Movement, PathEstimates, PathEstimators, Phase, SenderInfo, Speed,
};
use units::Instant;

use crate::path::{Flow, Window};

/// Returns the estimates at the end of the samples.
fn seen(samples: &[(Instant, SenderInfo)]) -> PathEstimates {
    let mut watch = PathEstimators::default();
    samples
        .iter()
        .for_each(|(at, sender)| watch.observe(*at, sender, None));
    *watch.estimates()
}

/// Asserts that `value` is within a factor of `most` of `truth`.
fn assert_near(value: f64, truth: f64, most: f64, what: &str) {
    let ratio = value / truth;
    assert!(
        (1.0 / most..most).contains(&ratio),
        "{what}: {value}, in truth {truth}"
    );
}

#[test]
fn the_capacity_is_what_arrives_while_a_queue_stands() {
    for mbps in [5.0, 20.0, 80.0] {
        let flow = Flow {
            cwnd: 1.2 * crate::path::segments(mbps) * 0.068,
            ..Flow::default()
        };
        let estimates = seen(&flow.samples(20.0, |_| mbps));
        assert_near(estimates.capacity.value.as_mbps(), mbps, 1.1, "capacity");
        assert!(
            estimates.capacity.confidence > 0.5,
            "{mbps}: {:?}",
            estimates.capacity
        );
    }
}

/// Without a queue nothing shows how much faster the path could be.
#[test]
fn without_a_queue_the_capacity_is_not_known() {
    let flow = Flow {
        window: Window::Growing(0.0),
        cwnd: 50.0,
        ..Flow::default()
    };
    let estimates = seen(&flow.samples(10.0, |_| 80.0));
    assert!(
        estimates.capacity.confidence < 0.1,
        "{:?}",
        estimates.capacity
    );
}

/// 20 dB to 5 dB at 60 km/h are 50 to 10 Mbit/s in a minute.
#[test]
fn the_movement_is_the_sign_of_the_trend_of_the_capacity() {
    for (from, to, movement) in [
        (50.0, 10.0, Movement::Forward),
        (10.0, 50.0, Movement::Backward),
        (30.0, 30.0, Movement::Static),
    ] {
        for window in [Window::Reno, Window::Queue(20.0)] {
            let flow = Flow {
                window,
                cwnd: 300.0,
                ..Flow::default()
            };
            let estimates = seen(&flow.samples(20.0, |t| from + (to - from) * t / 60.0));
            assert_eq!(
                estimates.movement.value, movement,
                "{window:?} {:?}",
                estimates.movement
            );
            assert!(
                estimates.movement.confidence > 0.8,
                "{window:?} {:?}",
                estimates.movement
            );
        }
    }
}

/// A window that grows into an empty pipe differs from a path that gets faster only by the missing queue.
#[test]
fn a_rate_that_grows_without_a_queue_is_no_movement() {
    let flow = Flow {
        window: Window::Growing(12.0),
        cwnd: 20.0,
        ..Flow::default()
    };
    let estimates = seen(&flow.samples(10.0, |_| 80.0));
    assert_eq!(estimates.movement.value, Movement::Static);
    assert!(
        estimates.movement.confidence < 0.2,
        "{:?}",
        estimates.movement
    );
}

/// A rate above the known capacity replaces it, even without a queue.
#[test]
fn a_rate_beyond_the_capacity_that_was_known_is_news() {
    let flow = Flow {
        window: Window::Growing(12.0),
        cwnd: 100.0,
        ..Flow::default()
    };
    let estimates = seen(&flow.samples(10.0, |t| if t < 4.0 { 12.0 } else { 80.0 }));
    assert_eq!(
        estimates.movement.value,
        Movement::Backward,
        "{:?}",
        estimates.movement
    );
}

#[test]
fn longer_observation_makes_more_certain() {
    let all = Flow {
        cwnd: 300.0,
        ..Flow::default()
    }
    .samples(20.0, |t| 40.0 - 0.4 * t + (t * 31.0).sin() * 4.0);
    let confidence = |seconds: usize| seen(&all[..seconds * 100]).movement.confidence;
    assert!(
        confidence(3) < confidence(8),
        "{} {}",
        confidence(3),
        confidence(8)
    );
    assert!(
        confidence(8) <= confidence(20),
        "{} {}",
        confidence(8),
        confidence(20)
    );
}

#[test]
fn the_buffer_is_the_queue_at_which_segments_are_lost() {
    for buffer in [60.0, 200.0, 750.0] {
        let flow = Flow {
            buffer,
            cwnd: 220.0 + 0.8 * buffer,
            ..Flow::default()
        };
        let estimates = seen(&flow.samples(60.0, |_| 35.0));
        assert_near(estimates.buffer.value, buffer, 1.5, "buffer");
        assert!(
            estimates.buffer.confidence >= 0.5,
            "{buffer}: {:?}",
            estimates.buffer
        );
        assert!(
            estimates.random_loss.value < 1e-4,
            "{buffer}: {:?}",
            estimates.random_loss
        );
    }
}

#[test]
fn a_buffer_that_was_never_full_is_not_known() {
    let flow = Flow {
        window: Window::Queue(20.0),
        ..Flow::default()
    };
    let estimates = seen(&flow.samples(20.0, |_| 35.0));
    assert_eq!(
        (estimates.buffer.value, estimates.buffer.confidence),
        (0.0, 0.0)
    );
}

/// Reno on random paths, some of which lose packets at random as well.
#[test]
fn a_buffer_that_is_sure_is_right() {
    let mut draws = Draws(7);
    let (mut sure, mut right) = (0, 0);
    for case in 0..60 {
        let (mbps, base) = (draws.by_ratio(3.0, 100.0), draws.by_ratio(0.01, 0.2));
        let bdp = crate::path::segments(mbps) * base;
        let buffer = (bdp * draws.by_ratio(0.2, 5.0)).max(10.0);
        let flow = Flow {
            base,
            buffer,
            cwnd: bdp + 0.5 * buffer,
            loss: if case % 3 == 0 {
                draws.by_ratio(1e-5, 1e-2)
            } else {
                0.0
            },
            ..Flow::default()
        };
        let told = seen(&flow.samples(40.0, |_| mbps)).buffer;
        if told.confidence >= 0.5 {
            sure += 1;
            right += u32::from((buffer / 1.5..buffer * 1.5).contains(&told.value));
        }
    }
    assert!(sure >= 15, "{sure} of 60 are sure");
    assert!(right * 10 >= sure * 9, "{right} of {sure} are right");
}

/// A queue that is always as long loses packets at random: its length says nothing about the buffer.
#[test]
fn random_losses_at_a_steady_queue_show_no_buffer() {
    let mut draws = Draws(8);
    for _ in 0..40 {
        let (mbps, base) = (draws.by_ratio(3.0, 100.0), draws.by_ratio(0.01, 0.2));
        let kept = (crate::path::segments(mbps) * base * draws.by_ratio(0.2, 2.0)).max(10.0);
        let flow = Flow {
            base,
            buffer: 20.0 * kept,
            window: Window::Queue(kept),
            loss: draws.by_ratio(1e-4, 1e-2),
            ..Flow::default()
        };
        let told = seen(&flow.samples(40.0, |_| mbps)).buffer;
        assert!(
            told.confidence < 0.5,
            "{mbps} Mbit/s, {base} s, {kept}: {told:?}"
        );
    }
}

/// Random numbers of a linear congruential generator (Knuth, MMIX).
struct Draws(u64);

impl Draws {
    /// Returns a number between these, uniform by its logarithm.
    fn by_ratio(&mut self, least: f64, most: f64) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
        let share = (self.0 >> 11) as f64 / (1_u64 << 53) as f64;
        least * (most / least).powf(share)
    }
}

#[test]
fn losses_without_a_queue_are_random() {
    for loss in [0.001, 0.01] {
        let flow = Flow {
            loss,
            window: Window::Growing(0.0),
            cwnd: 100.0,
            ..Flow::default()
        };
        let estimates = seen(&flow.samples(60.0, |_| 35.0));
        assert_near(estimates.random_loss.value, loss, 1.2, "random loss");
        assert!(
            estimates.random_loss.confidence > 0.9,
            "{:?}",
            estimates.random_loss
        );
    }
}

#[test]
fn the_receive_window_limits_where_it_is_full_before_the_congestion_window() {
    let flow = Flow {
        receive_window: 64 * 1024,
        ..Flow::default()
    };
    let estimates = seen(&flow.samples(5.0, |_| 35.0));
    assert!(estimates.window_limited.value && estimates.window_limited.confidence > 0.9);
    let estimates = seen(&Flow::default().samples(5.0, |_| 35.0));
    assert!(!estimates.window_limited.value && estimates.window_limited.confidence > 0.9);
}

/// A sine of amplitude a has a deviation of a over the square root of two.
#[test]
fn the_variability_leaves_the_trend_out() {
    let flow = || Flow {
        window: Window::Queue(60.0),
        ..Flow::default()
    };
    let estimates = seen(&flow().samples(20.0, |t| (30.0 + t) * (1.0 + 0.3 * (t * 4.1).sin())));
    assert_near(
        estimates.variability.value,
        0.3 / 2.0_f64.sqrt(),
        1.25,
        "variability",
    );
    let estimates = seen(&flow().samples(20.0, |t| 30.0 + t));
    assert!(
        estimates.variability.value < 0.03,
        "{:?}",
        estimates.variability
    );
}

#[test]
fn the_class_of_the_latency_is_that_of_the_lowest_rtt() {
    for (base, class) in [
        (0.018, Latency::Low),
        (0.034, Latency::Low),
        (0.068, Latency::Cellular),
        (0.085, Latency::Cellular),
    ] {
        let estimates = seen(
            &Flow {
                base,
                cwnd: 400.0,
                ..Flow::default()
            }
            .samples(2.0, |_| 35.0),
        );
        assert_eq!(estimates.latency.value, class, "{base} s");
        assert!(
            estimates.latency.confidence > 0.7,
            "{base} s: {:?}",
            estimates.latency
        );
    }
}

/// 15 dB in 1000 m are some 2.8 Mbit/s per dB on 20 MHz (atxutegi2018 §4.4.3). The class in the middle is the
/// least certain one.
#[test]
fn the_speed_is_told_by_how_fast_the_capacity_changes() {
    let told = |mbps_per_second: f64| {
        let flow = Flow {
            cwnd: 400.0,
            ..Flow::default()
        };
        seen(&flow.samples(8.0, |t| 45.0 - mbps_per_second * t)).speed
    };
    let [slow, fast, fastest] = [0.6, 1.4, 3.5].map(told);
    assert_eq!(slow.value, Speed::Slow, "{slow:?}");
    assert_eq!(fast.value, Speed::Fast, "{fast:?}");
    assert_eq!(fastest.value, Speed::VeryFast, "{fastest:?}");
    assert!(fast.confidence < slow.confidence && fast.confidence < fastest.confidence);
}

/// atxutegi2018 §6.3.
#[test]
fn phases_follow_start_up_movement_and_poor_conditions() {
    let phase = |seconds: f64, from: f64, slope: f64| {
        let flow = Flow {
            cwnd: 300.0,
            ..Flow::default()
        };
        seen(&flow.samples(seconds, |t| from + slope * t))
            .phase
            .value
    };
    assert_eq!(phase(1.5, 40.0, -0.7), Phase::StartUp);
    assert_eq!(phase(10.0, 40.0, -0.7), Phase::Sustainer);
    assert_eq!(phase(10.0, 18.0, -0.7), Phase::Constrained);
    assert_eq!(phase(10.0, 30.0, 0.7), Phase::Scaling);
}

#[test]
fn what_the_radio_tells_decides() {
    let samples = Flow {
        cwnd: 300.0,
        ..Flow::default()
    }
    .samples(5.0, |_| 35.0);
    let mut watch = PathEstimators::default();
    watch.set_hints(Hints {
        sinr_db: Some(6.0),
        speed_mps: Some(300.0 / 3.6),
        sinr_trend: Some(-1.25),
    });
    samples
        .iter()
        .for_each(|(at, sender)| watch.observe(*at, sender, None));
    let estimates = watch.estimates();
    assert_eq!(estimates.movement.value, Movement::Forward);
    assert_eq!(estimates.speed.value, Speed::VeryFast);
    assert_eq!(estimates.phase.value, Phase::Constrained);
    assert!(estimates.movement.confidence > 0.9 && estimates.speed.confidence > 0.9);
}

/// A queue of others stays when the window is halved; a queue of the flow alone does not, and its rate does.
#[test]
fn competition_is_seen_where_the_rate_follows_the_window() {
    let beside = |others: f64, mbps: fn(f64) -> f64| {
        let flow = Flow {
            others,
            buffer: 200.0 + others,
            cwnd: 260.0,
            ..Flow::default()
        };
        seen(&flow.samples(120.0, mbps)).competition
    };
    let alone = beside(0.0, |_| 20.0);
    assert!(alone.value < 0.1 && alone.confidence > 0.6, "{alone:?}");
    let shared = beside(300.0, |_| 20.0);
    assert!(shared.value > 0.4 && shared.confidence > 0.5, "{shared:?}");
    // A capacity that falls is no competition.
    let falling = beside(0.0, |t| 40.0 - t / 4.0);
    assert!(falling.value < 0.3, "{falling:?}");
}

/// At 200 kbit/s a segment takes 58 ms, and the small packets of the handshake hardly anything.
#[test]
fn the_lowest_rtt_is_that_of_full_segments() {
    let flow = Flow {
        base: 0.160,
        handshake: Some(0.102),
        buffer: 20.0,
        cwnd: 8.0,
        ..Flow::default()
    };
    let estimates = seen(&flow.samples(20.0, |_| 0.2));
    assert_near(
        estimates.base_rtt.value.as_secs_f64(),
        0.160,
        1.1,
        "lowest RTT",
    );
    let fast = seen(&Flow::default().samples(20.0, |_| 20.0));
    assert_eq!(fast.base_rtt.value, units::Duration::from_millis(68));
}

//! BIC compared with Xu, Harfoush and Rhee 2004 and with Linux.

use cca::bic::{Bic, BicConfig};
use cca::{CaState, CongestionControl, Window};

use crate::lab::RTT;
use crate::rounds::{full_window, round, round_with_stretch_acks};

/// Growth here per segment of the paper's growth per round trip. Linux counts segments and also corrects for
/// ACKs that cover several. The mean of that correction starts at 2 and, in sixteenths rounded down, stays at
/// 31/16 with an ACK for every segment.
const SPED_UP: f64 = 31.0 / 16.0;

/// Returns a BIC that lost at `w_max` and has recovered, with an ACK for every segment.
fn after_loss_at(w_max: u32) -> (Bic, Window) {
    let (mut bic, mut w) = (Bic::new(Default::default()), full_window(w_max));
    round(&mut bic, &mut w, RTT);
    w.cwnd = w_max;
    w.cwnd = bic.ssthresh(&mut w);
    w.ssthresh = w.cwnd;
    w.cwnd_cnt = 0;
    (bic, w)
}

/// Xu et al. 2004: β = 0.8 in Linux (819/1024); a window of up to 14 segments is halved.
#[test]
fn bic_reduces_to_four_fifths_or_halves_small_windows() {
    let mut bic = Bic::new(Default::default());
    assert_eq!(bic.ssthresh(&mut full_window(1_000)), 799);
    assert_eq!(bic.ssthresh(&mut full_window(14)), 7);
    assert_eq!(bic.ssthresh(&mut full_window(15)), 11);
    assert_eq!(bic.ssthresh(&mut full_window(2)), 2);
}

/// Additive increase while the goal is far, Smax = 16 segments per round trip. Then the steps shrink to a
/// quarter of the distance, and the window reaches the goal without overshoot.
#[test]
fn bic_searches_for_the_window_of_the_last_loss() {
    let (mut bic, mut w) = after_loss_at(1_000);
    let mut steps = Vec::new();
    while w.cwnd < 995 {
        let before = w.cwnd;
        round(&mut bic, &mut w, RTT);
        steps.push((1_000 - before, w.cwnd - before));
    }
    for (missing, step) in steps {
        if missing < 8 {
            // The last part takes 20 round trips (Linux `smooth_part`).
            assert!(step <= 1, "{step} with {missing} missing");
            continue;
        }
        let paper = (f64::from(missing) / 4.0).min(16.0);
        let (result, expected) = (f64::from(step), SPED_UP * paper);
        // The goal comes nearer during the round trip.
        assert!(
            result > 0.55 * expected - 1.5 && result < 1.1 * expected + 1.0,
            "{result} for {expected} with {missing} missing"
        );
    }
}

/// The "slow start" of the maximum probing: beyond the goal growth is slow at first, then faster and faster,
/// up to the same 16.
#[test]
fn bic_probes_faster_and_faster_beyond_the_goal() {
    let (mut bic, mut w) = after_loss_at(1_000);
    w.cwnd = 1_000;
    let mut steps = Vec::new();
    while w.cwnd < 1_150 {
        let before = w.cwnd;
        round(&mut bic, &mut w, RTT);
        steps.push(w.cwnd - before);
    }
    assert!(steps[0] <= 1, "{steps:?}");
    let fastest = f64::from(steps[steps.len() - 1]);
    assert!((fastest - SPED_UP * 16.0).abs() < 2.0, "{steps:?}");
    assert!(steps.windows(2).all(|s| s[1] + 1 >= s[0]), "{steps:?}");
}

/// Fast convergence: a window that lost before it reached its goal aims at the middle between the window at
/// the loss and the window after it.
#[test]
fn bic_aims_lower_when_it_lost_below_its_goal() {
    let goal = |fast_convergence| {
        let mut bic = Bic::new(BicConfig {
            fast_convergence,
            ..BicConfig::default()
        });
        bic.ssthresh(&mut full_window(1_000));
        let mut w = full_window(900);
        bic.ssthresh(&mut w);
        // The goal is where the window stops growing by more than one segment per round trip.
        w.cwnd = 720;
        w.ssthresh = 720;
        for _ in 0..40 {
            let before = w.cwnd;
            round(&mut bic, &mut w, RTT);
            if w.cwnd - before <= 1 {
                break;
            }
        }
        w.cwnd
    };
    assert!((800..=815).contains(&goal(true)), "{}", goal(true));
    assert!((890..=905).contains(&goal(false)), "{}", goal(false));
}

/// Linux `bictcp_update`: before the first loss growth is at least 5 % per round trip; a time-out forgets the
/// goal.
#[test]
fn bic_without_a_goal_grows_by_a_twentieth() {
    let (mut bic, mut w) = after_loss_at(600);
    bic.set_state(&mut w, CaState::Loss);
    w.cwnd = 600;
    round(&mut bic, &mut w, RTT);
    let share = f64::from(w.cwnd) / 600.0 - 1.0;
    // One per 20 · 16 / 31 acknowledged segments, in whole segments.
    assert!((share - 0.1).abs() < 0.01, "{share}");
}

/// Linux `bictcp_acked`: growth is the same where an ACK covers two segments.
#[test]
fn bic_does_not_slow_down_for_delayed_acks() {
    let grown = |covered| {
        let (mut bic, mut w) = after_loss_at(1_000);
        for _ in 0..4 {
            round_with_stretch_acks(&mut bic, &mut w, RTT, covered);
        }
        f64::from(w.cwnd - 799)
    };
    let (single, double) = (grown(1), grown(2));
    assert!((single - 4.0 * 16.0 * SPED_UP).abs() < 6.0, "{single}");
    assert!((double / single - 1.0).abs() < 0.1, "{double} for {single}");
}

//! Telemetry: response times of machine-to-machine sessions and the load on the control channel (kim2016-thesis
//! section 3.4).

mod load;
mod session;

use load::{Load, Outcome, run};
use radio::mac::uplink::{GrantProtocol, Timers};

fn outcome(
    users: u16,
    protocol: GrantProtocol,
    enhanced: bool,
    periodic: u64,
    retx: u64,
) -> Outcome {
    let timers = Timers::new(Some(periodic), retx);
    let load = Load {
        sessions: 4,
        ..Load::new(users, protocol, enhanced, timers)
    };
    let outcome = run(&load, 200_000);
    assert_eq!(outcome.finished, 4 * u64::from(users), "all sessions end");
    assert_eq!(outcome.response_times.len() as u64, outcome.finished);
    // SYN-ACK, acknowledgement, response and FIN-ACK go up in each session.
    assert_eq!(outcome.uplink_delays.len() as u64, 4 * outcome.finished);
    outcome
}

fn longest(outcome: &Outcome) -> u64 {
    *outcome.response_times.iter().max().unwrap()
}

/// Section 3.4: with the default protocol the response time reaches beyond retxBSR-Timer, and
/// follows it.
#[test]
fn response_times_of_the_default_protocol_follow_the_retransmission_timer() {
    for retx in [640, 2_560] {
        let default = outcome(50, GrantProtocol::Kim2016, false, 320, retx);
        assert!(longest(&default) > retx, "{} {retx}", longest(&default));
        assert!(longest(&default) < retx + 640);
    }
}

/// Section 3.4: the enhancement removes the delay spikes without shorter timers.
#[test]
fn the_enhancement_removes_the_spikes_of_both_protocols() {
    for protocol in [GrantProtocol::Kim2016, GrantProtocol::Standard] {
        for users in [2, 50, 100, 200] {
            let enhanced = outcome(users, protocol, true, 320, 2_560);
            assert!(
                longest(&enhanced) < 640,
                "{protocol:?} {users}: {}",
                longest(&enhanced)
            );
        }
    }
}

/// Figure 12: more users fill the control channel in a growing share of subframes, and response
/// times grow once it is full.
#[test]
fn the_control_channel_fills_with_users() {
    let share = |users| {
        let outcome = outcome(users, GrantProtocol::Kim2016, true, 5, 2_560);
        let full = outcome.full_subframes as f64 / outcome.utilisation.len() as f64;
        (
            full,
            Outcome::quantile(&outcome.response_times, 0.5).unwrap(),
        )
    };
    let runs = [2, 50, 100, 200].map(share);
    assert!(runs.is_sorted_by(|a, b| a.0 < b.0), "{runs:?}");
    assert!(runs.is_sorted_by(|a, b| a.1 <= b.1), "{runs:?}");
}

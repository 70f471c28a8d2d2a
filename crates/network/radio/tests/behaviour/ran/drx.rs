//! Discontinuous reception of a user that sends and receives.

use radio::channel::{FadedSinr, SinrTrace};
use radio::ran::{Channel, ConnectionEvent, Direction, User};
use radio::settings::Drx;
use units::Duration;

use crate::ran::lab::{Lab, lte, ms, steady};

fn settings(inactivity_ms: u64, long_cycle_ms: u64) -> Option<Drx> {
    Some(Drx {
        inactivity: Duration::from_millis(inactivity_ms),
        long_cycle: Duration::from_millis(long_cycle_ms),
        ..Drx::default()
    })
}

/// TS 36.321 clause 5.7: "if the PDCCH indicates a new transmission (DL or UL): start or restart drx-InactivityTimer".
/// The answer to a request is not held until the next cycle.
#[test]
fn a_grant_keeps_the_user_awake_for_the_answer() {
    for (wait_ms, is_awake) in [(50, true), (110, false)] {
        let mut config = lte(100, vec![steady(30.0)]);
        config.radio.drx = settings(100, 320);
        let mut lab = Lab::new(config);
        lab.run(ms(53));
        assert!(lab.send(ms(53), 0, Direction::Up, 52));
        // The request goes out at 60 ms, the grant at 64 ms, the data at 68 ms.
        lab.run(ms(64 + wait_ms));
        assert_eq!(lab.arrived, [(0, Duration::from_millis(7 + 4 + 4 + 4))]);
        assert!(lab.send(ms(64 + wait_ms), 0, Direction::Down, 1500));
        lab.run(ms(640));
        let waited = if is_awake { 0 } else { 320 - 64 - wait_ms };
        assert_eq!(lab.arrived[1], (1, Duration::from_millis(waited + 4)));
    }
}

/// Same clause: the UE monitors the PDCCH, and so receives a grant, in the active time only. It is active while a
/// scheduling request is pending; what the first grant does not carry waits for the next cycle.
#[test]
fn a_grant_waits_for_the_active_time() {
    let mut config = lte(100, vec![steady(30.0)]);
    config.radio.drx = settings(0, 320);
    // Without retransmissions there is no time for their grants.
    config.radio.harq.transmissions = 1;
    let mut lab = Lab::new(config);
    lab.run(ms(53));
    assert!(lab.send(ms(53), 0, Direction::Up, 1500));
    lab.run(ms(640));
    // The grant in 320 ms is followed by the data and their decoding.
    let expected = Duration::from_millis(320 - 53 + 4 + 4);
    assert_eq!(lab.arrived, [(0, expected)]);
}

/// Same clause: after a random access the UE is active until the PDCCH has announced a new transmission, which starts
/// drx-InactivityTimer.
#[test]
fn a_user_that_comes_back_listens_at_once() {
    let steps = [(0, 15.0), (1_000, -20.0), (4_000, 15.0)];
    let steps = steps.map(|(at, sinr_db)| (ms(at), sinr_db));
    let trace = SinrTrace::new(steps.to_vec()).unwrap();
    let user = User {
        channel: Channel::Traced(Box::new(FadedSinr::unfaded(trace))),
        ..steady(0.0)
    };
    let mut config = lte(50, vec![user]);
    config.radio.drx = settings(100, 10_240);
    let mut lab = Lab::new(config);
    let mut back = None;
    while lab.ran.next_event() < ms(6_000) {
        lab.fill(0, Direction::Down, 100);
        let now = lab.ran.next_event();
        lab.tick();
        let mut events = lab.outcome.events.drain(..);
        if events.any(|(_, event)| matches!(event, ConnectionEvent::Recovered { .. })) {
            back = Some(now);
        }
    }
    let back = back.expect("it comes back").as_nanos() / 1_000_000;
    let sent = lab.log.iter().filter(|record| record.block.is_some());
    let first = sent.map(|record| record.tti).find(|tti| *tti >= back);
    assert!(
        first.is_some_and(|tti| tti < back + 50),
        "{first:?} after {back}"
    );
}

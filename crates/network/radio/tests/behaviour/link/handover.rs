//! Handover, radio link failure and re-establishment, event by event.

use proptest::prelude::*;
use radio::handover::{Action, Cause, Measurement, Mobility};
use radio::rlc::pdcp::{Receiver, Sender, SnLength};
use radio::rlc::{Block, Forwarding, Sdu, am, um};
use radio::settings::Rlc;
use radio::settings::{A2A4, A3, Handover, LinkFailure, Trigger};
use units::{Decibel, Duration, Instant};

/// Trigger of the algorithm that hughes2020-thesis names, as ns-3 has it: serving cell below index 30 (-5 dB), and a
/// neighbour better by one step.
fn a2_a4() -> Trigger {
    Trigger::A2A4(A2A4::default())
}

/// Trigger of ns-3's A3 algorithm: 3 dB of hysteresis for 256 ms.
fn a3() -> Trigger {
    Trigger::A3(A3::default())
}

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

fn cells(rsrp: [f64; 2]) -> [Measurement; 2] {
    [0, 1].map(|index| Measurement {
        cell: index as u32 + 1,
        rsrp_dbm: rsrp[index],
        // RSRQ is about -6 dB with another cell at the same strength, and about -3 dB alone.
        rsrq_db: -3.0 + (rsrp[index] - rsrp[1 - index]).clamp(-16.0, 6.0) / 2.0 - 3.0,
    })
}

/// Runs a user from cell 1 for `until` milliseconds by the signals of cells 1 and 2 over time, in dBm of RSRP; a cell is
/// reached above -120 dBm.
fn run(handover: Handover, signals: impl Fn(u64) -> [f64; 2], until: u64) -> Vec<(u64, Action)> {
    run_with(Some(handover), LinkFailure::default(), signals, until)
}

fn run_with(
    handover: Option<Handover>,
    link_failure: LinkFailure,
    signals: impl Fn(u64) -> [f64; 2],
    until: u64,
) -> Vec<(u64, Action)> {
    let mut mobility = Mobility::new(handover, link_failure, 1);
    let mut actions = Vec::new();
    for now in 0..until {
        let rsrp = signals(now);
        let reaches = |cell: u32| rsrp[cell as usize - 1] > -120.0;
        if now % 40 == 0 {
            let begun = mobility.measure(at(now), &cells(rsrp), reaches);
            actions.extend(begun.map(|action| (now, action)));
        }
        if now % 10 == 0 {
            let own = rsrp[mobility.serving() as usize - 1];
            mobility.sample(at(now), own + 110.0);
        }
        if mobility.next_deadline() <= at(now) {
            while let Some(action) = mobility.advance(at(now), reaches) {
                actions.push((now, action));
            }
        }
    }
    actions
}

fn unfiltered(trigger: Trigger) -> Handover {
    Handover {
        trigger,
        filter_coefficient: 0,
        ..Handover::default()
    }
}

/// TS 36.331 clause 5.5.4.4 and TS 36.300 clause 10.1.2.1: A3 has to hold for the time to trigger; then
/// X2 there and back with admission, the command, the interruption, the path switch.
#[test]
fn a_handover_takes_its_steps_in_time() {
    let signals = |now| {
        if now < 400 {
            [-90.0, -95.0]
        } else {
            [-95.0, -90.0]
        }
    };
    let actions = run(unfiltered(a3()), signals, 2_000);
    let detach = Action::Detach {
        source: 1,
        target: 2,
        forwarding: Forwarding::Lossless,
    };
    assert_eq!(
        actions,
        [
            // The first period at or after 400 + 256 ms.
            (680, Action::Prepare(2)),
            (700, Action::Command(2)),
            (715, detach),
            (755, Action::Attach(2)),
            (775, Action::PathSwitch(2)),
        ]
    );
}

/// Clause 5.5.4.4: the condition has to hold throughout the time to trigger, by more than the
/// hysteresis.
#[test]
fn a_short_or_a_small_lead_triggers_nothing() {
    let blinking = |now| {
        if now % 240 < 200 {
            [-95.0, -90.0]
        } else {
            [-90.0, -95.0]
        }
    };
    assert_eq!(run(unfiltered(a3()), blinking, 5_000), []);
    let within = |_| [-92.5, -90.0];
    assert_eq!(run(unfiltered(a3()), within, 5_000), []);
}

/// Clauses 5.5.4.3 and 5.5.4.5: a neighbour may be better, but nothing happens before the serving cell
/// is below its threshold.
#[test]
fn a2_a4_waits_until_the_serving_cell_is_poor() {
    let prepared = |serving| {
        let trigger = Trigger::A2A4(A2A4 {
            serving,
            neighbour: 0,
            offset: 1,
            time_to_trigger: Duration::ZERO,
        });
        let fading = |now| [-80.0 - now as f64 / 200.0, -85.0];
        let actions = run(unfiltered(trigger), fading, 4_000);
        actions
            .iter()
            .find(|(_, action)| *action == Action::Prepare(2))
            .map(|(now, _)| *now)
    };
    // RSRQ of -6 dB (index 28) at equal strength, after 1000 ms; one step below, and the neighbour one
    // step above it, some 100 ms later.
    assert_eq!(prepared(30), Some(1_040));
    // The serving cell is below index 25 from -7.5 dB on: 3 dB weaker than the neighbour.
    assert_eq!(prepared(25), Some(1_640));
    assert_eq!(prepared(10), None);
}

/// Clause 5.3.11: a signal that vanishes fails after the window and T310. Without a cell the user goes idle after
/// T311, and connects anew when a cell appears.
#[test]
fn a_gap_in_coverage_ends_in_a_new_connection() {
    let gap = |now| match now {
        0..1_000 => [-90.0, -130.0],
        1_000..6_000 => [-130.0, -130.0],
        _ => [-130.0, -90.0],
    };
    let actions = run(unfiltered(a3()), gap, 8_000);
    let recovered = Action::Recovered {
        source: 1,
        cell: 2,
        context: false,
    };
    assert_eq!(actions[0].1, Action::Failure(Cause::Physical));
    // Of 20 samples at 20 or -20 dB, 15 bad ones bring the mean below -8 dB: 140 ms, then T310.
    assert_eq!(actions[0].0, 1_000 + 140 + 1_000);
    assert_eq!(actions[1].1, recovered);
    // Idle users look every 10 ms; reading the cell takes 100 ms, connecting 100 ms.
    assert!((6_200..6_220).contains(&actions[1].0), "{actions:?}");
    assert_eq!(actions[2].1, Action::PathSwitch(2));
    assert_eq!(actions.len(), 3);
}

/// Clause 5.3.7: cell selection begins when there is a cell, before T311 and after it, and anew if the cell vanishes
/// before it has been read.
#[test]
fn cell_selection_takes_its_time_from_when_there_is_a_cell() {
    let failure = LinkFailure {
        cell_selection: Duration::from_millis(1_000),
        t311: Duration::from_millis(2_000),
        ..LinkFailure::default()
    };
    let recovered = |back: u64, blink: std::ops::Range<u64>| {
        let signals = move |now: u64| {
            let gap = (1_000..back).contains(&now) || blink.contains(&now);
            [if gap { -130.0 } else { -90.0 }, -130.0]
        };
        let actions = run_with(None, failure.clone(), signals, 9_000);
        assert_eq!(actions[0], (2_140, Action::Failure(Cause::Physical)));
        (actions[1].0 - back, actions[1].1)
    };
    let action = |context| Action::Recovered {
        source: 1,
        cell: 1,
        context,
    };
    let within = |(after, result): (u64, Action), from: u64, context| {
        assert_eq!(result, action(context));
        assert!((from..from + 20).contains(&after), "{after} ms");
    };
    // Re-establishment takes 50 ms, a connection from idle 100 ms.
    within(recovered(3_105, 0..0), 1_050, true);
    within(recovered(5_005, 0..0), 1_100, false);
    within(recovered(3_505, 0..0), 1_100, false);
    within(recovered(5_005, 5_900..6_200), 1_195 + 1_100, false);
}

/// Clause 5.3.7: re-establishment succeeds in a cell that has the context, else it is rejected.
#[test]
fn re_establishment_needs_a_cell_that_knows_the_user() {
    let too_late = |now| match now {
        0..1_000 => [-90.0, -130.0],
        _ => [-130.0, -90.0],
    };
    let recovered = |context_fetch| {
        let failure = LinkFailure {
            context_fetch,
            ..LinkFailure::default()
        };
        run_with(None, failure, too_late, 4_000)[1]
    };
    let back = |context| Action::Recovered {
        source: 1,
        cell: 2,
        context,
    };
    // Failure at 2140 ms, 100 ms for a cell and 50 ms for messages; a rejection takes 100 ms more.
    assert_eq!(recovered(true), (2_290, back(true)));
    assert_eq!(recovered(false), (2_390, back(false)));
}

/// Clause 5.3.11.3: RLC's failure is a radio link failure; the same cell takes the user back.
#[test]
fn a_failure_of_rlc_is_recovered_in_the_same_cell() {
    let mut mobility = Mobility::new(Some(unfiltered(a3())), LinkFailure::default(), 1);
    mobility.measure(at(0), &cells([-90.0, -100.0]), |_| true);
    assert_eq!(
        mobility.rlc_failed(at(5)),
        Some(Action::Failure(Cause::Rlc))
    );
    assert!(!mobility.is_connected());
    assert_eq!(mobility.rlc_failed(at(6)), None);
    let mut actions = Vec::new();
    for now in 5..400 {
        let action = mobility.advance(at(now), |_| true);
        actions.extend(action.map(|action| (now, action)));
    }
    let back = Action::Recovered {
        source: 1,
        cell: 1,
        context: true,
    };
    assert_eq!(actions, [(155, back)]);
}

/// Clause 5.3.5.6: if T304 expires the handover has failed and the user returns to a cell it can reach.
#[test]
fn a_target_out_of_reach_fails_the_handover() {
    let vanishing = |now| match now {
        // The command has been obeyed at 315 ms.
        0..330 => [-95.0, -90.0],
        _ => [-90.0, -130.0],
    };
    let actions = run(unfiltered(a3()), vanishing, 3_000);
    let failure = actions
        .iter()
        .find(|(_, action)| matches!(action, Action::Failure(_)));
    let detached = actions
        .iter()
        .find(|(_, action)| matches!(action, Action::Detach { .. }));
    let (failed, cause) = failure.unwrap();
    assert_eq!(*cause, Action::Failure(Cause::Handover));
    assert_eq!(failed - detached.unwrap().0, 1_000);
    let back = Action::Recovered {
        source: 1,
        cell: 1,
        context: true,
    };
    assert_eq!(actions.last().unwrap().1, back);
}

#[test]
fn triggers_outside_the_standard_are_rejected() {
    let trigger = |hysteresis_db, milliseconds| {
        Trigger::A3(A3 {
            offset: Decibel::new(0.0),
            hysteresis: Decibel::new(hysteresis_db),
            time_to_trigger: Duration::from_millis(milliseconds),
        })
    };
    assert_eq!(a3().check(), Ok(()));
    assert_eq!(a2_a4().check(), Ok(()));
    let message = |trigger: Trigger| trigger.check().unwrap_err().to_string();
    assert_eq!(
        message(trigger(3.2, 256)),
        "hysteresis: 3.2dB is out of range; allowed: 0dB to 15dB in steps of 0.5dB"
    );
    assert!(message(trigger(f64::NAN, 256)).starts_with("hysteresis: NaN"));
    assert!(
        message(trigger(3.0, 250))
            .starts_with("time_to_trigger: 250ms is out of range; allowed: 0s, 40ms, 64ms,")
    );
    let beyond_the_scale = Trigger::A2A4(A2A4 {
        serving: 35,
        ..A2A4::default()
    });
    assert_eq!(
        message(beyond_the_scale),
        "serving: 35 is out of range; allowed: 0 to 34"
    );
}

/// TS 36.300 clause 10.1.2.3 and TS 36.323 clause 5.1.2.1.2: with lossless forwarding, a handover in the middle of a
/// transfer loses nothing, duplicates nothing and keeps the order.
#[test]
fn a_lossless_handover_loses_and_repeats_nothing() {
    let mut pdcp = Sender::new(SnLength::Bits12);
    let mut receiver = Receiver::new(SnLength::Bits12);
    let config = Rlc::default();
    let (mut source, mut user) = (am::Entity::new(config), am::Entity::new(config));
    for _ in 0..60 {
        assert!(source.enqueue(pdcp.number(1_500)));
    }
    let (mut block, mut from_rlc, mut delivered) = (Block::default(), Vec::new(), Vec::new());
    for tti in 0..20 {
        source.fill(at(tti), 2_000, &mut block);
        if tti % 5 != 2 {
            user.receive(at(tti), &block, &mut from_rlc, &mut Vec::new());
        }
    }
    from_rlc
        .drain(..)
        .for_each(|sdu| receiver.receive(sdu, false, &mut delivered));
    let mut forwarded = Vec::new();
    source.forward(Forwarding::Lossless, &mut forwarded);
    user.reestablish(&mut from_rlc);
    from_rlc
        .drain(..)
        .for_each(|sdu| receiver.receive(sdu, true, &mut delivered));
    let mut target = am::Entity::new(config);
    for sdu in forwarded
        .drain(..)
        .chain((0..20).map(|_| pdcp.number(1_500)))
    {
        assert!(target.enqueue(sdu));
    }
    for tti in 100..200 {
        target.fill(at(tti), 2_000, &mut block);
        user.receive(at(tti), &block, &mut from_rlc, &mut Vec::new());
    }
    from_rlc
        .drain(..)
        .for_each(|sdu| receiver.receive(sdu, false, &mut delivered));
    let ids: Vec<u64> = delivered.iter().map(|sdu| sdu.id).collect();
    assert_eq!(ids, (0..80).collect::<Vec<_>>());
}

/// Seamless forwarding of an unacknowledged bearer loses the data on the air, and nothing else.
#[test]
fn a_seamless_handover_loses_only_what_was_on_the_air() {
    let mut source = um::Entity::new(Rlc::default());
    for id in 0..10 {
        assert!(source.enqueue(Sdu { id, len: 1_000 }));
    }
    let mut block = Block::default();
    // Four SDUs and a part of the fifth.
    source.fill(4_500, &mut block);
    let mut forwarded = Vec::new();
    source.forward(Forwarding::Seamless, &mut forwarded);
    let ids: Vec<u64> = forwarded.iter().map(|sdu| sdu.id).collect();
    assert_eq!(ids, [5, 6, 7, 8, 9]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Steps keep their order, whatever is measured: no arrival without a departure, no departure without a command,
    /// and a failure is followed by a recovery before anything else begins.
    #[test]
    fn steps_keep_their_order(
        levels in prop::collection::vec(prop::array::uniform2(prop_oneof![
            -140.0..-60.0_f64, Just(f64::NAN), Just(f64::NEG_INFINITY)
        ]), 1..40),
        quality in any::<bool>(),
    ) {
        let trigger = if quality { a2_a4() } else { a3() };
        let mut mobility = Mobility::new(Some(unfiltered(trigger)), LinkFailure::default(), 1);
        let mut last = None;
        for now in 0..12_000_u64 {
            let rsrp = levels[(now / 300) as usize % levels.len()];
            let reaches = |cell: u32| rsrp[cell as usize - 1] > -115.0;
            let mut happened = Vec::new();
            if now % 40 == 0 {
                happened.extend(mobility.measure(at(now), &cells(rsrp), reaches));
            }
            if now % 10 == 0 {
                mobility.sample(at(now), rsrp[mobility.serving() as usize - 1] + 110.0);
            }
            while let Some(action) = mobility.advance(at(now), reaches) {
                happened.push(action);
            }
            for action in happened.into_iter().filter(|action| !matches!(action, Action::PathSwitch(_))) {
                let fits = match (last, action) {
                    (Some(Action::Prepare(a)), Action::Command(b)) => a == b,
                    (Some(Action::Command(a)), Action::Detach { target, .. }) => a == target,
                    (Some(Action::Detach { target, .. }), Action::Attach(b)) => target == b,
                    (Some(Action::Detach { .. }), Action::Failure(cause)) => cause == Cause::Handover,
                    (Some(Action::Failure(_)), Action::Recovered { .. }) => true,
                    (Some(Action::Failure(_) | Action::Detach { .. }), _) => false,
                    (_, Action::Prepare(_) | Action::Failure(Cause::Physical)) => true,
                    _ => false,
                };
                prop_assert!(fits, "{last:?} then {action:?} at {now}");
                last = Some(action);
            }
        }
    }
}

//! Radio access network with several users and cells.

use std::sync::Arc;

use radio::channel::mobility::Trajectory;
use radio::channel::{Deployment, Position, Reception};
use radio::mac::scheduler::SubbandRate;
use radio::ran::{Channel, Direction, RanConfig, User};
use radio::rlc::Forwarding;
use radio::settings::{
    A3, Cell, Cqi, Frequency, Handover, Length, Load, RlcMode, Scheduler, Trigger,
};
use units::Instant;

use crate::ran::lab::{Lab, faded, lte, ms, steady};
use crate::ran::single_user::eva;

/// Proportional fair gives users on like channels like rates; the cell is full.
#[test]
fn users_on_like_channels_share_the_cell() {
    let mut lab = Lab::new(lte(100, vec![steady(20.0); 4]));
    saturate_all(&mut lab, ms(3_000), 4);
    let rates: Vec<_> = (0..4).map(|user| lab.mbps(user, false, 3.0)).collect();
    println!("{rates:.1?}");
    let sum: f64 = rates.iter().sum();
    assert!(sum > 70.0, "{sum}");
    assert!(
        rates
            .iter()
            .all(|rate| (rate * 4.0 / sum - 1.0).abs() < 0.1),
        "{rates:?}"
    );
}

fn saturate_all(lab: &mut Lab, until: Instant, users: u32) {
    while lab.ran.next_event() < until {
        for user in 0..users {
            lab.fill(user, Direction::Down, 100);
        }
        lab.tick();
    }
}

fn rates(scheduler: Scheduler, sinrs_db: &[f64]) -> Vec<f64> {
    let users = sinrs_db.iter().map(|sinr_db| steady(*sinr_db)).collect();
    let mut config = lte(100, users);
    config.radio.downlink.scheduler = scheduler;
    let mut lab = Lab::new(config);
    let count = sinrs_db.len() as u32;
    saturate_all(&mut lab, ms(2_000), count);
    (0..count).map(|user| lab.mbps(user, false, 2.0)).collect()
}

#[test]
fn the_scheduler_decides_who_gets_the_cell() {
    let fair = rates(Scheduler::ProportionalFair, &[20.0, 5.0]);
    let greedy = rates(Scheduler::MaxRate, &[20.0, 5.0]);
    let turns = rates(Scheduler::RoundRobin, &[20.0, 5.0]);
    println!("fair {fair:.1?}, max rate {greedy:.1?}, round robin {turns:.1?}");
    assert!(greedy[1] < 0.1 && greedy[0] > 70.0, "{greedy:?}");
    // Half of the resource blocks each: half of what each would have alone.
    for shares in [fair, turns] {
        assert!((30.0..41.0).contains(&shares[0]), "{shares:?}");
        assert!((8.0..11.5).contains(&shares[1]), "{shares:?}");
    }
}

/// The capacity of a user is what the others leave.
#[test]
fn capacity_is_what_others_leave() {
    let mut lab = Lab::new(lte(100, vec![steady(20.0); 2]));
    // User 1 takes 30 Mbit/s: 2.5 packets of 1500 bytes a TTI.
    while lab.ran.next_event() < ms(2_000) {
        let now = lab.ran.next_event();
        for _ in 0..if (now.as_nanos() / 1_000_000).is_multiple_of(2) {
            3
        } else {
            2
        } {
            lab.send(now, 1, Direction::Down, 1500);
        }
        lab.tick();
    }
    let capacity = lab.ran.capacity(0, Direction::Down, ms(500), ms(2_000));
    let mbps = capacity.get() as f64 * 8e-6 / 1.5;
    println!("{mbps:.1} Mbit/s left");
    assert!((40.0..47.0).contains(&mbps), "{mbps}");
}

/// atxutegi2018-thesis §4: with sub-band reports and blocks at the rate of their weakest group, capacity is wasted.
#[test]
fn the_weakest_group_wastes_capacity() {
    let rate = |subbands| {
        let mut config = lte(100, vec![]);
        config.users = vec![faded(&config, 0, 15.0, eva(5.0), 7)];
        if let Some(rate) = subbands {
            config.radio.downlink.cqi = Cqi::Subband;
            config.radio.downlink.subband_rate = rate;
        }
        let mut lab = Lab::new(config);
        lab.saturate(ms(5_000), 0, Direction::Down);
        lab.mbps(0, false, 5.0)
    };
    let wideband = rate(None);
    let weakest = rate(Some(SubbandRate::Weakest));
    println!("wideband {wideband:.1}, weakest sub-band {weakest:.1} Mbit/s");
    assert!(weakest < 0.95 * wideband, "{weakest} {wideband}");
}

/// In unacknowledged mode, data of a HARQ failure is lost, and nothing is duplicated or reordered.
#[test]
fn unacknowledged_mode_loses_what_harq_gives_up() {
    let mut config = lte(100, vec![]);
    config.users = vec![faded(&config, 0, 8.0, eva(3.0), 7)];
    config.radio.harq.transmissions = 1;
    config.radio.rlc.mode = RlcMode::Um;
    let mut lab = Lab::new(config);
    lab.saturate(ms(3_000), 0, Direction::Down);
    lab.run(ms(4_000));
    let (lost, arrived) = (lab.lost.len(), lab.arrived.len());
    println!("{lost} of {} lost", lost + arrived);
    assert!(lost > 50 && arrived > 5 * lost);
    assert!(lab.arrived.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

/// Two cells 1000 m apart, a user on its way from one to the other at 30 m/s.
pub fn two_cells(forwarding: Forwarding, trigger: Option<Trigger>) -> RanConfig {
    let mut config = lte(50, vec![]);
    let cell = |name: &str, x: f64| Cell {
        name: name.to_owned(),
        x: Length::from_metres(x),
        ..Cell::default()
    };
    config.radio.cells = vec![cell("cell-1", 0.0), cell("cell-2", 1_000.0)];
    config.radio.frequency = Some(Frequency::from_hertz(2620e6));
    let deployment = Deployment::new(&config.radio, config.air.grid(), 7).unwrap();
    let deployment = Arc::new(deployment);
    let way = Trajectory::Linear {
        start: Position::new(350.0, 0.0, 1.5),
        velocity: [30.0, 0.0, 0.0],
    };
    let reception = Reception::new(deployment, 0, way, None).unwrap();
    config.users = vec![User {
        channel: Channel::Placed(Box::new(reception)),
        speed_mps: None,
        observed: true,
    }];
    config.radio.propagation.load = Load::Actual;
    config.radio.handover = trigger.map(|trigger| Handover {
        trigger,
        forwarding,
        ..Handover::default()
    });
    config
}

/// TS 36.300 clause 10.1.2.3: with lossless forwarding everything arrives, once and in order.
#[test]
fn a_lossless_handover_loses_nothing() {
    let mut lab = Lab::new(two_cells(
        Forwarding::Lossless,
        Some(Trigger::A3(A3::default())),
    ));
    lab.saturate(ms(10_000), 0, Direction::Down);
    let (handovers, failures) = lab.mobility(0);
    println!(
        "{handovers} handovers, {failures} failures, {:.1} Mbit/s",
        lab.mbps(0, false, 10.0)
    );
    assert_eq!((handovers, failures), (1, 0));
    lab.run(ms(11_000));
    assert!(lab.lost.is_empty() && lab.sent.is_empty());
    assert!(lab.arrived.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

/// The same holds for what the user sends.
#[test]
fn a_lossless_handover_loses_nothing_of_the_uplink() {
    let mut lab = Lab::new(two_cells(
        Forwarding::Lossless,
        Some(Trigger::A3(A3::default())),
    ));
    while lab.ran.next_event() < ms(10_000) {
        let now = lab.ran.next_event();
        if now.as_nanos().is_multiple_of(4_000_000) {
            lab.send(now, 0, Direction::Up, 1000);
        }
        lab.tick();
    }
    assert_eq!(lab.mobility(0), (1, 0));
    lab.run(ms(11_000));
    assert!(lab.lost.is_empty() && lab.sent.is_empty());
    assert!(lab.arrived.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

/// Packets without room in the target cell have no number yet (TS 36.300 clause 10.1.2.3.1): however many they are,
/// the user recognises the packets after them.
#[test]
fn a_flood_in_a_handover_does_not_end_the_connection() {
    let mut lab = Lab::new(two_cells(
        Forwarding::Lossless,
        Some(Trigger::A3(A3::default())),
    ));
    let mut arrived = 0;
    while lab.ran.next_event() < ms(10_000) {
        let now = lab.ran.next_event();
        for _ in 0..100 {
            lab.send(now, 0, Direction::Down, 100);
        }
        lab.tick();
        if lab.mobility(0).0 == 0 {
            arrived = lab.arrived.len();
        }
    }
    let (after, lost) = (lab.arrived.len() - arrived, lab.lost.len());
    println!("{arrived} before, {after} after, {lost} lost");
    assert_eq!(lab.mobility(0), (1, 0));
    assert!(lost > 2_048 && after > 10_000, "{after}, {lost}");
    assert!(lab.arrived.windows(2).all(|pair| pair[0].0 < pair[1].0));
    lab.run(ms(11_000));
    assert!(lab.sent.is_empty());
}

/// A source that discards its buffer loses the data in it, and nothing else.
#[test]
fn a_handover_without_forwarding_loses_the_buffer() {
    let mut lab = Lab::new(two_cells(
        Forwarding::Discard,
        Some(Trigger::A3(A3::default())),
    ));
    lab.saturate(ms(10_000), 0, Direction::Down);
    lab.run(ms(11_000));
    let lost = lab.lost.len();
    println!("{lost} packets lost");
    assert!((90..400).contains(&lost), "{lost}");
    assert!(lab.sent.is_empty());
    assert!(lab.arrived.windows(2).all(|pair| pair[0].0 < pair[1].0));
}

/// Without handover the user stays with its cell until the signal is lost, then it connects anew.
#[test]
fn without_handover_the_link_fails_and_is_found_again() {
    let mut config = two_cells(Forwarding::Lossless, None);
    config.radio.propagation.load = Load::Full;
    let mut lab = Lab::new(config);
    lab.saturate(ms(20_000), 0, Direction::Down);
    let (handovers, failures) = lab.mobility(0);
    println!("{failures} failures, {} lost", lab.lost.len());
    assert_eq!(handovers, 0);
    assert!(failures >= 1);
    lab.run(ms(21_000));
    assert!(lab.sent.is_empty());
}

/// A carrier in TDD sends down in its downlink slots only, and up in its uplink slots.
mod nr {
    use config::Buffer;
    use radio::phy::nr::McsTable;
    use radio::ran::{AirInterface, Carrier, NrCarrier};
    use radio::settings::Technology;

    use super::*;

    fn sub6() -> RanConfig {
        let carrier = Carrier::Nr(NrCarrier {
            prbs: 273,
            numerology: 1,
            tdd: Some(("DDDSU".to_owned(), [10, 2, 2])),
            table: McsTable::Qam256,
            layers: 4,
            control_symbols: 1,
        });
        let mut config = lte(100, vec![steady(35.0)]);
        config.air = AirInterface::shared(&carrier).unwrap();
        config.radio.technology = Technology::Nr;
        config.radio.rlc.length_indicator_bits = 15;
        config.radio.rlc.buffer = Buffer::Packets(20_000);
        config.radio.rlc.uplink_buffer = Buffer::Packets(2_000);
        config
    }

    #[test]
    fn a_100_mhz_carrier_with_four_layers_carries_more_than_a_gigabit() {
        let mut lab = Lab::new(sub6());
        while lab.ran.next_event() < ms(500) {
            lab.fill(0, Direction::Down, 1_000);
            lab.tick();
        }
        let result = lab.mbps(0, false, 0.5);
        println!("{result:.0} Mbit/s");
        assert!((1_200.0..1_700.0).contains(&result), "{result}");
        for record in &lab.log {
            let slot = record.tti % 5;
            match record.direction {
                Direction::Down => assert!(record.block.is_none() || slot < 4),
                Direction::Up => assert_eq!(slot, 4),
            }
        }
    }
}

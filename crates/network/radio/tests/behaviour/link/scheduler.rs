//! Schedulers: assignment of the resource blocks by each policy.

use proptest::prelude::*;
use radio::mac::scheduler::{Demand, Policy, Rates, Scheduler, SubbandRate, UNUSED, usable_rate};

const GREEDY: Demand = Demand {
    bits: u64::MAX,
    retransmission_prbs: 0,
    available: true,
};

const FAIR: Policy = Policy::ProportionalFair {
    time_constant: 100.0,
};

/// Bits of each user over `ttis` TTIs, all greedy.
fn bits(policy: Policy, rates: &[f32], ttis: usize) -> Vec<f64> {
    let groups = Scheduler::groups(100, 4);
    let mut scheduler = Scheduler::new(policy, &groups);
    let demands = vec![GREEDY; rates.len()];
    let mut assignment = vec![UNUSED; groups.len()];
    let mut bits = vec![0.0; rates.len()];
    for _ in 0..ttis {
        scheduler.assign(&demands, Rates::Wideband(rates), |_| true, &mut assignment);
        for (&user, &prbs) in assignment.iter().zip(&groups) {
            bits[usize::from(user)] += f64::from(prbs) * f64::from(rates[usize::from(user)]);
        }
    }
    bits
}

#[test]
fn groups_cover_the_band() {
    assert_eq!(Scheduler::groups(100, 4), [4; 25]);
    // TS 36.213 clause 7.1.6.1: 25 PRB in groups of two leave one of a single PRB.
    let groups = Scheduler::groups(25, 2);
    assert_eq!((groups.len(), groups[12]), (13, 1));
}

#[test]
fn max_rate_serves_the_best_user_alone() {
    let bits = bits(Policy::MaxRate, &[100.0, 500.0, 300.0], 50);
    assert_eq!(bits[0] + bits[2], 0.0);
    assert_eq!(bits[1], 50.0 * 100.0 * 500.0);
}

#[test]
fn round_robin_shares_resources_and_proportional_fair_too_on_constant_channels() {
    let rates = [100.0, 500.0, 250.0];
    for policy in [Policy::RoundRobin, FAIR] {
        let bits = bits(policy, &rates, 3_000);
        for (bits, rate) in bits.iter().zip(rates) {
            let share = bits / (3_000.0 * 100.0 * f64::from(rate));
            assert!((share - 1.0 / 3.0).abs() < 0.01, "{policy:?} {share}");
        }
    }
}

/// Jalali et al. 2000: on channels that vary, each user is served near its own peaks.
#[test]
fn proportional_fair_gains_by_serving_users_at_their_peaks() {
    let throughput = |policy| {
        let groups = Scheduler::groups(100, 4);
        let mut scheduler = Scheduler::new(policy, &groups);
        let mut assignment = vec![UNUSED; groups.len()];
        let mut total = 0.0;
        for tti in 0..4_000_u32 {
            let phase = f64::from(tti) / 4.0;
            let rates = [
                (300.0 + 200.0 * phase.sin()) as f32,
                (300.0 - 200.0 * phase.sin()) as f32,
            ];
            let rates = Rates::Wideband(&rates);
            scheduler.assign(&[GREEDY; 2], rates, |_| true, &mut assignment);
            let Rates::Wideband(rates) = rates else {
                unreachable!("set above")
            };
            let each = |&user: &u16| 4.0 * f64::from(rates[usize::from(user)]);
            total += assignment.iter().map(each).sum::<f64>();
        }
        total / 4_000.0
    };
    let (fair, turns) = (throughput(FAIR), throughput(Policy::RoundRobin));
    // Round robin gets the mean rate of 300; at the peaks it is 300 + 200 * 2/pi.
    assert!((turns / 30_000.0 - 1.0).abs() < 0.02, "{turns}");
    assert!((fair / 42_700.0 - 1.0).abs() < 0.05, "{fair}");
}

#[test]
fn sub_band_reports_put_users_where_they_are_strong() {
    let groups = Scheduler::groups(50, 3);
    let half = groups.len() / 2;
    let mut rates = vec![100.0_f32; 2 * groups.len()];
    rates[..half].fill(400.0);
    rates[groups.len() + half..].fill(400.0);
    let mut scheduler = Scheduler::new(FAIR, &groups);
    let mut assignment = vec![UNUSED; groups.len()];
    for _ in 0..20 {
        let rates = Rates::Subband(&rates);
        scheduler.assign(&[GREEDY; 2], rates, |_| true, &mut assignment);
    }
    assert_eq!(assignment[..half], vec![0; half]);
    assert_eq!(assignment[half..], vec![1; groups.len() - half]);
}

/// atxutegi2018-thesis chapter 4: the rate of the weakest group wastes capacity.
#[test]
fn the_weakest_group_bounds_the_rate_under_that_rule() {
    let rate = |rule| {
        usable_rate(
            rule,
            0,
            &[0, 0, 1, 0],
            &[400.0, 100.0, 50.0, 400.0],
            &[4, 4, 4, 2],
        )
    };
    assert_eq!(rate(SubbandRate::Weakest), 100.0);
    assert_eq!(rate(SubbandRate::Mean), (1_600.0 + 400.0 + 800.0) / 10.0);
    assert_eq!(usable_rate(SubbandRate::Mean, 7, &[0], &[1.0], &[4]), 0.0);
}

#[test]
fn a_retransmission_goes_first_with_the_blocks_it_had() {
    let groups = Scheduler::groups(100, 4);
    let mut scheduler = Scheduler::new(Policy::MaxRate, &groups);
    let mut assignment = vec![UNUSED; groups.len()];
    let again = Demand {
        retransmission_prbs: 30,
        ..GREEDY
    };
    let rates = [500.0, 10.0];
    scheduler.assign(
        &[GREEDY, again],
        Rates::Wideband(&rates),
        |_| true,
        &mut assignment,
    );
    assert_eq!(assignment[..8], [1; 8]);
    assert_eq!(assignment[8..], [0; 17]);
}

#[test]
fn a_full_control_channel_limits_the_users_served() {
    for policy in [Policy::RoundRobin, FAIR, Policy::MaxRate] {
        let groups = Scheduler::groups(100, 4);
        let mut scheduler = Scheduler::new(policy, &groups);
        let mut assignment = vec![UNUSED; groups.len()];
        let little = Demand {
            bits: 400,
            ..GREEDY
        };
        let mut messages = 0;
        let place = |_| {
            messages += 1;
            messages <= 3
        };
        scheduler.assign(
            &[little; 20],
            Rates::Wideband(&[100.0; 20]),
            place,
            &mut assignment,
        );
        assignment.retain(|&user| user != UNUSED);
        assignment.dedup();
        assert_eq!(assignment.len(), 3, "{policy:?}");
    }
}

proptest! {
    /// Work is conserved, and no user gets more than it asked for.
    #[test]
    fn groups_go_to_users_with_data_and_are_left_only_when_all_is_served(
        bits in prop::collection::vec(0_u64..20_000, 1..12),
        again in prop::collection::vec(0_u16..40, 12),
        policy in prop::sample::select(vec![Policy::RoundRobin, FAIR, Policy::MaxRate]),
        rate in 1.0_f32..700.0,
    ) {
        let groups = Scheduler::groups(75, 4);
        let mut scheduler = Scheduler::new(policy, &groups);
        let demands: Vec<Demand> = bits.iter().zip(&again).map(|(&bits, &again)| Demand {
            bits,
            retransmission_prbs: again.saturating_sub(30),
            available: bits % 7 != 0,
        }).collect();
        let rates = vec![rate; demands.len()];
        let mut assignment = vec![UNUSED; groups.len()];
        for _ in 0..3 {
            scheduler.assign(&demands, Rates::Wideband(&rates), |_| true, &mut assignment);
            let mut given = vec![0.0; demands.len()];
            for (&user, &prbs) in assignment.iter().zip(&groups) {
                if user != UNUSED {
                    let demand = &demands[usize::from(user)];
                    prop_assert!(demand.available && (demand.bits > 0 || demand.retransmission_prbs > 0));
                    given[usize::from(user)] += f64::from(prbs) * f64::from(rate);
                }
            }
            if assignment.contains(&UNUSED) {
                for (demand, given) in demands.iter().zip(&given) {
                    let served = demand.retransmission_prbs > 0 || *given >= demand.bits as f64;
                    prop_assert!(served || !demand.available);
                }
            }
        }
    }
}

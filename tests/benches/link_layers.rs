//! Cost of a TTI of the link layers: 100 PRB at the highest rate, saturated, one block in ten lost at first.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

use criterion::{Criterion, criterion_group, criterion_main};
use radio::mac::harq::{ErrorDraws, Harq, HarqConfig, Reception};
use radio::mac::scheduler::{Demand, Policy, Rates, Scheduler, UNUSED};
use radio::rlc::{Block, Sdu, am};
use radio::settings::Rlc;
use units::{Duration, Instant};

/// Bytes of the largest block of one layer in 100 PRB (TS 36.213 Table 7.1.7.2.1-1: 75376 bits).
const BLOCK: u32 = 75_376 / 8;

/// Measures one TTI after another: new packets, feedback, a block built or repeated, received, and a report.
fn saturated(criterion: &mut Criterion, name: &str, packet: u32) {
    let config = Rlc::default();
    let (mut sender, mut receiver) = (am::Entity::new(config), am::Entity::new(config));
    let mut harq: Harq<Block, f64> = Harq::new(HarqConfig {
        processes: 8,
        round_trip: 8,
        max_transmissions: 4,
    });
    let chance = ErrorDraws::new(1, 1);
    let (mut delivered, mut confirmed) = (Vec::with_capacity(4_096), Vec::with_capacity(4_096));
    let mut report = Block::default();
    let (mut tti, mut id) = (0, 0);
    criterion.bench_function(name, |bencher| {
        bencher.iter(|| {
            let now = Instant::ZERO + Duration::from_millis(tti);
            sender.advance(now);
            receiver.advance(now);
            while sender.enqueue(Sdu { id, len: packet }) {
                id += 1;
            }
            while harq.feedback(tti).is_some() {}
            let process = harq.retransmission(tti).or_else(|| {
                let process = harq.idle_process()?;
                sender.fill(now, BLOCK, harq.new_data(process));
                Some(process)
            });
            if let Some(process) = process {
                let first = harq.attempts(process) == 0;
                let reception = harq.attempt(tti, process, &chance, |soft| {
                    *soft += 90_000.0 * 0.8;
                    if first { 0.1 } else { 0.02 }
                });
                if reception == Reception::Decoded {
                    let block = harq.payload(process);
                    receiver.receive(now, block, &mut delivered, &mut confirmed);
                }
            }
            receiver.fill(now, 100, &mut report);
            sender.receive(now, &report, &mut delivered, &mut confirmed);
            let done = delivered.len() + confirmed.len();
            delivered.clear();
            confirmed.clear();
            tti += 1;
            done
        });
    });
}

fn schedule(criterion: &mut Criterion, users: usize) {
    let groups = Scheduler::groups(100, 4);
    let policy = Policy::ProportionalFair {
        time_constant: 100.0,
    };
    let mut scheduler = Scheduler::new(policy, &groups);
    let demand = Demand {
        bits: 1_000_000,
        retransmission_prbs: 0,
        available: true,
    };
    let demands = vec![demand; users];
    let rates: Vec<f32> = (0..users * groups.len())
        .map(|n| (n % 700) as f32 + 1.0)
        .collect();
    let mut assignment = vec![UNUSED; groups.len()];
    criterion.bench_function(
        &format!("sub-band proportional fair, {users} users"),
        |bencher| {
            bencher.iter(|| {
                scheduler.assign(&demands, Rates::Subband(&rates), |_| true, &mut assignment);
                assignment[0]
            });
        },
    );
}

fn benches(criterion: &mut Criterion) {
    saturated(criterion, "HARQ and RLC AM, 1500-byte packets", 1_500);
    saturated(criterion, "HARQ and RLC AM, 60-byte packets", 60);
    for users in [1, 50] {
        schedule(criterion, users);
    }
}

criterion_group!(link_layers, benches);
criterion_main!(link_layers);

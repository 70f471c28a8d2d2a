//! Cost of a second of a radio access network.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

#[path = "../tests/ran/lab.rs"]
#[allow(dead_code)]
mod lab;

use criterion::{Criterion, criterion_group, criterion_main};
use lab::{Lab, faded, lte, ms};
use radio::channel::{Carrier, DelayProfile, Doppler, FadingConfig, Speed};
use radio::ran::Direction;

fn one_saturated_user(c: &mut Criterion) {
    let speed = Speed::from_km_per_h(60.0).expect("a speed");
    let carrier = Carrier::from_mhz(2650.0).expect("a carrier");
    let fading = FadingConfig::new(DelayProfile::Eva, Doppler::Moving(speed, carrier));
    let mut group = c.benchmark_group("access_network");
    group.sample_size(20);
    for log in [false, true] {
        let mut config = lte(100, vec![]);
        config.users = vec![faded(&config, 0, 15.0, fading, 7)];
        config.log = log;
        let name = if log {
            "second_of_one_user_with_log"
        } else {
            "second_of_one_user"
        };
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut lab = Lab::new(config.clone());
                lab.saturate(ms(1_000), 0, Direction::Down);
                lab.delivered_bytes.len()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, one_saturated_user);
criterion_main!(benches);

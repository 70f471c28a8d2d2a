//! Cost of a second of a radio access network.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

#[path = "../../crates/network/radio/tests/behaviour/ran/lab.rs"]
#[allow(dead_code)]
mod lab;

use criterion::{Criterion, criterion_group, criterion_main};
use lab::{Lab, faded, lte, ms};
use radio::channel::{Doppler, FadingConfig};
use radio::ran::Direction;
use radio::settings::{Frequency, Profile, Speed};

fn one_saturated_user(c: &mut Criterion) {
    let speed = Speed::from_metres_per_second(60.0 / 3.6);
    let carrier = Frequency::from_hertz(2650.0 * 1e6);
    let fading = FadingConfig::new(Profile::Eva, Doppler::Moving(speed, carrier));
    let mut group = c.benchmark_group("access_network");
    group.sample_size(20);
    for log in [false, true] {
        let mut config = lte(100, vec![]);
        config.users = vec![faded(&config, 0, 15.0, fading, 7)];
        config.radio.log = log;
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

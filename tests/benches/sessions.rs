//! Benchmark: sessions of ten minutes over a link that changes every few seconds, for each algorithm.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

#[path = "../../crates/application/video/tests/behaviour/fluid.rs"]
mod fluid;

use std::sync::Arc;

use criterion::{Criterion, criterion_group, criterion_main};
use fluid::{Link, watch};
use units::{Duration, Instant};
use video::abr::Algorithm;
use video::score::{Screen, session_metrics};
use video::{Client, Ladder, Player};

fn sessions(criterion: &mut Criterion) {
    let manifest = Arc::new(Ladder::BigBuckBunny.manifest());
    let rates = [6, 3, 9, 1, 4, 12, 2, 5];
    let link = Link {
        steps: rates
            .map(|mbps| (Duration::from_secs(7), mbps * 1_000_000))
            .to_vec(),
        rtt: Duration::from_millis(50),
        ..Link::constant(0)
    };
    let until = Instant::ZERO + Duration::from_secs(3_600);
    for &abr in Algorithm::ALL {
        let player = Player {
            abr,
            ..Player::default()
        };
        criterion.bench_function(abr.name(), |bencher| {
            bencher.iter(|| {
                let mut client = Client::new(Arc::clone(&manifest), &player);
                let log = watch(&mut client, 1, &link, until, |_, _, _| {});
                session_metrics(&manifest, &log, &Screen::default(), None)
            });
        });
    }
}

criterion_group!(benches, sessions);
criterion_main!(benches);

//! Sessions whose results have been published.

use std::sync::Arc;

use units::{Duration, Instant, Rate};
use video::abr::Algorithm;
use video::{Client, Ladder, Log, Outcome, Player};

use crate::fluid::{Link, watch};

/// Plays the film for two minutes over a link of a constant rate with a buffer of 25 s, from the lowest quality on.
fn session(abr: Algorithm, rate: u64) -> Log {
    let manifest = Ladder::BigBuckBunny.manifest().with_audio(Rate::ZERO);
    let player = Player {
        abr,
        length: Duration::from_secs(120),
        max_buffer: Duration::from_secs(25),
        initial: Rate::from_bits_per_second(1),
        ..Player::default()
    };
    let mut client = Client::new(Arc::new(manifest), &player);
    watch(
        &mut client,
        1,
        &Link::constant(rate),
        Instant::ZERO + Duration::from_secs(600),
        |_, _, _| {},
    )
}

/// Returns the time of the session at which the highest quality is played first, without stalls, s.
fn top_at(log: &Log) -> f64 {
    let first = log
        .segments
        .iter()
        .position(|download| download.quality == 9)
        .unwrap();
    first as f64 * 3.0 + log.startup.unwrap().as_secs_f64()
}

/// "From Theory to Practice" (2018), section 4.1.1, with the same film, a link of 8 Mbit/s and a buffer of 25 s: with the
/// placeholder, the highest quality is played from 3.1 s on; without it, from 24.1 s on.
#[test]
fn bola_with_a_placeholder_reaches_the_highest_quality_with_the_second_segment() {
    let with = session(Algorithm::BolaE, 8_000_000);
    let without = session(Algorithm::Bola, 8_000_000);
    assert!((top_at(&with) - 3.1).abs() < 0.05, "{}", top_at(&with));
    assert!(
        (top_at(&without) - 24.1).abs() < 0.05,
        "{}",
        top_at(&without)
    );
}

/// On a link whose rate lies between two qualities, no algorithm stalls.
#[test]
fn a_constant_link_is_used_without_stalls() {
    for &abr in Algorithm::ALL {
        let log = session(abr, 2_500_000);
        assert_eq!(log.outcome, Some(Outcome::Watched));
        assert!(log.stalls.is_empty(), "{}: {:?}", abr.name(), log.stalls);
        let mean = log
            .segments
            .iter()
            .map(|download| download.quality as f64)
            .sum::<f64>()
            / log.segments.len() as f64;
        assert!((3.0..7.5).contains(&mean), "{}: {mean}", abr.name());
    }
}

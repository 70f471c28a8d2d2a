//! The rung of the ladder that each algorithm reaches on a steady link, on demand and live.

use std::sync::Arc;

use units::{Duration, Instant};
use video::abr::Algorithm;
use video::{Client, Ladder, Log, Manifest, Player};

use crate::fluid::{Link, watch};

fn log(manifest: &Arc<Manifest>, player: &Player, rate: u64) -> Log {
    player.check().expect("in range");
    player.check_for(manifest).expect("in range");
    let mut client = Client::new(Arc::clone(manifest), player);
    let link = Link {
        rtt: Duration::from_millis(40),
        ..Link::constant(rate)
    };
    let end = Instant::ZERO + Duration::from_secs(4_000);
    let connections = player.connections as usize;
    watch(&mut client, connections, &link, end, |_, _, _| {})
}

/// Mean rate of the segments in the third quarter, as a share of the highest rate of the ladder.
fn late_share(manifest: &Manifest, log: &Log) -> f64 {
    let all = &log.segments;
    let late = &all[all.len() / 2..all.len() * 3 / 4];
    let sum: f64 = late.iter().map(|one| manifest.rate(one.quality)).sum();
    sum / manifest.rate(manifest.top()) / late.len() as f64
}

fn player(abr: Algorithm, latency: Option<u64>, connections: u32) -> Player {
    Player {
        abr,
        latency: latency.map(Duration::from_secs),
        connections,
        length: Duration::from_secs(600),
        ..Player::default()
    }
}

/// All algorithms but these keep the highest rate with a segment in the buffer. dash.js lowers the quality if the buffer
/// might run empty (`InsufficientBufferRule`), and so does the plan of RobustMPC.
fn needs_segments(abr: Algorithm) -> u64 {
    match abr {
        Algorithm::Throughput | Algorithm::BolaE | Algorithm::RobustMpc => 3,
        _ => 1,
    }
}

/// A live stream has less video than the buffer of the player may hold, and an algorithm that divides that buffer has to
/// know.
#[test]
fn a_fast_link_carries_the_highest_rate_on_demand_and_live() {
    for ladder in [Ladder::BigBuckBunny, Ladder::FullHd] {
        let manifest = Arc::new(ladder.manifest());
        let segment = manifest.segment();
        for abr in Algorithm::ALL {
            for latency in [None, Some(3), Some(4), Some(6), Some(12), Some(30)] {
                let least = segment * needs_segments(*abr);
                if latency.is_some_and(|latency| Duration::from_secs(latency) < least) {
                    continue;
                }
                for rate in [10_000_000, 100_000_000] {
                    let log = log(&manifest, &player(*abr, latency, 1), rate);
                    let share = late_share(&manifest, &log);
                    assert!(share > 0.97, "{abr:?} {latency:?} {rate}: {share}");
                    // With less than two segments of latency, the stream stalls until it is late enough.
                    let two = Duration::from_secs(latency.unwrap_or(30)) >= segment * 2;
                    assert!(!two || log.stalls.is_empty(), "{abr:?} {latency:?} {rate}");
                }
            }
        }
    }
}

/// Each of several connections has a part of the link; the rate of the link is that of all.
#[test]
fn several_connections_carry_as_high_a_rate_as_one() {
    let manifest = Arc::new(Ladder::FullHd.manifest());
    for abr in Algorithm::ALL {
        for connections in [2, 3, 6] {
            let log = log(&manifest, &player(*abr, None, connections), 10_000_000);
            let share = late_share(&manifest, &log);
            assert!(share > 0.97, "{abr:?} {connections}: {share}");
        }
    }
}

/// With room for one segment more than it has, a buffer never reaches its most; the map of BBA ends below that.
#[test]
fn a_small_buffer_reaches_the_highest_rate() {
    let manifest = Arc::new(Ladder::FullHd.manifest());
    for abr in [
        Algorithm::Bba0,
        Algorithm::Bba2,
        Algorithm::Bola,
        Algorithm::BolaFinite,
    ] {
        for seconds in [8, 10, 15, 20, 30, 60] {
            let player = Player {
                max_buffer: Duration::from_secs(seconds),
                ..player(abr, None, 1)
            };
            let share = late_share(&manifest, &log(&manifest, &player, 100_000_000));
            assert!(share > 0.97, "{abr:?} {seconds}: {share}");
        }
    }
}

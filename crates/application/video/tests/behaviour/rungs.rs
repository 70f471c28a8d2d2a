//! The rung of the ladder that each algorithm reaches on a steady link, on demand and live.

use std::sync::Arc;

use units::{Duration, Instant};
use video::abr::Algorithm;
use video::{Client, Ladder, Log, Manifest, Outcome, Player};

use crate::fluid::{Link, watch};

fn log(manifest: &Arc<Manifest>, player: &Player, rate: u64) -> Log {
    player.check().expect("in range");
    player.check_for(manifest).expect("in range");
    let mut client = Client::new(Arc::clone(manifest), player);
    let link = Link {
        rtt: RTT,
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
    let sum: f64 = late
        .iter()
        .map(|download| manifest.rate(download.quality))
        .sum();
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

/// Round trip of the link.
const RTT: Duration = Duration::from_millis(40);

/// Share of the throughput that counts as safe for dash.js (`bandwidthSafetyFactor`).
const SAFETY_FACTOR: f64 = 0.9;

/// Video in the buffer at which BOLA-E prefers the highest of ten rates: 10 s, and 2 s for each rate.
const BOLA_E: Duration = Duration::from_secs(30);

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
        let segment = manifest.segment_duration();
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

/// Returns the highest quality whose segments arrive in the time that they are played in, on the average.
fn fitting(manifest: &Manifest, rate: f64) -> usize {
    let time = (manifest.segment_duration() - RTT).as_secs_f64();
    let fits = |quality: &usize| manifest.mean_segment_bytes(*quality) * 8.0 / rate <= time;
    (0..=manifest.top()).rev().find(fits).unwrap_or(0)
}

/// Returns the quality that an algorithm keeps at least on a link of a rate in bit/s.
fn promised(abr: Algorithm, manifest: &Manifest, latency: Option<Duration>, rate: f64) -> usize {
    let fits = fitting(manifest, rate);
    match abr {
        Algorithm::Throughput => fits.min(manifest.highest_within(SAFETY_FACTOR * rate)),
        // A live stream has less video than BOLA-E goes by, and the placeholder that stands for the rest decays: what
        // just fits alternates with what is below it.
        Algorithm::BolaE if latency.is_some_and(|latency| latency < BOLA_E) => fits
            .min(manifest.highest_within(SAFETY_FACTOR * rate))
            .saturating_sub(1),
        Algorithm::BolaE => fits.min(manifest.highest_within(SAFETY_FACTOR * rate)),
        _ => fits,
    }
}

/// Share of the second half of the video for which the picture stood.
fn late_stalls(log: &Log) -> f64 {
    let half = log.played / 2;
    let late = log.stalls.iter().filter(|stall| stall.played >= half);
    let stalled: f64 = late.map(|stall| stall.length.as_secs_f64()).sum();
    stalled / half.as_secs_f64()
}

/// Returns that share at most where the link carries the lowest rate. A map of a small buffer now and then asks for
/// what does not arrive in time. The QoE of RobustMPC counts the rate of each segment and the seconds of a stall, so
/// that short segments make stalls cheap.
fn most_stalls(abr: Algorithm) -> f64 {
    match abr {
        Algorithm::Throughput | Algorithm::BolaE => 0.0,
        Algorithm::Bba0 | Algorithm::Bba2 | Algorithm::Bola | Algorithm::BolaFinite => 0.02,
        Algorithm::RobustMpc => 0.21,
    }
}

/// Checks all algorithms over steady links, on demand and with these latencies in seconds.
fn check_grid(manifest: Manifest, latencies: &[u64], kbps: &[u64]) {
    let manifest = Arc::new(manifest);
    let segment = manifest.segment_duration();
    let live = latencies.iter().map(|seconds| Some(*seconds));
    for latency in core::iter::once(None).chain(live) {
        let behind = latency.map(Duration::from_secs);
        for abr in Algorithm::ALL {
            // With less than two segments, maps of the buffer begin at their end, and a viewer may wait in vain.
            let least = segment * needs_segments(*abr).max(2);
            if behind.is_some_and(|behind| behind < least) {
                continue;
            }
            for kbps in kbps {
                let rate = kbps * 1_000;
                let log = log(&manifest, &player(*abr, latency, 1), rate);
                let case = format!("{abr:?} {segment} {latency:?} {kbps}");
                assert_eq!(log.outcome, Some(Outcome::Watched), "{case}");
                let promised = promised(*abr, &manifest, behind, rate as f64);
                let wanted = manifest.rate(promised) / manifest.rate(manifest.top());
                let share = late_share(&manifest, &log);
                assert!(share > 0.97 * wanted, "{case}: {share}, wanted {wanted}");
                let stalled = late_stalls(&log);
                let carries_a_rate = rate as f64 > 1.1 * manifest.rate(0);
                assert!(
                    !carries_a_rate || stalled <= most_stalls(*abr),
                    "{case}: {stalled}"
                );
            }
        }
    }
}

/// The ladder of 1080p in segments of a second, as in streams of low latency.
fn short_segments() -> Manifest {
    let ladder = Ladder::FullHd.manifest();
    Manifest::constant(Duration::from_secs(1), ladder.representations().to_vec()).expect("in range")
}

/// Kbit/s: half and twice of what fits, just above and just below a rate of a ladder, and more than all.
const RATES: &[u64] = &[
    300, 500, 750, 1_000, 1_500, 2_000, 3_000, 4_000, 5_000, 6_000, 7_000, 8_000, 10_000, 15_000,
    20_000, 30_000, 50_000, 100_000,
];

#[test]
#[ignore = "slow, make test-all"]
fn the_highest_rate_that_fits_is_kept_on_every_link() {
    let ladders = [Ladder::BigBuckBunny, Ladder::FullHd, Ladder::UltraHd];
    let built_in = ladders.map(Ladder::manifest);
    for manifest in built_in.into_iter().chain([short_segments()]) {
        check_grid(manifest, &[3, 6, 12, 30], RATES);
    }
}

#[test]
fn the_highest_rate_that_fits_is_kept() {
    check_grid(Ladder::BigBuckBunny.manifest(), &[12], &[400, 2_000, 6_000]);
    check_grid(short_segments(), &[3, 6], &[1_000, 5_000, 20_000]);
}

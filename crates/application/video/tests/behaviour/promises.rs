//! Promises of the client, which hold whatever the network does.

use std::sync::Arc;

use proptest::prelude::*;
use units::{Duration, Instant, Rate};
use video::abr::Algorithm;
use video::score::{Screen, session_metrics};
use video::{Client, ClientCommand, Ladder, Log, Manifest, Outcome, Player, Representation};

use crate::fluid::{Link, watch};

/// Manifest of one to six representations with sizes that vary from segment to segment.
fn manifests() -> impl Strategy<Value = Manifest> {
    let rates = prop::collection::btree_set(100_u64..12_000, 1..6);
    (
        500_u64..6_000,
        rates,
        prop::collection::vec(1_u64..300, 1..8),
        0_u64..200,
    )
        .prop_map(|(ms, rates, factors, audio)| {
            let representation = |kbps: &u64| Representation {
                rate: Rate::from_bits_per_second(kbps * 1_000),
                width: 1_280,
                height: 720,
            };
            let representations = rates.iter().map(representation).collect();
            let row = |factor: &u64| {
                rates
                    .iter()
                    .map(|kbps| kbps * ms * factor / 800 + 1)
                    .collect()
            };
            Manifest::constant(Duration::from_millis(ms), representations)
                .and_then(|manifest| manifest.with_sizes(factors.iter().map(row).collect()))
                .unwrap()
                .with_audio(Rate::from_bits_per_second(audio * 1_000))
        })
}

fn players() -> impl Strategy<Value = Player> {
    let times = (
        6_000_u64..40_000,
        0_u64..40_000,
        0_u64..40_000,
        6_000_u64..120_000,
        1_000_u64..60_000,
    );
    let live = prop::option::of(6_000_u64..20_000);
    (
        0..Algorithm::ALL.len(),
        times,
        1_u32..4,
        any::<bool>(),
        live,
    )
        .prop_map(
            |(abr, (max, startup, resume, length, patience), connections, abandon, latency)| {
                Player {
                    abr: Algorithm::ALL[abr],
                    length: Duration::from_millis(length),
                    max_buffer: Duration::from_millis(max),
                    startup: Duration::from_millis(startup.min(max).min(latency.unwrap_or(max))),
                    resume: Duration::from_millis(resume.min(max)),
                    connections,
                    abandon,
                    latency: latency.map(Duration::from_millis),
                    patience: Duration::from_millis(patience),
                    ..Player::default()
                }
            },
        )
}

fn links() -> impl Strategy<Value = Link> {
    let step = (
        1_u64..20_000,
        prop_oneof![
            Just(0_u64),
            10_000_u64..2_000_000,
            1_000_000_u64..40_000_000
        ],
    );
    let breaks = prop::collection::btree_set(0_u64..120_000, 0..4);
    (
        prop::collection::vec(step, 1..8),
        0_u64..300,
        7_u64..400,
        breaks,
    )
        .prop_map(|(steps, rtt, tick, breaks)| Link {
            steps: steps
                .into_iter()
                .map(|(ms, rate)| (Duration::from_millis(ms), rate))
                .collect(),
            rtt: Duration::from_millis(rtt),
            tick: Duration::from_millis(tick),
            breaks: breaks
                .into_iter()
                .map(|ms| Instant::ZERO + Duration::from_millis(ms))
                .collect(),
        })
}

/// Checks the record of a session that has ended.
fn check(log: &Log, manifest: &Manifest, player: &Player) {
    let waited = log.startup.unwrap_or(log.until - log.opened) + log.stalled();
    assert_eq!(
        log.until - log.opened,
        waited + log.played,
        "the time of the session is not that of its parts"
    );
    assert!(log.stalls.iter().all(|stall| !stall.length.is_zero()));
    assert!(
        log.stalls
            .windows(2)
            .all(|pair| pair[0].at + pair[0].length <= pair[1].at)
    );
    let segment = manifest.segment_duration();
    let numbers: Vec<usize> = log
        .segments
        .iter()
        .map(|download| download.segment)
        .collect();
    assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());
    assert!(log.played <= segment * numbers.len() as u64);
    let total = segment * (player.length.as_nanos() / segment.as_nanos());
    assert_eq!(log.outcome == Some(Outcome::Watched), log.played == total);
    for download in &log.segments {
        assert_eq!(
            download.bytes,
            manifest.segment_bytes(download.segment, download.quality)
        );
        assert!(download.requested <= download.first && download.first <= download.finished);
    }
    let session_metrics = session_metrics(manifest, log, &Screen::default(), None);
    if let Some(mos) = session_metrics.mos {
        for score in [mos.o23, mos.o35, mos.o46] {
            assert!((0.0..5.000_001).contains(&score), "{mos:?}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn every_second_is_played_once_and_the_buffer_keeps_its_limit(
        manifest in manifests(), player in players(), link in links(),
    ) {
        player.check().unwrap();
        player.check_for(&manifest).unwrap();
        let manifest = Arc::new(manifest);
        let mut client = Client::new(Arc::clone(&manifest), &player);
        let connections = player.connections as usize;
        let mut busy = vec![None; connections];
        let mut requested = 0;
        let mut is_done = false;
        let mut breaks = link.breaks.clone();
        let until = Instant::ZERO + Duration::from_secs(400);
        let log = watch(&mut client, connections, &link, until, |client, now, orders| {
            assert!(client.buffer() <= player.max_buffer);
            if breaks.first().is_some_and(|at| *at <= now) {
                breaks.remove(0);
                busy[0] = None;
            }
            for order in orders {
                assert!(!is_done, "{order:?} after the end");
                match *order {
                    ClientCommand::Request { connection, segment, .. } => {
                        assert!(segment <= requested, "segment {segment} before {requested}");
                        requested = requested.max(segment + 1);
                        busy[connection] = Some(segment);
                        let copies = busy.iter().filter(|download| **download == Some(segment)).count();
                        assert_eq!(copies, 1, "segment {segment} is requested twice");
                    }
                    ClientCommand::Abandon { connection } => assert!(busy[connection].take().is_some()),
                    ClientCommand::WakeAt(at) => assert!(at > now),
                    ClientCommand::Done(_) => is_done = true,
                }
            }
        });
        prop_assert!(is_done);
        check(&log, &manifest, &player);
    }
}

fn session(player: &Player, link: &Link) -> Log {
    let manifest = Arc::new(Ladder::BigBuckBunny.manifest());
    let mut client = Client::new(Arc::clone(&manifest), player);
    let until = Instant::ZERO + Duration::from_secs(3_000);
    let log = watch(
        &mut client,
        player.connections as usize,
        link,
        until,
        |_, _, _| {},
    );
    check(&log, &manifest, player);
    log
}

#[test]
fn a_session_that_never_gets_a_byte_ends_with_its_reason() {
    let log = session(&Player::default(), &Link::constant(0));
    assert_eq!(log.outcome, Some(Outcome::NothingArrived));
    assert_eq!(
        (log.until, log.startup),
        (Instant::ZERO + Duration::from_secs(60), None)
    );
    assert_eq!(
        log.outcome.unwrap().message(),
        "the viewer left: not a byte of the video arrived"
    );
}

#[test]
fn a_link_that_dies_ends_the_session_in_a_stall() {
    let seconds = Duration::from_secs;
    let link = Link {
        steps: vec![(seconds(20), 2_000_000), (seconds(3_000), 0)],
        ..Link::constant(0)
    };
    let log = session(&Player::default(), &link);
    assert_eq!(log.outcome, Some(Outcome::QuitInStall));
    assert_eq!(log.stalled(), seconds(60));
}

#[test]
fn a_live_stream_keeps_its_latency_and_the_buffer_stays_below_it() {
    let player = Player {
        latency: Some(Duration::from_secs(9)),
        length: Duration::from_secs(120),
        ..Player::default()
    };
    let log = session(&player, &Link::constant(4_000_000));
    assert_eq!(log.outcome, Some(Outcome::Watched));
    assert!(log.stalls.is_empty());
    assert!(
        log.segments
            .iter()
            .all(|download| download.buffer <= Duration::from_secs(9))
    );
    assert_eq!(
        log.latency.unwrap(),
        Duration::from_secs(9) + log.startup.unwrap()
    );
}

#[test]
fn parallel_connections_fill_the_same_buffer() {
    let player = Player {
        connections: 3,
        length: Duration::from_secs(120),
        ..Player::default()
    };
    let log = session(
        &player,
        &Link {
            rtt: Duration::from_millis(80),
            ..Link::constant(8_000_000)
        },
    );
    assert_eq!(
        (log.outcome, log.segments.len()),
        (Some(Outcome::Watched), 40)
    );
    let overlap = |pair: &[video::SegmentDownload]| pair[1].requested < pair[0].finished;
    assert!(log.segments.windows(2).any(overlap));
}

#[test]
fn a_fall_of_the_rate_abandons_a_segment_and_requests_it_again() {
    let link = Link {
        steps: vec![
            (Duration::from_secs(30), 9_000_000),
            (Duration::from_secs(600), 700_000),
        ],
        ..Link::constant(0)
    };
    let player = Player {
        abr: Algorithm::Throughput,
        length: Duration::from_secs(120),
        max_buffer: Duration::from_secs(12),
        ..Player::default()
    };
    let log = session(&player, &link);
    assert_eq!(log.outcome, Some(Outcome::Watched));
    assert!((1..4).contains(&log.abandoned), "{}", log.abandoned);
    assert!(log.wasted.get() > 0);
    let never = session(
        &Player {
            abandon: false,
            ..player
        },
        &link,
    );
    assert!(never.stalled() > log.stalled());
}

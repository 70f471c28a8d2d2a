//! Tests of the sender of frames.

use super::*;
use crate::workload::Settings;
use config::Distribution;
use units::Bytes;
use units::random::Purpose;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Sends three frames of 1000 bytes every 33 ms.
fn camera() -> FrameSource {
    let config = Frames {
        size: Distribution::Constant {
            value: Bytes::new(1_000),
        },
        jitter: 0.0,
        ..Frames::default()
    };
    config.check().unwrap();
    let mut camera = FrameSource::new(&config, RngStream::new(1, Purpose::Workload, 0));
    let mut out = Vec::new();
    for frame in 0..3 {
        camera.wake(at(33 * frame), &mut out);
    }
    assert_eq!(out[0], Command::Open);
    assert_eq!(out.last(), Some(&Command::WakeAt(at(99))));
    camera
}

#[test]
fn a_frame_is_late_when_its_last_byte_comes_after_the_deadline() {
    let mut camera = camera();
    let mut out = Vec::new();
    camera.on_progress(at(150), End::Client, 1_000, &mut out);
    // The second frame has 183 ms, and the last byte comes a millisecond later.
    camera.on_progress(at(183), End::Client, 999, &mut out);
    camera.on_progress(at(184), End::Client, 1, &mut out);
    // The third frame has not arrived, and its deadline is later than the end of the run.
    camera.stopped(at(200), &mut out);
    let expected = [
        Command::Record("frame_ms", 150.0),
        Command::Record("frame_ms", 151.0),
        Command::Record("frames", 2.0),
        Command::Record("late_share", 0.5),
        Command::Record("frame_delay_ms", 150.5),
        Command::Record("frame_delay_max_ms", 151.0),
    ];
    assert_eq!(out, expected);
}

#[test]
fn kinds_of_frames_have_their_own_times_on_one_connection() {
    let kind = |bytes, ms| FrameKind {
        size: Distribution::Constant {
            value: Bytes::new(bytes),
        },
        interval: Distribution::Constant {
            value: Duration::from_millis(ms),
        },
    };
    let config = Frames {
        beside: Some(vec![kind(500, 10), kind(70, 25)]),
        jitter: 0.0,
        ..Frames::default()
    };
    config.check().unwrap();
    let mut camera = FrameSource::new(&config, RngStream::new(1, Purpose::Workload, 0));
    let (mut now, mut sent) = (Instant::ZERO, Vec::new());
    while now <= at(30) {
        let mut out = Vec::new();
        camera.wake(now, &mut out);
        let mut next = now;
        for command in out {
            match command {
                Command::Send(End::Server, bytes) => sent.push((now, bytes)),
                Command::WakeAt(at) => next = at,
                Command::Open => assert_eq!(sent, []),
                other => panic!("{other:?}"),
            }
        }
        now = next;
    }
    let expected = [
        (0, 10_000),
        (0, 500),
        (0, 70),
        (10, 500),
        (20, 500),
        (25, 70),
        (30, 500),
    ];
    assert_eq!(sent, expected.map(|(ms, bytes)| (at(ms), bytes)));
}

#[test]
fn a_wrong_kind_of_frames_is_named() {
    let wrong = FrameKind {
        interval: Distribution::Constant {
            value: Duration::ZERO,
        },
        ..FrameKind::default()
    };
    let config = Frames {
        beside: Some(vec![FrameKind::default(), wrong]),
        jitter: 0.0,
        ..Frames::default()
    };
    assert_eq!(config.check().unwrap_err().field, "beside.1.interval");
}

#[test]
fn frames_that_never_arrive_are_late() {
    let mut camera = camera();
    let mut out = Vec::new();
    camera.stopped(at(1_000), &mut out);
    let expected = [
        Command::Record("frame_age_ms", 1_000.0),
        Command::Record("frame_age_ms", 967.0),
        Command::Record("frame_age_ms", 934.0),
        Command::Record("frames", 3.0),
        Command::Record("late_share", 1.0),
    ];
    assert_eq!(out, expected);
}

/// A camera whose connection takes nothing until [`FrameSource::on_taken`]: frames of 1000 bytes every 33 ms.
fn waiting_camera(backlog: Backlog) -> (FrameSource, Vec<Command>) {
    let config = Frames {
        size: Distribution::Constant {
            value: Bytes::new(1_000),
        },
        jitter: 0.0,
        backlog,
        ..Frames::default()
    };
    let mut camera = FrameSource::new(&config, RngStream::new(1, Purpose::Workload, 0));
    let mut out = Vec::new();
    for frame in 0..5 {
        camera.wake(at(33 * frame), &mut out);
    }
    (camera, out)
}

fn written(out: &[Command]) -> usize {
    let is_frame = |each: &&Command| **each == Command::Send(End::Server, 1_000);
    out.iter().filter(is_frame).count()
}

#[test]
fn only_the_newest_frame_waits_while_the_connection_takes_no_more() {
    let (mut camera, mut out) = waiting_camera(Backlog::Frames(1));
    assert_eq!(
        (written(&out), camera.waiting.len(), camera.dropped),
        (1, 1, 3)
    );
    camera.on_taken(End::Server, 600, &mut out);
    assert_eq!(written(&out), 1);
    camera.on_taken(End::Server, 400, &mut out);
    assert_eq!(written(&out), 2);
    out.clear();
    camera.on_progress(at(140), End::Client, 1_000, &mut out);
    camera.on_progress(at(150), End::Client, 1_000, &mut out);
    // The second one that arrives was made at 132 ms.
    assert_eq!(out[1], Command::Record("frame_ms", 18.0));
    camera.stopped(at(400), &mut out);
    assert!(out.contains(&Command::Record("frames", 5.0)));
    assert!(out.contains(&Command::Record("late_share", 0.6)));
    assert!(out.contains(&Command::Record("dropped_share", 0.6)));
}

#[test]
fn all_frames_are_written_without_a_limit() {
    let (camera, out) = waiting_camera(Backlog::All);
    assert_eq!((written(&out), camera.dropped), (5, 0));
}

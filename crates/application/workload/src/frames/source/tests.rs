//! Tests of the sender of frames.

use super::*;
use crate::workload::Settings;
use config::Distribution;
use units::Bytes;
use units::random::Purpose;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Returns a source that has sent three frames of 1000 bytes, one every 33 ms.
fn source_after_3_frames() -> FrameSource {
    let config = Frames {
        size: Distribution::Constant {
            value: Bytes::new(1_000),
        },
        jitter: 0.0,
        ..Frames::default()
    };
    config.check().unwrap();
    let mut source = FrameSource::new(&config, RngStream::new(1, Purpose::Workload, 0));
    let mut out = Vec::new();
    for frame in 0..3 {
        source.on_wake(at(33 * frame), &mut out);
    }
    assert_eq!(out[0], Command::Open);
    assert_eq!(out.last(), Some(&Command::WakeAt(at(99))));
    source
}

#[test]
fn a_frame_is_late_when_its_last_byte_comes_after_the_deadline() {
    let mut source = source_after_3_frames();
    let mut out = Vec::new();
    source.on_progress(at(150), End::Client, 1_000, &mut out);
    // The deadline of the second frame is at 183 ms; its last byte arrives 1 ms later.
    source.on_progress(at(183), End::Client, 999, &mut out);
    source.on_progress(at(184), End::Client, 1, &mut out);
    // The third frame has not arrived, and its deadline is later than the end of the run.
    source.on_stopped(at(200), &mut out);
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
        deadline: None,
    };
    let config = Frames {
        beside: Some(vec![kind(500, 10), kind(70, 25)]),
        jitter: 0.0,
        ..Frames::default()
    };
    config.check().unwrap();
    let mut source = FrameSource::new(&config, RngStream::new(1, Purpose::Workload, 0));
    let (mut now, mut sent) = (Instant::ZERO, Vec::new());
    while now <= at(30) {
        let mut out = Vec::new();
        source.on_wake(now, &mut out);
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
fn an_invalid_frame_kind_is_named_in_the_error() {
    let invalid = FrameKind {
        interval: Distribution::Constant {
            value: Duration::ZERO,
        },
        ..FrameKind::default()
    };
    let config = Frames {
        beside: Some(vec![FrameKind::default(), invalid]),
        jitter: 0.0,
        ..Frames::default()
    };
    assert_eq!(config.check().unwrap_err().field, "beside.1.interval");
}

#[test]
fn frames_that_never_arrive_are_late() {
    let mut source = source_after_3_frames();
    let mut out = Vec::new();
    source.on_stopped(at(1_000), &mut out);
    let expected = [
        Command::Record("frame_age_ms", 1_000.0),
        Command::Record("frame_age_ms", 967.0),
        Command::Record("frame_age_ms", 934.0),
        Command::Record("frames", 3.0),
        Command::Record("late_share", 1.0),
    ];
    assert_eq!(out, expected);
}

/// Returns a source whose connection accepts nothing until [`FrameSource::on_accepted`]: frames of 1000 bytes every 33
/// ms.
fn blocked_source(backlog: Backlog) -> (FrameSource, Vec<Command>) {
    let config = Frames {
        size: Distribution::Constant {
            value: Bytes::new(1_000),
        },
        jitter: 0.0,
        backlog,
        ..Frames::default()
    };
    let mut source = FrameSource::new(&config, RngStream::new(1, Purpose::Workload, 0));
    let mut out = Vec::new();
    for frame in 0..5 {
        source.on_wake(at(33 * frame), &mut out);
    }
    (source, out)
}

fn written(out: &[Command]) -> usize {
    let is_frame = |each: &&Command| **each == Command::Send(End::Server, 1_000);
    out.iter().filter(is_frame).count()
}

#[test]
fn only_the_newest_frame_waits_while_the_connection_takes_no_more() {
    let (mut source, mut out) = blocked_source(Backlog::Frames(1));
    assert_eq!(
        (written(&out), source.waiting.len(), source.dropped.len()),
        (1, 1, 3)
    );
    source.on_accepted(End::Server, 600, &mut out);
    assert_eq!(written(&out), 1);
    source.on_accepted(End::Server, 400, &mut out);
    assert_eq!(written(&out), 2);
    out.clear();
    source.on_progress(at(140), End::Client, 1_000, &mut out);
    source.on_progress(at(150), End::Client, 1_000, &mut out);
    // The second one that arrives was made at 132 ms.
    assert_eq!(out[1], Command::Record("frame_ms", 18.0));
    source.on_stopped(at(400), &mut out);
    assert!(out.contains(&Command::Record("frames", 5.0)));
    assert!(out.contains(&Command::Record("late_share", 0.6)));
    assert!(out.contains(&Command::Record("dropped_share", 0.6)));
}

#[test]
fn all_frames_are_written_without_a_limit() {
    let (source, out) = blocked_source(Backlog::All);
    assert_eq!((written(&out), source.dropped.len()), (5, 0));
}

#[test]
fn frames_of_several_kinds_are_late_by_their_own_deadlines() {
    let size = Distribution::Constant {
        value: Bytes::new(1_000),
    };
    let second = FrameKind {
        size,
        deadline: Some(Duration::from_millis(20)),
        ..FrameKind::default()
    };
    let config = Frames {
        size,
        beside: Some(vec![second]),
        jitter: 0.0,
        ..Frames::default()
    };
    config.check().unwrap();
    let mut source = FrameSource::new(&config, RngStream::new(1, Purpose::Workload, 0));
    let mut out = Vec::new();
    source.on_wake(at(0), &mut out);
    source.on_wake(at(33), &mut out);
    out.clear();
    // The first two frames arrive; of the others, only the second kind has missed its deadline.
    source.on_progress(at(30), End::Client, 2_000, &mut out);
    source.on_stopped(at(60), &mut out);
    let record = |name, value| Command::Record(name, value);
    let expected = [
        record("frame_ms", 30.0),
        record("frame_kind", 0.0),
        record("frame_ms", 30.0),
        record("frame_kind", 1.0),
        record("frame_age_ms", 27.0),
        record("frame_kind", 1.0),
        record("frames", 3.0),
        record("late_share", 2.0 / 3.0),
        record("kind_frames", 1.0),
        record("kind_late_share", 0.0),
        record("kind_frames", 2.0),
        record("kind_late_share", 1.0),
        record("frame_delay_ms", 30.0),
        record("frame_delay_max_ms", 30.0),
    ];
    assert_eq!(out, expected);
}

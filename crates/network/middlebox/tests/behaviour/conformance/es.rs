//! ES-TCP: the packet flows of figures 36 to 38 (Kim 2016, section 5.4.2), 3000 bytes in three segments.

use middlebox::{Kind, Middlebox};
use units::Bytes;

use crate::conformance::script::{FAR, Script};

/// A split host with a buffer for three segments, in which the window closes with the second one.
fn es(buffer: u64) -> Middlebox {
    Middlebox {
        kind: Kind::Es,
        buffer: Bytes::new(buffer),
        ..Middlebox::default()
    }
}

/// The first two segments fill the buffer, and the mobile host's ACK opens the window for the third.
fn up_to_the_last_segment() -> Script {
    let mut script = Script::open(&es(2_000));
    script.far_sends(0, 1_000);
    assert_eq!(script.acks(), [(998, true)]);
    script.far_sends(1_000, 1_000);
    assert_eq!(script.acks(), [(1_998, false)]);
    assert_eq!(script.data(), [(0, 1_000), (1_000, 1_000)]);
    script.mobile_acks(1_000);
    assert_eq!(script.acks(), [(1_999, true)]);
    script.far_sends(2_000, 1_000);
    assert_eq!(script.acks(), [(2_998, false)]);
    assert_eq!(script.data(), [(2_000, 1_000)]);
    script
}

#[test]
fn figure_36_normal_operation() {
    let mut script = up_to_the_last_segment();
    script.mobile_acks(3_000);
    assert_eq!(script.acks(), [(3_000, true)]);
    script.far_ends(3_000);
    assert_eq!(script.acks(), [(3_001, true)], "the FIN counts");
}

/// As up to the last segment, with a window for more.
fn with_a_window() -> Script {
    let mut script = Script::open(&es(60_000));
    for (from, ack) in [(0, 998), (1_000, 1_998), (2_000, 2_998)] {
        script.far_sends(from, 1_000);
        assert_eq!(script.acks(), [(ack, true)]);
    }
    script
}

#[test]
fn figure_37_the_estimated_time_out_freezes_the_far_host() {
    let mut script = with_a_window();
    script.wait(140);
    assert_eq!(script.acks(), []);
    script.wait(20);
    assert_eq!(script.acks(), [(2_999, false)]);
    script.wait(5_000);
    assert_eq!(script.acks(), [], "once");
    script.mobile_acks(2_000);
    assert_eq!(script.acks(), []);
    script.mobile_acks(3_000);
    assert_eq!(script.acks(), [(3_000, true)]);
}

#[test]
fn figure_38_a_repetition_freezes_the_far_host() {
    let mut script = with_a_window();
    script.far_sends(2_000, 1_000);
    assert_eq!(script.acks(), [(2_999, false)]);
    script.far_sends(2_000, 1_000);
    assert_eq!(script.acks(), [(2_999, false)], "again");
    script.mobile_acks(3_000);
    assert_eq!(script.acks(), [(3_000, true)]);
}

#[test]
fn repetitions_are_not_reported_as_received() {
    let mut script = with_a_window();
    script.far_sends(2_000, 1_000);
    let acks = script.take(FAR);
    assert!(acks.iter().all(|ack| ack.sack.is_empty()), "{acks:?}");
}

#[test]
fn small_messages_are_acknowledged_by_the_mobile_host() {
    let mut script = Script::open(&es(60_000));
    script.far_sends(0, 2);
    assert_eq!(script.acks(), []);
    script.mobile_acks(2);
    assert_eq!(script.acks(), [(2, true)]);
    script.far_sends(2, 1);
    script.far_sends(3, 1);
    assert_eq!(script.acks(), []);
    script.far_sends(4, 1);
    assert_eq!(script.acks(), [(3, true)]);
}

#[test]
fn new_data_lets_a_frozen_far_host_go_on() {
    let mut script = with_a_window();
    script.wait(200);
    assert_eq!(script.acks(), [(2_999, false)]);
    script.far_sends(3_000, 1_000);
    assert_eq!(script.acks(), [(3_998, true)]);
}

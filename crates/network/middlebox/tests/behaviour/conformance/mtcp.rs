//! M-TCP, M-TCP+ and PAM, step by step (Kim 2016, section 2.2.2; Brown and Singh 1997): 3000 bytes in three segments.

use middlebox::{Kind, Middlebox};
use units::Duration;

use crate::conformance::script::Script;

fn of(kind: Kind) -> Middlebox {
    Middlebox {
        kind,
        ..Middlebox::default()
    }
}

/// The far host has sent three segments, and the mobile host has the first.
fn with_the_first(mut script: Script) -> Script {
    for from in [0, 1_000, 2_000] {
        script.far_sends(from, 1_000);
        assert_eq!(script.acks(), [], "the mobile host has nothing");
    }
    script.mobile_acks(1_000);
    assert_eq!(script.data().len(), 3);
    script
}

#[test]
fn acks_of_the_mobile_host_go_on_less_one_byte() {
    let mut script = with_the_first(Script::open(&of(Kind::Mtcp)));
    assert_eq!(script.acks(), [(999, true)]);
    script.mobile_acks(2_000);
    assert_eq!(script.acks(), [(1_999, true)]);
    script.mobile_acks(3_000);
    assert_eq!(script.acks(), [(3_000, true)]);
    script.far_ends(3_000);
    assert_eq!(script.acks(), [(3_001, true)]);
}

#[test]
fn silence_of_the_mobile_host_freezes_the_far_host() {
    let mut script = with_the_first(Script::open(&of(Kind::Mtcp)));
    assert_eq!(script.acks(), [(999, true)]);
    script.wait(140);
    assert_eq!(script.acks(), []);
    script.wait(30);
    assert_eq!(script.acks(), [(1_000, false)], "the last byte, no window");
    script.wait(5_000);
    assert_eq!(script.acks(), [], "once");
    script.mobile_acks(2_000);
    assert_eq!(script.acks(), [(1_999, true)]);
}

#[test]
fn a_repetition_freezes_the_far_host() {
    let mut script = with_the_first(Script::open(&of(Kind::Mtcp)));
    assert_eq!(script.acks(), [(999, true)]);
    script.far_sends(1_000, 1_000);
    assert_eq!(script.acks(), [(1_000, false)]);
    script.mobile_acks(3_000);
    assert_eq!(script.acks(), [(3_000, true)]);
}

/// The far host may send a whole buffer beyond what is acknowledged.
#[test]
fn the_window_counts_from_the_acknowledgement() {
    let settings = Middlebox {
        buffer: units::Bytes::new(30_000),
        ..of(Kind::Mtcp)
    };
    let mut script = Script::open(&settings);
    for segment in 0..10 {
        script.far_sends(segment * 1_000, 1_000);
    }
    script.mobile_acks(5_000);
    let acks = script.take(crate::conformance::script::FAR);
    let edge = |ack: &tcp::Segment| ack.ack - 70_001 + u32::from(ack.window);
    let edges: Vec<_> = acks.iter().map(edge).collect();
    assert!(edges[0] > 20_000, "{edges:?}");
}

/// A split host that waits long for the mobile host, so that only the link shows the interruption.
fn told_by_the_link(kind: Kind) -> Middlebox {
    Middlebox {
        freeze_after: Some(Duration::from_secs(100)),
        warning: (kind == Kind::MtcpPlus).then_some(Duration::from_millis(30)),
        ..of(kind)
    }
}

#[test]
fn the_link_tells_mtcp_plus_of_an_interruption() {
    let settings = told_by_the_link(Kind::MtcpPlus);
    let script = Script::open_interrupted(&settings, (100, 1_100), false);
    let mut script = with_the_first(script);
    assert_eq!(script.acks(), [(999, true)]);
    script.wait_until(65);
    assert_eq!(script.acks(), [], "no warning yet");
    script.wait_until(75);
    assert_eq!(script.acks(), [(1_000, false)]);
    script.mobile_acks(2_000);
    assert_eq!(script.acks(), [(1_999, false)], "an ACK that was under way");
    script.wait_until(1_090);
    assert_eq!(
        (script.acks(), script.data()),
        (vec![], vec![]),
        "both legs rest"
    );
    script.wait_until(1_105);
    assert_eq!(script.acks(), [(1_999, true)], "the link is back");
    script.wait_until(1_500);
    assert_eq!(script.data()[0], (2_000, 1_000), "the local sender goes on");
}

#[test]
fn as_tcp_freezes_its_sender_while_the_link_is_interrupted() {
    let settings = Middlebox {
        kind: Kind::As,
        ..Middlebox::default()
    };
    let mut script = Script::open_interrupted(&settings, (100, 2_100), true);
    script.far_sends(0, 1_000);
    assert_eq!(script.data(), [(0, 1_000)]);
    script.wait_until(2_095);
    let _ = script.data();
    script.wait_until(2_200);
    assert_eq!(script.data(), [], "no time-outs have piled up");
    script.mobile_acks(1_000);
    script.far_sends(1_000, 1_000);
    assert_eq!(script.data(), [(1_000, 1_000)]);
}

#[test]
fn pam_acknowledges_in_advance_while_the_mobile_host_is_silent() {
    let mut script = with_the_first(Script::open(&of(Kind::Pam)));
    assert_eq!(script.acks(), [(1_000, true)], "no byte is kept back");
    script.wait(140);
    assert_eq!(script.acks(), []);
    script.wait(30);
    assert_eq!(script.acks(), [(3_000, true)], "in advance");
    script.far_sends(3_000, 1_000);
    assert_eq!(script.acks(), [(4_000, true)], "and what comes");
    script.mobile_acks(2_000);
    assert_eq!(script.acks(), [], "it is heard again");
    script.far_sends(4_000, 1_000);
    assert_eq!(script.acks(), []);
    script.mobile_acks(5_000);
    assert_eq!(script.acks(), [(5_000, true)]);
}

//! Middleboxes that leave the connection whole, step by step: Freeze-TCP, ELN and the ACK regulator.

use middlebox::{AckRegulator, EgressQueue, Eln, Freeze, Kind, Middlebox};
use net::Limit;
use units::Duration;

use crate::conformance::script::{FAR, MOBILE, Script};

#[test]
fn freeze_tcp_withdraws_the_window_before_the_link_fails() {
    let settings = Middlebox {
        kind: Kind::Freeze,
        warning: Some(Duration::from_millis(40)),
        ..Middlebox::default()
    };
    let node = Box::new(Freeze::new(&settings, vec![MOBILE]));
    let mut script = Script::open_through(node, &[(100, 1_100)]);
    script.far_sends(0, 1_000);
    script.far_sends(1_000, 1_000);
    script.mobile_acks(1_000);
    assert_eq!(script.acks(), [(1_000, true)]);
    script.wait_until(65);
    assert_eq!(script.acks(), [(1_000, false)], "40 ms before");
    script.mobile_acks(2_000);
    assert_eq!(script.acks(), [(2_000, false)], "it stays closed");
    script.wait_until(1_090);
    assert_eq!(script.acks(), []);
    script.wait_until(1_110);
    assert_eq!(script.acks(), [(2_000, true); 3], "connected again");
    assert_eq!(script.data(), [(0, 1_000), (1_000, 1_000)]);
}

#[test]
fn freeze_tcp_leaves_a_transfer_that_is_over_alone() {
    let settings = Middlebox {
        kind: Kind::Freeze,
        ..Middlebox::default()
    };
    let node = Box::new(Freeze::new(&settings, vec![MOBILE]));
    let mut script = Script::open_through(node, &[(300, 1_000)]);
    script.far_sends(0, 1_000);
    script.far_ends(1_000);
    script.mobile_acks(1_001);
    assert_eq!(script.acks(), [(1_001, true)]);
    script.wait_until(2_000);
    assert_eq!(script.acks(), []);
}

fn outlet(limit: Limit) -> Vec<EgressQueue> {
    vec![EgressQueue {
        host: MOBILE,
        limit,
        is_droptail: true,
    }]
}

#[test]
fn eln_marks_the_reports_of_losses_behind_it() {
    let node = Box::new(Eln::new(outlet(Limit::Packets(10))));
    let mut script = Script::open_through(node, &[]);
    for from in [0, 1_000, 3_000] {
        script.far_sends(from, 1_000);
    }
    script.mobile_acks(1_000);
    script.mobile_acks(1_000);
    // A packet that did not reach the middlebox was not lost on the radio.
    script.mobile_acks(2_000);
    script.mobile_acks(2_000);
    let acks = script.take(FAR);
    let marks: Vec<_> = acks.iter().map(|ack| ack.eln).collect();
    assert_eq!(marks, [false, true, false, false]);
}

#[test]
fn the_regulator_holds_acks_back_while_the_queue_is_full() {
    let node = Box::new(AckRegulator::new(outlet(Limit::Packets(4))));
    // Data piles up in front of the interrupted link.
    let mut script = Script::open_through(node, &[(40, 200)]);
    for segment in 0..3 {
        script.far_sends(1_000 * segment, 1_000);
    }
    script.mobile_acks(1_000);
    script.mobile_acks(2_000);
    assert_eq!(
        script.acks(),
        [(1_000, true), (2_000, true)],
        "an empty queue"
    );
    script.wait_until(45);
    for segment in 3..8 {
        script.far_sends(1_000 * segment, 1_000);
    }
    script.mobile_acks(3_000);
    script.wait(50);
    assert_eq!(script.acks(), [], "its data would overflow the queue");
    script.wait_until(205);
    assert_eq!(script.acks(), [(3_000, true)]);
}

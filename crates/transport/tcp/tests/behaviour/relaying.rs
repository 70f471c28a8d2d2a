//! Tests of a connection whose peer is a host in the middle: what its ACKs cover, and far acknowledgements.

use tcp::{Connection, Segment};
use units::Duration;

use crate::pair::Pair;

/// Kind of the option.
const KIND: u8 = 253;

/// A host in the middle keeps data back until it is confirmed. ACKs then cover what was confirmed.
#[test]
fn acks_of_a_relay_cover_what_is_confirmed() {
    let mut pair = Pair::open(|_, client| client.set_unacked_tail(Connection::CONFIRMED_ONLY));
    pair.server.write(pair.now, 5_000);
    pair.run(Duration::from_millis(100));
    assert_eq!(pair.client.received(), 5_000);
    assert_eq!(pair.client.withheld(), 5_000);
    assert_eq!(pair.server.acknowledged(), 0);
    assert!(!pair.client.could_acknowledge_more());

    pair.client.confirm(2_000);
    assert!(pair.client.could_acknowledge_more());
    pair.client.acknowledge(pair.now);
    assert!(!pair.client.could_acknowledge_more());
    pair.run(Duration::from_millis(20));
    assert_eq!(pair.server.acknowledged(), 2_000);
    assert_eq!(pair.client.withheld(), 3_000);

    pair.client.release(500);
    pair.client.acknowledge(pair.now);
    pair.run(Duration::from_millis(20));
    assert_eq!(pair.server.acknowledged(), 2_500);
    assert_eq!(pair.client.withheld(), 2_500);
}

/// Kim 2016, section 5.5: the sender learns of what the far end has by the option. It asks after a time-out, and after
/// twice as long each further time, before the number that is expected next.
#[test]
fn a_sender_asks_for_what_the_far_end_has() {
    let mut pair = Pair::open(|server, client| {
        server.accept_far_acks(KIND);
        client.send_far_acks(KIND);
    });
    assert!(pair.client.sends_far_acks());
    pair.server.write(pair.now, 5_000);
    pair.run(Duration::from_millis(100));
    assert_eq!(
        (pair.server.acknowledged(), pair.server.delivered()),
        (5_000, 0)
    );
    let kept = pair.server.info(pair.now).unacknowledged;
    assert_eq!(kept, 5_000, "the sender keeps its data");

    pair.sent.clear();
    pair.run(Duration::from_secs(4));
    let questions: Vec<_> = pair
        .sent
        .iter()
        .map(|(at, segment)| (*at, segment.seq))
        .collect();
    assert!(questions.len() >= 3, "{questions:?}");
    assert!(
        questions.iter().all(|(_, seq)| *seq == 5_000 + 5_000),
        "{questions:?}"
    );
    let waits: Vec<_> = questions
        .windows(2)
        .map(|two| two[1].0 - two[0].0)
        .collect();
    assert!(waits[0] >= Duration::from_millis(400), "{waits:?}");
    for two in waits.windows(2) {
        assert_eq!(two[1], two[0] * 2, "{waits:?}");
    }

    pair.client.confirm(5_000);
    assert!(pair.client.far_ack_due());
    pair.client.acknowledge(pair.now);
    pair.run(Duration::from_millis(20));
    assert_eq!(pair.server.delivered(), 5_000);
    assert_eq!(pair.client.far_acked(), 5_000);
    pair.sent.clear();
    pair.run(Duration::from_secs(60));
    assert!(pair.sent.is_empty(), "there is nothing left to ask");
}

/// Kim 2016, section 5.5: a host in the middle reports news once. The option is left to the next segment where one
/// is full, since it counts as part of the segment (RFC 9293 §3.7.1).
#[test]
fn a_far_acknowledgement_leaves_once_in_a_segment_with_room() {
    let mut pair = Pair::open(|server, client| {
        server.send_far_acks(KIND);
        client.accept_far_acks(KIND);
    });
    let told = |pair: &mut Pair| -> Vec<_> {
        let segments = pair.sent.drain(..).map(|(_, segment)| segment);
        segments
            .map(|segment| (segment.len, segment.far_ack.map(|option| option.number)))
            .collect()
    };
    pair.client.write(pair.now, 100);
    pair.run(Duration::from_millis(100));
    assert_eq!(told(&mut pair), [(0, None)], "nothing is confirmed");
    pair.server.confirm(100);
    pair.server.write(pair.now, 3_000);
    pair.run(Duration::ZERO);
    let expected = [(1_448, None), (1_448, None), (104, Some(1_000 + 1 + 100))];
    assert_eq!(told(&mut pair), expected);
    pair.client.write(pair.now, 100);
    pair.run(Duration::from_millis(100));
    assert_eq!(told(&mut pair), [(0, None)], "nothing is new");
}

/// RFC 3522 §3.2: data that a host in the middle has already and keeps back brings no timestamp to be echoed, so that
/// the sender can tell that its time-out was needless.
#[test]
fn the_echo_is_of_the_first_copy() {
    let asks = Segment {
        timestamps: Some((700, 0)),
        ..crate::alone::request()
    };
    let mut socket = crate::alone::opened(crate::alone::exact(), "reno", &asks);
    socket.set_unacked_tail(Connection::CONFIRMED_ONLY);
    let copy = |clock: u32| Segment {
        timestamps: Some((clock, 20)),
        ..crate::alone::data(0, 1_000)
    };
    socket.on_segment(crate::alone::at(100), &copy(800));
    assert!(socket.repeats(&copy(900)));
    socket.on_segment(crate::alone::at(200), &copy(900));
    crate::alone::sent(&mut socket);
    socket.confirm(1_000);
    assert!(!socket.repeats(&copy(900)));
    socket.acknowledge(crate::alone::at(300));
    let acks = crate::alone::sent(&mut socket);
    assert_eq!(acks[0].ack, crate::alone::OTHER + 1 + 1_000);
    assert_eq!(acks[0].timestamps, Some((300, 800)));
}

/// The window of a host in the middle counts from the number of the ACK, as what it keeps back has its memory already:
/// the right edge is that of an ACK of everything (RFC 9293 §3.8.6.2).
#[test]
fn the_window_counts_from_what_is_acknowledged() {
    let asks = Segment {
        window_scale: Some(7),
        ..crate::alone::request()
    };
    let mut socket = crate::alone::opened(crate::alone::exact(), "reno", &asks);
    socket.set_unacked_tail(Connection::CONFIRMED_ONLY);
    for offset in [0, 1_280] {
        socket.on_segment(crate::alone::at(100), &crate::alone::data(offset, 1_280));
    }
    crate::alone::sent(&mut socket);
    for (kept, confirmed) in [(2_560, 0), (1_280, 1_280), (0, 2_560)] {
        socket.confirm(confirmed);
        socket.acknowledge(crate::alone::at(110));
        let ack = crate::alone::sent(&mut socket)[0];
        assert_eq!(
            u64::from(ack.ack),
            u64::from(crate::alone::OTHER) + 1 + confirmed
        );
        let beyond = (u64::from(ack.window) << 7) - kept;
        assert_eq!(beyond, socket.offered_window(), "{kept} kept back");
    }
}

/// A host in the middle announces a window that it can offer again once it is two segments larger (RFC 9293
/// §3.8.6.2.2: no small windows).
#[test]
fn a_window_grows_by_two_segments() {
    let mut socket = crate::alone::opened(crate::alone::exact(), "reno", &crate::alone::request());
    socket.set_unacked_tail(0);
    socket.on_segment(crate::alone::at(100), &crate::alone::data(0, 1_460));
    let segment = u64::from(socket.info(crate::alone::at(100)).receive_mss);
    assert_eq!(segment, 1_460);
    assert!(!socket.window_grew(), "all that there is was offered");
    socket.set_frozen(true);
    socket.acknowledge(crate::alone::at(110));
    assert_eq!(socket.offered_window(), 0);
    socket.set_frozen(false);
    for (room, grows) in [(0, false), (1, false), (2, true), (20, true)] {
        socket.set_window_limit((1 + room) * segment);
        assert_eq!(socket.window_grew(), grows, "room for {room}");
    }
    socket.set_window_limit(3 * segment);
    socket.acknowledge(crate::alone::at(120));
    assert_eq!(socket.offered_window(), 2 * segment);
    for (room, grows) in [(2, false), (3, false), (4, true)] {
        socket.set_window_limit((1 + room) * segment);
        assert_eq!(socket.window_grew(), grows, "room for {room}, two offered");
    }
}

/// Kim 2016, section 5.5: only an end that receives far ACKs waits for the far end. What a host in the middle sends
/// itself has arrived with its ACK.
#[test]
fn data_of_a_host_in_the_middle_arrives_with_its_acks() {
    let mut pair = Pair::open(|server, client| {
        server.accept_far_acks(KIND);
        client.send_far_acks(KIND);
    });
    pair.client.write(pair.now, 3_000);
    pair.run(Duration::from_millis(100));
    let client = &pair.client;
    assert_eq!((client.acknowledged(), client.delivered()), (3_000, 3_000));
}

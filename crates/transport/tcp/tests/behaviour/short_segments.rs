//! Tests of short segments that wait: Nagle's algorithm (RFC 9293 §3.7.4) and `TCP_CORK`.

use units::Duration;

use crate::pair::Pair;

/// Returns the payloads that the server has sent since the last call.
fn sent(pair: &mut Pair) -> Vec<u32> {
    pair.run(Duration::ZERO);
    let sent = pair.sent.drain(..).map(|(_, segment)| segment.len);
    sent.filter(|len| *len > 0).collect()
}

/// RFC 9293 §3.7.4: a short segment waits while data is not acknowledged, unless the application has turned that off.
#[test]
fn a_short_segment_waits_for_the_acknowledgement() {
    let mut pair = Pair::open(|_, _| {});
    pair.server.write(pair.now, 100);
    assert_eq!(sent(&mut pair), [100]);
    pair.server.write(pair.now, 70);
    assert_eq!(sent(&mut pair), [0_u32; 0]);
    pair.run(Duration::from_millis(100));
    assert_eq!(sent(&mut pair), [70]);
    pair.server.set_nagle(pair.now, false);
    pair.server.write(pair.now, 50);
    assert_eq!(sent(&mut pair), [50]);
}

/// Linux `tcp(7)`: with `TCP_CORK` no partial frame leaves until the option is cleared, or 200 ms have passed.
#[test]
fn a_corked_segment_waits_for_the_application() {
    let mut pair = Pair::open(|_, _| {});
    pair.server.set_cork(pair.now, true);
    pair.server.write(pair.now, 1_448 + 100);
    assert_eq!(sent(&mut pair), [1_448]);
    pair.run(Duration::from_millis(100));
    assert_eq!(sent(&mut pair), [0_u32; 0]);
    pair.server.set_cork(pair.now, false);
    assert_eq!(sent(&mut pair), [100]);
}

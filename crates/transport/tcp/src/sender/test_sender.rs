//! Sender under test: NewReno with ten segments in flight, and ACKs for it.

use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

use super::{AckInput, SendFlags, Sender};
use crate::config::TcpConfig;
use cca::{CongestionState, Window, cca_by_name};

/// Sequence number of the first byte.
pub(super) const FIRST: u64 = 1_000;

/// Payload bytes of a segment.
pub(super) const MSS: u64 = 1_448;
/// ACK of no data that leaves the window open; tests change some of its fields.
pub(super) const ACK: AckInput<'static> = AckInput {
    ack: FIRST,
    seq: 0,
    window: 1 << 20,
    sack: &[],
    echo: None,
    timestamps: None,
    not_dup: false,
    ecn_echo: false,
    radio_loss: false,
};

/// Handles an ACK of the first `segments` with SACK blocks in segments, which echoes a timestamp.
pub(super) fn ack(
    sender: &mut Sender,
    now: Instant,
    segments: u64,
    blocks: &[(u64, u64)],
    echo: Option<u32>,
) {
    let of = |number: u64| FIRST + number * MSS;
    let sack: Vec<_> = blocks.iter().map(|&(l, r)| (of(l), of(r))).collect();
    let input = AckInput {
        ack: of(segments),
        sack: &sack,
        echo,
        ..ACK
    };
    sender.on_ack(now, &input);
}

/// Returns a sender that was established at the returned time, one RTT after zero, over a path with that RTT. It has
/// written `bytes`, of which ten segments have been sent.
pub(super) fn established_sender(
    config: TcpConfig,
    rtt: Duration,
    bytes: u64,
) -> (Sender, Instant) {
    let draws = RngStream::new(1, Purpose::CongestionControl, 0);
    let window = Window::new(config.mss, 10, draws);
    let reno = cca_by_name("reno").expect("a CCA of ours");
    let mut sender = Sender::new(config, CongestionState::new(window, reno), FIRST);
    let start = Instant::ZERO + rtt;
    sender.establish(start, Some(rtt), 1 << 20, false);
    sender.write(start, bytes, SendFlags::Message);
    assert_eq!(sender.in_flight(), 10);
    (sender, start)
}

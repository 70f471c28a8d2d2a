//! Sender under test: NewReno with ten segments in flight.

use units::random::{Purpose, Stream};
use units::{Duration, Instant};

use super::{Ending, Sender};
use crate::config::TcpConfig;
use cca::{Congestion, Window, cca_by_name};

/// Sequence number of the first byte.
pub(super) const FIRST: u64 = 1_000;

/// Returns a sender that was established at the returned time, one RTT after zero, over a path with that RTT. It has
/// written `bytes`, of which ten segments have been sent.
pub(super) fn started(config: TcpConfig, rtt: Duration, bytes: u64) -> (Sender, Instant) {
    let draws = Stream::new(1, Purpose::CongestionControl, 0);
    let window = Window::new(config.mss, 10, draws);
    let reno = cca_by_name("reno").expect("a CCA of ours");
    let mut sender = Sender::new(config, Congestion::new(window, reno), FIRST);
    let start = Instant::ZERO + rtt;
    sender.establish(start, Some(rtt), 1 << 20);
    sender.write(start, bytes, Ending::Message);
    assert_eq!(sender.in_flight(), 10);
    (sender, start)
}

//! Pair of connections with 10 ms between them.

use std::collections::VecDeque;

use cca::{CongestionState, cca_by_name};
use tcp::{Connection, Segment, State, TcpConfig};
use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

/// Time from one end to the other.
const ONE_WAY: Duration = Duration::from_millis(10);
/// Events after which a pair counts as stuck.
const MAX_EVENTS: u32 = 10_000;

/// Server and client, and what is on its way between them.
pub struct Pair {
    pub now: Instant,
    pub server: Connection,
    pub client: Connection,
    /// Segments that the server has sent since the last look, with their times.
    pub sent: Vec<(Instant, Segment)>,
    to_client: VecDeque<(Instant, Segment)>,
    to_server: VecDeque<(Instant, Segment)>,
}

fn connection(iss: u32) -> Connection {
    let config = TcpConfig::default();
    let draws = RngStream::new(1, Purpose::CongestionControl, 0);
    let window = config.initial_window(draws);
    let cca = cca_by_name("reno").expect("a CCA of ours");
    Connection::new(config, CongestionState::new(window, cca), iss, 0)
}

impl Pair {
    /// Opens a connection of two ends that `prepare` has changed before, in the order server, client.
    pub fn open(prepare: impl FnOnce(&mut Connection, &mut Connection)) -> Self {
        let (mut server, mut client) = (connection(5_000), connection(1_000));
        prepare(&mut server, &mut client);
        server.listen();
        client.connect(Instant::ZERO);
        let mut pair = Self {
            now: Instant::ZERO,
            server,
            client,
            sent: Vec::new(),
            to_client: VecDeque::new(),
            to_server: VecDeque::new(),
        };
        pair.run(Duration::from_millis(100));
        assert_eq!(pair.server.state(), State::Established);
        pair.sent.clear();
        pair
    }

    /// Lets `time` pass.
    pub fn run(&mut self, time: Duration) {
        let end = self.now + time;
        for _ in 0..MAX_EVENTS {
            self.pump();
            let arrival = |queue: &VecDeque<(Instant, Segment)>| {
                queue.front().map_or(Instant::NEVER, |(at, _)| *at)
            };
            let (there, back) = (arrival(&self.to_client), arrival(&self.to_server));
            let timers = self.server.deadline().min(self.client.deadline());
            let next = there.min(back).min(timers);
            if next > end {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            if there == next {
                let (_, segment) = self.to_client.pop_front().expect("it arrives");
                self.client.on_segment(self.now, &segment);
            } else if back == next {
                let (_, segment) = self.to_server.pop_front().expect("it arrives");
                self.server.on_segment(self.now, &segment);
            } else {
                self.server.on_deadline(self.now);
                self.client.on_deadline(self.now);
            }
        }
        panic!("no end of events at {:?}", self.now);
    }

    fn pump(&mut self) {
        while let Some(segment) = self.server.poll_transmit() {
            self.sent.push((self.now, segment));
            self.to_client.push_back((self.now + ONE_WAY, segment));
        }
        while let Some(segment) = self.client.poll_transmit() {
            self.to_server.push_back((self.now + ONE_WAY, segment));
        }
    }
}

//! AS-TCP: the packet flows of figures 43 and 44 (Kim 2016, section 5.5.2), 3000 bytes in three segments.

use cca::{CongestionState, Settings, Window, reno};
use middlebox::{Kind, Middlebox};
use tcp::{Connection, FarAck, Flags, Segment, State, Tcp, TcpConfig};
use units::random::{Purpose, RngStream};
use units::{Bytes, Duration, Instant};

use crate::conformance::script::Script;

fn advanced(buffer: u64) -> Middlebox {
    Middlebox {
        kind: Kind::As,
        buffer: Bytes::new(buffer),
        ..Middlebox::default()
    }
}

#[test]
fn figure_43_a_single_host() {
    let mut script = Script::open_to(&advanced(2_000), true);
    script.far_sends(0, 1_000);
    assert_eq!(script.far_acks(), [(1_000, true, None)], "packet 4");
    script.far_sends(1_000, 1_000);
    assert_eq!(script.far_acks(), [(2_000, false, None)], "packet 6");
    assert_eq!(script.data(), [(0, 1_000), (1_000, 1_000)]);
    script.mobile_acks(1_000);
    // The buffer has room again: packets 7 and 8 are one.
    assert_eq!(script.far_acks(), [(2_000, true, Some(1_000))]);
    script.far_sends(2_000, 1_000);
    assert_eq!(script.far_acks(), [(3_000, false, None)]);
    script.mobile_acks(2_000);
    assert_eq!(script.far_acks(), [(3_000, true, Some(2_000))], "packet 10");
    script.mobile_acks(3_000);
    assert_eq!(script.far_acks(), [(3_000, true, Some(3_000))], "packet 11");
    script.far_ends(3_000);
    assert_eq!(script.far_acks(), [(3_001, true, None)], "packet 13");
}

#[test]
fn a_far_acknowledgement_goes_with_another_ack_or_alone_after_a_while() {
    let mut script = Script::open_to(&advanced(60_000), true);
    script.far_sends(0, 1_000);
    script.far_sends(1_000, 1_000);
    assert_eq!(script.far_acks().len(), 2);
    script.mobile_acks(1_000);
    assert_eq!(script.far_acks(), [], "it waits");
    script.far_sends(2_000, 1_000);
    assert_eq!(
        script.far_acks(),
        [(3_000, true, Some(1_000))],
        "with another"
    );
    script.mobile_acks(2_000);
    script.wait(7);
    assert_eq!(script.far_acks(), []);
    script.wait(3);
    assert_eq!(script.far_acks(), [(3_000, true, Some(2_000))], "alone");
    script.mobile_acks(2_000);
    script.wait(50);
    assert_eq!(script.far_acks(), [], "a duplicate ACK is no news");
}

#[test]
fn a_question_is_answered_by_the_far_acknowledgement() {
    let mut script = Script::open_to(&advanced(60_000), true);
    script.far_sends(0, 1_000);
    script.mobile_acks(1_000);
    assert_eq!(script.far_acks().last(), Some(&(1_000, true, Some(1_000))));
    script.far_asks(1_000);
    assert_eq!(script.far_acks(), [(1_000, true, Some(1_000))]);
}

#[test]
fn a_far_host_without_the_option_gets_es_tcp() {
    let mut script = Script::open(&advanced(60_000));
    script.far_sends(0, 1_000);
    assert_eq!(script.far_acks(), [(998, true, None)]);
    script.mobile_acks(1_000);
    assert_eq!(script.far_acks(), [(1_000, true, None)]);
}

/// A far host that runs our TCP, and has sent 3000 bytes, which a host in the middle has acknowledged.
struct Far {
    socket: Connection,
    now: Instant,
    /// Next sequence number of the host in the middle.
    seq: u32,
}

const ISS: u32 = 70_000;

impl Far {
    fn new() -> Self {
        let config = TcpConfig {
            mss: 1_000,
            ..Tcp {
                timestamps: false,
                ..Tcp::default()
            }
            .into()
        };
        let draws = RngStream::new(1, Purpose::CongestionControl, 0);
        let built = reno::INFO.build(&Settings::new()).unwrap();
        let congestion = CongestionState::new(Window::new(1_000, 10, draws), built);
        let mut socket = Connection::new(config, congestion, ISS, 0);
        socket.accept_far_acks(253);
        socket.listen();
        let mut far = Self {
            socket,
            now: Instant::ZERO,
            seq: 5_001,
        };
        let offer = Some(FarAck {
            kind: 253,
            number: 1,
        });
        far.hears(Segment {
            seq: 5_000,
            flags: Flags::SYN,
            mss: Some(1_000),
            far_ack: offer,
            ..Segment::default()
        });
        let answer = far.says();
        assert_eq!(
            answer[0].far_ack,
            Some(FarAck {
                kind: 253,
                number: 0
            })
        );
        far.acks(0, None);
        assert_eq!(far.socket.state(), State::Established);
        far.socket.write(far.now, 3_000);
        assert_eq!(far.says().len(), 3);
        far.wait(50);
        far.acks(3_000, None);
        far
    }

    fn hears(&mut self, segment: Segment) {
        let segment = Segment {
            window: 60_000,
            ..segment
        };
        self.socket.on_segment(self.now, &segment);
    }

    fn acks(&mut self, bytes: u32, far: Option<u32>) {
        let number = |bytes: u32| ISS + 1 + bytes;
        self.hears(Segment {
            seq: self.seq,
            ack: number(bytes),
            flags: Flags::ACK,
            far_ack: far.map(|far| FarAck {
                kind: 253,
                number: number(far),
            }),
            ..Segment::default()
        });
    }

    fn says(&mut self) -> Vec<Segment> {
        core::iter::from_fn(|| self.socket.poll_transmit()).collect()
    }

    fn wait(&mut self, milliseconds: u64) {
        let end = self.now + Duration::from_millis(milliseconds);
        while self.socket.deadline() <= end {
            self.now = self.socket.deadline();
            self.socket.on_deadline(self.now);
        }
        self.now = end;
    }
}

/// Figure 42: the window has moved on, the data is kept (transmit category 5).
#[test]
fn the_far_host_keeps_its_data_until_the_mobile_host_has_it() {
    let mut far = Far::new();
    let kept = |far: &Far| far.socket.info(far.now).unacknowledged;
    assert_eq!(
        (far.socket.acknowledged(), far.socket.delivered()),
        (3_000, 0)
    );
    assert_eq!(kept(&far), 3_000);
    far.acks(3_000, Some(2_000));
    assert_eq!((far.socket.delivered(), kept(&far)), (2_000, 1_000));
    far.acks(3_000, Some(1_000));
    assert_eq!(
        far.socket.delivered(),
        2_000,
        "an older one changes nothing"
    );
    far.acks(3_000, Some(9_000));
    assert_eq!(
        far.socket.delivered(),
        2_000,
        "nor one of data that was never sent"
    );
    far.acks(3_000, Some(3_000));
    assert_eq!((far.socket.delivered(), kept(&far)), (3_000, 0));
}

/// Section 5.5.1: an ACK is a duplicate only if both numbers repeat.
#[test]
fn far_acknowledgements_are_no_duplicate_acks() {
    let mut far = Far::new();
    far.socket.write(far.now, 5_000);
    assert_eq!(far.says().len(), 5);
    for bytes in [500, 1_000, 1_500, 2_000, 2_500] {
        far.acks(3_000, Some(bytes));
    }
    assert_eq!(far.says(), []);
}

/// The last far acknowledgement may be lost: the far host asks, ever less often.
#[test]
fn the_far_host_asks_for_what_it_has_not_heard() {
    let mut far = Far::new();
    far.acks(3_000, Some(2_000));
    far.wait(900);
    let questions = far.says();
    assert_eq!(questions.len(), 2, "after one time-out, and after two more");
    for question in questions {
        assert_eq!((question.seq, question.len), (ISS + 3_000, 0));
    }
    far.acks(3_000, Some(3_000));
    far.wait(60_000);
    assert_eq!(far.says(), []);
}

/// A far host that ends last is not closed before the mobile host has everything.
#[test]
fn the_last_end_waits_for_the_far_acknowledgement() {
    let mut far = Far::new();
    far.hears(Segment {
        seq: 5_001,
        ack: ISS + 3_001,
        flags: Flags::ACK | Flags::FIN,
        ..Segment::default()
    });
    far.seq += 1;
    far.socket.close(far.now);
    far.acks(3_001, None);
    assert_eq!(far.socket.state(), State::LastAck);
    far.acks(3_001, Some(3_000));
    assert_eq!(far.socket.state(), State::Closed);
}

//! Sessions under an engine that takes and delivers bytes in any order and in pieces of any size.

use proptest::prelude::*;
use units::{Duration, Instant};
use workload::{Action, Application, Command, End, Sessions};

/// An application that says its lines, one list of commands per wake, and records the bytes of its notifications.
struct Script {
    lines: Vec<Vec<Command>>,
    arrivals: Arrivals,
}

/// Bytes that have arrived at client and server, and how often connections were completed.
type Arrivals = std::sync::Arc<std::sync::Mutex<([u64; 2], u32)>>;

impl Application for Script {
    fn on_wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        if !self.lines.is_empty() {
            out.extend(self.lines.remove(0));
            out.push(Command::WakeAt(now + Duration::from_millis(1)));
        }
    }

    fn on_received(&mut self, _: Instant, end: End, bytes: u64, _: &mut Vec<Command>) {
        self.arrivals.lock().expect("one thread").0[end.index()] += bytes;
    }

    fn on_completed(&mut self, _: Instant, _: &mut Vec<Command>) {
        self.arrivals.lock().expect("one thread").1 += 1;
    }
}

/// An engine with one connection, which has taken and delivered these bytes, by the end that writes.
struct TestEngine {
    sessions: Sessions,
    taken: [u64; 2],
    delivered: [u64; 2],
    closed: [bool; 2],
    completed: bool,
    now: Instant,
}

impl TestEngine {
    fn new(lines: Vec<Vec<Command>>) -> (Self, Arrivals) {
        let arrivals = Arrivals::default();
        let mut sessions = Sessions::default();
        let script = Script {
            lines,
            arrivals: Arrivals::clone(&arrivals),
        };
        sessions.add(0, End::Client, Instant::ZERO, Box::new(script));
        let engine = Self {
            sessions,
            taken: [0; 2],
            delivered: [0; 2],
            closed: [false; 2],
            completed: false,
            now: Instant::ZERO,
        };
        (engine, arrivals)
    }

    fn carry_out(&mut self) {
        while let Some(action) = self.sessions.next_action() {
            match action {
                Action::Open { connection, .. } => assert_eq!(connection, 0),
                Action::Complete { .. } => {
                    assert!(!self.completed, "completed twice");
                    assert_eq!(self.taken, self.delivered, "completed early");
                    self.completed = true;
                }
                Action::Close { end, .. } => self.closed[end.index()] = true,
                Action::Read { .. }
                | Action::Write { .. }
                | Action::Finish { .. }
                | Action::ReadMore { .. }
                | Action::Abandon { .. }
                | Action::Record { .. } => {}
            }
        }
    }

    fn wake(&mut self) {
        if self.sessions.next_at() < Instant::NEVER {
            self.now = self.now.max(self.sessions.next_at());
            self.sessions.wake(self.now);
        }
        self.carry_out();
    }

    /// The connection takes up to `most` bytes at an end.
    fn take(&mut self, end: End, most: u64) {
        let bytes = self.sessions.next_write_bytes(0, end).min(most);
        if bytes > 0 {
            self.taken[end.index()] += bytes;
            self.sessions.on_accepted(Some(self.now), 0, end, bytes);
        }
        self.carry_out();
    }

    /// Up to `most` of the bytes that an end has written arrive at the other.
    fn deliver(&mut self, end: End, most: u64) {
        let way = end.index();
        let bytes = (self.taken[way] - self.delivered[way]).min(most);
        self.delivered[way] += bytes;
        let (now, total) = (self.now, self.delivered[way]);
        let fresh = self.sessions.on_received(now, 0, end.other(), total);
        assert_eq!(fresh, bytes);
        self.carry_out();
    }
}

fn end() -> impl Strategy<Value = End> {
    prop_oneof![Just(End::Client), Just(End::Server)]
}

proptest! {
    #[test]
    fn bytes_are_conserved_whatever_the_order_of_events(
        messages in prop::collection::vec((end(), 1_u64..10_000), 1..8),
        closing in end(),
        connects_after in 0_usize..20,
        events in prop::collection::vec((0_u8..3, end(), 1_u64..5_000), 0..60),
    ) {
        let mut lines = vec![vec![Command::Open]];
        lines.extend(messages.iter().map(|&(end, bytes)| vec![Command::Send(end, bytes)]));
        lines.push(vec![Command::Close(closing)]);
        let (mut engine, arrivals) = TestEngine::new(lines);
        engine.wake();
        for (number, (kind, end, bytes)) in events.into_iter().enumerate() {
            if number == connects_after {
                engine.sessions.on_established(0);
            }
            match kind {
                0 => engine.wake(),
                1 if number >= connects_after => engine.take(end, bytes),
                2 => engine.deliver(end, bytes),
                _ => {}
            }
        }
        engine.sessions.on_established(0);
        while engine.sessions.next_at() < Instant::NEVER {
            engine.wake();
        }
        for end in [End::Client, End::Server] {
            while engine.sessions.next_write_bytes(0, end) > 0 {
                engine.take(end, u64::MAX);
            }
            engine.deliver(end, u64::MAX);
        }
        let sent = |from: End| -> u64 {
            let of_end = messages.iter().filter(|(end, _)| *end == from);
            of_end.map(|(_, bytes)| bytes).sum()
        };
        let (arrived, completed) = *arrivals.lock().expect("one thread");
        prop_assert_eq!(engine.taken, [sent(End::Client), sent(End::Server)]);
        prop_assert_eq!(arrived, [sent(End::Server), sent(End::Client)]);
        prop_assert_eq!(completed, 1);
        prop_assert!(engine.closed[closing.index()] && !engine.closed[closing.other().index()]);
        engine.sessions.on_fin(engine.now, 0, closing.other());
        engine.carry_out();
        prop_assert_eq!(engine.closed, [true; 2]);
    }
}

/// Each message is a write of its own, also where several wait: Nagle's algorithm depends on it.
#[test]
fn messages_that_wait_are_written_one_by_one() {
    let send = |bytes| Command::Send(End::Server, bytes);
    let (mut engine, arrivals) =
        TestEngine::new(vec![vec![Command::Open, send(100), send(250), send(7)]]);
    engine.wake();
    engine.sessions.on_established(0);
    let mut writes = Vec::new();
    for most in [60, 1_000, 1_000, 3, 1_000] {
        writes.push(engine.sessions.next_write_bytes(0, End::Server).min(most));
        engine.take(End::Server, most);
    }
    assert_eq!(writes, [60, 40, 250, 3, 4]);
    engine.deliver(End::Server, 1_000);
    assert_eq!(
        arrivals.lock().expect("one thread").0[End::Client.index()],
        357
    );
}

#[test]
fn bytes_that_were_withdrawn_are_not_missed() {
    let (mut engine, arrivals) = TestEngine::new(vec![
        vec![Command::Open, Command::Send(End::Server, 9_000)],
        vec![
            Command::CancelUnsent(End::Server),
            Command::Close(End::Server),
        ],
    ]);
    engine.wake();
    engine.sessions.on_established(0);
    engine.take(End::Server, 4_000);
    engine.wake();
    assert_eq!(engine.sessions.next_write_bytes(0, End::Server), 0);
    assert!(!engine.completed);
    engine.deliver(End::Server, 4_000);
    assert!(engine.completed);
    // It was no whole message.
    assert_eq!(*arrivals.lock().expect("one thread"), ([0, 0], 1));
}

#[test]
fn an_engine_that_waits_for_the_end_of_a_stream_is_told_when_to_end_it() {
    let (mut engine, _) = TestEngine::new(vec![
        vec![Command::Open, Command::Stream(End::Client, 5_000)],
        vec![Command::Close(End::Client)],
    ]);
    let next = |sessions: &mut Sessions| {
        core::iter::from_fn(|| sessions.next_action())
            .map(|action| format!("{action:?}"))
            .collect::<String>()
    };
    engine.sessions.wake(Instant::ZERO);
    assert!(next(&mut engine.sessions).contains("end: Server, bytes: None"));
    engine
        .sessions
        .wake(Instant::ZERO + Duration::from_millis(1));
    engine.sessions.on_established(0);
    assert!(!next(&mut engine.sessions).contains("Finish"));
    engine
        .sessions
        .on_accepted(Some(engine.now), 0, End::Client, 5_000);
    assert!(next(&mut engine.sessions).contains("Finish"));
    engine.sessions.on_fin(engine.now, 0, End::Server);
    let steps = next(&mut engine.sessions);
    assert!(
        steps.starts_with("Complete")
            && steps.contains("end: Client")
            && steps.contains("end: Server")
    );
}

//! Pipe between two connections: a rate, a delay each way, a queue, and scripted losses.

use std::collections::VecDeque;

use cca::{BuiltCca, CaState, CongestionState};
use tcp::{Connection, Ecn, Flags, Segment, Tcp, TcpConfig, WindowScale};
use units::random::{Purpose, RngStream};
use units::{Bytes, Duration, Instant, Rate};

/// Record of a data segment on the wire.
#[derive(Clone, Copy, Debug)]
pub struct Sighting {
    pub at: Instant,
    /// Offset of the first payload byte in the stream.
    pub offset: u64,
    pub len: u32,
    /// Whether the same bytes were seen before.
    pub repeated: bool,
    pub flags: Flags,
    /// ECN field when the segment left the sender.
    pub ecn: Ecn,
}

/// Returns whether the n-th data segment, sent at that time, is dropped.
pub type DropData = Box<dyn FnMut(u64, &Segment, Instant) -> bool>;

/// Server that sends to a client.
pub struct Pipe {
    pub now: Instant,
    pub server: Connection,
    pub client: Connection,
    pub rate: Rate,
    pub one_way: Duration,
    pub queue: Bytes,
    /// Start and end of a time in which the link stands still.
    pub stalled: (Instant, Instant),
    /// Drops the n-th data segment (from zero, counting every transmission).
    pub drop: DropData,
    /// Marks the n-th data segment if it is ECN-capable.
    pub mark: DropData,
    /// Drops the n-th segment from client to server.
    pub drop_ack: Box<dyn FnMut(u64, Instant) -> bool>,
    /// Returns the extra delay of the n-th data segment.
    pub delay: Box<dyn FnMut(u64, Instant) -> Duration>,
    pub seen: Vec<Sighting>,
    /// Whether each of `seen` carried the push flag.
    pub pushed: Vec<bool>,
    pub acks: Vec<(Instant, Segment)>,
    /// Segments without data that the server sent.
    pub empty: Vec<Instant>,
    /// Reads of a client that reads by request, in order.
    pub reads: VecDeque<(Instant, u64)>,
    /// Bytes that it has read.
    pub read: u64,
    pub windows: Vec<(Instant, u32, CaState)>,
    to_client: VecDeque<(Instant, Segment)>,
    to_server: VecDeque<(Instant, Segment)>,
    link_free: Instant,
    data_count: u64,
    ack_count: u64,
    highest: u64,
    pub backlog: u64,
    iss: u32,
}

/// Returns the memory that is good for `window` bytes of full segments: 170 of 256 bytes are payload.
pub fn memory(window: u32) -> u64 {
    u64::from(window) * 256 / 170
}

/// Returns the configuration of hosts whose receive buffer is good for `window` bytes of full segments.
pub fn buffer_for(window: u32) -> TcpConfig {
    let settings = Tcp {
        receive_buffer_max: Bytes::new(memory(window)),
        window_scale: WindowScale::Fixed(7),
        ..Tcp::default()
    };
    settings.into()
}

pub type Control = BuiltCca;

pub fn connection(config: &TcpConfig, iss: u32, control: Control) -> Connection {
    let draws = RngStream::new(1, Purpose::CongestionControl, 0);
    let window = config.initial_window(draws);
    let congestion = CongestionState::new(window, control);
    Connection::new(config.clone(), congestion, iss, 77)
}

impl Pipe {
    /// Creates a server that will send `bytes` under `cca` over 20 Mbit/s, 68 ms, one BDP of buffer.
    pub fn new(config: TcpConfig, cca: Control, client_cca: Control, bytes: u64) -> Self {
        let iss = 0xffff_f000;
        let mut server = connection(&config, iss, cca);
        let mut client = connection(&config, 5, client_cca);
        server.listen();
        client.connect(Instant::ZERO);
        Self {
            now: Instant::ZERO,
            server,
            client,
            rate: Rate::from_mbps(20.0),
            one_way: Duration::from_millis(34),
            queue: Bytes::new(170_000),
            stalled: (Instant::NEVER, Instant::NEVER),
            drop: Box::new(|_, _, _| false),
            mark: Box::new(|_, _, _| false),
            drop_ack: Box::new(|_, _| false),
            delay: Box::new(|_, _| Duration::ZERO),
            seen: Vec::new(),
            pushed: Vec::new(),
            acks: Vec::new(),
            empty: Vec::new(),
            reads: VecDeque::new(),
            read: 0,
            windows: Vec::new(),
            to_client: VecDeque::new(),
            to_server: VecDeque::new(),
            link_free: Instant::ZERO,
            data_count: 0,
            ack_count: 0,
            highest: 0,
            backlog: bytes,
            iss,
        }
    }

    /// Runs until `end` of virtual time, or until no event is left.
    pub fn run(&mut self, end: Duration) {
        let end = Instant::ZERO + end;
        self.pump();
        loop {
            let arrivals = [&self.to_client, &self.to_server]
                .map(|queue| queue.front().map_or(Instant::NEVER, |(at, _)| *at));
            let read_at = self.reads.front().map_or(Instant::NEVER, |(at, _)| *at);
            let next = arrivals[0]
                .min(arrivals[1])
                .min(read_at)
                .min(self.server.deadline())
                .min(self.client.deadline());
            if next > end || next == Instant::NEVER {
                self.now = end;
                return;
            }
            self.now = self.now.max(next);
            if arrivals[0] <= self.now {
                let (_, segment) = self.to_client.pop_front().unwrap();
                self.client.on_segment(self.now, &segment);
            } else if arrivals[1] <= self.now {
                let (_, segment) = self.to_server.pop_front().unwrap();
                self.acks.push((self.now, segment));
                self.server.on_segment(self.now, &segment);
                let info = self.server.view();
                self.windows.push((self.now, info.cwnd, info.ca_state));
            } else if read_at <= self.now {
                let (_, bytes) = self.reads.pop_front().unwrap();
                self.read += self.client.read(self.now, bytes);
            } else if self.server.deadline() <= self.now {
                self.server.on_deadline(self.now);
            } else {
                self.client.on_deadline(self.now);
            }
            self.pump();
        }
    }

    fn pump(&mut self) {
        if self.backlog > 0 && !self.server.nospace() {
            self.backlog -= self.server.write(self.now, self.backlog);
        }
        while let Some(segment) = self.server.poll_transmit() {
            self.send_to_client(segment);
        }
        while let Some(segment) = self.client.poll_transmit() {
            let dropped = (self.drop_ack)(self.ack_count, self.now);
            self.ack_count += 1;
            if !dropped {
                self.to_server.push_back((self.now + self.one_way, segment));
            }
        }
    }

    fn send_to_client(&mut self, mut segment: Segment) {
        let size = Bytes::new(u64::from(segment.ip_len()));
        let mut dropped = false;
        let mut extra = Duration::ZERO;
        if segment.len > 0 {
            dropped = (self.drop)(self.data_count, &segment, self.now);
            extra = (self.delay)(self.data_count, self.now);
            self.data_count += 1;
        }
        if segment.len == 0 && !segment.flags.contains(Flags::SYN) {
            self.empty.push(self.now);
        }
        if self.now >= self.stalled.0 && self.now < self.stalled.1 {
            self.link_free = self.link_free.max(self.stalled.1);
        }
        let waiting = self.link_free.saturating_since(self.now);
        let left_with = segment.ecn;
        if segment.len > 0
            && segment.ecn != Ecn::NotEct
            && (self.mark)(self.data_count - 1, &segment, self.now)
        {
            segment.ecn = Ecn::Ce;
        }
        if self.rate.bytes_in(waiting).get() + size.get() > self.queue.get() {
            dropped = true;
        }
        if segment.len > 0 {
            let offset = u64::from(segment.seq.wrapping_sub(self.iss.wrapping_add(1)));
            let end = offset + u64::from(segment.len);
            let repeated = end <= self.highest;
            self.highest = self.highest.max(end);
            self.pushed.push(segment.flags.contains(Flags::PSH));
            self.seen.push(Sighting {
                at: self.now,
                offset,
                len: segment.len,
                repeated,
                flags: segment.flags,
                ecn: left_with,
            });
        }
        if dropped {
            return;
        }
        self.link_free = self.now.max(self.link_free) + self.rate.time_to_send(size);
        let arrival = self.link_free + self.one_way + extra;
        let at = self.to_client.partition_point(|(time, _)| *time <= arrival);
        self.to_client.insert(at, (arrival, segment));
    }

    /// Returns the number of repeated transmissions of the same bytes.
    pub fn repeats(&self) -> usize {
        self.seen.iter().filter(|s| s.repeated).count()
    }
}

//! Split host: a middlebox with two connections for each that passes.
//!
//! A SYN is forwarded to the acceptor in the name of the opener. When the acceptor has answered, the split host answers
//! the opener, with the acceptor's initial sequence number. So both legs have the same sequence numbers; everything
//! else is negotiated for each leg: MSS, window scale, timestamps, SACK and ECN.

mod flow;
mod stream;

use std::sync::Arc;

use cca::{BuiltCca, CongestionState, SenderInfo};
use net::{Actions, ConnectionState, HostId, LinkChange, LinkSubscription, Node, Packet};
use tcp::{Connection, Flags, Segment, TcpConfig};
use units::Instant;
use units::random::{Purpose, RngStream};

use crate::Middlebox;
use crate::connections::{ConnectionTimers, state_of};
use crate::policies::policy;
use flow::{ACCEPTOR, Flow, OPENER};
use stream::Stream;

/// First entity of the random streams of split hosts; lower ones belong to the ends of connections.
const FIRST_ENTITY: u32 = 1 << 31;

/// Settings and CCAs that a split host takes over from the run.
#[derive(Clone)]
pub struct RunDefaults {
    /// Settings of TCP, as on all hosts.
    pub tcp: TcpConfig,
    /// Returns the CCA for a connection between these hosts, in either order.
    pub cca: Arc<dyn Fn(HostId, HostId) -> BuiltCca + Send + Sync>,
    /// Seed of the run.
    pub seed: u64,
}

/// State of a connection at the split host.
#[derive(Default)]
enum Entry {
    /// It is not tracked: its packets pass unchanged.
    #[default]
    Unknown,
    /// It passes unsplit, because there was no memory.
    Bypassed,
    /// It is split.
    Split(Box<Flow>),
    /// It was split and has ended: further segments are answered by a reset.
    Closed,
}

/// Middlebox that splits connections.
pub struct SplitHost {
    settings: Middlebox,
    defaults: RunDefaults,
    /// By the number of the connection.
    entries: Vec<Entry>,
    timers: ConnectionTimers,
    /// Memory that is reserved for buffers, bytes.
    memory: u64,
}

impl SplitHost {
    /// Creates a split host with these settings.
    pub fn new(settings: &Middlebox, defaults: RunDefaults) -> Self {
        Self {
            settings: settings.clone(),
            defaults,
            entries: Vec::new(),
            timers: ConnectionTimers::new(),
            memory: 0,
        }
    }

    /// Returns a closed connection for one leg: the split host sends in the name of one of the `hosts`, whose ISS is `iss`.
    fn connection(&self, flow: u32, leg: usize, hosts: [HostId; 2], iss: u32) -> Connection {
        let RunDefaults { tcp, cca, seed } = &self.defaults;
        let mut config = tcp.clone();
        // The window of the handshake is offered before the stream limits it.
        let (cap, buffer) = (config.settings.receive_window_max, self.settings.buffer);
        config.settings.receive_window_max = Some(cap.map_or(buffer, |cap| cap.min(buffer)));
        // Data is forwarded as it arrives.
        config.nagle = false;
        let entity = FIRST_ENTITY + 2 * flow + leg as u32;
        let rng = RngStream::new(*seed, Purpose::CongestionControl, entity);
        let window = config.initial_window(rng);
        let congestion = CongestionState::new(window, cca(hosts[0], hosts[1]));
        let clock = RngStream::new(*seed, Purpose::InitialSequence, entity).at(0) as u32;
        let mut connection = Connection::new(config, congestion, iss, clock);
        connection.set_send_buffer(u64::MAX >> 1);
        if let Some(kind) = self.settings.far_ack_kind() {
            connection.send_far_acks(kind);
        }
        connection
    }

    fn stream(&self, iss: u32) -> Stream {
        Stream::new(self.settings.buffer.get(), iss, policy(&self.settings))
    }

    /// Processes the SYN of a new connection.
    fn open(&mut self, now: Instant, packet: &Packet, request: Segment) -> Entry {
        let buffers = 2 * self.settings.buffer.get();
        if self.memory + buffers > self.settings.memory.get() {
            return Entry::Bypassed;
        }
        self.memory += buffers;
        let hosts = [packet.source, packet.destination];
        // The leg to the opener is replaced when the initial sequence number of the acceptor is known.
        let legs =
            [OPENER, ACCEPTOR].map(|leg| self.connection(packet.flow, leg, hosts, request.seq));
        let streams = [self.stream(request.seq), self.stream(0)];
        let idle = self.settings.idle_timeout;
        let flow = Flow::new(now, hosts, legs, streams, request, idle);
        Entry::Split(Box::new(flow))
    }

    /// Handles a packet of a split connection.
    fn relay(
        &mut self,
        flow: &mut Flow,
        packet: &Packet,
        segment: &Segment,
        actions: &mut Actions<'_>,
    ) {
        let now = actions.now();
        let leg = flow.leg_to(packet.source);
        if flow.is_connecting() {
            if leg == OPENER {
                flow.on_early_segment(now, segment);
            } else {
                let hosts = flow.hosts;
                flow.on_answer(now, segment, |iss| {
                    let connection = self.connection(packet.flow, OPENER, hosts, iss);
                    (connection, self.stream(iss))
                });
            }
            return;
        }
        let payload = (segment.len > 0)
            .then(|| actions.payload(packet.id))
            .flatten();
        flow.on_segment(now, leg, segment, packet.sent_at, payload);
    }

    /// Sends the segments that the legs have ready, sets the timer of the flow, and stores the flow unless it has ended.
    fn flush(&mut self, number: u32, mut flow: Box<Flow>, actions: &mut Actions<'_>) {
        let now = actions.now();
        let hosts = flow.hosts;
        let packet = |leg: usize, segment: Segment, sent_at| Packet {
            id: 0,
            flow: number,
            source: hosts[1 - leg],
            destination: hosts[leg],
            size: segment.ip_len(),
            payload: segment.into(),
            sent_at,
        };
        for leg in [OPENER, ACCEPTOR] {
            while let Some(segment) = flow.legs[leg].poll_transmit() {
                let data = if segment.len > 0 {
                    flow.streams[1 - leg].look_up(&segment)
                } else {
                    None
                };
                let (sent_at, payload) = data.unwrap_or((now, None));
                actions.create(packet(leg, segment, sent_at), payload);
            }
        }
        for (leg, reply) in flow.replies.drain(..) {
            actions.create(packet(leg, reply, now), None);
        }
        if flow.has_memory && flow.is_drained() {
            flow.has_memory = false;
            self.memory -= 2 * self.settings.buffer.get();
        }
        let (deadline, entry) = if flow.is_closed() {
            (Instant::NEVER, Entry::Closed)
        } else {
            (flow.deadline(), Entry::Split(flow))
        };
        self.timers.set(number, deadline);
        self.entries[number as usize] = entry;
    }
}

/// Answers a packet by a reset in the name of the host that it is addressed to.
fn reject(packet: &Packet, segment: &Segment, actions: &mut Actions<'_>) {
    if let Some(segment) = tcp::reset_reply(segment) {
        let reply = Packet {
            source: packet.destination,
            destination: packet.source,
            size: segment.ip_len(),
            payload: segment.into(),
            sent_at: actions.now(),
            ..*packet
        };
        actions.create(reply, None);
    }
}

impl Node for SplitHost {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        let Some(segment) = packet.segment() else {
            actions.forward(packet.id);
            return;
        };
        let index = packet.flow as usize;
        let entry = core::mem::take(state_of(&mut self.entries, packet.flow));
        let is_syn = segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK);
        let (entry, is_new) = match entry {
            Entry::Unknown if is_syn => (self.open(actions.now(), packet, *segment), true),
            entry => (entry, false),
        };
        match entry {
            Entry::Split(mut flow) => {
                if !is_new {
                    self.relay(&mut flow, packet, segment, actions);
                }
                actions.absorb(packet.id);
                self.flush(packet.flow, flow, actions);
                actions.call_at(self.timers.earliest());
            }
            Entry::Closed => {
                actions.absorb(packet.id);
                self.entries[index] = Entry::Closed;
                reject(packet, segment, actions);
            }
            Entry::Unknown | Entry::Bypassed => {
                actions.forward(packet.id);
                self.entries[index] = entry;
            }
        }
    }

    fn on_call(&mut self, actions: &mut Actions<'_>) {
        while let Some(number) = self.timers.due(actions.now()) {
            let entry = core::mem::take(&mut self.entries[number as usize]);
            if let Entry::Split(mut flow) = entry {
                flow.on_deadline(actions.now());
                self.flush(number, flow, actions);
            }
        }
        actions.call_at(self.timers.earliest());
    }

    fn link_subscription(&self) -> Option<LinkSubscription> {
        self.settings.link_subscription()
    }

    fn on_link(&mut self, to: HostId, change: LinkChange, actions: &mut Actions<'_>) {
        for number in 0..self.entries.len() {
            match core::mem::take(&mut self.entries[number]) {
                Entry::Split(mut flow) if flow.hosts.contains(&to) => {
                    flow.on_link(actions.now(), to, change);
                    self.flush(number as u32, flow, actions);
                }
                entry => self.entries[number] = entry,
            }
        }
        actions.call_at(self.timers.earliest());
    }

    fn for_each_connection(&self, show: &mut dyn FnMut(&ConnectionState)) {
        for (number, entry) in (0..).zip(&self.entries) {
            match entry {
                Entry::Split(flow) => {
                    let view = |leg: usize| -> SenderInfo { flow.legs[leg].view() };
                    show(&ConnectionState {
                        flow: number,
                        hosts: flow.hosts,
                        legs: Some([view(OPENER), view(ACCEPTOR)]),
                        is_over: flow.is_drained(),
                        buffered: [OPENER, ACCEPTOR].map(|leg| flow.streams[leg].buffered()),
                    });
                }
                Entry::Bypassed => show(&ConnectionState {
                    flow: number,
                    hosts: [HostId::default(); 2],
                    legs: None,
                    is_over: false,
                    buffered: [0, 0],
                }),
                Entry::Unknown | Entry::Closed => {}
            }
        }
    }
}

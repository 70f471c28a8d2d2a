//! Load of machines on grants and the control channel (kim2016-thesis section 3.4): many users with one small TCP session
//! each, over a channel without errors.

use std::collections::VecDeque;

use radio::mac::pdcch::{Aggregation, ControlRegion, Pdcch};
use radio::mac::uplink::{
    BsrReporter, GRANT_TO_TRANSMISSION, GrantAccount, GrantProtocol, RequestConfig, Signal, Timers,
};
use radio::phy::lte::{Bandwidth, Overhead};
use radio::settings::Technology;

use super::session::Packet;

/// Subframes that an eNB or a UE needs to act on what it has received.
const PROCESSING: u64 = 4;

/// Load and the cell that carries it.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Users, whose sessions start together.
    pub users: u16,
    /// Sessions of each user, one after another.
    pub sessions: u32,
    /// GrantProtocol that decides when buffers are reported.
    pub protocol: GrantProtocol,
    /// Whether the enhancement of the thesis is used.
    pub enhanced: bool,
    /// BSR timers.
    pub timers: Timers,
    /// Scheduling requests; offsets are spread over the users.
    pub request: RequestConfig,
    /// Control channel elements of the cell.
    pub elements: u32,
    /// Elements of each message.
    pub aggregation: Aggregation,
    /// Bytes of the shared uplink channel in a subframe.
    pub uplink_bytes: u64,
    /// Longest grant, in bytes.
    pub longest_grant: u64,
    /// Shortest grant, in bytes: what a resource block holds. A report has to fit.
    pub shortest_grant: u64,
    /// Grant that answers a scheduling request, in bytes.
    pub request_grant: u64,
    /// Subframes from a random access to the grant it brings.
    pub random_access: u64,
    /// Subframes between cell and server, one way.
    pub wire: u64,
    /// Subframes a user takes to make its response.
    pub thinking: u64,
}

impl Load {
    /// Returns a 10 MHz cell with three control symbols, messages of four elements, and 10 ms to the server.
    pub fn new(users: u16, protocol: GrantProtocol, enhanced: bool, timers: Timers) -> Self {
        let ten_mhz = Bandwidth::from_prbs(50).expect("a carrier of table 5.6-1");
        let control = Overhead::new(3, 2).expect("three symbols and two ports");
        Self {
            users,
            sessions: 1,
            protocol,
            enhanced,
            timers,
            request: RequestConfig {
                period: 10,
                offset: 0,
                prohibit: 0,
                max_transmissions: 64,
            },
            elements: control.control_channel_elements(ten_mhz),
            aggregation: Aggregation::Four,
            uplink_bytes: 2_000,
            longest_grant: 500,
            shortest_grant: 20,
            request_grant: 40,
            random_access: 15,
            wire: 10,
            thinking: 2,
        }
    }
}

/// Results of a run. Times are in subframes.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Time from a request leaving the server to the response reaching it, for each session.
    pub response_times: Vec<u64>,
    /// Time from a packet entering a user's buffer to its last byte reaching the eNB.
    pub uplink_delays: Vec<u64>,
    /// Share of the control channel taken, for each subframe.
    pub utilisation: Vec<f64>,
    /// Subframes in which a message found no place.
    pub full_subframes: u64,
    /// Buffer status reports sent.
    pub reports: u64,
    /// Sessions finished.
    pub finished: u64,
}

impl Outcome {
    /// Returns the value below which a share `q` (0 to 1) of `times` lies; `None` if there are no times.
    pub fn quantile(times: &[u64], q: f64) -> Option<u64> {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        let last = sorted.len().checked_sub(1)?;
        sorted.get((q * last as f64) as usize).copied()
    }
}

#[derive(Clone, Copy, Debug)]
enum Event {
    /// A packet reaches the eNB from the server.
    AtCell(Packet),
    /// A packet reaches the user.
    AtUser(Packet),
    /// A packet enters the user's buffer.
    InBuffer(Packet),
    /// A packet reaches the server.
    AtServer(Packet),
    /// A transmission of this size reaches the eNB.
    Received(u64),
    /// The eNB acts on a report sent in that subframe.
    Report { sent: u64, bytes: u64 },
    /// The eNB acts on a scheduling request or random access.
    Request,
}

#[derive(Clone, Debug)]
struct User {
    ue: BsrReporter,
    ledger: GrantAccount,
    /// Packets in the buffer: bytes missing at the eNB, and when they came.
    uplink: VecDeque<(Packet, u64, u64)>,
    downlink: VecDeque<Packet>,
    /// Events to come, by subframe.
    events: Vec<(u64, Event)>,
    requested: u64,
    sessions: u32,
}

/// Runs the load until all sessions have finished or `subframes` have passed.
pub fn run(load: &Load, subframes: u64) -> Outcome {
    let mut outcome = Outcome::default();
    let mut pdcch = Pdcch::new(ControlRegion::lte(load.elements));
    let mut users: Vec<User> = (0..load.users)
        .map(|index| User::new(load, index))
        .collect();
    let all = u64::from(load.users) * u64::from(load.sessions);
    let mut first = 0;
    for now in 1..=subframes {
        if outcome.finished == all {
            break;
        }
        pdcch.start(now);
        for user in &mut users {
            user.signals(load, now, &mut outcome);
            user.events(load, now, &mut outcome);
        }
        let mut uplink_room = load.uplink_bytes;
        let count = users.len();
        let mut blocked = None;
        for turn in 0..count {
            let index = (first + turn) % count;
            let rnti = index as u16 + 1;
            let user = &mut users[index];
            let served = user.serve(load, now, rnti, &mut pdcch, &mut uplink_room, &mut outcome);
            if !served && blocked.is_none() {
                blocked = Some(index);
            }
        }
        // The first user that found no place goes first next time.
        first = blocked.unwrap_or((first + 1) % count.max(1));
        let (elements, occupied) = pdcch.elements();
        outcome
            .utilisation
            .push(f64::from(occupied) / f64::from(elements));
        outcome.full_subframes += u64::from(pdcch.blocked() > 0);
    }
    outcome
}

impl User {
    fn new(load: &Load, index: u16) -> Self {
        let request = RequestConfig {
            offset: u64::from(index) % load.request.period,
            ..load.request
        };
        Self {
            ue: BsrReporter::new(
                load.protocol,
                Technology::Lte,
                load.enhanced,
                load.timers,
                request,
            ),
            ledger: GrantAccount::default(),
            uplink: VecDeque::new(),
            downlink: VecDeque::new(),
            events: vec![(1, Event::AtCell(Packet::Syn))],
            requested: 0,
            sessions: 1,
        }
    }

    fn signals(&mut self, load: &Load, now: u64, outcome: &mut Outcome) {
        let Some(signal) = self.ue.poll(now) else {
            return;
        };
        let (delay, event) = match signal {
            Signal::Report(report) => {
                outcome.reports += 1;
                let bytes = report.bytes;
                (PROCESSING, Event::Report { sent: now, bytes })
            }
            Signal::Request => (PROCESSING, Event::Request),
            Signal::RandomAccess => (load.random_access, Event::Request),
        };
        self.events.push((now + delay, event));
    }

    fn events(&mut self, load: &Load, now: u64, outcome: &mut Outcome) {
        let mut index = 0;
        while let Some(&(at, event)) = self.events.get(index) {
            if at > now {
                index += 1;
            } else {
                self.events.remove(index);
                self.handle(load, now, event, outcome);
            }
        }
    }

    fn handle(&mut self, load: &Load, now: u64, event: Event, outcome: &mut Outcome) {
        match event {
            Event::AtCell(packet) => self.downlink.push_back(packet),
            Event::AtUser(packet) => {
                for &(reply, thought) in packet.replies() {
                    let delay = if thought { load.thinking } else { 0 };
                    self.events.push((now + delay, Event::InBuffer(reply)));
                }
                if packet == Packet::LastAck {
                    outcome.finished += 1;
                    if self.sessions < load.sessions {
                        self.sessions += 1;
                        self.events.push((now + 1, Event::AtCell(Packet::Syn)));
                    }
                }
            }
            Event::InBuffer(packet) => {
                self.uplink.push_back((packet, packet.bytes(), now));
                self.ue.enqueue(packet.bytes());
            }
            Event::AtServer(packet) => {
                if packet == Packet::Response {
                    outcome.response_times.push(now - self.requested);
                }
                for &(reply, _) in packet.replies() {
                    if reply == Packet::Request {
                        self.requested = now;
                    }
                    self.events.push((now + load.wire, Event::AtCell(reply)));
                }
            }
            Event::Received(bytes) => self.receive(load, now, bytes, outcome),
            Event::Report { sent, bytes } => self.ledger.report(sent, bytes),
            Event::Request => self.ledger.request(load.request_grant),
        }
    }

    fn receive(&mut self, load: &Load, now: u64, mut bytes: u64, outcome: &mut Outcome) {
        while let Some((packet, missing, since)) = self.uplink.front_mut() {
            let taken = bytes.min(*missing);
            *missing -= taken;
            bytes -= taken;
            if *missing > 0 {
                return;
            }
            outcome.uplink_delays.push(now - *since);
            self.events
                .push((now + load.wire, Event::AtServer(*packet)));
            self.uplink.pop_front();
        }
    }

    /// Sends a packet down and grants transmissions up. Returns false if there was no room for one of them.
    fn serve(
        &mut self,
        load: &Load,
        now: u64,
        rnti: u16,
        pdcch: &mut Pdcch,
        uplink_room: &mut u64,
        outcome: &mut Outcome,
    ) -> bool {
        let mut served = true;
        if let Some(&packet) = self.downlink.front() {
            served = pdcch.place(rnti, load.aggregation);
            if served {
                self.downlink.pop_front();
                self.events.push((now + PROCESSING, Event::AtUser(packet)));
            }
        }
        if self.ledger.ungranted() == 0 {
            return served;
        }
        let size = self.ledger.ungranted().min(load.longest_grant);
        let size = size.max(load.shortest_grant);
        if size > *uplink_room || !pdcch.place(rnti, load.aggregation) {
            return false;
        }
        *uplink_room -= size;
        self.ledger.grant(now + GRANT_TO_TRANSMISSION, size);
        let sent = self.ue.grant(now, size);
        self.events.push((sent.at, Event::Received(sent.data)));
        if let Some(report) = sent.report {
            outcome.reports += 1;
            let (sent, bytes) = (sent.at, report.bytes);
            self.events
                .push((sent + PROCESSING, Event::Report { sent, bytes }));
        }
        served
    }
}

//! Session: one run, with packets of the kernel on the path, messages of the guest and reports to the engine.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;

use cca::SenderInfo;
use kernel_protocol::{Job, Message, PROTOCOL, Reply, Report, write_frame};
use measurement::{Capture, CaptureFile, Engine, NewConnection, ObservedPath, Options, Recorder};
use net::{CREATED_FROM, Delivery, HostId, Kind, Packet};
use network_builder::{Plan, SERVER};
use packet::addressing;
use packet::wire::{self, IpPacket};
use scenario::Scenario;
use tcp::{Flags, SeqUnwrapper};
use units::{Duration, Instant};
use workload::End;

use crate::device_queue::DeviceQueue;
use crate::drops::Fates;
use crate::guest_job::guest_job;
use crate::payload_store::PayloadStore;
use crate::reassembly::Reassembly;
use crate::run_config::RunConfig;
use crate::senders::Senders;

/// Number of samples from which on they are reported.
const SAMPLES_AT_ONCE: usize = 4_096;
/// Reports of progress in a run.
const PROGRESS_PARTS: u64 = 200;
/// Bits of a packet's identity on the path that hold its number in the kernel.
const KERNEL_BITS: u32 = 32;
/// Numbers of packets before they begin anew, so that identities stay below [`CREATED_FROM`].
const PACKET_NUMBERS: u32 = u32::MAX >> 2;

/// Verdict on a packet, by its identity on the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// The packet has arrived at a host, with a congestion mark or without.
    Deliver {
        packet: u64,
        port: u16,
        congestion: bool,
    },
    /// The packet was lost or absorbed.
    Drop { packet: u64 },
    /// The network card of the sending host has transmitted the packet.
    Sent { packet: u64 },
}

/// The data of one connection.
#[derive(Debug, Default)]
struct TrackedConnection {
    receiver: Reassembly,
    /// Sequence numbers of its data.
    stream: SeqUnwrapper,
}

/// A run on the path.
pub(crate) struct Session {
    job: Job,
    scenario: Scenario,
    plan: Plan,
    reports: BufWriter<File>,
    /// `None` before the guest has said hello and after the end.
    path: Option<ObservedPath>,
    /// The kernel's time at time zero of the run.
    zero: Option<u64>,
    end: Instant,
    fates: Fates,
    /// Bytes of packets, where there are middleboxes that may want them.
    contents: Option<PayloadStore>,
    /// Bytes of packets that middleboxes have created, which were handed to the kernel last.
    handed_over: Vec<Vec<u8>>,
    card: DeviceQueue,
    senders: Senders,
    followed: Vec<TrackedConnection>,
    verdicts: VecDeque<Verdict>,
    deliveries: Vec<Delivery>,
    answer: Option<Reply>,
    packets: u32,
    reported: Instant,
    ended: bool,
}

impl Session {
    pub(crate) fn new(start: RunConfig) -> Self {
        let RunConfig {
            job,
            scenario,
            plan,
            reports,
        } = start;
        Self {
            end: Instant::ZERO + scenario.duration,
            fates: Fates::default(),
            contents: (!plan.middleboxes.is_empty()).then(PayloadStore::default),
            handed_over: Vec::new(),
            card: DeviceQueue::default(),
            job,
            scenario,
            plan,
            reports,
            path: None,
            zero: None,
            senders: Senders::default(),
            followed: Vec::new(),
            verdicts: VecDeque::new(),
            deliveries: Vec::new(),
            answer: None,
            packets: 0,
            reported: Instant::ZERO,
            ended: false,
        }
    }

    /// Returns the number of hosts.
    pub(crate) fn ports(&self) -> usize {
        self.plan.topology.nodes.len()
    }

    /// Converts the kernel's time to time of the run; `None` before its start.
    fn time(&self, now: u64) -> Option<Instant> {
        let since = now.checked_sub(self.zero?)?;
        Some(Instant::ZERO + Duration::from_nanos(since))
    }

    /// Returns when [`Session::advance`] is to be called, in the kernel's time.
    pub(crate) fn next(&self) -> Option<u64> {
        let zero = self.zero?;
        if !self.verdicts.is_empty() {
            return Some(zero);
        }
        let path = self.path.as_ref()?;
        let next = path
            .next_event()
            .min(path.next_slot())
            .min(self.card.next());
        (next <= self.end).then(|| zero + next.as_nanos())
    }

    /// Takes a packet of the kernel, which is `bytes` until a verdict ends it. Returns whether its card will report
    /// when it is done with it; `None` if the path does not take it.
    pub(crate) fn transmit(
        &mut self,
        now: u64,
        port: u32,
        packet: u32,
        bytes: &'static [u8],
    ) -> Option<bool> {
        let time = self.time(now)?;
        let datagram = wire::parse(bytes).ok()?;
        let source = HostId(port);
        let destination = HostId(addressing::host(*datagram.destination.ip())?);
        let known = (destination.0 as usize) < self.ports() && destination != source;
        let connection = self.connection(&datagram)?;
        let path = self.path.as_mut().filter(|_| known && time <= self.end)?;
        let on_path = Packet {
            id: u64::from(self.packets) << KERNEL_BITS | u64::from(packet),
            flow: connection,
            source,
            destination,
            size: bytes.len() as u32,
            segment: datagram.segment,
            sent_at: time,
            kind: Kind::Tcp,
        };
        if let Some(contents) = &self.contents {
            let payload = bytes.len().checked_sub(on_path.segment.len as usize)?;
            contents.add(on_path.id, &bytes[payload..]);
        }
        self.packets = self.packets.wrapping_add(1) & PACKET_NUMBERS;
        if source == SERVER {
            self.card.take(time, on_path);
            return Some(true);
        }
        path.inject(time, on_path, &mut self.fates);
        self.drain_dropped();
        Some(false)
    }

    /// Returns the connection of a packet, by the port of the end that opened it.
    fn connection(&self, datagram: &IpPacket) -> Option<u32> {
        let ports = [datagram.source.port(), datagram.destination.port()];
        let client = ports.into_iter().max()?;
        let first = addressing::client_port(0);
        let last = self.followed.len().checked_sub(1)? as u32;
        let number = u32::from(client.checked_sub(first)?);
        // Port numbers are used again after all have been; the latest connection has it then.
        let round = u32::from(u16::MAX - first) + 1;
        let rounds = last.checked_sub(number)? / round;
        Some(number + rounds * round)
    }

    /// Advances the path to the kernel's time `now`. The verdicts are then to be fetched.
    pub(crate) fn advance(&mut self, now: u64) -> io::Result<()> {
        self.handed_over.clear();
        let Some(until) = self.time(now) else {
            return Ok(());
        };
        while let Some(path) = self.path.as_mut() {
            let (event, slot, card) = (path.next_event(), path.next_slot(), self.card.next());
            let next = event.min(slot).min(card);
            if next > until.min(self.end) {
                break;
            }
            if card == next {
                while let Some(packet) = self.card.leave(next) {
                    path.inject(next, packet, &mut self.fates);
                }
                while let Some(packet) = self.card.report(next) {
                    self.verdicts.push_back(Verdict::Sent { packet });
                }
                self.drain_dropped();
            } else if event == next {
                self.run_path(next)?;
            } else {
                let senders = &self.senders;
                path.end_slot(|connection| senders.view(connection));
                self.report_progress(next)?;
            }
        }
        Ok(())
    }

    /// Returns the next verdict and, of a packet that a middlebox has created, its bytes, which stay until the path is
    /// advanced again. Packets of the kernel must stay until this verdict.
    pub(crate) fn verdict(&mut self) -> Option<(Verdict, Option<&[u8]>)> {
        let verdict = self.verdicts.pop_front()?;
        let (Verdict::Deliver { packet, .. } | Verdict::Drop { packet }) = verdict else {
            return Some((verdict, None));
        };
        let Some(contents) = &self.contents else {
            return Some((verdict, None));
        };
        if packet < CREATED_FROM {
            contents.forget(packet);
            return Some((verdict, None));
        }
        self.handed_over.push(contents.take(packet));
        Some((verdict, self.handed_over.last().map(Vec::as_slice)))
    }

    fn run_path(&mut self, now: Instant) -> io::Result<()> {
        let Some(path) = self.path.as_mut() else {
            return Ok(());
        };
        let mut deliveries = core::mem::take(&mut self.deliveries);
        path.advance(now, &mut deliveries, &mut self.fates);
        self.drain_dropped();
        for delivery in deliveries.drain(..) {
            self.arrive(now, &delivery);
        }
        self.deliveries = deliveries;
        let failure = self.contents.as_ref().and_then(PayloadStore::take_failure);
        failure.map_or(Ok(()), |reason| Err(io::Error::other(reason)))
    }

    fn arrive(&mut self, now: Instant, delivery: &Delivery) {
        let packet = &delivery.packet;
        self.card.forget(packet.id);
        self.verdicts.push_back(Verdict::Deliver {
            packet: packet.id,
            port: delivery.host.0 as u16,
            congestion: packet.segment.ecn == tcp::Ecn::Ce,
        });
        let segment = &packet.segment;
        let followed = &mut self.followed[packet.flow as usize];
        let Some(path) = self.path.as_mut() else {
            return;
        };
        if packet.source != path.recorder().sender(packet.flow) {
            return;
        }
        let seq = followed.stream.segment(segment.seq);
        if segment.flags.contains(Flags::SYN) {
            followed.receiver.begin(seq + 1);
        } else if segment.len > 0 {
            let fresh = followed.receiver.arrive(seq, segment.len);
            if fresh > 0 {
                path.recorder().delivered(now, packet.flow, fresh);
            }
        }
    }

    fn drain_dropped(&mut self) {
        for packet in self.fates.take_gone() {
            if packet < CREATED_FROM {
                self.card.forget(packet);
                self.verdicts.push_back(Verdict::Drop { packet });
            } else if let Some(contents) = &self.contents {
                contents.forget(packet);
            }
        }
    }

    fn report_progress(&mut self, now: Instant) -> io::Result<()> {
        let step = self.scenario.duration / PROGRESS_PARTS;
        if now < self.reported + step && now < self.end {
            return Ok(());
        }
        self.reported = now;
        self.report_samples(1)?;
        write_frame(&mut self.reports, &Report::Reached(now.as_nanos()))
    }

    fn report_samples(&mut self, at_least: usize) -> io::Result<()> {
        let Some(path) = self.path.as_mut() else {
            return Ok(());
        };
        if path.sample_count() < at_least {
            return Ok(());
        }
        let samples = Box::new(path.take_samples());
        write_frame(&mut self.reports, &Report::Samples(samples))
    }

    /// Handles a message of the guest.
    pub(crate) fn message(&mut self, now: u64, message: Message) -> io::Result<()> {
        let time = self.time(now).unwrap_or(Instant::ZERO);
        match message {
            Message::Hello { protocol, release } => self.hello(protocol, release)?,
            Message::Start => self.zero = Some(now),
            Message::Open { flow, cca } => self.open(time, flow as usize, cca)?,
            Message::Senders { sample, senders } => {
                for (connection, view) in senders {
                    self.update_sender(time, sample, connection, view);
                }
                self.report_samples(SAMPLES_AT_ONCE)?;
            }
            Message::Complete { connection } => {
                if let Some(path) = self.path.as_mut() {
                    let view = self.senders.view(connection);
                    path.recorder().complete(time, connection, view);
                }
            }
            Message::AppMetric {
                connection,
                name,
                value,
            } => {
                if let Some(recorder) = self.recorder() {
                    recorder.record_app_metric(time, connection, &name, value);
                }
            }
            Message::Switched {
                connection,
                to,
                how,
                cwnd,
            } => {
                if let Some(recorder) = self.recorder() {
                    recorder.switched(time, connection, &to, how, cwnd);
                }
            }
            Message::Decision(row) => {
                if let Some(recorder) = self.recorder() {
                    recorder.record_decision(row);
                }
            }
            Message::Estimated(rows) => {
                if let Some(recorder) = self.recorder() {
                    rows.into_iter().for_each(|row| recorder.estimated(row));
                }
            }
            Message::Counters {
                connection,
                loss_probes,
                recoveries,
                undone,
                timeouts,
            } => {
                if let Some(view) = self.senders.counted(connection) {
                    view.timeouts = view.timeouts.or(Some(timeouts));
                    view.loss_probes = Some(loss_probes);
                    view.fast_recoveries = Some(recoveries);
                    view.undone = Some(undone);
                }
            }
            Message::MemoryPressures(times) => {
                let path = self.path.as_mut().ok_or_else(no_run)?;
                path.memory_pressures(times);
            }
            Message::Clock => self.answer = Some(Reply::Clock(time.as_nanos())),
            Message::BottleneckState { uplink } => {
                self.answer = Some(self.bottleneck_state(uplink)?);
            }
            Message::Hints { host } => {
                let path = self.path.as_ref().ok_or_else(no_run)?;
                self.answer = Some(Reply::Hints(path.hints(time, HostId(host))));
            }
            Message::End => self.finish()?,
            Message::Fail(reason) => return Err(io::Error::other(reason)),
        }
        Ok(())
    }

    /// Returns the recorder of the tables; `None` before the guest has said hello and after the end.
    fn recorder(&mut self) -> Option<&mut Recorder> {
        self.path.as_mut().map(ObservedPath::recorder)
    }

    /// Returns the queue and the capacity of the bottleneck.
    fn bottleneck_state(&self, uplink: bool) -> io::Result<Reply> {
        let path = self.path.as_ref().ok_or_else(no_run)?;
        let (queue_bytes, capacity_bps) = path.truth(uplink);
        Ok(Reply::BottleneckState {
            queue_bytes,
            capacity_bps,
        })
    }

    /// Returns the bytes of the answer to the last message, if it has one.
    pub(crate) fn take_answer(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.answer
            .take()
            .map(|answer| kernel_protocol::encode(&answer))
            .transpose()
    }

    fn hello(&mut self, protocol: u32, release: String) -> io::Result<()> {
        if protocol != PROTOCOL {
            return Err(io::Error::other(format!(
                "protocol mismatch: guest {protocol}, engine {PROTOCOL}; rebuild"
            )));
        }
        let pcap = self.job.pcap.as_ref().map(|file| {
            let created = CaptureFile::create(Path::new(file));
            created.map(|out| Box::new(out) as Capture)
        });
        let options = Options {
            check: self.job.check,
            pcap: pcap.transpose()?,
            pcap_at: self.job.pcap_at.clone(),
        };
        let engine = Engine::Kernel { version: release };
        let path = ObservedPath::new(&self.scenario, &self.plan, self.job.seed, engine, options);
        let mut path = path.map_err(io::Error::other)?;
        if let Some(contents) = &self.contents {
            path.set_contents(Box::new(contents.clone()));
        }
        self.path = Some(path);
        let job = guest_job(&self.scenario.expand_flows(), &self.plan, &self.job)?;
        self.answer = Some(Reply::Job(Box::new(job)));
        Ok(())
    }

    fn open(&mut self, now: Instant, number: usize, cca: String) -> io::Result<()> {
        let spread = self.scenario.expand_flows();
        let flow = spread.flows.get(number).ok_or_else(no_run)?;
        let hosts = self.plan.ends(flow).map_err(io::Error::other)?;
        let opener = match flow.opens.end() {
            End::Client => hosts.1,
            End::Server => hosts.0,
        };
        let path_mtu = self.scenario.path.path_mtu();
        let path = self.path.as_mut().ok_or_else(no_run)?;
        path.open(
            now,
            NewConnection {
                name: flow.name.clone(),
                ue: flow.to.clone(),
                cca,
                hosts,
                opener,
                mss: self.scenario.tcp.segment_payload(path_mtu),
                flow: number,
            },
        );
        if let Some(contents) = &self.contents {
            let acceptor = if opener == hosts.0 { hosts.1 } else { hosts.0 };
            let connection = self.followed.len() as u32;
            contents.open([
                (opener, addressing::client_port(connection)),
                (acceptor, addressing::service_port(number)),
            ]);
        }
        self.senders.add();
        self.followed.push(TrackedConnection::default());
        Ok(())
    }

    fn update_sender(&mut self, now: Instant, sample: bool, connection: u32, view: SenderInfo) {
        let Some(path) = self.path.as_mut() else {
            return;
        };
        let Some(view) = self.senders.show(now, connection, view) else {
            return;
        };
        path.recorder().sender_changed(now, connection, &view);
        if let Some(srtt) = view.srtt {
            path.recorder().acked(connection, srtt);
            if sample {
                path.sample(now, connection, &view, "");
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        let path = self.path.take().ok_or_else(no_run)?;
        let senders = &self.senders;
        let tables = path
            .finish(self.end, |connection| senders.view(connection))
            .map_err(io::Error::other)?;
        self.ended = true;
        write_frame(&mut self.reports, &Report::Done(Box::new(tables)))
    }

    /// Ends the run with a report of its failure, unless it has ended.
    pub(crate) fn fail(&mut self, failure: &Report) {
        if !self.ended {
            self.ended = true;
            // If nobody reads, there is nobody to tell.
            let _ = write_frame(&mut self.reports, failure);
        }
    }
}

fn no_run() -> io::Error {
    io::Error::other("guest message with an unknown connection, host or flow")
}

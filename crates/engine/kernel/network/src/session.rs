//! Session: one run, with packets of the kernel on the path, messages of the guest and reports to the engine.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use byte_path::{BytePath, Headers};
use cca::SenderInfo;
use kernel_protocol::{Job, Message, PROTOCOL, Reply, Report, write_frame};
use measurement::{Capture, CaptureFile, Engine, NewConnection, ObservedPath, Options, Recorder};
use net::{CREATED_FROM, HostId, Packet};
use network_builder::{Plan, SERVER};
use packet::addressing;
use packet::wire::IpPacket;
use scenario::Scenario;
use units::{Duration, Instant};
use workload::End;

use crate::device_queue::DeviceQueue;
use crate::guest_job::guest_job;
use crate::run_config::RunConfig;
use crate::senders::Senders;

/// Minimum number of samples that are reported at once.
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

/// A run on the path.
pub(crate) struct Session {
    job: Job,
    scenario: Scenario,
    plan: Plan,
    reports: BufWriter<File>,
    /// `None` before the hello of the guest and after the end.
    path: Option<BytePath>,
    /// The kernel's time at time zero of the run.
    zero: Option<u64>,
    end: Instant,
    /// Bytes of packets that middleboxes have created, in the verdicts since the last advance.
    created_bytes: Vec<Vec<u8>>,
    device_queue: DeviceQueue,
    senders: Senders,
    /// Verdicts, with the bytes of packets that middleboxes have created.
    verdicts: VecDeque<(Verdict, Option<Vec<u8>>)>,
    reply: Option<Reply>,
    packets: u32,
    reported: Instant,
    has_ended: bool,
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
            created_bytes: Vec::new(),
            device_queue: DeviceQueue::default(),
            job,
            scenario,
            plan,
            reports,
            path: None,
            zero: None,
            senders: Senders::default(),
            verdicts: VecDeque::new(),
            reply: None,
            packets: 0,
            reported: Instant::ZERO,
            has_ended: false,
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
    pub(crate) fn next_advance(&self) -> Option<u64> {
        let zero = self.zero?;
        if !self.verdicts.is_empty() {
            return Some(zero);
        }
        let path = self.path.as_ref()?;
        let next = path
            .next_event()
            .min(path.next_slot())
            .min(self.device_queue.next_at());
        (next <= self.end).then(|| zero + next.as_nanos())
    }

    /// Sends a packet of the kernel. Returns whether its device reports that it was sent; `None` if the path
    /// rejects it.
    pub(crate) fn transmit(
        &mut self,
        now: u64,
        port: u32,
        packet: u32,
        bytes: &[u8],
    ) -> Option<bool> {
        let time = self.time(now)?;
        let ports = self.ports();
        let path = self.path.as_mut().filter(|_| time <= self.end)?;
        let connections = path.connections();
        let headers = Headers::read(bytes, |ip| connection_of(ip, connections))?;
        let IpAddr::V4(address) = headers.destination else {
            return None;
        };
        let source = HostId(port);
        let destination = HostId(addressing::host(address)?);
        if destination.0 as usize >= ports || destination == source {
            return None;
        }
        let packet = Packet {
            id: u64::from(self.packets) << KERNEL_BITS | u64::from(packet),
            flow: headers.flow,
            source,
            destination,
            size: bytes.len() as u32,
            payload: headers.payload,
            sent_at: time,
        };
        self.packets = self.packets.wrapping_add(1) & PACKET_NUMBERS;
        path.store(&packet, bytes);
        if source == SERVER {
            self.device_queue.enqueue(time, packet);
            return Some(true);
        }
        path.inject(time, packet);
        self.collect_verdicts();
        Some(false)
    }

    /// Advances the path to the kernel's time `now`. The verdicts are then to be fetched.
    pub(crate) fn advance(&mut self, now: u64) -> io::Result<()> {
        self.created_bytes.clear();
        let Some(until) = self.time(now) else {
            return Ok(());
        };
        while let Some(path) = self.path.as_mut() {
            let (event, slot) = (path.next_event(), path.next_slot());
            let device = self.device_queue.next_at();
            let next = event.min(slot).min(device);
            if next > until.min(self.end) {
                break;
            }
            if device == next {
                while let Some(packet) = self.device_queue.dequeue(next) {
                    path.inject(next, packet);
                }
                while let Some(packet) = self.device_queue.pop_sent(next) {
                    self.verdicts.push_back((Verdict::Sent { packet }, None));
                }
                self.collect_verdicts();
            } else if event == next {
                path.advance(next).map_err(io::Error::other)?;
                self.collect_verdicts();
            } else {
                let senders = &self.senders;
                path.path().end_slot(|connection| senders.info(connection));
                self.report_progress(next)?;
            }
        }
        Ok(())
    }

    /// Returns the next verdict and, of a packet that a middlebox has created, its bytes, which stay until the path is
    /// advanced again.
    pub(crate) fn next_verdict(&mut self) -> Option<(Verdict, Option<&[u8]>)> {
        let (verdict, created) = self.verdicts.pop_front()?;
        let Some(bytes) = created else {
            return Some((verdict, None));
        };
        self.created_bytes.push(bytes);
        Some((verdict, self.created_bytes.last().map(Vec::as_slice)))
    }

    /// Collects the verdicts of the path. The kernel frees these packets.
    fn collect_verdicts(&mut self) {
        let Some(path) = self.path.as_mut() else {
            return;
        };
        while let Some(verdict) = path.next_verdict() {
            let (packet, verdict, bytes) = match verdict {
                byte_path::Verdict::Drop { packet, .. } => (packet, Verdict::Drop { packet }, None),
                byte_path::Verdict::Deliver {
                    packet,
                    host,
                    congestion,
                    bytes,
                    ..
                } => {
                    let port = host.0 as u16;
                    let verdict = Verdict::Deliver {
                        packet,
                        port,
                        congestion,
                    };
                    (packet, verdict, bytes)
                }
            };
            self.device_queue.remove(packet);
            let created = if packet < CREATED_FROM {
                bytes.into_iter().for_each(|bytes| path.recycle(bytes));
                None
            } else {
                bytes
            };
            self.verdicts.push_back((verdict, created));
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
        let Some(path) = self.path.as_mut().map(BytePath::path) else {
            return Ok(());
        };
        if path.sample_count() < at_least {
            return Ok(());
        }
        let samples = Box::new(path.take_samples());
        write_frame(&mut self.reports, &Report::Samples(samples))
    }

    /// Handles a message of the guest.
    pub(crate) fn on_message(&mut self, now: u64, message: Message) -> io::Result<()> {
        let time = self.time(now).unwrap_or(Instant::ZERO);
        match message {
            Message::Hello { protocol, release } => self.on_hello(protocol, release)?,
            Message::Start => self.zero = Some(now),
            Message::Open { flow, cca } => self.open(time, flow as usize, cca)?,
            Message::Senders { sample, senders } => {
                for (connection, info) in senders {
                    self.update_sender(time, sample, connection, info);
                }
                self.report_samples(SAMPLES_AT_ONCE)?;
            }
            Message::Complete { connection } => {
                if let Some(path) = self.path.as_mut() {
                    let info = self.senders.info(connection);
                    path.path().recorder().complete(time, connection, info);
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
                mode,
                cwnd,
            } => {
                if let Some(recorder) = self.recorder() {
                    recorder.switched(time, connection, &to, mode, cwnd);
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
                if let Some(info) = self.senders.info_mut(connection) {
                    info.timeouts = info.timeouts.or(Some(timeouts));
                    info.loss_probes = Some(loss_probes);
                    info.fast_recoveries = Some(recoveries);
                    info.undone = Some(undone);
                }
            }
            Message::MemoryPressures(times) => {
                let path = self.path.as_mut().ok_or_else(unknown_number)?;
                path.path().add_memory_pressures(times);
            }
            Message::Clock => self.reply = Some(Reply::Clock(time.as_nanos())),
            Message::BottleneckState { uplink } => {
                self.reply = Some(self.bottleneck_state(uplink)?);
            }
            Message::Hints { host } => {
                let path = self.path.as_mut().ok_or_else(unknown_number)?;
                self.reply = Some(Reply::Hints(path.path().hints(time, HostId(host))));
            }
            Message::End => self.finish()?,
            Message::Fail(reason) => return Err(io::Error::other(reason)),
        }
        Ok(())
    }

    /// Returns the recorder of the tables; `None` before the hello of the guest and after the end.
    fn recorder(&mut self) -> Option<&mut Recorder> {
        self.path.as_mut().map(|path| path.path().recorder())
    }

    /// Returns the queue and the capacity of the bottleneck.
    fn bottleneck_state(&mut self, uplink: bool) -> io::Result<Reply> {
        let path = self.path.as_mut().ok_or_else(unknown_number)?;
        let (queue_bytes, capacity_bps) = path.path().bottleneck_state(uplink);
        Ok(Reply::BottleneckState {
            queue_bytes,
            capacity_bps,
        })
    }

    /// Returns the bytes of the reply to the last message, if it has one.
    pub(crate) fn take_reply(&mut self) -> io::Result<Option<Vec<u8>>> {
        self.reply
            .take()
            .map(|reply| kernel_protocol::encode(&reply))
            .transpose()
    }

    fn on_hello(&mut self, protocol: u32, release: String) -> io::Result<()> {
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
        let mut path = BytePath::new(path.map_err(io::Error::other)?);
        if !self.plan.middleboxes.is_empty() {
            path.enable_contents();
        }
        self.path = Some(path);
        let job = guest_job(&self.scenario.expand_flows(), &self.plan, &self.job)?;
        self.reply = Some(Reply::Job(Box::new(job)));
        Ok(())
    }

    fn open(&mut self, now: Instant, number: usize, cca: String) -> io::Result<()> {
        let expanded = self.scenario.expand_flows();
        let flow = expanded.flows.get(number).ok_or_else(unknown_number)?;
        let hosts = self.plan.ends(flow).map_err(io::Error::other)?;
        let opener = match flow.opens.end() {
            End::Client => hosts.1,
            End::Server => hosts.0,
        };
        let acceptor = if opener == hosts.0 { hosts.1 } else { hosts.0 };
        let path_mtu = self.scenario.path.path_mtu();
        let path = self.path.as_mut().ok_or_else(unknown_number)?;
        let address = |host: HostId, port| {
            (
                host,
                SocketAddr::new(addressing::address(host.0).into(), port),
            )
        };
        let ends = [
            address(opener, addressing::client_port(path.connections())),
            address(acceptor, addressing::service_port(number)),
        ];
        let new = NewConnection {
            name: flow.name.clone(),
            ue: flow.to.clone(),
            cca,
            hosts,
            opener,
            mss: self.scenario.tcp.segment_payload(path_mtu),
            flow: number,
        };
        path.open(now, new, ends);
        self.senders.add();
        Ok(())
    }

    fn update_sender(&mut self, now: Instant, sample: bool, connection: u32, info: SenderInfo) {
        let Some(path) = self.path.as_mut().map(BytePath::path) else {
            return;
        };
        let Some(info) = self.senders.complete(now, connection, info) else {
            return;
        };
        path.recorder().sender_changed(now, connection, &info);
        if let Some(srtt) = info.srtt {
            path.recorder().acked(connection, srtt);
            if sample {
                path.sample(now, connection, &info, "");
            }
        }
    }

    fn finish(&mut self) -> io::Result<()> {
        let path = self.path.take().ok_or_else(unknown_number)?.into_path();
        let senders = &self.senders;
        let tables = path
            .finish(self.end, |connection| senders.info(connection))
            .map_err(io::Error::other)?;
        self.has_ended = true;
        write_frame(&mut self.reports, &Report::Done(Box::new(tables)))
    }

    /// Ends the run with a report of its failure, unless it has ended.
    pub(crate) fn fail(&mut self, failure: &Report) {
        if !self.has_ended {
            self.has_ended = true;
            // Nobody reads the reports.
            let _ = write_frame(&mut self.reports, failure);
        }
    }
}

/// Returns the connection, of this many, that a segment belongs to, by the port of the end that opened it.
fn connection_of(ip: &IpPacket, connections: u32) -> Option<u32> {
    let client = ip.source.port().max(ip.destination.port());
    let first = addressing::client_port(0);
    let last = connections.checked_sub(1)?;
    let number = u32::from(client.checked_sub(first)?);
    // Ports are reused once all have been used; the latest connection has it then.
    let round = u32::from(u16::MAX - first) + 1;
    let rounds = last.checked_sub(number)? / round;
    Some(number + rounds * round)
}

fn unknown_number() -> io::Error {
    io::Error::other("guest message with an unknown connection, host or flow")
}

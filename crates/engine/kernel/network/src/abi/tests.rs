//! Tests of the ABI as the kernel's driver uses it, with middleboxes on the path.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::net::SocketAddr;
use std::sync::{Arc, MutexGuard, PoisonError};

use kernel_protocol::{Job, PROTOCOL};
use net::{Actions, HostId, Node, Packet};
use network_builder::{Middlebox, Plan, Traces};
use packet::addressing;
use packet::wire::{self, IpPacket};
use scenario::AckSemantics;
use scenario::Scenario;
use tcp::{Flags, Segment};

use super::*;

const SERVER: HostId = HostId(0);
/// The kernel's time at time zero of the run.
const ZERO: u64 = 5_000_000_000;
const PAYLOAD: usize = 1_000;

/// One driver at a time: there is one session in a process.
static ONE: Mutex<()> = Mutex::new(());

/// A packet that was handed to a host.
struct Arrival {
    port: u16,
    bytes: Vec<u8>,
    created: bool,
    at: u64,
}

/// The kernel's driver: buffers of packets on the way, and what has become of packets.
struct Driver {
    buffers: Vec<Option<Vec<u8>>>,
    phone: HostId,
    arrivals: Vec<Arrival>,
    dropped: Vec<u32>,
    _one: MutexGuard<'static, ()>,
}

type Build = fn() -> Box<dyn Node>;

impl Driver {
    /// Opens the path of a run with middleboxes at these nodes and a connection from the phone to the server.
    fn open(middleboxes: &[(&str, Build)]) -> Self {
        let one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let text = "name = \"boxes\"\n[path]\nrtt = \"20ms\"\ndown = { rate = \"50Mbit/s\" }";
        let scenario = Scenario::from_toml(text, "boxes.toml", &[]).unwrap();
        let traces = Traces::load(&scenario, ".".as_ref()).unwrap();
        let mut plan = Plan::new(&scenario, &traces, 1).unwrap();
        plan.middleboxes
            .extend(middleboxes.iter().map(|&(node, build)| Middlebox {
                node: node.to_owned(),
                ack_semantics: AckSemantics::NoGuarantee,
                build: Arc::new(build),
            }));
        assert_eq!(plan.node("test", "server"), Ok(SERVER));
        let phone = plan.node("test", "phone").unwrap();
        let job = Job {
            scenario: text.to_owned(),
            directory: ".".to_owned(),
            files: BTreeMap::new(),
            seed: 1,
            engine: 0,
            cpu: None,
            memory: 512 << 20,
            check: true,
            pcap: None,
            pcap_at: None,
        };
        let ports = plan.topology.nodes.len();
        let start = RunConfig {
            job,
            scenario,
            plan,
            reports: BufWriter::new(File::create("/dev/null").unwrap()),
        };
        assert_eq!(open(ABI, || Ok(start)), ports as c_int);
        let driver = Self {
            buffers: Vec::new(),
            phone,
            arrivals: Vec::new(),
            dropped: Vec::new(),
            _one: one,
        };
        let release = "test".to_owned();
        driver.tell(&Message::Hello {
            protocol: PROTOCOL,
            release,
        });
        driver.tell(&Message::Start);
        let cca = "cubic".to_owned();
        driver.tell(&Message::Open { flow: 0, cca });
        driver
    }

    fn tell(&self, message: &Message) {
        let bytes = kernel_protocol::encode(message).unwrap();
        // SAFETY: the bytes are readable during the call.
        let done = unsafe { celltcp_path_write(ZERO, bytes.as_ptr(), bytes.len() as u64) };
        assert_eq!(done, bytes.len() as i64);
    }

    fn address(&self, host: HostId) -> SocketAddr {
        let port = if host == SERVER {
            addressing::service_port(0)
        } else {
            addressing::client_port(0)
        };
        SocketAddr::new(addressing::address(host.0).into(), port)
    }

    /// Sends data number `n` from the server to the phone.
    fn send(&mut self, n: u32, now: u64) {
        let segment = Segment {
            seq: 1 + n * PAYLOAD as u32,
            len: PAYLOAD as u32,
            flags: Flags::ACK,
            timestamps: Some((n, n + 1)),
            ..Segment::default()
        };
        let datagram = IpPacket {
            source: self.address(SERVER),
            destination: self.address(self.phone),
            identification: n as u16,
            segment,
        };
        let mut bytes = Vec::new();
        wire::encode(&datagram, usize::MAX, &mut bytes).unwrap();
        let start = bytes.len() - PAYLOAD;
        bytes[start..].copy_from_slice(&payload(n));
        self.send_bytes(n, now, bytes);
    }

    /// Sends packet number `n` from the server.
    fn send_bytes(&mut self, n: u32, now: u64, bytes: Vec<u8>) {
        self.buffers.push(Some(bytes));
        let bytes = self.buffers.last().unwrap().as_ref().unwrap();
        let (pointer, length) = (bytes.as_ptr(), bytes.len() as c_uint);
        // SAFETY: a buffer's bytes stay where they are until the driver takes it out at the packet's verdict.
        let taken = unsafe { celltcp_path_transmit(SERVER.0, n, ZERO + now, pointer, length) };
        assert!(taken >= 0);
    }

    /// Advances the path until it has nothing to do before `end`.
    fn run(&mut self, end: u64) {
        let mut now = celltcp_path_next().max(ZERO);
        while now < ZERO + end {
            self.advance(now);
            now = now.max(celltcp_path_next());
        }
    }

    fn advance(&mut self, now: u64) {
        let empty = || CVerdict::new(Verdict::Drop { packet: 0 }, None);
        let mut verdicts: Vec<_> = (0..3).map(|_| empty()).collect();
        loop {
            // SAFETY: there is room for three verdicts.
            let count = unsafe { celltcp_path_advance(now, verdicts.as_mut_ptr(), 3) };
            for verdict in &verdicts[..count as usize] {
                self.carry_out(verdict, now - ZERO);
            }
            if count < 3 {
                return;
            }
        }
    }

    fn carry_out(&mut self, verdict: &CVerdict, at: u64) {
        let packet = verdict.packet;
        let (bytes, created) = match verdict.action {
            DELIVER => (self.buffers[packet as usize].take().unwrap(), false),
            CREATED => {
                // SAFETY: the bytes stay until the next call of the path.
                let bytes =
                    unsafe { std::slice::from_raw_parts(verdict.bytes, verdict.length as usize) };
                (bytes.to_vec(), true)
            }
            DROP => {
                self.buffers[packet as usize].take().unwrap();
                return self.dropped.push(packet);
            }
            _ => return,
        };
        let port = verdict.port;
        self.arrivals.push(Arrival {
            port,
            bytes,
            created,
            at,
        });
    }

    /// Ends the run: the checker agrees, and nothing is on the way.
    fn finish(&self) {
        self.tell(&Message::End);
        assert!(self.buffers.iter().all(Option::is_none));
    }
}

/// Bytes by which data number `n` is recognised.
fn payload(n: u32) -> Vec<u8> {
    (0..PAYLOAD as u32).map(|at| (n * 31 + at) as u8).collect()
}

fn parsed(arrival: &Arrival) -> (IpPacket, &[u8]) {
    let datagram = wire::parse(&arrival.bytes).unwrap();
    let start = arrival.bytes.len() - datagram.segment.len as usize;
    (datagram, &arrival.bytes[start..])
}

struct DropEvery(u64, u64);

impl Node for DropEvery {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        self.1 += 1;
        if self.1.is_multiple_of(self.0) {
            actions.absorb(packet.id);
        } else {
            actions.forward(packet.id);
        }
    }
}

#[test]
fn a_box_drops_every_hundredth_packet_of_the_kernel() {
    let mut driver = Driver::open(&[("server", || Box::new(DropEvery(100, 0)))]);
    for n in 0..300 {
        let now = 1_000_000 * u64::from(n);
        driver.send(n, now);
        driver.run(now + 1_000_000);
    }
    driver.run(1_000_000_000);
    assert_eq!(driver.dropped, [99, 199, 299]);
    assert_eq!(driver.arrivals.len(), 297);
    assert!(driver.arrivals.iter().all(|arrival| !arrival.created));
    driver.finish();
}

/// Sends a changed copy of every packet after it.
struct Duplicate;

impl Node for Duplicate {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        let payload = actions.payload(packet.id);
        actions.forward(packet.id);
        let segment = Segment {
            window: 4_321,
            ..*packet.segment().unwrap()
        };
        let copy = Packet {
            payload: segment.into(),
            ..*packet
        };
        actions.create(copy, payload);
    }
}

#[test]
fn a_box_sends_changed_copies_with_the_bytes_of_the_kernel() {
    // The second box copies what the first has created, too.
    let mut driver = Driver::open(&[
        ("server", || Box::new(Duplicate)),
        ("phone", || Box::new(Duplicate)),
    ]);
    (0..5).for_each(|n| driver.send(n, 0));
    driver.run(1_000_000_000);
    assert_eq!(driver.arrivals.len(), 20);
    for (index, arrival) in driver.arrivals.iter().enumerate() {
        let n = index as u32 / 4;
        let (datagram, bytes) = parsed(arrival);
        assert_eq!(u32::from(arrival.port), driver.phone.0);
        assert_eq!(arrival.created, index % 4 != 0);
        assert_eq!(bytes, payload(n));
        assert_eq!(datagram.segment.seq, 1 + n * PAYLOAD as u32);
        assert_eq!(datagram.segment.timestamps, Some((n, n + 1)));
        assert_eq!(
            datagram.segment.window,
            if arrival.created { 4_321 } else { 0 }
        );
        assert_eq!(datagram.source, driver.address(SERVER));
        assert_eq!(datagram.destination, driver.address(driver.phone));
    }
    driver.finish();
}

/// Drops data and acknowledges it 3 ms later in the name of its receiver.
#[derive(Default)]
struct Acknowledge(Vec<Packet>);

impl Node for Acknowledge {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        let data = packet.segment().unwrap();
        let ack = Segment {
            seq: data.ack,
            ack: data.seq + data.len,
            flags: Flags::ACK,
            window: 77,
            ..Segment::default()
        };
        self.0.push(Packet {
            source: packet.destination,
            destination: packet.source,
            size: 40,
            payload: ack.into(),
            ..*packet
        });
        actions.absorb(packet.id);
        actions.call_at(actions.now() + units::Duration::from_millis(3));
    }

    fn on_call(&mut self, actions: &mut Actions<'_>) {
        for packet in self.0.drain(..) {
            actions.create(packet, None);
        }
    }
}

#[test]
fn a_box_answers_a_host_of_the_kernel() {
    let mut driver = Driver::open(&[("server", || Box::<Acknowledge>::default())]);
    driver.send(0, 7_000_000);
    driver.run(1_000_000_000);
    assert_eq!((&driver.dropped[..], driver.arrivals.len()), (&[0][..], 1));
    let arrival = &driver.arrivals[0];
    // The packet has spent 85 ns in the card of the server: 1064 B at 100 Gbit/s.
    assert_eq!((arrival.port, arrival.at), (SERVER.0 as u16, 10_000_085));
    let (datagram, bytes) = parsed(arrival);
    assert_eq!((datagram.segment.ack, datagram.segment.window), (1_001, 77));
    assert!(bytes.is_empty());
    assert_eq!(datagram.source, driver.address(driver.phone));
    driver.finish();
}

/// An echo request (RFC 792), which no table has, comes through all middleboxes as it is.
#[test]
fn packets_of_other_protocols_pass() {
    let boxes: [(&str, Build); 2] = [
        ("server", || Box::new(DropEvery(100, 0))),
        ("gateway", || Box::new(DropEvery(100, 0))),
    ];
    let mut driver = Driver::open(&boxes);
    let [source, destination] = [SERVER, driver.phone].map(|host| addressing::address(host.0));
    let mut echo = vec![0x45, 0, 0, 28, 0, 0, 0, 0, 64, 1, 0, 0];
    echo.extend(source.octets());
    echo.extend(destination.octets());
    echo.extend([8, 0, 0, 0, 0, 1, 0, 1]);
    driver.send_bytes(0, 0, echo.clone());
    driver.send(1, 0);
    driver.run(1_000_000_000);
    assert_eq!(driver.arrivals.len(), 2);
    assert_eq!(driver.arrivals[0].bytes, echo);
    assert!(driver.arrivals.iter().all(|arrival| !arrival.created));
    driver.finish();
}

#[test]
fn another_driver_is_rejected() {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(open(1, || unreachable!("the ABI is looked at first")), -1);
}

/// `struct celltcp_verdict` has no hidden padding that the two sides could see differently.
#[test]
fn a_verdict_is_laid_out_as_in_c() {
    use std::mem::{offset_of, size_of};
    assert_eq!(size_of::<CVerdict>(), 16 + size_of::<*const u8>());
    assert_eq!(offset_of!(CVerdict, action), 4);
    assert_eq!(offset_of!(CVerdict, port), 6);
    assert_eq!(offset_of!(CVerdict, congestion), 8);
    assert_eq!(offset_of!(CVerdict, length), 12);
    assert_eq!(offset_of!(CVerdict, bytes), 16);
}

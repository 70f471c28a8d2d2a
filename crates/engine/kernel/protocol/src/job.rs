//! Job of the guest: the part of a scenario that it needs to set up hosts and to play the flows.

use std::collections::BTreeMap;

use cca::SwitchMode;
use selection::Files;
use serde::{Deserialize, Serialize};
use workload::OpenedBy;

/// Job of the guest.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GuestJob {
    /// Seed of the run.
    pub seed: u64,
    /// Length of the run, ns.
    pub duration_ns: u64,
    /// Length of a slot, ns.
    pub slot_ns: u64,
    /// Interval of samples, ns; `None` for no samples.
    pub sampling_ns: Option<u64>,
    /// Names of the hosts, in the order of the devices.
    pub hosts: Vec<String>,
    /// Lowest retransmission time-out of each host, ms; `None` where it is Linux' own.
    pub min_rtos_ms: Vec<Option<u32>>,
    /// Settings of the kernel.
    pub settings: KernelSettings,
    /// The flows of the scenario, in its order.
    pub flows: Vec<GuestFlow>,
    /// Texts of the policies, the memories and the files of workloads that the flows name.
    pub files: Files,
}

/// Settings of the kernel, the same for all hosts.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct KernelSettings {
    /// Sysctls by name.
    pub sysctls: BTreeMap<String, String>,
    /// Parameters of modules, by module and parameter with a dot between them.
    pub modules: BTreeMap<String, String>,
    /// Whether devices pace by the queue discipline fq.
    pub fair_queue: bool,
    /// MTU of devices, bytes.
    pub mtu: u32,
    /// Segments that a device takes at once; `None` for as many as Linux hands over.
    pub burst: Option<u32>,
    /// Initial congestion window, segments.
    pub initial_window: u32,
    /// Whether every segment is acknowledged at once.
    pub quick_ack: bool,
    /// Cap of the announced segment size, bytes.
    pub mss: Option<u32>,
    /// Cap of the receive window, bytes.
    pub window: Option<u32>,
    /// Time without an acknowledgement before a connection times out, ms.
    pub user_timeout_ms: Option<u32>,
    /// Probes of idle connections.
    pub keepalive: Option<KeepAlive>,
    /// The queue before the access link, if it is one of Linux.
    pub queue: Option<LinuxQueue>,
}

/// A queue of Linux and the link behind it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LinuxQueue {
    /// Name of the host behind the link.
    pub host: String,
    /// Rate of the link, bit/s.
    pub rate: u64,
    /// Name of the discipline.
    pub kind: String,
    /// Parameters of the discipline, by their numbers in `linux/pkt_sched.h`.
    pub options: Vec<(u16, u32)>,
}

/// Probes of idle connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeepAlive {
    /// Idle time before the first, s.
    pub idle: u32,
    /// Time between two, s.
    pub interval: u32,
    /// Number without an answer before the connection times out.
    pub probes: u32,
}

/// A flow.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct GuestFlow {
    /// Name in results.
    pub name: String,
    /// Name of the server's host.
    pub from: String,
    /// Name of the client's host.
    pub to: String,
    /// The host that opens connections.
    pub opens: OpenedBy,
    /// Earliest start of the sessions, ns.
    pub start_ns: u64,
    /// Interval after it within which each session draws its start, ns.
    pub start_spread_ns: u64,
    /// Number of sessions that do the same in parallel.
    pub count: u32,
    /// The workload as JSON: postcard cannot deserialize its internally tagged enum.
    pub workload: String,
    /// Whether sockets send short segments at once.
    pub nodelay: bool,
    /// Cap of the pacing rate of its sockets, bytes per second.
    pub max_pacing_rate: Option<u64>,
    /// First congestion control: name and parameters, or `auto` with its own.
    pub cca: String,
    /// Changes of the congestion control.
    pub switches: Vec<GuestSwitch>,
}

/// Change of a congestion control.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GuestSwitch {
    /// Time of the change, ns.
    pub at_ns: u64,
    /// The congestion control that takes over.
    pub to: String,
    /// Mode of the switch.
    pub mode: SwitchMode,
}

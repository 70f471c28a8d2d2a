//! Live run: hosts and the path between them, in real time.

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use byte_path::{route_min_rto_ms, sysctls};
use linux_sockets::{RouteMetric, route_metrics};
use net::HostId;
use network_builder::Traces;
use nix::sys::utsname::uname;
use packet::addressing;
use scenario::{Scenario, Tcp};
use units::{Duration, Instant};

use crate::Session;
use crate::capture::CaptureWriter;
use crate::host::{self, HostSettings, Namespaces, in_step};
use crate::log::{LogHeader, LogWriter, LoggedChange, LoggedScenario};
use crate::outside::Gateway;
use crate::phones::add_phones;
use crate::real_time::{Driver, Files, Progress};
use crate::sender_watch::SenderWatch;

/// Options of a run in real time.
#[derive(Clone, Debug, Default)]
pub struct LiveOptions {
    /// Seed of the path.
    pub seed: u64,
    /// Congestion control of programs on the hosts; unset: that of the machine.
    pub cca: Option<String>,
    /// Phones in the cell; from the second on called "phone-2" and so on.
    pub phones: u32,
    /// Nodes that are hosts with programs, such as "server" and "phone".
    pub hosts: Vec<String>,
    /// File for a log of arrivals.
    pub log: Option<PathBuf>,
    /// File for a capture.
    pub pcap: Option<PathBuf>,
    /// Node of the capture; unset: the server.
    pub pcap_at: Option<String>,
    /// Whether hosts reach other addresses through the server.
    pub outside: bool,
    /// Never sleep, which is more exact and costs a processor.
    pub spin: bool,
}

/// A run in real time.
pub struct LiveRun {
    driver: Driver,
    hosts: Vec<(String, Namespaces)>,
    gateway: Option<Gateway>,
    phones: u32,
    mtu: u32,
}

impl LiveRun {
    /// Sets up the hosts and starts the path between them. `folder` is for a file that is gone afterwards.
    ///
    /// # Errors
    /// The step that failed; nothing is left then.
    pub fn start(
        scenario: &Scenario,
        traces: &Traces,
        options: &LiveOptions,
        folder: &Path,
    ) -> Result<Self, String> {
        let scenario = &add_phones(scenario, options.phones)?;
        let cca = options.cca.clone().unwrap_or_else(machine_cca);
        let kernel = uname().map_or_else(
            |_| String::new(),
            |name| name.release().to_string_lossy().into_owned(),
        );
        let mut session = Session::new(scenario, traces, options.seed, &cca, &kernel)?;
        let gateway = options
            .outside
            .then(|| node(&session, SERVER))
            .transpose()?;
        let gateway = gateway.map(Gateway::new);
        if let Some(gateway) = gateway {
            session.set_outside(gateway.host);
        }
        let nodes = options.hosts.iter();
        let nodes = nodes.map(|name| Ok((node(&session, name)?, name.clone())));
        let nodes: Vec<_> = nodes.collect::<Result<_, String>>()?;
        let settings = HostSettings {
            sysctls: sysctls(scenario, None)?,
            metrics: session
                .min_rtos()
                .map(|rto| metrics(&scenario.tcp, rto))
                .collect(),
            cca: options.cca.clone(),
            mtu: scenario.path.path_mtu().get() as u32,
            gateway,
        };
        let hosts = host::set_up(&nodes, &settings, folder)?;
        let (mut names, mut devices, mut sockets) = (Vec::new(), Vec::new(), Vec::new());
        for host in hosts {
            names.push((host.name, host.namespaces));
            devices.push((host.id, host.device));
            sockets.push(host.sockets);
        }
        let log = options.log.as_ref().map(|file| {
            let logged = LoggedScenario::new(scenario, traces);
            let header = LogHeader {
                outside: options.outside,
                ..LogHeader::new(logged, [cca, kernel], options.seed)
            };
            LogWriter::create(file, &header).map_err(in_step(&file.display().to_string()))
        });
        let capture = options.pcap.as_ref().map(|file| {
            let host = node(&session, options.pcap_at.as_deref().unwrap_or(SERVER))?;
            CaptureWriter::create(file, host).map_err(in_step(&file.display().to_string()))
        });
        let files = Files {
            log: log.transpose()?,
            capture: capture.transpose()?,
        };
        let interval = scenario.slot.max(SHORTEST_INTERVAL);
        let senders = SenderWatch::start(sockets, interval).map_err(in_step(THREAD))?;
        let driver = Driver::start(session, devices, senders, files, options.spin)
            .map_err(in_step(THREAD))?;
        tracing::info!(
            target: "celltcp::events::live",
            "path started: scenario {}, seed {}",
            scenario.name,
            options.seed
        );
        Ok(Self {
            driver,
            hosts: names,
            gateway,
            phones: options.phones,
            mtu: settings.mtu,
        })
    }

    /// Goes over to the last of `steps`, scenarios each of which differs from the one before in its wires only; `fields`
    /// are the texts of the changes for the log. Returns the time of the change.
    ///
    /// # Errors
    /// If one differs in anything else, makes no path, or cannot be logged. Nothing has changed then.
    pub fn change(
        &self,
        steps: &[(&Scenario, &Traces)],
        fields: Vec<String>,
    ) -> Result<Instant, String> {
        let scenarios = steps
            .iter()
            .map(|(scenario, _)| add_phones(scenario, self.phones));
        let scenarios: Vec<_> = scenarios.collect::<Result<_, _>>()?;
        let traces = steps.iter().map(|(_, traces)| *traces);
        let steps: Vec<_> = scenarios.iter().zip(traces).collect();
        self.driver.change(|progress| {
            progress.session.change(&steps)?;
            let at = progress.session.now();
            if let (Some(log), Some((scenario, traces))) = (&mut progress.files.log, steps.last()) {
                let scenario = LoggedScenario::new(scenario, traces);
                let change = LoggedChange { fields, scenario };
                log.change(at, &change).map_err(in_step("log"))?;
            }
            Ok(at)
        })
    }

    /// Lets nothing pass the wires next to the phones for `duration` from now on. Returns the time.
    ///
    /// # Errors
    /// If there is no such wire, or the log cannot be written.
    pub fn interrupt(&self, duration: Duration) -> Result<Instant, String> {
        self.driver.change(|progress| {
            progress.session.interrupt(duration)?;
            let at = progress.session.now();
            if let Some(log) = &mut progress.files.log {
                log.interruption(at, duration).map_err(in_step("log"))?;
            }
            Ok(at)
        })
    }

    /// Returns the bytes of the largest packet.
    pub fn mtu(&self) -> u32 {
        self.mtu
    }

    /// Returns the IPv4 address of a host.
    pub fn address(&self, host: &str) -> Option<Ipv4Addr> {
        let host = self.with_progress(|progress| progress.session.host(host))?;
        Some(addressing::address(host.0))
    }

    /// Moves this thread to a host: programs that it starts from now on are there.
    ///
    /// # Errors
    /// If there is no such host, or those of setns(2).
    pub fn enter(&self, host: &str) -> std::io::Result<()> {
        let namespaces = self.namespaces(host).map_err(std::io::Error::other)?;
        namespaces.enter()
    }

    fn namespaces(&self, host: &str) -> Result<&Namespaces, String> {
        let found = self.hosts.iter().find(|(name, _)| name == host);
        found.map(|(_, namespaces)| namespaces).ok_or_else(|| {
            let names = self.hosts.iter().map(|(name, _)| name.as_str());
            no_host(host, &names.collect::<Vec<_>>())
        })
    }

    /// Connects a host with other networks by a device of the server, in a run to whose outside hosts have a way.
    ///
    /// # Errors
    /// If there is no such host or device, or the kernel rejects it.
    pub fn connect_outside(&self, host: &str, device: &str) -> Result<(), String> {
        let Some(gateway) = self.gateway else {
            return Ok(());
        };
        let node = self.with_progress(|progress| node(&progress.session, host))?;
        gateway.connect(self.namespaces(SERVER)?, node, device, self.mtu)
    }

    /// Returns whether the path still runs; it ends early by a failure only, which [`Self::stop`] returns.
    pub fn is_running(&self) -> bool {
        self.driver.is_running()
    }

    /// Calls `read` with the state of the run; the path waits meanwhile.
    pub fn with_progress<T>(&self, read: impl FnOnce(&mut Progress) -> T) -> T {
        self.driver.with_progress(read)
    }

    /// Stops the path. Its devices are gone afterwards; what was measured can still be shown.
    pub fn stop(&mut self) -> std::io::Result<()> {
        self.driver.stop()
    }
}

/// Operation of an error.
const THREAD: &str = "a thread of the path";

/// Shortest time between two reports of the senders.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);

/// Host of a capture unless another is named, and the gateway to other networks.
pub(crate) const SERVER: &str = "server";

fn node(session: &Session, name: &str) -> Result<HostId, String> {
    let host = session.host(name);
    host.ok_or_else(|| no_host(name, &session.host_names()))
}

fn no_host(name: &str, names: &[&str]) -> String {
    let allowed = names.join(", ");
    format!("{name:?} is no host of the path; allowed: {allowed}")
}

/// Returns the congestion control of the machine.
pub fn machine_cca() -> String {
    let file = linux_sockets::sysctl_file("net.ipv4.tcp_congestion_control");
    std::fs::read_to_string(file)
        .map_or_else(|_| "unknown".to_owned(), |name| name.trim().to_owned())
}

/// Returns the metrics of the routes of a host with a minimum RTO, for TCP settings of a scenario.
fn metrics(tcp: &Tcp, min_rto: Duration) -> Vec<RouteMetric> {
    let rto = route_min_rto_ms(min_rto);
    route_metrics(tcp.initial_window, rto, !tcp.delayed_ack)
}

//! Hosts: network namespaces with one device each.

use std::fs::File;
use std::io;
use std::net::Ipv4Addr;

use kernel_protocol::{GuestJob, KernelSettings, LinuxQueue};
use linux_sockets::{Netlink, route_metrics, set_module_parameter, sysctl_file};
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, setns, unshare};
use packet::addressing;

/// Packets that may wait for the receiving TCP, on all devices together (`net.core.netdev_max_backlog`). The virtual
/// clock stands still while they arrive. The default of 1000 is less than RLC delivers at once when a missing packet
/// arrives, and the kernel would drop the rest silently.
const BACKLOG: &str = "1000000000";

/// Device with a queue before the host in whose namespace it is (`kernel/driver/queue.c`).
const QUEUE: &str = "queue";

/// A host.
pub(crate) struct Host {
    namespace: File,
    /// Its device.
    index: u32,
    pub(crate) address: Ipv4Addr,
    /// Its lowest retransmission time-out, ms; `None` for Linux' own.
    min_rto_ms: Option<u32>,
}

impl Host {
    /// Moves this program to the host: sockets that it opens from now on are there.
    pub(crate) fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.namespace, CloneFlags::CLONE_NEWNET)?)
    }

    /// Sets the initial window of connections to `to` that are opened from now on.
    pub(crate) fn set_initial_window(
        &self,
        to: Ipv4Addr,
        settings: &KernelSettings,
        segments: u32,
    ) -> io::Result<()> {
        self.enter()?;
        let metrics = route_metrics(segments, self.min_rto_ms, settings.quick_ack);
        Netlink::open()?.set_route(self.index, self.address.into(), to.into(), metrics)
    }
}

/// Sets up the hosts of a job.
pub(crate) fn set_up(job: &GuestJob) -> io::Result<Vec<Host>> {
    let first = current_namespace()?;
    let settings = &job.settings;
    for (name, value) in &settings.modules {
        set_module(name, value)?;
    }
    if settings.fair_queue {
        std::fs::write(sysctl_file("net.core.default_qdisc"), "fq")?;
    }
    std::fs::write(sysctl_file("net.core.netdev_max_backlog"), BACKLOG)?;
    let links = Netlink::open()?;
    let mut hosts = Vec::new();
    for number in 0..job.hosts.len() as u32 {
        setns(&first, CloneFlags::CLONE_NEWNET)?;
        let device = format!("path{number}");
        let index = if_nametoindex(device.as_str())?;
        unshare(CloneFlags::CLONE_NEWNET)?;
        let namespace = current_namespace()?;
        links.move_link(index, &namespace)?;
        let host = Host {
            namespace,
            index: if_nametoindex(device.as_str())?,
            address: addressing::address(number),
            min_rto_ms: job.min_rtos_ms[number as usize],
        };
        for (name, value) in &settings.sysctls {
            set_sysctl(name, value, &first, &host)?;
        }
        let own = Netlink::open()?;
        own.bring_up(host.index, settings.mtu, settings.burst)?;
        own.add_address(host.index, host.address.into())?;
        let window = settings.initial_window;
        let metrics = route_metrics(window, host.min_rto_ms, settings.quick_ack);
        own.add_default_route(host.index, host.address.into(), metrics)?;
        if let Some(queue) = &settings.queue
            && queue.host == job.hosts[number as usize]
        {
            setns(&first, CloneFlags::CLONE_NEWNET)?;
            links.move_link(if_nametoindex(QUEUE)?, &host.namespace)?;
            host.enter()?;
            set_up_queue(queue, settings.mtu)?;
        }
        hosts.push(host);
    }
    Ok(hosts)
}

/// Sets up the queue before the host in whose namespace this program is.
fn set_up_queue(queue: &LinuxQueue, mtu: u32) -> io::Result<()> {
    set_module_parameter("celltcp", "queue_rate", &queue.rate.to_string())?;
    let (own, index) = (Netlink::open()?, if_nametoindex(QUEUE)?);
    own.set_qdisc(index, &queue.kind, &queue.options)?;
    own.bring_up(index, mtu, None)
}

/// Sets the parameter `module.parameter`; errors name its field in the scenario.
fn set_module(name: &str, value: &str) -> io::Result<()> {
    let (module, parameter) = name.split_once('.').unwrap_or((name, ""));
    set_module_parameter(module, parameter, value).map_err(|error| {
        io::Error::other(format!(
            "kernel.module.{name}: {value:?} is not taken by this kernel: {error}"
        ))
    })
}

fn current_namespace() -> io::Result<File> {
    File::open("/proc/thread-self/ns/net")
}

/// Sets a sysctl of a host; one that all hosts share is set where the kernel stores it.
fn set_sysctl(name: &str, value: &str, first: &File, host: &Host) -> io::Result<()> {
    let file = sysctl_file(name);
    let mut set = std::fs::write(&file, value);
    if set
        .as_ref()
        .is_err_and(|e| e.kind() == io::ErrorKind::NotFound)
    {
        setns(first, CloneFlags::CLONE_NEWNET)?;
        set = std::fs::write(&file, value);
        host.enter()?;
    }
    set.map_err(|error| {
        io::Error::other(format!(
            "kernel.sysctl.{name}: {value:?} is not taken by this kernel: {error}"
        ))
    })
}

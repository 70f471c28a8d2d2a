//! Hosts: a network namespace each, with one device.

use std::fs::File;
use std::io;
use std::net::Ipv4Addr;

use capture::addressing;
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, setns, unshare};
use scenario::Scenario;
use sockets::{Netlink, sysctl_file};

use crate::settings;

/// A host.
pub(crate) struct Host {
    namespace: File,
    pub(crate) address: Ipv4Addr,
}

impl Host {
    /// From now on this program opens its sockets on this host.
    pub(crate) fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.namespace, CloneFlags::CLONE_NEWNET)?)
    }
}

/// Sets up the hosts of a scenario.
pub(crate) fn set_up(scenario: &Scenario, names: &[String]) -> io::Result<Vec<Host>> {
    let first = own_namespace()?;
    let sysctls = settings::sysctls(scenario).map_err(io::Error::other)?;
    for (name, value) in &settings::modules(scenario).map_err(io::Error::other)? {
        settings::set_module(name, value)?;
    }
    if scenario.tcp.pacing {
        std::fs::write(sysctl_file("net.core.default_qdisc"), "fq")?;
    }
    let links = Netlink::open()?;
    let mut hosts = Vec::new();
    for number in 0..names.len() as u32 {
        setns(&first, CloneFlags::CLONE_NEWNET)?;
        let device = format!("path{number}");
        let index = if_nametoindex(device.as_str())?;
        unshare(CloneFlags::CLONE_NEWNET)?;
        let host = Host {
            namespace: own_namespace()?,
            address: addressing::address(number),
        };
        links.move_link(index, &host.namespace)?;
        for (name, value) in &sysctls {
            set_sysctl(name, value, &first, &host)?;
        }
        let own = Netlink::open()?;
        let index = if_nametoindex(device.as_str())?;
        own.bring_up(
            index,
            scenario.path.path_mtu().get() as u32,
            settings::burst(&scenario.tcp),
        )?;
        own.add_address(index, host.address)?;
        let metrics = settings::route_metrics(&scenario.tcp);
        own.add_default_route(index, host.address, metrics)?;
        hosts.push(host);
    }
    Ok(hosts)
}

fn own_namespace() -> io::Result<File> {
    File::open("/proc/thread-self/ns/net")
}

/// Sets a sysctl of a host; one that all hosts share is set where the kernel keeps it.
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

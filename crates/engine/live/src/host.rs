//! Hosts: network namespaces with one device each, whose only way out is the path.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

use linux_sockets::{Netlink, RouteMetric, SockDiag, sysctl_file};
use net::HostId;
use nix::mount::{MsFlags, mount};
use nix::net::if_::if_nametoindex;
use nix::sched::{CloneFlags, setns, unshare};
use packet::addressing;

use crate::device::{DEVICE, Device};
use crate::outside::Gateway;
use crate::user_namespace::user_and_group;

/// Packets that may wait for this process in a device: 12 ms at 10 Gbit/s.
const DEVICE_QUEUE: u32 = 10_000;
/// File that resolves the names of hosts.
const HOSTS_FILE: &str = "/etc/hosts";
/// File with the resolvers of other names.
const RESOLVERS_FILE: &str = "/etc/resolv.conf";
/// Address at which a gateway resolves names, from a block for documentation (RFC 5737), which nobody else has.
pub const RESOLVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 53);
/// The loopback device of a new namespace.
const LOOPBACK: u32 = 1;

/// Returns a function that names the operation that an error is of.
pub(crate) fn in_step<E: Into<io::Error>>(step: &str) -> impl FnOnce(E) -> String {
    move |error| format!("{step}: {}", error.into())
}

/// Settings that all hosts of a run have.
#[derive(Clone, Debug)]
pub struct HostSettings {
    /// Sysctls by name.
    pub sysctls: BTreeMap<String, String>,
    /// Metrics of the routes of each node of the path, such as the initial window.
    pub metrics: Vec<Vec<RouteMetric>>,
    /// Congestion control of connections; unset: that of the machine.
    pub cca: Option<String>,
    /// Bytes of the largest packet.
    pub mtu: u32,
    /// Host that forwards packets to other networks.
    pub gateway: Option<Gateway>,
}

/// A host: its namespaces and its device.
pub struct Host {
    /// Its node on the path.
    pub id: HostId,
    /// Name of that node.
    pub name: String,
    /// Its device.
    pub device: Device,
    /// Its sockets.
    pub sockets: SockDiag,
    /// Namespaces of network and mounts.
    pub namespaces: Namespaces,
}

/// The namespaces of a host.
#[derive(Debug)]
pub struct Namespaces {
    network: File,
    mounts: File,
}

impl Namespaces {
    /// Returns the namespaces of this thread.
    fn of_thread() -> io::Result<Self> {
        Ok(Self {
            network: File::open("/proc/thread-self/ns/net")?,
            mounts: File::open("/proc/thread-self/ns/mnt")?,
        })
    }

    /// Moves this thread to the host, with the sockets that it opens and the programs that it starts from now on. The
    /// folder stays the same.
    pub fn enter(&self) -> io::Result<()> {
        let folder = std::env::current_dir()?;
        unshare(CloneFlags::CLONE_FS)?;
        setns(&self.network, CloneFlags::CLONE_NEWNET)?;
        setns(&self.mounts, CloneFlags::CLONE_NEWNS)?;
        std::env::set_current_dir(folder)
    }
}

/// Sets up a host for each node of `nodes`, in namespaces of its own. `folder` is for a file that is gone afterwards.
/// If the kernel rejects a step, nothing is left.
pub fn set_up(
    nodes: &[(HostId, String)],
    settings: &HostSettings,
    folder: &Path,
) -> Result<Vec<Host>, String> {
    let hosts_file = write_hosts_file(nodes, folder).map_err(in_step("the file of host names"))?;
    let resolvers_file = folder.join("resolv.conf");
    std::fs::write(&resolvers_file, format!("nameserver {RESOLVER}\n"))
        .map_err(in_step("the file of resolvers"))?;
    let files = [hosts_file, resolvers_file];
    let hosts = nodes.iter().map(|node| {
        // Namespaces belong to threads: this one ends, and the open files hold them.
        std::thread::scope(|scope| {
            let created = scope.spawn(|| create(node, nodes, settings, &files)).join();
            let host = created.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            let device = if host.device.merges() { "tun" } else { "veth" };
            tracing::info!(target: "celltcp::events::live", "host {}: namespaces and {device} device created", host.name);
            Ok(host)
        })
    });
    let hosts = hosts.collect();
    for file in &files {
        std::fs::remove_file(file).map_err(in_step("files of names"))?;
    }
    hosts
}

/// Writes the machine's host names with those of the path before them. IPv6 addresses have names of their own, such as
/// "server6": programs prefer IPv6 where a name has both, and tables have connections over IPv4.
fn write_hosts_file(nodes: &[(HostId, String)], folder: &Path) -> io::Result<PathBuf> {
    let own = nodes.iter().map(|(id, name)| {
        let (v4, v6) = (addressing::address(id.0), addressing::address_v6(id.0));
        format!("{v4} {name}\n{v6} {name}6\n")
    });
    let mut text: String = own.collect();
    text.push_str(&std::fs::read_to_string(HOSTS_FILE).unwrap_or_default());
    let file = folder.join("hosts");
    std::fs::write(&file, text)?;
    Ok(file)
}

/// Sets up a host; this thread is in its namespaces afterwards.
fn create(
    (id, name): &(HostId, String),
    nodes: &[(HostId, String)],
    settings: &HostSettings,
    [hosts_file, resolvers_file]: &[PathBuf; 2],
) -> Result<Host, String> {
    unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS)
        .map_err(|error| {
            let error = io::Error::from(error);
            format!("no network namespace can be created: {error}; this needs root, or user namespaces (celltcp shell enters one)")
        })?;
    make_mounts_private().map_err(in_step("mounts"))?;
    mount_over(hosts_file, HOSTS_FILE).map_err(in_step("mount of the file of host names"))?;
    let is_behind_gateway = settings.gateway.is_some_and(|gateway| gateway.host != *id);
    if is_behind_gateway {
        mount_over(resolvers_file, RESOLVERS_FILE).map_err(in_step("mount of /etc/resolv.conf"))?;
    }
    if let Some(gateway) = settings.gateway.filter(|gateway| gateway.host == *id) {
        for (name, value) in gateway.sysctls() {
            set_sysctl(name, value)?;
        }
    }
    for (name, value) in &settings.sysctls {
        set_sysctl(name, value)?;
    }
    // Users without the right to raw sockets can ping.
    let (_, group) = user_and_group().map_err(in_step("group"))?;
    set_sysctl("net.ipv4.ping_group_range", &format!("{group} {group}"))?;
    let device = Device::create(settings.mtu)?;
    let index = if_nametoindex(DEVICE).map_err(in_step("device"))?;
    let links = Netlink::open().map_err(in_step("netlink"))?;
    links
        .set_queue_length(index, DEVICE_QUEUE)
        .map_err(in_step("queue of the device"))?;
    links
        .bring_up(LOOPBACK, LOOPBACK_MTU, None)
        .map_err(in_step("loopback device"))?;
    links
        .bring_up(index, settings.mtu, None)
        .map_err(in_step("device"))?;
    for address in addresses(id.0) {
        links
            .add_address(index, address)
            .map_err(in_step("address"))?;
    }
    let mut metrics = settings.metrics[id.0 as usize].clone();
    metrics.extend(settings.cca.clone().map(RouteMetric::CcAlgo));
    for (peer, _) in nodes.iter().filter(|(peer, _)| peer != id) {
        for (own, to) in addresses(id.0).into_iter().zip(addresses(peer.0)) {
            let set = links.set_route(index, own, to, metrics.clone());
            set.map_err(|error| match &settings.cca {
                Some(cca) => {
                    let available = available_ccas();
                    format!(
                        "cca: {cca:?} is not taken by this kernel for a route; allowed: {available}"
                    )
                }
                None => in_step("route")(error),
            })?;
        }
    }
    if let Some(gateway) = settings.gateway.filter(|_| is_behind_gateway) {
        for own in gateway.of_usable_versions(addresses(id.0)) {
            links
                .add_default_route(index, own, metrics.clone())
                .map_err(in_step("default route"))?;
        }
    }
    let sockets = SockDiag::open().map_err(in_step("sock_diag"))?;
    let namespaces = Namespaces::of_thread().map_err(in_step("namespaces"))?;
    Ok(Host {
        id: *id,
        name: name.clone(),
        device,
        sockets,
        namespaces,
    })
}

/// MTU of a loopback device in Linux.
const LOOPBACK_MTU: u32 = 65_536;

/// Returns the addresses of a host, of both versions.
pub(crate) fn addresses(host: u32) -> [IpAddr; 2] {
    [
        addressing::address(host).into(),
        addressing::address_v6(host).into(),
    ]
}

/// Keeps mounts of this thread from others.
fn make_mounts_private() -> nix::Result<()> {
    let none: Option<&str> = None;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
}

/// Mounts a file over one of the machine, in the mounts of this thread only.
fn mount_over(file: &Path, target: &str) -> nix::Result<()> {
    let none: Option<&str> = None;
    mount(Some(file), target, none, MsFlags::MS_BIND, none)
}

/// Sets a sysctl of this thread's network namespace. Those of the whole machine are not there in a namespace of its own,
/// but those outside of `net` are.
fn set_sysctl(name: &str, value: &str) -> Result<(), String> {
    let set = if name.starts_with("net.") {
        std::fs::write(sysctl_file(name), value)
    } else {
        Err(io::Error::other(
            "it is one of the whole machine; allowed: net.*",
        ))
    };
    set.map_err(|error| {
        format!("kernel.sysctl.{name}: {value:?} is not taken by this kernel in a network namespace: {error}")
    })
}

/// Returns the congestion controls that the kernel has.
fn available_ccas() -> String {
    let file = sysctl_file("net.ipv4.tcp_available_congestion_control");
    let names = std::fs::read_to_string(file).unwrap_or_default();
    names.split_whitespace().collect::<Vec<_>>().join(", ")
}

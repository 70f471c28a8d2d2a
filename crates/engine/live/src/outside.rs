//! Outside: the networks of the machine, behind a host of the path that forwards to them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use linux_sockets::Netlink;
use net::HostId;
use nix::net::if_::if_nametoindex;

use crate::host::{Namespaces, addresses, in_step};

/// Addresses of the gateway outside of the path, from blocks for documentation (RFC 5737 and RFC 3849).
pub const GATEWAY_ADDRESSES: (Ipv4Addr, Ipv6Addr) = (
    Ipv4Addr::new(198, 51, 100, 2),
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2),
);
/// Number of the routing table of the first host; those of the others follow.
const FIRST_TABLE: u32 = 1_000;

/// The host that forwards to other networks.
#[derive(Clone, Copy, Debug)]
pub struct Gateway {
    /// Its node.
    pub host: HostId,
    /// Whether the machine reaches other networks over IPv6.
    has_ipv6: bool,
}

impl Gateway {
    /// Creates one on this machine.
    pub fn new(host: HostId) -> Self {
        // Programs try IPv4 at once where there is no route, and wait for a time-out where there is no answer.
        let has_ipv6 = std::fs::read_to_string("/proc/net/ipv6_route")
            .is_ok_and(|routes| routes.lines().any(is_default_route));
        Self { host, has_ipv6 }
    }

    /// Returns the sysctls of that host, which forwards all packets.
    pub(crate) fn sysctls(self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let v4 = [
            ("net.ipv4.ip_forward", "1"),
            ("net.ipv4.conf.all.rp_filter", "0"),
            ("net.ipv4.conf.default.rp_filter", "0"),
        ];
        let v6 = [("net.ipv6.conf.all.forwarding", "1")];
        v4.into_iter()
            .chain(v6.into_iter().filter(move |_| self.has_ipv6))
    }

    /// Returns the addresses of the IP versions in which the machine reaches other networks.
    pub(crate) fn of_usable_versions(self, addresses: [IpAddr; 2]) -> impl Iterator<Item = IpAddr> {
        let has = move |address: &IpAddr| address.is_ipv4() || self.has_ipv6;
        addresses.into_iter().filter(has)
    }

    /// Connects `host` with other networks by a device in `namespaces`, those of the gateway, behind which a program
    /// forwards.
    pub(crate) fn connect(
        self,
        namespaces: &Namespaces,
        host: HostId,
        device: &str,
        mtu: u32,
    ) -> Result<(), String> {
        let connect = || {
            namespaces.enter().map_err(in_step("namespaces"))?;
            let index = if_nametoindex(device).map_err(in_step("device to the outside"))?;
            let links = Netlink::open().map_err(in_step("netlink"))?;
            links
                .disable_arp(index)
                .and_then(|()| links.bring_up(index, mtu, None))
                .map_err(in_step("device to the outside"))?;
            if host == self.host {
                let (v4, v6) = GATEWAY_ADDRESSES;
                for own in self.of_usable_versions([v4.into(), v6.into()]) {
                    links
                        .add_address(index, own)
                        .and_then(|()| links.add_default_route(index, own, Vec::new()))
                        .map_err(in_step("route to the outside"))?;
                }
            } else {
                for source in self.of_usable_versions(addresses(host.0)) {
                    links
                        .add_source_route(index, source, FIRST_TABLE + host.0)
                        .map_err(in_step("route to the outside"))?;
                }
            }
            Ok(())
        };
        // Namespaces belong to threads.
        std::thread::scope(|scope| {
            let connected = scope.spawn(connect).join();
            connected.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }
}

/// Returns whether a line of /proc/net/ipv6_route is that of a route to all destinations, through a device that has others
/// behind it.
fn is_default_route(line: &str) -> bool {
    const REJECT: u32 = 0x0200; // RTF_REJECT of linux/route.h
    let fields: Vec<_> = line.split_whitespace().collect();
    let [destination, length, .., flags, device] = fields[..] else {
        return false;
    };
    let is_open = u32::from_str_radix(flags, 16).is_ok_and(|flags| flags & REJECT == 0);
    destination.bytes().all(|digit| digit == b'0') && length == "00" && is_open && device != "lo"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_ipv6_if_it_has_a_default_route() {
        let zeros = "0".repeat(32);
        let line = |destination: &str, flags, device| {
            format!(
                "{destination} 00 {zeros} 00 {zeros} 00000400 00000001 00000000 {flags} {device}"
            )
        };
        assert!(is_default_route(&line(&zeros, "00000003", "eth0")));
        assert!(!is_default_route(&line(&zeros, "00200200", "lo")));
        assert!(!is_default_route(&line(&zeros, "00000203", "eth0")));
        assert!(!is_default_route(&line(
            &"f".repeat(32),
            "00000001",
            "eth0"
        )));
        assert!(!is_default_route(""));
    }
}

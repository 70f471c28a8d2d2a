//! Addressing: IP addresses of hosts and TCP ports of connections.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const FIRST_HOST: u32 = Ipv4Addr::new(10, 0, 0, 1).to_bits();
/// Hosts that fit in 10.0.0.0/8.
const HOSTS: u32 = 0x00ff_ffff;

/// Returns the address of host number `host`: 10.0.0.1 for the first.
pub fn address(host: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(FIRST_HOST + (host & HOSTS))
}

/// Returns the number of the host with this [`address`].
pub fn host(address: Ipv4Addr) -> Option<u32> {
    let number = address.to_bits().checked_sub(FIRST_HOST)?;
    (number < HOSTS).then_some(number)
}

/// Address before that of the first host, in a prefix of unique local addresses (RFC 4193).
const BEFORE_IPV6: u128 = Ipv6Addr::new(0xfd63, 0x656c, 0x6c00, 0, 0, 0, 0, 0).to_bits();

/// Returns the IPv6 address of host number `host`: fd63:656c:6c00::1 for the first.
pub fn address_v6(host: u32) -> Ipv6Addr {
    Ipv6Addr::from_bits(BEFORE_IPV6 + 1 + u128::from(host & HOSTS))
}

/// Returns the number of the host with this address, of either version.
pub fn host_of(address: IpAddr) -> Option<u32> {
    match address {
        IpAddr::V4(v4) => host(v4),
        IpAddr::V6(v6) => {
            let number = v6.to_bits().checked_sub(BEFORE_IPV6 + 1)?;
            (number < u128::from(HOSTS)).then_some(number as u32)
        }
    }
}

/// Returns the port of the side that opens connection number `connection`, from the dynamic range (RFC 6335 section 6).
pub fn client_port(connection: u32) -> u16 {
    const FIRST: u16 = 49_152;
    FIRST + (connection % u32::from(u16::MAX - FIRST + 1)) as u16
}

/// Returns the port at which the sending side of the scenario's flow number `flow` listens. Numbers begin with the port
/// of iperf3, and no dissector claims the ones after it.
pub fn service_port(flow: usize) -> u16 {
    5_201 + flow as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_addresses_belong_to_each_other() {
        assert_eq!(address(0).to_string(), "10.0.0.1");
        assert_eq!(address(255).to_string(), "10.0.1.0");
        assert_eq!(host(address(300)), Some(300));
        assert_eq!(host(Ipv4Addr::new(192, 168, 0, 1)), None);
        assert_eq!(address_v6(0).to_string(), "fd63:656c:6c00::1");
        for number in [0, 1, 300, HOSTS - 1] {
            assert_eq!(host_of(address(number).into()), Some(number));
            assert_eq!(host_of(address_v6(number).into()), Some(number));
        }
        assert_eq!(host_of(Ipv6Addr::LOCALHOST.into()), None);
        assert_eq!(
            host_of(Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 2).into()),
            None
        );
    }
}

//! Veth: the network interface of a host if no TUN device can be created. It is a pair of virtual Ethernet devices, whose
//! second end this process reads and writes through a packet socket (packet(7)).
#![allow(
    unsafe_code,
    reason = "bind(2), setsockopt(2) and ioctl(2) of what no library has"
)]

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use linux_sockets::{Netlink, sysctl_file};
use nix::net::if_::if_nametoindex;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, sockopt};

use crate::device::request_name;

/// Name of the other end.
const PEER: &str = "path0-peer";
/// Hardware address of the host's end, one of those that are administered locally.
const ADDRESS: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// Bytes that may wait for this process: 6 ms at 10 Gbit/s.
const RECEIVE_BUFFER: usize = 8 << 20;
/// Length of an Ethernet header.
const HEADER: usize = 14;

/// `PACKET_IGNORE_OUTGOING` of linux/if_packet.h: packets that this process sends do not come back.
const PACKET_IGNORE_OUTGOING: libc::c_int = 23;
/// `SIOCETHTOOL` of linux/sockios.h.
const SIOCETHTOOL: libc::c_ulong = 0x8946;
/// `ETHTOOL_STXCSUM` of linux/ethtool.h.
const ETHTOOL_STXCSUM: u32 = 0x17;

/// `struct ethtool_value` of linux/ethtool.h.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// `struct ifreq` of linux/if.h with a name and a pointer.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    data: *mut EthtoolValue,
    rest: [u8; 16],
}

/// The far end of a pair.
#[derive(Debug)]
pub struct Veth(File);

impl Veth {
    /// Creates a pair in the network namespace of this thread, whose near end has this name. The kernel splits what TCP and
    /// UDP send at once into packets of the MTU, with checksums.
    pub fn create(name: &str, mtu: u32) -> io::Result<Self> {
        let links = Netlink::open()?;
        links.add_veth([name, PEER], ADDRESS)?;
        let index = if_nametoindex(PEER)?;
        // The far end is no host: it would announce itself.
        let disabled = sysctl_file(&format!("net.ipv6.conf.{PEER}.disable_ipv6"));
        std::fs::write(disabled, "1")?;
        let socket = socket(
            AddressFamily::Packet,
            SockType::Raw,
            SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC,
            None,
        )?;
        // A privilege of root; others have the default, or what the machine allows.
        let _ = setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER)
            .or_else(|_| setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER));
        ignore_outgoing(&socket)?;
        bind(&socket, index)?;
        disable_checksum_offload(&socket, name)?;
        links.bring_up(index, mtu, None)?;
        Ok(Self(File::from(socket)))
    }

    /// Reads a packet; returns its length.
    pub fn receive(&self, packet: &mut [u8]) -> io::Result<usize> {
        let mut header = [0; HEADER];
        let mut parts = [IoSliceMut::new(&mut header), IoSliceMut::new(packet)];
        match (&self.0).read_vectored(&mut parts) {
            Ok(length) => Ok(length.saturating_sub(HEADER)),
            // The near end is not up yet, or no more.
            Err(error) if error.kind() == io::ErrorKind::NetworkDown => {
                Err(io::ErrorKind::WouldBlock.into())
            }
            Err(error) => Err(error),
        }
    }

    /// Sends a packet to the host.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        const IPV6: u8 = 6;
        let is_ipv6 = packet.first().is_some_and(|first| first >> 4 == IPV6);
        let kind = if is_ipv6 {
            libc::ETH_P_IPV6
        } else {
            libc::ETH_P_IP
        };
        let mut header = [0; HEADER];
        header[..ADDRESS.len()].copy_from_slice(&ADDRESS);
        header[2 * ADDRESS.len()..].copy_from_slice(&(kind as u16).to_be_bytes());
        let parts = [IoSlice::new(&header), IoSlice::new(packet)];
        (&self.0).write_vectored(&parts).map(|_| ())
    }
}

impl AsFd for Veth {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Returns the result of a system call.
fn check_call(code: libc::c_int) -> io::Result<()> {
    if code < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn ignore_outgoing(socket: &OwnedFd) -> io::Result<()> {
    let on: libc::c_int = 1;
    // SAFETY: the value is a whole int, which the kernel reads only during the call.
    let code = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            PACKET_IGNORE_OUTGOING,
            (&raw const on).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    check_call(code)
}

/// Binds a packet socket to a device: it gets the packets of all protocols.
fn bind(socket: &OwnedFd, index: u32) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::AF_PACKET as u16,
        sll_protocol: (libc::ETH_P_ALL as u16).to_be(),
        sll_ifindex: index as i32,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
    // SAFETY: the address is a whole `struct sockaddr_ll`, which the kernel reads only during the call.
    let code = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as libc::socklen_t,
        )
    };
    check_call(code)
}

/// Disables checksum offload of a device, so that the kernel splits segments as well.
fn disable_checksum_offload(socket: &OwnedFd, device: &str) -> io::Result<()> {
    let mut value = EthtoolValue {
        command: ETHTOOL_STXCSUM,
        data: 0,
    };
    let mut request = Request {
        name: request_name(device),
        data: &raw mut value,
        rest: [0; 16],
    };
    // SAFETY: request and value are whole structures, which the kernel reads and writes only during the call.
    let code = unsafe { libc::ioctl(socket.as_raw_fd(), SIOCETHTOOL as _, &raw mut request) };
    check_call(code)
}

//! TUN device: the network interface of a host, whose packets this process reads and writes.
#![allow(unsafe_code, reason = "the ioctl that creates the device")]

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use crate::device::request_name;
use crate::offload::OFFLOAD_HEADER;

/// File through which devices are created (Documentation/networking/tuntap.rst of Linux).
pub const TUN_FILE: &str = "/dev/net/tun";

/// `struct ifreq` of linux/if.h with a name and flags.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    flags: libc::c_short,
    rest: [u8; 22],
}

/// Offloads (`TUN_F_CSUM`, `TUN_F_TSO4`, `TUN_F_TSO6` and `TUN_F_TSO_ECN` of linux/if_tun.h): the kernel does not split
/// what TCP sends at once, and computes no checksums.
const OFFLOADS: libc::c_ulong = 0x1 | 0x2 | 0x4 | 0x8;

/// A TUN device. An offload header stands before each packet, which begins with its IP header.
#[derive(Debug)]
pub struct Tun(File);

impl Tun {
    /// Creates a device of this name in the network namespace of this thread.
    pub fn create(name: &str) -> io::Result<Self> {
        let file = File::options()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(TUN_FILE)?;
        let mut request = Request {
            name: request_name(name),
            flags: (libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short,
            rest: [0; 22],
        };
        // SAFETY: the request is a whole `struct ifreq`, which the kernel reads and writes only during the call.
        let created =
            unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) };
        if created < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the argument is a number.
        let set = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETOFFLOAD as _, OFFLOADS) };
        if set < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self(file))
    }

    /// Reads a packet with its offload header; returns its length.
    pub fn receive(
        &self,
        header: &mut [u8; OFFLOAD_HEADER],
        packet: &mut [u8],
    ) -> io::Result<usize> {
        let mut parts = [IoSliceMut::new(header), IoSliceMut::new(packet)];
        let length = (&self.0).read_vectored(&mut parts)?;
        Ok(length.saturating_sub(OFFLOAD_HEADER))
    }

    /// Sends a packet to the host, in pieces of which the first is the offload header.
    pub fn send(&self, pieces: &[IoSlice<'_>]) -> io::Result<()> {
        (&self.0).write_vectored(pieces).map(|_| ())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

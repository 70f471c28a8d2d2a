//! TUN device: the network interface of a host, whose packets this process reads and writes.
#![allow(unsafe_code, reason = "the ioctl that makes the device")]

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// File through which devices are made (Documentation/networking/tuntap.rst of Linux).
pub const TUN_FILE: &str = "/dev/net/tun";

/// `struct ifreq` of linux/if.h with a name and flags.
#[repr(C)]
struct Request {
    name: [u8; libc::IFNAMSIZ],
    flags: libc::c_short,
    rest: [u8; 22],
}

/// A TUN device. Its packets begin with their IP header; it has no offloads, so that the kernel cuts what TCP and UDP hand
/// over at once to packets of the MTU, with checksums.
#[derive(Debug)]
pub struct Tun(File);

impl Tun {
    /// Makes a device of this name in the network namespace of this thread.
    ///
    /// # Errors
    /// Those of open(2) on [`TUN_FILE`] and of the ioctl.
    pub fn create(name: &str) -> io::Result<Self> {
        let file = File::options()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(TUN_FILE)?;
        let mut request = Request {
            name: [0; libc::IFNAMSIZ],
            flags: (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short,
            rest: [0; 22],
        };
        // The last byte stays the end of the text.
        for (byte, letter) in request.name[..libc::IFNAMSIZ - 1]
            .iter_mut()
            .zip(name.bytes())
        {
            *byte = letter;
        }
        // SAFETY: the request is a whole `struct ifreq`, which the kernel reads and writes only during the call.
        let made = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self(file))
    }

    /// Reads one packet.
    ///
    /// # Errors
    /// Those of read(2).
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        (&self.0).read(buffer).map(Some)
    }

    /// Hands a packet to the host.
    ///
    /// # Errors
    /// Those of write(2).
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        (&self.0).write(packet).map(|_| ())
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

//! Device: the network interface of a host.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use crate::tun::{TUN_FILE, Tun};
use crate::veth::Veth;

/// Name of the device of each host.
pub const DEVICE: &str = "path0";

/// The network interface of a host. Its packets begin with their IP header, and have the MTU as their largest size.
#[derive(Debug)]
pub enum Device {
    /// A TUN device.
    Tun(Tun),
    /// A pair of virtual Ethernet devices.
    Veth(Veth),
}

/// Reason why a host has no device.
#[derive(Debug, thiserror::Error)]
#[error("no TUN device can be made with {TUN_FILE}: {tun}; nor a pair of veth devices: {veth}")]
pub struct NoDevice {
    tun: io::Error,
    veth: io::Error,
}

impl Device {
    /// Makes the device in the network namespace of this thread: a TUN device, or where that is refused a pair of
    /// virtual Ethernet devices.
    ///
    /// # Errors
    /// If the kernel refuses both.
    pub fn create(mtu: u32) -> Result<Self, NoDevice> {
        let tun = match Tun::create(DEVICE) {
            Ok(device) => return Ok(Self::Tun(device)),
            Err(error) => error,
        };
        let veth = Veth::create(DEVICE, mtu).map(Self::Veth);
        veth.map_err(|veth| NoDevice { tun, veth })
    }

    /// Reads one packet; `None` if none waits.
    ///
    /// # Errors
    /// Those of read(2).
    pub fn receive(&self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        loop {
            let received = match self {
                Self::Tun(device) => device.receive(buffer),
                Self::Veth(device) => device.receive(buffer),
            };
            return match received {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other,
            };
        }
    }

    /// Hands a packet to the host.
    ///
    /// # Errors
    /// Those of write(2).
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        match self {
            Self::Tun(device) => device.send(packet),
            Self::Veth(device) => device.send(packet),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tun(device) => device.as_fd(),
            Self::Veth(device) => device.as_fd(),
        }
    }
}

//! Device: the network interface of a host.

use std::io::{self, IoSlice};
use std::os::fd::{AsFd, BorrowedFd};

use crate::offload::{GroSegment, MAX_SEGMENTS, OFFLOAD_HEADER, segment_packet};
use crate::session::MAX_PACKET;
use crate::tun::{TUN_FILE, Tun};
use crate::veth::Veth;

/// Name of the device of each host.
pub const DEVICE: &str = "path0";

/// Returns the name of a device as `struct ifreq` of linux/if.h has it, whose last byte stays the end of the text.
pub(crate) fn request_name(device: &str) -> [u8; libc::IFNAMSIZ] {
    let mut name = [0; libc::IFNAMSIZ];
    for (byte, letter) in name[..libc::IFNAMSIZ - 1].iter_mut().zip(device.bytes()) {
        *byte = letter;
    }
    name
}

/// The network interface of a host. Its packets begin with their IP header, and have the MTU as their largest size.
#[derive(Debug)]
pub enum Device {
    /// A TUN device.
    Tun(Tun),
    /// A pair of virtual Ethernet devices.
    Veth(Veth),
}

impl Device {
    /// Creates the device in the network namespace of this thread: a TUN device or, if the kernel rejects that, a pair of
    /// virtual Ethernet devices.
    pub fn create(mtu: u32) -> Result<Self, String> {
        let tun = match Tun::create(DEVICE) {
            Ok(device) => return Ok(Self::Tun(device)),
            Err(error) => error,
        };
        let veth = Veth::create(DEVICE, mtu).map(Self::Veth);
        veth.map_err(|veth| {
            format!("no TUN device can be made with {TUN_FILE}: {tun}; nor a pair of veth devices: {veth}")
        })
    }

    /// Reads from the device once and calls `on_packet` for each packet. Returns false if nothing was waiting.
    pub fn receive(
        &self,
        buffers: &mut ReceiveBuffers,
        mut on_packet: impl FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<bool> {
        let mut header = [0; OFFLOAD_HEADER];
        let length = loop {
            let received = match self {
                Self::Tun(device) => device.receive(&mut header, &mut buffers.packet),
                Self::Veth(device) => device.receive(&mut buffers.packet),
            };
            match received {
                Ok(length) => break length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        let packet = &mut buffers.packet[..length];
        match self {
            Self::Tun(_) => segment_packet(header, packet, &mut buffers.segment, on_packet)?,
            Self::Veth(_) => on_packet(packet)?,
        }
        Ok(true)
    }

    /// Sends a packet to the host, of several segments only if the device [`Self::merges`] them.
    pub fn send(&self, segment: &mut GroSegment) -> io::Result<()> {
        let (header, packet) = segment.pieces();
        let mut pieces = [IoSlice::new(&[]); 1 + MAX_SEGMENTS];
        pieces[0] = IoSlice::new(&header);
        let mut count = 1;
        for (slot, piece) in pieces[1..].iter_mut().zip(packet) {
            *slot = IoSlice::new(piece);
            count += 1;
        }
        match self {
            Self::Tun(device) => device.send(&pieces[..count]),
            Self::Veth(device) => device.send(&pieces[1]),
        }
    }

    /// Returns whether the device accepts merged segments.
    pub fn merges(&self) -> bool {
        matches!(self, Self::Tun(_))
    }
}

/// Receive buffers.
pub struct ReceiveBuffers {
    packet: Vec<u8>,
    segment: Vec<u8>,
}

impl Default for ReceiveBuffers {
    fn default() -> Self {
        Self {
            packet: vec![0; MAX_PACKET],
            segment: Vec::with_capacity(MAX_PACKET),
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

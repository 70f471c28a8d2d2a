//! Sock_diag: the TCP sockets of a network namespace and the state of their senders (sock_diag(7)).

use std::io;
use std::net::{IpAddr, SocketAddr};

use cca::SenderInfo;
use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NetlinkBuffer, NlasIterator,
};
use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_SOCK_DIAG;

use crate::tcp_info::{TcpStruct, sender_info};

/// Type of a request (linux/sock_diag.h).
const SOCK_DIAG_BY_FAMILY: u16 = 20;
/// Attributes of a reply (linux/inet_diag.h): `struct tcp_info`, `struct tcp_bbr_info`, name of the congestion control.
const INFO: u16 = 2;
const CONGESTION: u16 = 4;
const BBR_INFO: u16 = 16;
/// Bits of the requested extensions: `INET_DIAG_INFO`, `INET_DIAG_VEGASINFO` (which stands for the information of
/// any congestion control) and `INET_DIAG_CONG`.
const EXTENSIONS: u8 = 1 << 1 | 1 << 2 | 1 << 3;
/// States of sockets that may have data under way: ESTABLISHED, FIN_WAIT1, CLOSE_WAIT, LAST_ACK and CLOSING.
const STATES: u32 = 1 << 1 | 1 << 4 | 1 << 8 | 1 << 9 | 1 << 11;
/// Bytes of `struct nlmsghdr`, `struct inet_diag_req_v2` and `struct inet_diag_msg`.
const HEADER_BYTES: usize = 16;
const REQUEST_BYTES: usize = 56;
const MESSAGE_BYTES: usize = 72;

/// A TCP socket and the state of its sender.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SocketState {
    /// Own address and port.
    pub local: SocketAddr,
    /// Address and port of the peer.
    pub remote: SocketAddr,
    /// State of the sender.
    pub sender: SenderInfo,
}

/// Requests about the TCP sockets of the network namespace in which it was opened.
pub struct SockDiag(Socket);

impl SockDiag {
    /// Opens a netlink socket in the network namespace of this thread.
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
        socket.bind_auto()?;
        Ok(Self(socket))
    }

    /// Adds the sockets over IPv4 and IPv6 that may have data under way to `sockets`.
    pub fn tcp_sockets(&self, sockets: &mut Vec<SocketState>) -> io::Result<()> {
        for family in [libc::AF_INET, libc::AF_INET6] {
            self.0.send(&request(family as u8), 0)?;
            while self.receive(sockets)? {}
        }
        Ok(())
    }

    /// Receives a part of a reply; returns whether more follows.
    fn receive(&self, sockets: &mut Vec<SocketState>) -> io::Result<bool> {
        let (bytes, _) = self.0.recv_from_full()?;
        let mut rest = &bytes[..];
        while rest.len() >= HEADER_BYTES {
            let message = NetlinkBuffer::new_checked(rest).map_err(io::Error::other)?;
            match message.message_type() {
                NLMSG_DONE => return Ok(false),
                NLMSG_ERROR => {
                    let code = message.payload().first_chunk().copied();
                    let code = code.map_or(0, i32::from_ne_bytes);
                    return Err(io::Error::from_raw_os_error(-code));
                }
                _ => sockets.extend(parse_socket(message.payload())),
            }
            // Messages begin at multiples of four bytes.
            let length = (message.length() as usize).next_multiple_of(4);
            rest = rest.get(length..).unwrap_or_default();
        }
        Ok(true)
    }
}

/// Returns a request for all TCP sockets of a family: a header and `struct inet_diag_req_v2` without an identity.
fn request(family: u8) -> [u8; HEADER_BYTES + REQUEST_BYTES] {
    let mut bytes = [0; HEADER_BYTES + REQUEST_BYTES];
    bytes[..4].copy_from_slice(&((HEADER_BYTES + REQUEST_BYTES) as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&(NLM_F_REQUEST | NLM_F_DUMP).to_ne_bytes());
    bytes[HEADER_BYTES..HEADER_BYTES + 3].copy_from_slice(&[
        family,
        libc::IPPROTO_TCP as u8,
        EXTENSIONS,
    ]);
    bytes[HEADER_BYTES + 4..HEADER_BYTES + 8].copy_from_slice(&STATES.to_ne_bytes());
    bytes
}

/// Reads a `struct inet_diag_msg` with its attributes; `None` if it has no state of a sender.
fn parse_socket(message: &[u8]) -> Option<SocketState> {
    let family = *message.first()?;
    let address_at = |port: usize, address: usize| {
        let port = u16::from_be_bytes(*message.get(port..)?.first_chunk()?);
        let bytes: [u8; 16] = *message.get(address..)?.first_chunk()?;
        let address = if i32::from(family) == libc::AF_INET6 {
            IpAddr::from(bytes).to_canonical()
        } else {
            IpAddr::from(*bytes.first_chunk::<4>()?)
        };
        Some(SocketAddr::new(address, port))
    };
    let (mut info, mut bbr, mut cca) = (None, Vec::new(), String::new());
    for attribute in NlasIterator::new(message.get(MESSAGE_BYTES..)?) {
        let attribute = attribute.ok()?;
        let value = attribute.value();
        match attribute.kind() {
            INFO => info = Some(value.to_vec()),
            BBR_INFO => bbr = value.to_vec(),
            CONGESTION => {
                cca = String::from_utf8_lossy(value)
                    .trim_end_matches('\0')
                    .to_owned()
            }
            _ => {}
        }
    }
    Some(SocketState {
        local: address_at(4, 8)?,
        remote: address_at(6, 24)?,
        sender: sender_info(&TcpStruct(&info?), &cca, &TcpStruct(&bbr)),
    })
}

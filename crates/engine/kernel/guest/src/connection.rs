//! Connection: the sockets of both ends, which block for readers and never for writers.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use kernel_protocol::KeepAlive;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, SockFlag, SockType, SockaddrIn, bind, connect, listen, send,
    setsockopt, socket,
    sockopt::{
        KeepAlive as SocketKeepAlive, ReuseAddr, TcpKeepCount, TcpKeepIdle, TcpKeepInterval,
        TcpNoDelay, TcpUserTimeout,
    },
};
use packet::addressing;

use linux_sockets::options;

/// Bytes that a write offers to the kernel.
pub(crate) const CHUNK: usize = 256 * 1024;

/// Settings of a socket before it connects.
#[derive(Clone, Copy)]
pub(crate) struct EndSettings {
    /// Cap of the announced segment size, bytes.
    pub(crate) mss: Option<u32>,
    /// Cap of the receive window, bytes.
    pub(crate) window: Option<u32>,
    /// Whether short segments leave at once.
    pub(crate) nodelay: bool,
    /// Cap of the pacing rate, bytes per second.
    pub(crate) max_pacing_rate: Option<u64>,
    /// Time without an acknowledgement before it times out, ms.
    pub(crate) user_timeout_ms: Option<u32>,
    /// Probes while it is idle.
    pub(crate) keepalive: Option<KeepAlive>,
}

/// Returns a socket at `socket_address`, under `cca` if one is named.
fn bound_socket(
    socket_address: SocketAddrV4,
    cca: Option<&str>,
    settings: EndSettings,
) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    setsockopt(&socket, ReuseAddr, &true)?;
    if let Some(mss) = settings.mss {
        options::set_max_segment(&socket, mss)?;
    }
    if let Some(window) = settings.window {
        options::clamp_window(&socket, window)?;
    }
    if settings.nodelay {
        setsockopt(&socket, TcpNoDelay, &true)?;
    }
    if let Some(cap) = settings.max_pacing_rate {
        options::cap_pacing_rate(&socket, cap)?;
    }
    if let Some(time) = settings.user_timeout_ms {
        setsockopt(&socket, TcpUserTimeout, &time)?;
    }
    if let Some(probes) = settings.keepalive {
        setsockopt(&socket, TcpKeepIdle, &probes.idle)?;
        setsockopt(&socket, TcpKeepInterval, &probes.interval)?;
        setsockopt(&socket, TcpKeepCount, &probes.probes)?;
        setsockopt(&socket, SocketKeepAlive, &true)?;
    }
    if let Some(cca) = cca {
        options::set_congestion(&socket, cca)?;
    }
    bind(socket.as_raw_fd(), &SockaddrIn::from(socket_address))?;
    Ok(socket)
}

/// Listens on the current host at the port of a flow; accepted connections have the congestion control
/// `cca`, if one is named.
pub(crate) fn listener(
    address: Ipv4Addr,
    flow: usize,
    cca: Option<&str>,
    settings: EndSettings,
) -> io::Result<TcpListener> {
    let socket_address = SocketAddrV4::new(address, addressing::service_port(flow));
    let socket = bound_socket(socket_address, cca, settings)?;
    listen(&socket, Backlog::MAXCONN)?;
    Ok(socket.into())
}

/// Opens connection number `connection` from the current host to `peer`, under `cca` if one is named; the socket
/// blocks from then on.
pub(crate) fn open(
    own: Ipv4Addr,
    peer: Ipv4Addr,
    flow: usize,
    connection: u32,
    cca: Option<&str>,
    settings: EndSettings,
) -> io::Result<OwnedFd> {
    let socket_address = SocketAddrV4::new(own, addressing::client_port(connection));
    let socket = bound_socket(socket_address, cca, settings)?;
    let to = SockaddrIn::from(SocketAddrV4::new(peer, addressing::service_port(flow)));
    match connect(socket.as_raw_fd(), &to) {
        Ok(()) | Err(Errno::EINPROGRESS) => {}
        Err(error) => return Err(error.into()),
    }
    fcntl(&socket, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(socket)
}

/// Returns the next connection that waits at a listener, and the port of its other end.
pub(crate) fn accept(listener: &TcpListener) -> io::Result<Option<(OwnedFd, u16)>> {
    match listener.accept() {
        Ok((socket, peer)) => {
            socket.set_nonblocking(false)?;
            Ok(Some((socket.into(), peer.port())))
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
        Err(error) => Err(error),
    }
}

/// Writes as much of `bytes` as the socket accepts now; returns the number of bytes.
pub(crate) fn write_some(socket: &impl AsFd, bytes: &[u8]) -> io::Result<u64> {
    let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
    match send(socket.as_fd().as_raw_fd(), bytes, flags) {
        Ok(count) => Ok(count as u64),
        Err(Errno::EAGAIN) => Ok(0),
        Err(error) => Err(error.into()),
    }
}

//! EventToken: the origin of an epoll event.

use std::io;
use std::os::fd::AsFd;

use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};
use workload::End;

/// Origin of an epoll event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EventToken {
    Timer,
    Listener(usize),
    Readers,
    /// The end of a connection.
    Socket(usize, End),
}

impl EventToken {
    /// Packs kind and index into the 64 bits of an epoll event.
    pub(super) fn pack(self) -> u64 {
        let (kind, number) = match self {
            Self::Timer => (0, 0),
            Self::Listener(number) => (1, number),
            Self::Readers => (2, 0),
            Self::Socket(number, End::Server) => (3, number),
            Self::Socket(number, End::Client) => (4, number),
        };
        kind << 32 | number as u64
    }

    pub(super) fn unpack(data: u64) -> Self {
        let number = (data & 0xffff_ffff) as usize;
        match data >> 32 {
            0 => Self::Timer,
            1 => Self::Listener(number),
            2 => Self::Readers,
            3 => Self::Socket(number, End::Server),
            _ => Self::Socket(number, End::Client),
        }
    }
}

/// Makes epoll report a file's events as those of `source`.
pub(super) fn watch(
    epoll: &Epoll,
    file: &impl AsFd,
    flags: EpollFlags,
    source: EventToken,
) -> io::Result<()> {
    Ok(epoll.add(file, EpollEvent::new(flags, source.pack()))?)
}

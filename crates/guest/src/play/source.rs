//! Whose events epoll tells of.

use std::io;
use std::os::fd::AsFd;

use nix::sys::epoll::{Epoll, EpollEvent, EpollFlags};

/// Whose event it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Timer,
    Listener(usize),
    Receivers,
    Sender(usize),
}

impl Source {
    /// Kind and number in the 64 bits that epoll keeps.
    pub(super) fn pack(self) -> u64 {
        let (kind, number) = match self {
            Self::Timer => (0, 0),
            Self::Listener(number) => (1, number),
            Self::Receivers => (2, 0),
            Self::Sender(number) => (3, number),
        };
        kind << 32 | number as u64
    }

    pub(super) fn unpack(data: u64) -> Self {
        let number = (data & 0xffff_ffff) as usize;
        match data >> 32 {
            0 => Self::Timer,
            1 => Self::Listener(number),
            2 => Self::Receivers,
            _ => Self::Sender(number),
        }
    }
}

/// Has epoll tell of a file's events as those of `source`.
pub(super) fn watch(
    epoll: &Epoll,
    file: &impl AsFd,
    flags: EpollFlags,
    source: Source,
) -> io::Result<()> {
    Ok(epoll.add(file, EpollEvent::new(flags, source.pack()))?)
}

//! The receiving ends of connections: a thread each, which the kernel wakes once per transfer.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Inbox, Sender as Outbox, channel};
use std::thread;

use nix::sys::eventfd::{EfdFlags, EventFd};

use crate::sockopt::discard;

/// A receiver needs no stack to speak of.
const STACK: usize = 64 * 1024;

/// What has become of a transfer.
#[derive(Debug)]
pub(crate) struct Received {
    /// Number of the connection.
    pub(crate) connection: usize,
    /// Whether it came to its end; an error if the connection broke.
    pub(crate) outcome: io::Result<()>,
}

/// All receivers.
pub(crate) struct Receivers {
    /// Readable when something was received.
    pub(crate) signal: Arc<EventFd>,
    outbox: Outbox<Received>,
    inbox: Inbox<Received>,
}

impl Receivers {
    pub(crate) fn new() -> io::Result<Self> {
        let (outbox, inbox) = channel();
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        Ok(Self {
            signal: Arc::new(EventFd::from_value_and_flags(0, flags)?),
            outbox,
            inbox,
        })
    }

    /// Takes from a blocking socket: `bytes`, or all until the stream ends. When they are here that is
    /// told, and the socket is closed when the other side has closed.
    pub(crate) fn start(
        &self,
        connection: usize,
        socket: OwnedFd,
        bytes: Option<u64>,
    ) -> io::Result<()> {
        let (signal, outbox) = (Arc::clone(&self.signal), self.outbox.clone());
        thread::Builder::new().stack_size(STACK).spawn(move || {
            let outcome = take(&socket, bytes);
            let told = outbox.send(Received {
                connection,
                outcome,
            });
            if told.is_ok() && signal.write(1).is_ok() && bytes.is_some() {
                // Only the end of the stream is left; what became of it matters to nobody.
                let _ = discard(&socket, 1);
            }
        })?;
        Ok(())
    }

    /// What has been received since the last call.
    pub(crate) fn fetch(&self) -> io::Result<Vec<Received>> {
        // The counter may be zero already: the signal of an entry that an earlier call has fetched.
        match self.signal.read() {
            Ok(_) | Err(nix::errno::Errno::EAGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(self.inbox.try_iter().collect())
    }
}

/// Takes `bytes`, or all until the stream ends, which an application that stops early ends sooner.
fn take(socket: &OwnedFd, bytes: Option<u64>) -> io::Result<()> {
    let mut left = bytes.unwrap_or(u64::MAX);
    while left > 0 {
        let taken = discard(socket, left)?;
        if taken == 0 {
            break;
        }
        left -= taken;
    }
    Ok(())
}

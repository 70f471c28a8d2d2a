//! Readers: one thread for each end of a connection that receives data, which the kernel wakes once per message.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver as Inbox, Sender as Outbox, channel};
use std::thread;

use nix::sys::eventfd::{EfdFlags, EventFd};
use workload::End;

use linux_sockets::options::discard;

/// Stack size of a reader, whose calls are few and shallow.
const STACK: usize = 64 * 1024;

/// The report of a reader on one order.
#[derive(Debug)]
pub(crate) struct Report {
    /// Index of the connection.
    pub(crate) connection: usize,
    /// The end that reads.
    pub(crate) end: End,
    /// Progress of the reader, or the error that broke the connection.
    pub(crate) progress: io::Result<Progress>,
}

/// Progress of a reader.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// Bytes read since the connection was opened.
    pub(crate) total: u64,
    /// Whether the stream has ended.
    pub(crate) ended: bool,
}

/// Handle of a reader thread; if dropped, it reads to EOF and closes. Without it the reader waits for the end of the
/// stream and lets go of the socket.
#[derive(Debug)]
pub(crate) struct Reader(Outbox<Option<u64>>);

impl Reader {
    /// Orders to read that many bytes more, or all until the stream ends; a [`Report`] follows.
    pub(crate) fn read(&self, bytes: Option<u64>) {
        // A reader that is gone has reported why.
        let _ = self.0.send(bytes);
    }
}

/// The place where the reports of all readers arrive.
pub(crate) struct Readers {
    /// Readable when there are reports.
    pub(crate) signal: Arc<EventFd>,
    outbox: Outbox<Report>,
    inbox: Inbox<Report>,
}

impl Readers {
    pub(crate) fn new() -> io::Result<Self> {
        let (outbox, inbox) = channel();
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        Ok(Self {
            signal: Arc::new(EventFd::from_value_and_flags(0, flags)?),
            outbox,
            inbox,
        })
    }

    /// Starts a reader of a blocking socket.
    pub(crate) fn start(
        &self,
        connection: usize,
        end: End,
        socket: Arc<OwnedFd>,
    ) -> io::Result<Reader> {
        let (signal, outbox) = (Arc::clone(&self.signal), self.outbox.clone());
        let (orders, ordered) = channel();
        thread::Builder::new().stack_size(STACK).spawn(move || {
            let mut total = 0;
            for bytes in ordered {
                let progress = take(&socket, bytes).map(|(discarded, ended)| {
                    total += discarded;
                    Progress { total, ended }
                });
                let goes_on = progress.as_ref().is_ok_and(|progress| !progress.ended);
                let report = Report {
                    connection,
                    end,
                    progress,
                };
                if outbox.send(report).is_err() || signal.write(1).is_err() || !goes_on {
                    return;
                }
            }
            // Only the end of the stream is awaited; how it came does not matter.
            let _ = discard(&socket, 1);
        })?;
        Ok(Reader(orders))
    }

    /// Returns the reports since the last call.
    pub(crate) fn fetch(&self) -> io::Result<Vec<Report>> {
        // The counter may already be zero, because an earlier call has fetched the report.
        match self.signal.read() {
            Ok(_) | Err(nix::errno::Errno::EAGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(self.inbox.try_iter().collect())
    }
}

/// Reads and discards `bytes`, or all until the stream ends; returns how many there were, and whether the stream has
/// ended.
fn take(socket: &OwnedFd, bytes: Option<u64>) -> io::Result<(u64, bool)> {
    let requested = bytes.unwrap_or(u64::MAX);
    let mut left = requested;
    while left > 0 {
        let discarded = discard(socket, left)?;
        if discarded == 0 {
            return Ok((requested - left, true));
        }
        left -= discarded;
    }
    Ok((requested, false))
}

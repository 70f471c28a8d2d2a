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

/// The report of a reader on one request.
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
    pub(crate) has_ended: bool,
}

/// Handle of a reader thread. Once it is dropped, the thread waits for the end of the stream and closes the socket.
#[derive(Debug)]
pub(crate) struct Reader(Outbox<Option<u64>>);

impl Reader {
    /// Requests to read that many bytes more, or all until the stream ends; a [`Report`] follows.
    pub(crate) fn read(&self, bytes: Option<u64>) {
        // A reader that is gone has reported why.
        let _ = self.0.send(bytes);
    }
}

/// All readers, and the inbox of their reports.
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
        let (request, requests) = channel();
        thread::Builder::new().stack_size(STACK).spawn(move || {
            let mut total = 0;
            for bytes in requests {
                let progress = discard_bytes(&socket, bytes, &mut total);
                let is_open = progress.as_ref().is_ok_and(|progress| !progress.has_ended);
                let report = Report {
                    connection,
                    end,
                    progress,
                };
                if outbox.send(report).is_err() || signal.write(1).is_err() || !is_open {
                    return;
                }
            }
            // Only the end of the stream matters, not its cause.
            let _ = discard(&socket, 1);
        })?;
        Ok(Reader(request))
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

/// Reads and discards `bytes`, or all until the stream ends, and adds their number to `total`.
fn discard_bytes(socket: &OwnedFd, bytes: Option<u64>, total: &mut u64) -> io::Result<Progress> {
    let mut left = bytes.unwrap_or(u64::MAX);
    let mut has_ended = false;
    while left > 0 && !has_ended {
        let discarded = discard(socket, left)?;
        *total += discarded;
        left -= discarded;
        has_ended = discarded == 0;
    }
    Ok(Progress {
        total: *total,
        has_ended,
    })
}

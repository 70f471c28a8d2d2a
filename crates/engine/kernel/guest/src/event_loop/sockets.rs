//! Sockets: both ends of a connection, and their readers.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use linux_sockets::PacingCap;
use nix::sys::socket::{Shutdown, shutdown};
use workload::End;

use crate::reader::{Reader, Readers};

/// One end of a connection.
#[derive(Default)]
pub(super) struct EndSocket {
    /// `None` before the connection is accepted, and after the end is closed.
    pub(super) socket: Option<Arc<OwnedFd>>,
    /// Whether epoll reports room in the socket's buffer; `None` while the socket is not registered.
    pub(super) epollout_armed: Option<bool>,
    /// Requests that wait for the socket.
    pending_reads: Vec<Option<u64>>,
    reader: Option<Reader>,
    is_finished: bool,
}

impl EndSocket {
    /// Requests that the reader reads that many bytes more, or all until the stream ends.
    pub(super) fn read(
        &mut self,
        readers: &Readers,
        connection: usize,
        end: End,
        bytes: Option<u64>,
    ) -> io::Result<()> {
        self.pending_reads.push(bytes);
        self.start_reading(readers, connection, end)
    }

    /// Sends the requests to the reader, once there is a socket.
    pub(super) fn start_reading(
        &mut self,
        readers: &Readers,
        connection: usize,
        end: End,
    ) -> io::Result<()> {
        if self.socket.is_none() || self.pending_reads.is_empty() {
            return Ok(());
        }
        self.ensure_reader(readers, connection, end)?;
        if let Some(reader) = &self.reader {
            self.pending_reads
                .drain(..)
                .for_each(|bytes| reader.read(bytes));
        }
        Ok(())
    }

    fn ensure_reader(&mut self, readers: &Readers, connection: usize, end: End) -> io::Result<()> {
        if let (Some(socket), None) = (&self.socket, &self.reader) {
            self.reader = Some(readers.start(connection, end, Arc::clone(socket))?);
        }
        Ok(())
    }

    /// Ends the stream from this end.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        if let (Some(socket), false) = (&self.socket, self.is_finished) {
            shutdown(socket.as_raw_fd(), Shutdown::Write)?;
            self.is_finished = true;
        }
        Ok(())
    }

    /// Aborts the end: its reader reads nothing more, and the kernel answers further segments by resets.
    pub(super) fn abandon(&mut self) -> io::Result<()> {
        if let Some(socket) = &self.socket {
            shutdown(socket.as_raw_fd(), Shutdown::Both)?;
            self.is_finished = true;
        }
        Ok(())
    }

    /// Closes the end; its reader waits for the end of the other stream.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.finish()?;
        (self.socket, self.reader) = (None, None);
        Ok(())
    }

    /// Closes the end as soon as the stream towards it ends.
    pub(super) fn close_after_peer(
        &mut self,
        readers: &Readers,
        connection: usize,
        end: End,
    ) -> io::Result<()> {
        self.ensure_reader(readers, connection, end)?;
        (self.socket, self.reader) = (None, None);
        Ok(())
    }
}

/// A connection.
pub(super) struct Connection {
    /// Index of its flow in the scenario.
    pub(super) flow: usize,
    /// The end that has opened it.
    pub(super) opened_by: End,
    /// Whether the handshake is complete for the server's end.
    pub(super) is_established: bool,
    ends: [EndSocket; 2],
    pub(super) cca: &'static str,
    pub(super) cap: Option<PacingCap>,
}

impl Connection {
    pub(super) fn new(flow: usize, opened_by: End, cca: &'static str) -> Self {
        Self {
            flow,
            opened_by,
            is_established: false,
            ends: Default::default(),
            cca,
            cap: None,
        }
    }

    pub(super) fn end(&mut self, end: End) -> &mut EndSocket {
        &mut self.ends[end.index()]
    }

    /// Returns whether an end has no socket.
    pub(super) fn has_no_socket(&self, end: End) -> bool {
        self.ends[end.index()].socket.is_none()
    }

    /// Returns the sockets of both ends, as far as they have one.
    pub(super) fn sockets(&self) -> impl Iterator<Item = &OwnedFd> {
        self.ends.iter().filter_map(|end| end.socket.as_deref())
    }

    /// Returns the socket of the server's end, whose congestion control is the flow's.
    pub(super) fn sender(&self) -> Option<Arc<OwnedFd>> {
        self.ends[End::Server.index()].socket.clone()
    }
}

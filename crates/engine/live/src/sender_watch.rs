//! Sender watch: the thread that requests the senders on all hosts from the kernel, so that no packet waits for it.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;

use linux_sockets::{SockDiag, SocketState};
use units::Duration;

/// A running watch, whose thread ends when it is dropped.
pub struct SenderWatch {
    /// Sockets of all hosts at each time.
    pub reports: Receiver<Vec<SocketState>>,
    /// Dropped, it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SenderWatch {
    /// Starts to request the sockets of all hosts each `interval`.
    pub fn start(hosts: Vec<SockDiag>, interval: Duration) -> io::Result<Self> {
        let (report, reports) = channel();
        let (stop, stopped) = channel();
        let interval = std::time::Duration::from_nanos(interval.as_nanos());
        let thread = std::thread::Builder::new()
            .name("celltcp-senders".to_owned())
            .spawn(move || {
                while stopped.recv_timeout(interval) == Err(RecvTimeoutError::Timeout) {
                    let mut sockets = Vec::new();
                    for host in &hosts {
                        // Without sock_diag in the kernel, results have no states of senders.
                        let _ = host.tcp_sockets(&mut sockets);
                    }
                    if report.send(sockets).is_err() {
                        return;
                    }
                }
            })?;
        Ok(Self {
            reports,
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for SenderWatch {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join) {
            std::panic::resume_unwind(panic);
        }
    }
}

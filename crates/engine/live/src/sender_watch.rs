//! Sender watch: the thread that asks the kernel for the senders on all hosts, so that no packet waits for its answer.

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;

use linux_sockets::{SockDiag, SocketState};
use units::Duration;

/// A watch at work, which ends with it.
pub struct SenderWatch {
    /// Sockets of all hosts, each time that they were asked for.
    pub reports: Receiver<Vec<SocketState>>,
    /// Dropped, it ends the thread.
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl SenderWatch {
    /// Starts to ask on all hosts each `interval`.
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
                        // A kernel without sock_diag has no answer, and results no senders then.
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

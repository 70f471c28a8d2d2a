//! Counters: TCP statistics of the kernel per network namespace (`/proc/net/netstat`).

use std::io;

/// TCP statistics of a network namespace: those of its only sender, or sums over its senders.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Counters {
    /// Tail loss probes (`TCPLossProbes`).
    pub loss_probes: u64,
    /// Fast recoveries (`TCPSackRecovery` and `TCPRenoRecovery`).
    pub fast_recoveries: u64,
    /// Window reductions that were undone (`TCPFullUndo`, `TCPPartialUndo`, `TCPDSACKUndo`, `TCPLossUndo`).
    pub undone: u64,
    /// Retransmission time-outs (`TCPTimeouts`).
    pub timeouts: u64,
    /// Times that a socket of the namespace brought TCP under memory pressure (`TCPMemoryPressures`).
    pub memory_pressures: u64,
}

impl Counters {
    /// Reads the counters of the network namespace of this thread.
    pub fn read() -> io::Result<Self> {
        let text = std::fs::read_to_string("/proc/thread-self/net/netstat")?;
        let sum = |names: &[&str]| names.iter().map(|name| counter(&text, name)).sum();
        Ok(Self {
            loss_probes: sum(&["TCPLossProbes"]),
            fast_recoveries: sum(&["TCPSackRecovery", "TCPRenoRecovery"]),
            undone: sum(&[
                "TCPFullUndo",
                "TCPPartialUndo",
                "TCPDSACKUndo",
                "TCPLossUndo",
            ]),
            timeouts: sum(&["TCPTimeouts"]),
            memory_pressures: sum(&["TCPMemoryPressures"]),
        })
    }
}

/// Returns the value of a counter. The lines of the text come in pairs: names, then values.
fn counter(text: &str, name: &str) -> u64 {
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let position = names.split_whitespace().position(|known| known == name);
        if let Some(value) = position.and_then(|at| values.split_whitespace().nth(at)) {
            return value.parse().unwrap_or_default();
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::counter;

    #[test]
    fn names_and_values_are_on_lines_below_each_other() {
        let text = "TcpExt: SyncookiesSent TCPTimeouts\nTcpExt: 0 3\nIpExt: InOctets\nIpExt: 99\n";
        assert_eq!(counter(text, "TCPTimeouts"), 3);
        assert_eq!(counter(text, "InOctets"), 99);
        assert_eq!(counter(text, "TCPLossProbes"), 0);
    }
}

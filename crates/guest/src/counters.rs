//! Counters that the kernel keeps per host (`/proc/net/netstat`).

use std::io;

use sidechannel::Message;

/// The counters of the present host, as those of its only sender.
pub(crate) fn counters(connection: u32) -> io::Result<Message> {
    let text = std::fs::read_to_string("/proc/thread-self/net/netstat")?;
    let sum = |names: &[&str]| names.iter().map(|name| counter(&text, name)).sum();
    Ok(Message::Counters {
        connection,
        loss_probes: sum(&["TCPLossProbes"]),
        recoveries: sum(&["TCPSackRecovery", "TCPRenoRecovery"]),
        undone: sum(&[
            "TCPFullUndo",
            "TCPPartialUndo",
            "TCPDSACKUndo",
            "TCPLossUndo",
        ]),
        timeouts: sum(&["TCPTimeouts"]),
    })
}

/// The value of a counter: lines come in pairs, of names and of values.
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

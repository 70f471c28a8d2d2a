//! Messages between the guest and the path.

use cca::{SenderInfo, SwitchMode};
use results::{DecisionRow, EstimateRow};
use selection::Hints;
use serde::{Deserialize, Serialize};

use crate::job::GuestJob;

/// Message of the guest. If it has an answer, the guest reads that from the device right after it wrote the message.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Message {
    /// The first message; the answer is [`Reply::Job`].
    Hello {
        /// [`PROTOCOL`](crate::PROTOCOL) of the guest.
        protocol: u32,
        /// Release of the kernel (uname).
        release: String,
    },
    /// Hosts are set up; this moment is time zero of the run.
    Start,
    /// The next connection is requested.
    Open {
        /// Index of its flow in the scenario.
        flow: u32,
        /// Congestion control that its sender asks for: its name, or `auto` with its parameters.
        cca: String,
    },
    /// The senders of the connections that are open.
    Senders {
        /// Whether the path records them as samples.
        sample: bool,
        /// Number and sender of each connection.
        senders: Vec<(u32, SenderInfo)>,
    },
    /// The receiver has all bytes of a finite transfer.
    Complete {
        /// Index of the connection.
        connection: u32,
    },
    /// A metric of the application on a connection.
    AppMetric {
        /// Index of the connection.
        connection: u32,
        /// Name of the metric.
        name: String,
        /// Value of the metric.
        value: f64,
    },
    /// A sender has changed its congestion control.
    Switched {
        /// Index of the connection.
        connection: u32,
        /// The congestion control that took over.
        to: String,
        /// Mode of the switch.
        mode: SwitchMode,
        /// The window that it starts from, segments.
        cwnd: u32,
    },
    /// A selector has decided.
    Decision(DecisionRow),
    /// Estimates of the selectors at the end of a slot.
    Estimated(Vec<EstimateRow>),
    /// Counters of a sender that the kernel has per host only.
    Counters {
        /// Index of the connection.
        connection: u32,
        /// Tail loss probes (`TCPLossProbes`).
        loss_probes: u64,
        /// Fast recoveries (`TCPSackRecovery` and `TCPRenoRecovery`).
        recoveries: u64,
        /// Reductions undone (`TCPFullUndo`, `TCPPartialUndo`, `TCPDSACKUndo`, `TCPLossUndo`).
        undone: u64,
        /// Retransmission time-outs (`TCPTimeouts`).
        timeouts: u64,
    },
    /// TCP ran short of memory this many times.
    MemoryPressures(u32),
    /// Asks for the time on the path; the answer is [`Reply::Clock`].
    Clock,
    /// Asks for the true state of the bottleneck; the answer is [`Reply::BottleneckState`].
    BottleneckState {
        /// Whether the uplink is meant.
        uplink: bool,
    },
    /// Asks for the hints of a host's radio; the answer is [`Reply::Hints`].
    Hints {
        /// Index of the host.
        host: u32,
    },
    /// The run is over.
    End,
    /// The run cannot go on.
    Fail(String),
}

/// Answer of the path.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// Job of the guest.
    Job(Box<GuestJob>),
    /// Time since [`Message::Start`], ns.
    Clock(u64),
    /// True state of the bottleneck.
    BottleneckState {
        /// Bytes in its queue.
        queue_bytes: u64,
        /// Its capacity in the current slot, bit/s at the IP layer.
        capacity_bps: u64,
    },
    /// Hints of the host's radio; `None` on a wire.
    Hints(Option<Hints>),
}

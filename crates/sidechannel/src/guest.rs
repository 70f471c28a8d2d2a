//! Between the guest and the path.

use cca::{SenderView, Takeover};
use record::{DecisionRow, EstimateRow};
use select::Hints;
use serde::{Deserialize, Serialize};

use crate::job::GuestJob;

/// What the guest tells or asks. What has an answer is read from the device right after it was written.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Message {
    /// The first message; the answer is [`Answer::Job`].
    Hello {
        /// [`PROTOCOL`](crate::PROTOCOL) of the guest.
        protocol: u32,
        /// Release of the kernel, as uname tells.
        release: String,
    },
    /// Hosts are set up: time zero of the run is now.
    Start,
    /// The next connection is requested.
    Open {
        /// Number of its flow in the scenario.
        flow: u32,
        /// Congestion control that its sender was to have: its name, or `auto` and by what it is selected.
        cca: String,
    },
    /// The senders of the connections that are open.
    Senders {
        /// Whether to keep them as samples.
        sample: bool,
        /// Number and sender of each connection.
        senders: Vec<(u32, SenderView)>,
    },
    /// The receiver has got all of a finite transfer.
    Complete {
        /// Number of the connection.
        connection: u32,
    },
    /// A figure of the application on a connection.
    Figure {
        /// Number of the connection.
        connection: u32,
        /// Name of the figure.
        name: String,
        /// Its value.
        value: f64,
    },
    /// A sender has changed its congestion control.
    Switched {
        /// Number of the connection.
        connection: u32,
        /// The new one.
        to: String,
        /// How it took over.
        how: Takeover,
        /// The window that it starts from, segments.
        cwnd: u32,
    },
    /// A selector has chosen.
    Decided(DecisionRow),
    /// What the selectors see at the end of a slot.
    Estimated(Vec<EstimateRow>),
    /// Counters of a sender that only its whole host has.
    Counters {
        /// Number of the connection.
        connection: u32,
        /// Tail loss probes (`TCPLossProbes`).
        loss_probes: u64,
        /// Fast recoveries (`TCPSackRecovery` and `TCPRenoRecovery`).
        recoveries: u64,
        /// Reductions taken back (`TCPFullUndo`, `TCPPartialUndo`, `TCPDSACKUndo`, `TCPLossUndo`).
        undone: u64,
        /// Retransmission time-outs (`TCPTimeouts`).
        timeouts: u64,
    },
    /// Asks for the time on the path; the answer is [`Answer::Clock`].
    Clock,
    /// Asks what the bottleneck is really like; the answer is [`Answer::Truth`].
    Truth {
        /// Whether that of the uplink.
        uplink: bool,
    },
    /// Asks what the radio of a host tells; the answer is [`Answer::Hints`].
    Hints {
        /// Number of the host.
        host: u32,
    },
    /// The run is over.
    End,
    /// The run cannot go on.
    Fail(String),
}

/// What the path answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum Answer {
    /// What to play.
    Job(Box<GuestJob>),
    /// Time since [`Message::Start`], ns.
    Clock(u64),
    /// The bottleneck as it is.
    Truth {
        /// What waits there, bytes.
        queue_bytes: u64,
        /// Its capacity in the present slot, bit/s at the IP layer.
        capacity_bps: u64,
    },
    /// What the radio of the host tells; none on a wire.
    Hints(Option<Hints>),
}

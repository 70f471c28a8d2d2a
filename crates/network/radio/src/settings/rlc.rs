//! Radio link control.

use config::table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

use config::Buffer;

table! {
    /// RLC of all bearers; the fields from status_prohibit on belong to mode "am" alone.
    #[derive(Copy)]
    pub struct Rlc {
        /// "am": lost blocks are retransmitted; "um": they are not; default "am".
        pub mode: RlcMode = RlcMode::Am,
        /// Buffer at the base station for each UE: packets ("750packets") or bytes ("300kB"); default
        /// 750packets.
        pub buffer: Buffer = Buffer::Packets(750),
        /// Buffer at each UE; default 750packets.
        pub uplink_buffer: Buffer = Buffer::Packets(750),
        /// Bits of the sequence number. LTE: 10 or 16 in mode "am", 5 or 10 in mode "um" (TS 36.322 clause
        /// 6.2.2.3). NR: 12 or 18, 6 or 12 (TS 38.322 clause 6.2.3.3). Unset: 10, for NR 18 and 12.
        pub sn_bits: Option<u32>,
        /// Bits of length indicators, 11 or 15; default 11: a packet above 2047 bytes ends its PDU (TS 36.322
        /// clause 6.2.2.5).
        pub length_indicator_bits: u32 = 11,
        /// Time that a missing PDU is waited for, t-Reordering; default 35ms: four HARQ attempts of LTE and
        /// more.
        pub reordering: Duration = Duration::from_millis(35),
        /// Shortest time between status reports, t-StatusProhibit; default 10ms.
        pub status_prohibit: Duration = Duration::from_millis(10),
        /// Placement of status reports: "piggybacked" to data, or "alone" in a block, as in ns-3; default
        /// "piggybacked".
        pub status: StatusPlacement = StatusPlacement::Piggybacked,
        /// Time after a poll without an answer until the next one, t-PollRetransmit; default 80ms.
        pub poll_retransmit: Duration = Duration::from_millis(80),
        /// PDUs after which there is a poll, pollPDU; 0 for infinity; default 16.
        pub poll_pdus: u32 = 16,
        /// Bytes after which there is a poll, pollByte; unset: infinity.
        pub poll_bytes: Option<Bytes>,
        /// Retransmissions of a PDU at which the link counts as failed, maxRetxThreshold; default 8.
        pub max_retransmissions: u32 = 8,
    }
}

/// The mode of an RLC entity (TS 36.322 clause 4.2.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RlcMode {
    /// Acknowledged.
    Am,
    /// Unacknowledged.
    Um,
}

/// Placement of status reports.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StatusPlacement {
    /// Into a transport block with data.
    Piggybacked,
    /// Into a transport block of their own, the rest of which is wasted.
    Alone,
}

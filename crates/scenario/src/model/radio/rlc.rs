//! Radio link control.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

use crate::model::Buffer;
use config::Text;

/// RLC of all bearers; the fields from status_prohibit on belong to mode "am" alone.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Rlc {
    /// "am": lost blocks are sent again; "um": they are not; default "am".
    pub mode: RlcMode,
    /// What may wait at the base station for each UE: packets ("750packets") or bytes ("300kB"); default
    /// 750packets.
    #[serde(with = "Text::<Buffer>")]
    pub buffer: Buffer,
    /// What may wait at each UE; default 750packets.
    #[serde(with = "Text::<Buffer>")]
    pub uplink_buffer: Buffer,
    /// Bits of the sequence number: 10 or 16 in mode "am", 5 or 10 in mode "um" (TS 36.322 clause
    /// 6.2.2.3); unset: 10, but 16 for NR in mode "am".
    pub sn_bits: Option<u32>,
    /// Bits of length indicators, 11 or 15; default 11: a packet above 2047 bytes ends its PDU (TS 36.322
    /// clause 6.2.2.5).
    pub length_indicator_bits: u32,
    /// Time that a missing PDU is waited for, t-Reordering; default 35ms: four HARQ attempts of LTE and
    /// more.
    #[serde(with = "Text::<Duration>")]
    pub reordering: Duration,
    /// Shortest time between status reports, t-StatusProhibit; default 10ms.
    #[serde(with = "Text::<Duration>")]
    pub status_prohibit: Duration,
    /// Where status reports go: "piggybacked" to data, or "alone" in a block, as in ns-3; default
    /// "piggybacked".
    pub status: StatusPlacement,
    /// Time after a poll without an answer until the next one, t-PollRetransmit; default 80ms.
    #[serde(with = "Text::<Duration>")]
    pub poll_retransmit: Duration,
    /// PDUs after which there is a poll, pollPDU; 0 for infinity; default 16.
    pub poll_pdus: u32,
    /// Bytes after which there is a poll, pollByte; unset: infinity.
    #[serde(with = "Text::<Option<Bytes>>")]
    pub poll_bytes: Option<Bytes>,
    /// Retransmissions of a PDU at which the link counts as failed, maxRetxThreshold; default 8.
    pub max_retransmissions: u32,
}

impl Default for Rlc {
    fn default() -> Self {
        Self {
            mode: RlcMode::Am,
            buffer: Buffer::Packets(750),
            uplink_buffer: Buffer::Packets(750),
            sn_bits: None,
            length_indicator_bits: 11,
            reordering: Duration::from_millis(35),
            status_prohibit: Duration::from_millis(10),
            status: StatusPlacement::Piggybacked,
            poll_retransmit: Duration::from_millis(80),
            poll_pdus: 16,
            poll_bytes: None,
            max_retransmissions: 8,
        }
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

/// Where status reports go.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StatusPlacement {
    /// Into a transport block with data.
    Piggybacked,
    /// Into one of their own, the rest of which is wasted.
    Alone,
}

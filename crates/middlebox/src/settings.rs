//! Settings of middleboxes in scenarios: the entries of `path.middleboxes`.

use config::{Wrong, count, only_for, positive, refuse, table, within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

use crate::CcaText;

/// Kind of a middlebox.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Split TCP that acknowledges data as soon as it has it (I-TCP).
    #[default]
    Split,
    /// ES-TCP: split TCP that keeps the last bytes back until the far end has everything.
    Es,
    /// AS-TCP: split TCP that tells the sender by a TCP option what the receiver has.
    As,
    /// Snoop: a cache that repairs losses behind it, without splitting.
    Snoop,
}

/// Semantics of acknowledgements that a middlebox leaves to the sender.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Promise {
    /// None: data may be acknowledged that never reaches the receiver.
    Nothing,
    /// Not everything that was sent is acknowledged before everything has reached the receiver.
    Session,
    /// No byte is acknowledged before it has reached the receiver.
    Bytes,
}

impl Kind {
    /// Returns the name in scenarios and results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Split => "split",
            Self::Es => "es",
            Self::As => "as",
            Self::Snoop => "snoop",
        }
    }

    /// Returns what the sender may conclude from acknowledgements.
    pub const fn promise(self) -> Promise {
        match self {
            Self::Split => Promise::Nothing,
            Self::Es => Promise::Session,
            Self::As | Self::Snoop => Promise::Bytes,
        }
    }
}

table! {
    /// Middlebox at a node of the path.
    pub struct Middlebox {
        /// Kind: "split" (split TCP that acknowledges at once), "es" (ES-TCP), "as" (AS-TCP) or "snoop" (a cache
        /// that repairs losses); default "split".
        pub kind: Kind = Kind::Split,
        /// Node: "gateway" (or "base-station") before the access link; "node-1" behind the first of several wired hops,
        /// and so on; default "gateway".
        pub at: String = "gateway".to_owned(),
        /// CCA of a split host's own senders, such as "bbr" or "cubic:beta=0.8"; unset: that of the flow's server,
        /// and CUBIC where that is selected at run time.
        pub cca: Option<String>,
        /// Buffer of each connection and direction; the cache of "snoop"; default 1MB.
        pub buffer: Bytes = Bytes::new(1_000_000),
        /// Memory of the buffers of all connections of a split host. Further connections pass unsplit; default 256MB.
        pub memory: Bytes = Bytes::new(256_000_000),
        /// Time without a packet after which a split host resets a connection; default 7440s (RFC 5382).
        pub idle_timeout: Duration = Duration::from_secs(7_440),
        /// Of "es", and of "as" towards a sender without its option: bytes at the end of the data that are acknowledged only after the receiver has everything, 2 to
        /// 1000; unset: 2.
        pub reserve: Option<u32>,
        /// Of "es", and of "as" likewise: time without new data after which the sender is frozen, less than its shortest retransmission
        /// time-out; unset: 150ms.
        pub freeze_after: Option<Duration>,
        /// Of "as": time that a far acknowledgement waits for another ACK to go with; unset: 10ms.
        pub piggyback: Option<Duration>,
        /// Of "as": kind of the TCP option, 253 or 254 (RFC 4727); unset: 253.
        pub option_kind: Option<u8>,
    }
}

impl Middlebox {
    /// Bytes that ES-TCP keeps back unless `reserve` says otherwise.
    const RESERVE: u32 = 2;
    /// Time after which ES-TCP freezes the sender unless `freeze_after` says otherwise. The sender's time-out is at
    /// least 200 ms longer than its RTT (Linux), and runs since the data was sent. So it is not yet over 200 ms after
    /// the data has come, even if the ACK needs the other half of the RTT; the rest allows for a longer RTT.
    const FREEZE_AFTER: Duration = Duration::from_millis(150);

    /// Time that AS-TCP's far acknowledgements wait unless `piggyback` says otherwise: a quarter of Linux' shortest
    /// delayed ACK, so that many ACKs share one and none is late by much.
    const PIGGYBACK: Duration = Duration::from_millis(10);
    /// Option kinds that nobody else has (RFC 4727 §2.2).
    const OPTION_KINDS: [u8; 2] = [253, 254];

    /// Checks that all fields are in their ranges, and belong to the kind.
    ///
    /// # Errors
    /// The first that is or does not.
    pub fn check(&self) -> Result<(), Wrong> {
        if self.at.is_empty() {
            return refuse("at", "\"\" is not a node; allowed: the name of a node");
        }
        if let Some(text) = &self.cca
            && let Err(message) = CcaText::read(text)
        {
            return refuse("cca", message);
        }
        within(
            "buffer",
            self.buffer,
            Bytes::new(3_000),
            Bytes::new(1 << 30),
        )?;
        within("memory", self.memory, self.buffer, Bytes::new(1 << 40))?;
        positive("idle_timeout", self.idle_timeout)?;
        if let Some(cca) = &self.cca {
            only_for("cca", self.kind == Kind::Snoop, cca, "split hosts")?;
        }
        let others = !matches!(self.kind, Kind::Es | Kind::As);
        let reserve = self.reserve.unwrap_or_default();
        only_for(
            "reserve",
            others && self.reserve.is_some(),
            reserve,
            "\"es\" and \"as\"",
        )?;
        let after = self.freeze_after.unwrap_or_default();
        only_for(
            "freeze_after",
            others && self.freeze_after.is_some(),
            after,
            "\"es\" and \"as\"",
        )?;
        self.check_option()?;
        if self.reserve.is_some() {
            count("reserve", reserve, 2, 1_000)?;
        }
        if self.freeze_after.is_some() {
            positive("freeze_after", after)?;
        }
        Ok(())
    }

    /// Checks the fields that only AS-TCP has.
    fn check_option(&self) -> Result<(), Wrong> {
        let others = self.kind != Kind::As;
        if let Some(piggyback) = self.piggyback {
            only_for("piggyback", others, piggyback, "\"as\"")?;
            within(
                "piggyback",
                piggyback,
                Duration::ZERO,
                Duration::from_secs(1),
            )?;
        }
        if let Some(kind) = self.option_kind {
            only_for("option_kind", others, kind, "\"as\"")?;
            if !Self::OPTION_KINDS.contains(&kind) {
                let message = format!("{kind} is taken or reserved; allowed: 253, 254");
                return refuse("option_kind", message);
            }
        }
        Ok(())
    }

    /// Returns the kind of the TCP option that connections of this middlebox tell far acknowledgements by, if they do.
    pub fn far_ack_kind(&self) -> Option<u8> {
        let kind = self.option_kind.unwrap_or(Self::OPTION_KINDS[0]);
        (self.kind == Kind::As).then_some(kind)
    }

    /// Returns the time that far acknowledgements wait for another ACK.
    pub(crate) fn piggyback(&self) -> Duration {
        self.piggyback.unwrap_or(Self::PIGGYBACK)
    }

    /// Returns the name of the node. The base station is the last node before the access link.
    pub fn node(&self) -> &str {
        match self.at.as_str() {
            "base-station" => "gateway",
            name => name,
        }
    }

    /// Returns the bytes that ES-TCP keeps back.
    pub(crate) fn reserve(&self) -> u64 {
        u64::from(self.reserve.unwrap_or(Self::RESERVE))
    }

    /// Returns the time after which ES-TCP freezes the sender.
    pub(crate) fn freeze_after(&self) -> Duration {
        self.freeze_after.unwrap_or(Self::FREEZE_AFTER)
    }
}

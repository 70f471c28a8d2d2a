//! Settings of middleboxes in scenarios: the entries of `path.middleboxes`.

use core::fmt::Display;

use cca::cca_by_name;
use config::{FieldError, check_number, check_positive, check_range, reject, reject_if_set, table};
use net::LinkSubscription;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};
use units::{Bytes, Duration};

/// Kind of a middlebox.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Debug,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
    IntoStaticStr,
    VariantArray,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Kind {
    /// Split TCP that acknowledges data as soon as it has it (I-TCP). An ACK promises nothing.
    #[default]
    Split,
    /// ES-TCP (Kim 2016, section 5.4): split TCP that leaves the last bytes unacknowledged until the far end has
    /// everything. If everything is acknowledged, everything has arrived.
    Es,
    /// AS-TCP (Kim 2016, section 5.5): split TCP that reports to the sender, by a TCP option, what the receiver has. What
    /// the option covers has arrived.
    As,
    /// M-TCP (Brown and Singh 1997): split TCP that acknowledges what the receiver has, and freezes the sender when the
    /// receiver is silent.
    Mtcp,
    /// M-TCP+ (Omueti and Trajković 2007): M-TCP that is notified of interruptions of the link.
    MtcpPlus,
    /// PAM (Amjad et al. 2013): split TCP that acknowledges in advance while the receiver is silent. An ACK promises nothing.
    Pam,
    /// Snoop (Balakrishnan et al. 1995): a cache that repairs losses behind it, without splitting.
    Snoop,
    /// ELN (Balakrishnan and Katz 1998): notifies the sender of losses on the radio.
    Eln,
    /// Freeze-TCP (Goff et al. 2000): withdraws the receiver's window before the link is interrupted.
    Freeze,
    /// ACK Regulator (Chan and Ramjee 2002): holds ACKs back where their data would overflow the queue of the link.
    AckRegulator,
    /// Reset tracker (Kim 2016, section 4.5): discards data of connections that the phone has reset.
    ResetTracker,
}

/// Semantics of acknowledgements that a middlebox leaves to the sender.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum AckSemantics {
    /// None: data may be acknowledged that never reaches the receiver.
    NoGuarantee,
    /// Not everything that was sent is acknowledged before everything has reached the receiver.
    PerConnection,
    /// No byte is acknowledged before it has reached the receiver.
    EndToEnd,
}

impl Kind {
    /// All kinds, in the order of their declaration.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// Returns the name in scenarios and results.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Returns the semantics of acknowledgements for the sender.
    pub const fn ack_semantics(self) -> AckSemantics {
        match self {
            Self::Split | Self::Pam => AckSemantics::NoGuarantee,
            Self::Es => AckSemantics::PerConnection,
            Self::As
            | Self::Mtcp
            | Self::MtcpPlus
            | Self::Snoop
            | Self::Eln
            | Self::Freeze
            | Self::AckRegulator
            | Self::ResetTracker => AckSemantics::EndToEnd,
        }
    }

    /// Returns whether it has two connections for each that passes.
    pub const fn splits(self) -> bool {
        match self {
            Self::Split | Self::Es | Self::As | Self::Mtcp | Self::MtcpPlus | Self::Pam => true,
            Self::Snoop | Self::Eln | Self::Freeze | Self::AckRegulator | Self::ResetTracker => {
                false
            }
        }
    }

    /// Returns whether it works with the access link, and so has to be before it.
    pub fn needs_access_link(self) -> bool {
        matches!(
            self,
            Self::MtcpPlus | Self::Eln | Self::Freeze | Self::AckRegulator
        )
    }
}

table! {
    /// Middlebox at a node of the path.
    pub struct Middlebox {
        /// Kind: "split" (split TCP that acknowledges at once), "es" (ES-TCP), "as" (AS-TCP), "mtcp" (M-TCP),
        /// "mtcp-plus" (M-TCP+), "pam" (split TCP that acknowledges in advance while the phone is silent), "snoop" (a
        /// cache that repairs losses), "eln" (explicit loss notification), "freeze" (Freeze-TCP), "ack-regulator" or
        /// "reset-tracker" (discards data of connections that the phone has reset); default "split".
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
        /// Of "es", and of "as" towards a sender without its option: bytes at the end of the data that are acknowledged
        /// only after the receiver has everything, 2 to 1000; unset: 2.
        pub reserve: Option<u32>,
        /// Of "es", and of "as" likewise: time without new data after which the sender is frozen, less than its
        /// shortest retransmission time-out. Of "mtcp", "mtcp-plus" and "pam": time by which the silence of the
        /// receiver exceeds its RTT before the sender is frozen, or data is acknowledged in advance. Unset: 150ms.
        pub freeze_after: Option<Duration>,
        /// Of "as": time that a far acknowledgement waits for another ACK to go with; unset: 10ms.
        pub max_ack_wait: Option<Duration>,
        /// Of "as": kind of the TCP option, 253 or 254 (RFC 4727); unset: 253.
        pub option_kind: Option<u8>,
        /// Of "mtcp-plus" and "freeze": time before an interruption of the access link at which the sender is frozen;
        /// unset: 100ms. Interruptions of links with a rate or a trace are foreseen; with `radio`, the handover command
        /// is the warning.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub warning: Option<Duration>,
        /// Of "as", "mtcp-plus" and "freeze": shortest time without capacity of the access link that counts as an
        /// interruption; unset: 100ms. With `radio`, each handover and each failure counts.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub interruption: Option<Duration>,
        /// Of "reset-tracker": time after a RST of the phone in which data of its connection is discarded; unset: 5s.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub discard_time: Option<Duration>,
    }
}

impl Middlebox {
    /// Default of `reserve`, bytes.
    const RESERVE: u32 = 2;
    /// Default of `freeze_after`. The sender's RTO is at least 200 ms longer than its RTT (Linux), and starts when the data
    /// is sent. So an ACK that leaves 200 ms after the data has arrived is still in time. The other 50 ms allow for a
    /// longer RTT.
    const FREEZE_AFTER: Duration = Duration::from_millis(150);

    /// Default of `max_ack_wait`: a quarter of Linux' minimum delayed-ACK timeout. Many far acknowledgements share an ACK,
    /// and none is late by much.
    const MAX_ACK_WAIT: Duration = Duration::from_millis(10);
    /// Default of `warning`: about an RTT, as Freeze-TCP advises.
    const WARNING: Duration = Duration::from_millis(100);
    /// Default of `interruption`: half of Linux' minimum RTO, so that an interruption that causes a time-out counts.
    const INTERRUPTION: Duration = Duration::from_millis(100);
    /// Default of `discard_time`: "a few seconds" (Kim 2016, section 4.5).
    const DISCARD_TIME: Duration = Duration::from_secs(5);
    /// Option kinds for experiments (RFC 4727 §2.2).
    const OPTION_KINDS: [u8; 2] = [253, 254];

    /// Checks that all fields are in their ranges, and belong to the kind.
    ///
    /// # Errors
    /// The first field that is out of its range, or that the kind does not have.
    pub fn check(&self) -> Result<(), FieldError> {
        if self.at.is_empty() {
            return reject("at", "\"\" is not a node; allowed: the name of a node");
        }
        if let Some(text) = &self.cca
            && let Err(message) = cca_by_name(text)
        {
            return reject("cca", message);
        }
        check_range(
            "buffer",
            self.buffer,
            Bytes::new(3_000),
            Bytes::new(1 << 30),
        )?;
        check_range("memory", self.memory, self.buffer, Bytes::new(1 << 40))?;
        check_positive("idle_timeout", self.idle_timeout)?;
        let splits = self.kind.splits();
        if let Some(cca) = &self.cca {
            reject_if_set("cca", !splits, cca, "split hosts")?;
        }
        self.check_fields_of_kinds()
    }

    /// Checks the fields that only some kinds have.
    fn check_fields_of_kinds(&self) -> Result<(), FieldError> {
        if let Some(time) =
            self.only_of("discard_time", self.discard_time, &[Kind::ResetTracker])?
        {
            check_positive("discard_time", time)?;
        }
        if let Some(reserve) = self.only_of("reserve", self.reserve, &[Kind::Es, Kind::As])? {
            check_number("reserve", reserve, 2, 1_000)?;
        }
        let freezing = [Kind::Es, Kind::As, Kind::Mtcp, Kind::MtcpPlus, Kind::Pam];
        if let Some(after) = self.only_of("freeze_after", self.freeze_after, &freezing)? {
            check_positive("freeze_after", after)?;
        }
        let second = Duration::from_secs(1);
        if let Some(wait) = self.only_of("max_ack_wait", self.max_ack_wait, &[Kind::As])? {
            check_range("max_ack_wait", wait, Duration::ZERO, second)?;
        }
        if let Some(kind) = self.only_of("option_kind", self.option_kind, &[Kind::As])?
            && !Self::OPTION_KINDS.contains(&kind)
        {
            let message = format!("{kind} is taken or reserved; allowed: 253, 254");
            return reject("option_kind", message);
        }
        let warned = [Kind::MtcpPlus, Kind::Freeze];
        if let Some(warning) = self.only_of("warning", self.warning, &warned)? {
            check_range("warning", warning, Duration::ZERO, second * 10)?;
        }
        let subscribing = [Kind::As, Kind::MtcpPlus, Kind::Freeze];
        if let Some(min_length) = self.only_of("interruption", self.interruption, &subscribing)? {
            check_positive("interruption", min_length)?;
        }
        Ok(())
    }

    /// Returns the value of a field, which only these kinds may have.
    fn only_of<T: Copy + Display>(
        &self,
        field: &str,
        value: Option<T>,
        kinds: &[Kind],
    ) -> Result<Option<T>, FieldError> {
        if let Some(value) = value {
            let names: Vec<_> = kinds
                .iter()
                .map(|kind| format!("{:?}", kind.name()))
                .collect();
            let owners = match names.as_slice() {
                [others @ .., last] if !others.is_empty() => {
                    format!("{} and {last}", others.join(", "))
                }
                _ => names.concat(),
            };
            reject_if_set(field, !kinds.contains(&self.kind), value, owners)?;
        }
        Ok(value)
    }

    /// Returns the kind of the TCP option for far acknowledgements of this middlebox, if it has one.
    pub fn far_ack_kind(&self) -> Option<u8> {
        let kind = self.option_kind.unwrap_or(Self::OPTION_KINDS[0]);
        (self.kind == Kind::As).then_some(kind)
    }

    /// Returns the maximum time that a far acknowledgement waits for an ACK that carries it.
    pub(crate) fn max_ack_wait(&self) -> Duration {
        self.max_ack_wait.unwrap_or(Self::MAX_ACK_WAIT)
    }

    /// Returns the name of the node. The base station is the last node before the access link.
    pub fn node(&self) -> &str {
        match self.at.as_str() {
            "base-station" => "gateway",
            name => name,
        }
    }

    /// Returns the time after a RST in which a reset tracker discards data.
    pub(crate) fn discard_time(&self) -> Duration {
        self.discard_time.unwrap_or(Self::DISCARD_TIME)
    }

    /// Returns the bytes that ES-TCP leaves unacknowledged.
    pub(crate) fn reserve(&self) -> u64 {
        u64::from(self.reserve.unwrap_or(Self::RESERVE))
    }

    /// Returns the interruptions that the middlebox subscribes to.
    pub(crate) fn link_subscription(&self) -> Option<LinkSubscription> {
        let warning = match self.kind {
            Kind::As => Duration::ZERO,
            Kind::MtcpPlus | Kind::Freeze => self.warning.unwrap_or(Self::WARNING),
            _ => return None,
        };
        let min_length = self.interruption.unwrap_or(Self::INTERRUPTION);
        Some(LinkSubscription {
            warning,
            min_length,
        })
    }

    /// Returns the time after which a policy freezes the sender, or PAM acknowledges in advance.
    pub(crate) fn freeze_after(&self) -> Duration {
        self.freeze_after.unwrap_or(Self::FREEZE_AFTER)
    }
}

#[cfg(test)]
mod tests {
    use super::Kind;

    #[test]
    fn names_are_those_of_scenarios() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
        }
    }
}

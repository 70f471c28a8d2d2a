//! Settings of the uplink: requests, grants and reports of UEs.

use config::{OptionalTable, table, word_or_time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Decibel, Duration};

use super::Power;

table! {
    /// The uplink: the conditions for a UE to send, and its signal at the base station. The fields from protocol to
    /// random_access belong to access "granted" alone.
    pub struct Uplink {
        /// "granted": by scheduling request, buffer status report and grant; "configured": without asking, in
        /// every uplink TTI (configured grants, TS 38.321 clause 5.8.2); default "granted".
        pub access: Access = Access::Granted,
        /// Rules by which the buffer is reported: "standard" (TS 36.321 clauses 5.4.4 and 5.4.5) or "kim2016"
        /// (the flow charts of kim2016-thesis chapter 3); default "standard".
        pub protocol: GrantProtocol = GrantProtocol::Standard,
        /// Whether a UE sends another report once the grants add up to its last report (kim2016-thesis chapter 3);
        /// default false.
        pub enhanced: bool,
        /// Time between opportunities for a scheduling request, whole TTIs; default 10ms.
        pub sr_period: Duration = Duration::from_millis(10),
        /// Opportunities after a scheduling request until the next one, sr-ProhibitTimer; default 0.
        pub sr_prohibit: u32,
        /// Scheduling requests without an answer before random access, dsr-TransMax: 4, 8, 16, 32 or 64;
        /// default 64.
        pub sr_transmissions: u32 = 64,
        /// periodicBSR-Timer: a time that TS 36.331 or TS 38.331 has, or "infinity"; default 10ms.
        pub periodic_bsr: Timer = Timer::After(Duration::from_millis(10)),
        /// retxBSR-Timer; default 320ms.
        pub retx_bsr: Duration = Duration::from_millis(320),
        /// Grant that answers a scheduling request, at most; default 512B.
        pub first_grant: Bytes = Bytes::new(512),
        /// Small grants without a request while there is traffic; "off" for none: a UE whose last grant
        /// was full waits for retx_bsr (kim2016-thesis chapter 3).
        #[serde(with = "OptionalTable::<Prescheduling>")]
        #[schemars(with = "OptionalTable<Prescheduling>")]
        pub prescheduling: Option<Prescheduling> = Some(Prescheduling::default()),
        /// Length of a random access that takes the place of a scheduling request, whole TTIs; default 20ms.
        pub random_access: Duration = Duration::from_millis(20),
        /// SINR of UEs whose downlink is given as SINR, over the resource blocks that they send on; default
        /// 15dB.
        pub sinr: Decibel = Decibel::new(15.0),
        /// Highest power of UEs that have a position; default 23dBm (class 3, TS 36.101 table 6.2.2-1).
        pub power: Power = Power::from_dbm(23.0),
        /// Target received power of such a UE on 180 kHz, if alpha is 1: P0 of the open-loop power control
        /// (TS 36.213 clause 5.1.1.1, TS 38.213 clause 7.1.1); default -80dBm.
        pub p0: Power = Power::from_dbm(-80.0),
        /// Share of the path loss in dB that a UE compensates by power: 0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9 or 1;
        /// default 1.
        pub alpha: f64 = 1.0,
        /// Reports of the power that UEs with a position have left, by which grants are sized.
        pub headroom: HeadroomReports,
    }
}

table! {
    /// Grants that a base station gives without a request for some time after the last uplink data, so that
    /// what has come since the last report is reported at once. Vendors' base stations do so; no clause of 3GPP
    /// asks for it.
    pub struct Prescheduling {
        /// Time between two such grants, whole TTIs; default 5ms.
        pub interval: Duration = Duration::from_millis(5),
        /// Time after the last data in which they are given, whole TTIs; default 100ms.
        pub duration: Duration = Duration::from_millis(100),
        /// Maximum size of a grant; default 128B.
        pub grant: Bytes = Bytes::new(128),
    }
}

table! {
    /// Power headroom reports (TS 36.321 clause 5.4.6, TS 38.321 clause 5.4.6). The connection begins with one.
    pub struct HeadroomReports {
        /// periodicPHR-Timer: a time that TS 36.331 has, or "infinity"; default 50ms.
        pub periodic: Timer = Timer::After(Duration::from_millis(50)),
        /// prohibitPHR-Timer: shortest time between two reports that a change calls for; default 0ms.
        pub prohibit: Duration,
        /// Change of the path loss since the last report that calls for another one, dl-PathlossChange: 1dB, 3dB or
        /// 6dB; default 3dB.
        pub path_loss_change: Decibel = Decibel::new(3.0),
    }
}

/// Access: the condition for a UE to send.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// A grant, which it has to ask for.
    Granted,
    /// Nothing: its grants are configured in advance.
    Configured,
}

/// Rules by which the buffer is reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GrantProtocol {
    /// TS 36.321 clauses 5.4.4 and 5.4.5.
    Standard,
    /// kim2016-thesis chapter 3.
    Kim2016,
}

/// A timer that may never expire.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timer {
    /// It expires after this time.
    After(Duration),
    /// Never.
    Infinity,
}

word_or_time!(Timer { "infinity" => Infinity } After, "a timer", "a time such as \"10ms\"");

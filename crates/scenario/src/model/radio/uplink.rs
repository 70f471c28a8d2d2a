//! How UEs come to send.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Decibel, Duration};

use super::Power;
use config::{Quantity, Text};

/// The uplink: what a UE needs before it sends, and how well it is heard. The fields from protocol to
/// random_access belong to access "granted" alone.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Uplink {
    /// "granted": by scheduling request, buffer status report and grant; "configured": without asking, in
    /// every uplink TTI (configured grants, TS 38.321 clause 5.8.2); default "granted".
    pub access: Access,
    /// Who decides when the buffer is reported: "standard" (TS 36.321 clauses 5.4.4 and 5.4.5) or "thesis"
    /// (the flow charts of kim2016-thesis chapter 3); default "standard".
    pub protocol: GrantProtocol,
    /// Whether a UE reports anew once the grants add up to its last report (kim2016-thesis chapter 3);
    /// default false.
    pub enhanced: bool,
    /// Time between opportunities for a scheduling request, whole TTIs; default 10ms.
    #[serde(with = "Text::<Duration>")]
    pub sr_period: Duration,
    /// Opportunities after a scheduling request until the next one, sr-ProhibitTimer; default 0.
    pub sr_prohibit: u32,
    /// Scheduling requests without an answer before random access, dsr-TransMax: 4, 8, 16, 32 or 64;
    /// default 64.
    pub sr_transmissions: u32,
    /// periodicBSR-Timer: a time that TS 36.331 or TS 38.331 has, or "infinity"; default 10ms.
    #[serde(with = "Text::<Timer>")]
    pub periodic_bsr: Timer,
    /// retxBSR-Timer; default 320ms.
    #[serde(with = "Text::<Duration>")]
    pub retx_bsr: Duration,
    /// Grant that answers a scheduling request, at most; default 512B.
    #[serde(with = "Text::<Bytes>")]
    pub first_grant: Bytes,
    /// Small grants that nobody asked for while there is traffic; unset: none, and a UE whose last grant
    /// was full waits for retx_bsr (kim2016-thesis chapter 3).
    pub prescheduling: Option<Prescheduling>,
    /// Length of a random access that takes the place of a scheduling request, whole TTIs; default 20ms.
    #[serde(with = "Text::<Duration>")]
    pub random_access: Duration,
    /// SINR of UEs whose downlink is given as SINR, over the resource blocks that they send on; default
    /// 15dB.
    #[serde(with = "Text::<Decibel>")]
    pub sinr: Decibel,
    /// Power of UEs that have a position; default 23dBm (class 3, TS 36.101 table 6.2.2-1).
    #[serde(with = "Text::<Power>")]
    pub power: Power,
}

impl Default for Uplink {
    fn default() -> Self {
        Self {
            access: Access::Granted,
            protocol: GrantProtocol::Standard,
            enhanced: false,
            sr_period: Duration::from_millis(10),
            sr_prohibit: 0,
            sr_transmissions: 64,
            periodic_bsr: Timer::After(Duration::from_millis(10)),
            retx_bsr: Duration::from_millis(320),
            first_grant: Bytes::new(512),
            prescheduling: Some(Prescheduling::default()),
            random_access: Duration::from_millis(20),
            sinr: Decibel::new(15.0),
            power: Power::from_dbm(23.0),
        }
    }
}

/// Grants that a base station gives without a request for some time after the last uplink data, so that
/// what has come since the last report is told at once. Vendors' base stations do so; no clause of 3GPP
/// asks for it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Prescheduling {
    /// Time between two of them, whole TTIs; default 5ms.
    #[serde(with = "Text::<Duration>")]
    pub interval: Duration,
    /// For how long after the last data, whole TTIs; default 100ms.
    #[serde(with = "Text::<Duration>")]
    pub duration: Duration,
    /// Size of each, at most; default 128B.
    #[serde(with = "Text::<Bytes>")]
    pub grant: Bytes,
}

impl Default for Prescheduling {
    fn default() -> Self {
        Self {
            interval: Duration::from_millis(5),
            duration: Duration::from_millis(100),
            grant: Bytes::new(128),
        }
    }
}

/// What a UE needs before it sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// A grant, which it has to ask for.
    Granted,
    /// Nothing.
    Configured,
}

/// Who decides when the buffer is reported.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum GrantProtocol {
    /// TS 36.321 clauses 5.4.4 and 5.4.5.
    Standard,
    /// kim2016-thesis chapter 3.
    Thesis,
}

/// A timer that may never run out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timer {
    /// It runs out after this time.
    After(Duration),
    /// Never.
    Infinity,
}

impl Quantity for Timer {
    const NAME: &'static str = "Timer";
    const PATTERN: &'static str = r"^(infinity|\s*[0-9.+eE-]+\s*(ns|us|µs|ms|s|min|h)\s*)$";

    fn read(text: &str) -> Result<Self, String> {
        match text {
            "infinity" => Ok(Self::Infinity),
            time => time.parse().map(Self::After).map_err(|_| {
                format!("{text:?} is not a timer; allowed: \"infinity\", a time such as \"10ms\"")
            }),
        }
    }

    fn write(&self) -> String {
        match self {
            Self::Infinity => "infinity".to_owned(),
            Self::After(time) => time.to_string(),
        }
    }
}

//! Queue disciplines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

use config::Text;
use config::{or_word, word_or_table};

/// Which packets a queue drops, and in which order it sends.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[schemars(deny_unknown_fields, transform = or_word)]
pub enum Queue {
    /// First in, first out; drops what does not fit.
    Droptail,
    /// First in, first out; marks what is ECN-capable and finds much waiting (RFC 8257 section 3.1).
    Threshold(Threshold),
    /// Controlled delay (RFC 8289).
    Codel(Codel),
    /// Flow queues served in turn, each with CoDel (RFC 8290).
    FqCodel(FqCodel),
    /// Proportional integral controller enhanced (RFC 8033).
    Pie(Pie),
}

word_or_table!(Queue { "droptail" => Droptail, } {
    "threshold" => Threshold(Threshold),
    "codel" => Codel(Codel),
    "fq-codel" => FqCodel(FqCodel),
    "pie" => Pie(Pie),
});

/// The parameter of a queue that marks above a threshold.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Threshold {
    /// Waiting bytes above which arrivals are marked, K; default 30kB (20 packets, Alizadeh et al.,
    /// SIGCOMM 2010, section 3.4).
    #[serde(with = "Text::<Bytes>")]
    pub mark_above: Bytes,
}

impl Default for Threshold {
    fn default() -> Self {
        Self {
            mark_above: Bytes::new(30_000),
        }
    }
}

/// The parameters of CoDel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Codel {
    /// Acceptable standing delay; default 5ms (RFC 8289 section 4.3).
    #[serde(with = "Text::<Duration>")]
    pub target: Duration,
    /// A worst-case RTT; default 100ms (RFC 8289 section 4.3).
    #[serde(with = "Text::<Duration>")]
    pub interval: Duration,
    /// Mark ECN-capable packets rather than drop them; default false.
    pub ecn: bool,
}

impl Default for Codel {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            ecn: false,
        }
    }
}

/// The parameters of FQ-CoDel.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FqCodel {
    /// Acceptable standing delay; default 5ms (RFC 8290 section 5.2.2).
    #[serde(with = "Text::<Duration>")]
    pub target: Duration,
    /// A worst-case RTT; default 100ms (RFC 8290 section 5.2.1).
    #[serde(with = "Text::<Duration>")]
    pub interval: Duration,
    /// Bytes that a flow sends in its turn; default 1514B (RFC 8290 section 5.2.4).
    #[serde(with = "Text::<Bytes>")]
    pub quantum: Bytes,
    /// Number of queues that flows are hashed into; default 1024 (RFC 8290 section 5.2.5).
    pub flows: u32,
    /// Mark ECN-capable packets rather than drop them; default true, as Linux does.
    pub ecn: bool,
}

impl Default for FqCodel {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(5),
            interval: Duration::from_millis(100),
            quantum: Bytes::new(1514),
            flows: 1024,
            ecn: true,
        }
    }
}

/// The parameters of PIE.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Pie {
    /// Reference delay, `QDELAY_REF`; default 15ms (RFC 8033 section 4.2).
    #[serde(with = "Text::<Duration>")]
    pub target: Duration,
    /// Time between updates of the drop probability, `T_UPDATE`; default 15ms (RFC 8033 section 4.2).
    #[serde(with = "Text::<Duration>")]
    pub update: Duration,
    /// Burst that passes unharmed, `MAX_BURST`; default 150ms (RFC 8033 section 4.4).
    #[serde(with = "Text::<Duration>")]
    pub max_burst: Duration,
    /// Weight of the deviation from the reference, per second; default 0.125 (RFC 8033 section 4.2).
    pub alpha: f64,
    /// Weight of the trend of the delay, per second; default 1.25 (RFC 8033 section 4.2).
    pub beta: f64,
    /// Mark ECN-capable packets rather than drop them; default false.
    pub ecn: bool,
}

impl Default for Pie {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            update: Duration::from_millis(15),
            max_burst: Duration::from_millis(150),
            alpha: 0.125,
            beta: 1.25,
            ecn: false,
        }
    }
}

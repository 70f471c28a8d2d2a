//! Queue disciplines: the choice of one and its parameters.

use config::{FieldError, number, or_word, positive, table, within, word_or_table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Bytes, Duration};

/// Shortest time between updates of PIE, a thousandth of the one in Linux.
const SHORTEST_UPDATE: Duration = Duration::from_micros(15);

/// Queue discipline: the order of packets, and the rule by which some are dropped.
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

impl Queue {
    /// Checks that parameters are in their ranges.
    ///
    /// # Errors
    /// The first one that is not.
    pub fn check(&self) -> Result<(), FieldError> {
        match self {
            Self::Droptail | Self::Threshold(_) => Ok(()),
            Self::Codel(codel) => {
                positive("target", codel.target)?;
                positive("interval", codel.interval)
            }
            Self::FqCodel(fq) => {
                positive("target", fq.target)?;
                positive("interval", fq.interval)?;
                positive("quantum", fq.quantum)?;
                // Sub-queues are kept ready.
                number("flows", f64::from(fq.flows), 1.0, 65_536.0)
            }
            Self::Pie(pie) => {
                positive("target", pie.target)?;
                // Each update costs time, whether packets come or not.
                within("update", pie.update, SHORTEST_UPDATE, Duration::MAX)?;
                number("alpha", pie.alpha, 0.0, 1000.0)?;
                number("beta", pie.beta, 0.0, 1000.0)
            }
        }
    }
}

table! {
    /// The parameter of a queue that marks above a threshold.
    pub struct Threshold {
        /// Waiting bytes above which arrivals are marked, K; default 30kB (20 packets, Alizadeh et al.,
        /// SIGCOMM 2010, section 3.4).
        pub mark_above: Bytes = Bytes::new(30_000),
    }
}

table! {
    /// The parameters of CoDel.
    pub struct Codel {
        /// Acceptable standing delay; default 5ms (RFC 8289 section 4.3).
        pub target: Duration = Duration::from_millis(5),
        /// A worst-case RTT; default 100ms (RFC 8289 section 4.3).
        pub interval: Duration = Duration::from_millis(100),
        /// Mark ECN-capable packets rather than drop them; default false.
        pub ecn: bool,
    }
}

table! {
    /// The parameters of FQ-CoDel.
    pub struct FqCodel {
        /// Acceptable standing delay; default 5ms (RFC 8290 section 5.2.2).
        pub target: Duration = Duration::from_millis(5),
        /// A worst-case RTT; default 100ms (RFC 8290 section 5.2.1).
        pub interval: Duration = Duration::from_millis(100),
        /// Bytes that a flow sends in its turn; default 1514B (RFC 8290 section 5.2.4).
        pub quantum: Bytes = Bytes::new(1514),
        /// Number of queues that flows are hashed into; default 1024 (RFC 8290 section 5.2.5).
        pub flows: u32 = 1024,
        /// Mark ECN-capable packets rather than drop them; default true, as Linux does.
        pub ecn: bool = true,
    }
}

table! {
    /// The parameters of PIE.
    pub struct Pie {
        /// Reference delay, `QDELAY_REF`; default 15ms (RFC 8033 section 4.2).
        pub target: Duration = Duration::from_millis(15),
        /// Time between updates of the drop probability, `T_UPDATE`; default 15ms (RFC 8033 section 4.2).
        pub update: Duration = Duration::from_millis(15),
        /// Burst that passes unharmed, `MAX_BURST`; default 150ms (RFC 8033 section 4.4).
        pub max_burst: Duration = Duration::from_millis(150),
        /// Weight of the deviation from the reference, per second; default 0.125 (RFC 8033 section 4.2).
        pub alpha: f64 = 0.125,
        /// Weight of the trend of the delay, per second; default 1.25 (RFC 8033 section 4.2).
        pub beta: f64 = 1.25,
        /// Mark ECN-capable packets rather than drop them; default false.
        pub ecn: bool,
        /// How the delay is known: "timestamps" or "departure-rate"; default "timestamps", as in Linux.
        pub estimator: Estimator,
    }
}

/// Estimator by which PIE knows the delay of its queue (RFC 8033 sections 4.3 and 5.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Estimator {
    /// What the last packet that left has waited.
    #[default]
    Timestamps,
    /// What waits, over the rate at which packets have left; Linux does so with its option `dq_rate_estimator`.
    DepartureRate,
}

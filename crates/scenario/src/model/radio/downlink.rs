//! Scheduling and link adaptation of the downlink.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Decibel, Duration};

use config::Text;

/// Who gets resource blocks of the downlink, and which scheme is used on them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Downlink {
    /// How users are picked: "proportional-fair", "round-robin" or "max-rate"; default
    /// "proportional-fair".
    pub scheduler: Scheduler,
    /// Time constant of the average that "proportional-fair" compares with; default 100ms.
    #[serde(with = "Text::<Duration>")]
    pub time_constant: Duration,
    /// What UEs report: "wideband", one value for the carrier, or "subband", one for each sub-band too
    /// (TS 36.213 clause 7.2, TS 38.214 clause 5.2); default "wideband".
    pub cqi: Cqi,
    /// Which rate a block gets that lies in several sub-bands: "mean" or "weakest"; default "mean". Only
    /// with cqi "subband".
    pub subband_rate: SubbandRate,
    /// Time between reports, whole TTIs; default 5ms.
    #[serde(with = "Text::<Duration>")]
    pub cqi_period: Duration,
    /// Time from a measurement until the scheduler uses its report, whole TTIs; default 6ms: at least 4
    /// until it is sent (TS 36.213 clause 7.2.3), and decoding.
    #[serde(with = "Text::<Duration>")]
    pub cqi_delay: Duration,
    /// Taken off the SINR that a report promises when a scheme is chosen; default 0dB.
    #[serde(with = "Text::<Decibel>")]
    pub margin: Decibel,
    /// Outer loop of the link adaptation; unset: none.
    pub outer_loop: Option<OuterLoop>,
    /// Time for which one look at the channel is taken to hold, whole TTIs; unset: one TTI, which is
    /// exact.
    #[serde(with = "Text::<Option<Duration>>")]
    pub channel_period: Option<Duration>,
}

impl Default for Downlink {
    fn default() -> Self {
        Self {
            scheduler: Scheduler::ProportionalFair,
            time_constant: Duration::from_millis(100),
            cqi: Cqi::Wideband,
            subband_rate: SubbandRate::Mean,
            cqi_period: Duration::from_millis(5),
            cqi_delay: Duration::from_millis(6),
            margin: Decibel::new(0.0),
            outer_loop: None,
            channel_period: None,
        }
    }
}

/// How users are picked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// The greatest rate relative to what a user has had (Jalali et al., VTC 2000).
    ProportionalFair,
    /// Equal shares in turn.
    RoundRobin,
    /// The greatest rate: max C/I.
    MaxRate,
}

/// What UEs report of the channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cqi {
    /// One value for the whole carrier.
    Wideband,
    /// And one for each sub-band.
    Subband,
}

/// How the rate of a block follows from those of its sub-bands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SubbandRate {
    /// The mean over the resource blocks.
    Mean,
    /// That of the weakest sub-band (atxutegi2018-thesis chapter 4).
    Weakest,
}

/// A correction of the reported SINR by what became of blocks.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OuterLoop {
    /// Share of first transmissions that shall fail; default 0.1.
    #[schemars(range(min = 0, max = 1))]
    pub target: f64,
    /// Step down after a failure; a step up is so much smaller that both balance at the target; default
    /// 0.5dB.
    #[serde(with = "Text::<Decibel>")]
    pub step: Decibel,
    /// Largest correction either way; default 10dB.
    #[serde(with = "Text::<Decibel>")]
    pub limit: Decibel,
}

impl Default for OuterLoop {
    fn default() -> Self {
        Self {
            target: 0.1,
            step: Decibel::new(0.5),
            limit: Decibel::new(10.0),
        }
    }
}

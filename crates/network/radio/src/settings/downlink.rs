//! Scheduling and link adaptation of the downlink.

use config::table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::{Decibel, Duration};

table! {
    /// Scheduling and link adaptation of the downlink: the users of its resource blocks, and the schemes on them.
    pub struct Downlink {
        /// Scheduler, which picks the users: "proportional-fair", "round-robin" or "max-rate"; default
        /// "proportional-fair".
        pub scheduler: Scheduler = Scheduler::ProportionalFair,
        /// Time constant of the average that "proportional-fair" compares with; default 100ms.
        pub time_constant: Duration = Duration::from_millis(100),
        /// Reports of UEs: "wideband", one value for the carrier, or "subband", one for each sub-band too
        /// (TS 36.213 clause 7.2, TS 38.214 clause 5.2); default "wideband".
        pub cqi: Cqi = Cqi::Wideband,
        /// Rate of a block that lies in several sub-bands: "mean" or "weakest"; default "mean". Only
        /// with cqi "subband".
        pub subband_rate: SubbandRate = SubbandRate::Mean,
        /// Time between reports, whole TTIs; default 5ms.
        pub cqi_period: Duration = Duration::from_millis(5),
        /// Time from a measurement until the scheduler uses its report, whole TTIs; default 6ms: at least 4
        /// until it is sent (TS 36.213 clause 7.2.3), and decoding.
        pub cqi_delay: Duration = Duration::from_millis(6),
        /// Margin that is subtracted from the SINR of a report when a scheme is chosen; default 0dB.
        pub margin: Decibel = Decibel::new(0.0),
        /// Outer loop of the link adaptation; unset: none.
        pub outer_loop: Option<OuterLoop>,
        /// Errors of the signalling about downlink blocks; unset: none.
        pub control_errors: Option<ControlErrors>,
        /// Time for which a measurement of the channel is reused, whole TTIs; unset: one TTI, which is
        /// exact.
        pub channel_period: Option<Duration>,
    }
}

table! {
    /// Errors of the signalling about downlink blocks. A UE misses an assignment with the error rate of the PDCCH in that
    /// TTI, at the aggregation level chosen by its latest CQI. It then neither receives the block nor sends HARQ
    /// feedback. Defaults: the maxima for base stations (TS 36.104 clause 8.3).
    pub struct ControlErrors {
        /// Share of missing HARQ feedback (DTX) that is read as an ACK; default 0.01.
        #[schemars(range(min = 0, max = 1))]
        pub dtx_to_ack: f64 = 0.01,
        /// Share of ACKs that are read as a NACK; default 0.01.
        #[schemars(range(min = 0, max = 1))]
        pub ack_to_nack: f64 = 0.01,
        /// Share of NACKs that are read as an ACK; default 0.001.
        #[schemars(range(min = 0, max = 1))]
        pub nack_to_ack: f64 = 0.001,
    }
}

/// Scheduler: the rule by which users are picked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scheduler {
    /// The highest rate relative to the past average of a user (Jalali et al., VTC 2000).
    ProportionalFair,
    /// Equal shares in turn.
    RoundRobin,
    /// The highest rate: max C/I.
    MaxRate,
}

/// Reports of UEs about the channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cqi {
    /// One value for the whole carrier.
    Wideband,
    /// One value for the whole carrier and one for each sub-band.
    Subband,
}

/// Rate of a block, from those of its sub-bands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SubbandRate {
    /// The mean over the resource blocks.
    Mean,
    /// That of the weakest sub-band (atxutegi2018-thesis chapter 4).
    Weakest,
}

table! {
    /// A correction of the reported SINR by the HARQ feedback of blocks.
    pub struct OuterLoop {
        /// Target share of first transmissions that fail; default 0.1.
        #[schemars(range(min = 0, max = 1))]
        pub target: f64 = 0.1,
        /// Step down after a failure; a step up is so much smaller that both balance at the target; default
        /// 0.5dB.
        pub step: Decibel = Decibel::new(0.5),
        /// Largest correction either way; default 10dB.
        pub limit: Decibel = Decibel::new(10.0),
    }
}

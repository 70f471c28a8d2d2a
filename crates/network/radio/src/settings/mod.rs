//! Settings: the section `radio` of a scenario, with defaults, checks and derived quantities.

mod air;
mod bands;
mod carrier;
mod cell;
mod check;
mod downlink;
mod drx;
mod fading;
mod handover;
mod harq;
mod link_failure;
mod path_loss;
mod propagation;
mod rlc;
mod sinr;
mod ue;
mod uplink;

pub use bands::Band;
pub(crate) use bands::NR_RANGES_MHZ;
pub use carrier::{Modulation, SpecialSlot, TddPattern, Technology, Transmit};
pub use cell::{Antenna, Cell, Omni, Sector};
use config::table;
pub use downlink::{ControlErrors, Cqi, Downlink, OuterLoop, Scheduler, SubbandRate};
pub use drx::Drx;
pub use fading::{Estimation, Fading, Profile, Tracking, Train};
pub use handover::{A2A4, A3, Forwarding, Handover, Trigger};
pub use harq::Harq;
pub use link_failure::LinkFailure;
pub use path_loss::{Environment, Hata, LogDistance, PathLoss, Roofs, Streets};
pub use propagation::{Interference, Load, LosModel, Propagation, Shadowing};
pub use rlc::{Rlc, RlcMode, StatusPlacement};
pub use sinr::{Sinr, SinrLog, SinrPoint, SinrTrace};
pub use ue::{Position, SignalSource, Sumo, Ue, Velocity, WayPoint};
pub use units::{Angle, Frequency, Gain, Length, Power, Speed};
pub use uplink::{Access, GrantProtocol, HeadroomReports, Prescheduling, Timer, Uplink};

table! {
    /// A cellular access link instead of path.down, path.up and their queues: cells on one carrier, and UEs
    /// that share them.
    pub struct Radio {
        /// "lte" (FDD) or "nr"; default "lte".
        pub technology: Technology,
        /// Operating band, the centre of whose downlink is the carrier (TS 36.101 table 5.5-1, TS 38.101-1 and
        /// 38.101-2 table 5.2-1); unset, as is frequency: 7.
        pub band: Option<u32>,
        /// Centre of the downlink carrier, instead of a band.
        pub frequency: Option<Frequency>,
        /// Width of the carrier: in LTE 1.4MHz, 3MHz, 5MHz, 10MHz, 15MHz or 20MHz (TS 36.101 table 5.6-1), in
        /// NR those of TS 38.101 table 5.3.2-1; unset, as is prbs: 20MHz.
        pub bandwidth: Option<Frequency>,
        /// Resource blocks of an LTE carrier, instead of its bandwidth: 6, 15, 25, 50, 75 or 100.
        pub prbs: Option<u32>,
        /// Subcarrier spacing of NR: 15kHz, 30kHz, 60kHz or 120kHz; unset: 30kHz.
        pub subcarrier_spacing: Option<Frequency>,
        /// Slots of NR in TDD, such as "DDDSU": downlink, uplink, special; unset: FDD.
        pub tdd: Option<TddPattern>,
        /// Downlink, guard and uplink symbols of the slots S; default 10:2:2.
        pub special_slot: SpecialSlot,
        /// Schemes of the downlink: "64qam", "256qam", or in NR "64qam-low-rate"; default "64qam".
        pub modulation: Modulation,
        /// Spatial layers of the downlink, all with the same SINR: 1 or 2 in LTE, up to 4 in NR; default 1.
        pub layers: u32 = 1,
        /// Transmission of one layer: "single", from one antenna, or "diversity", from two; default "single".
        pub transmit: Transmit,
        /// Antennas of a UE with independent fading, combined for the highest ratio; one per layer at least;
        /// default 1.
        pub receive_antennas: u32 = 1,
        /// Symbols of the control region at the start of subframes and downlink slots, 1 to 3: LTE's CFI, the duration
        /// of NR's control resource set, which is as wide as the carrier; default 1. A narrow carrier needs more for
        /// large messages.
        pub control_symbols: u32 = 1,
        /// Whether every TTI of the phone is recorded; default false.
        pub log: bool,
        /// Whether the use of the control channel in each TTI and the delay of each packet of the uplink are recorded;
        /// unset: not.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub control_log: Option<bool>,
        /// Scheduling and link adaptation of the downlink.
        pub downlink: Downlink,
        /// Hybrid ARQ.
        pub harq: Harq,
        /// Radio link control.
        pub rlc: Rlc,
        /// The uplink.
        pub uplink: Uplink,
        /// Discontinuous reception; unset: none.
        pub drx: Option<Drx>,
        /// Fast fading of all UEs that have none of their own; unset: none.
        pub fading: Option<Fading>,
        /// From positions to SINR.
        pub propagation: Propagation,
        /// The cells; default none, which stands for one where all UEs are given their SINR.
        pub cells: Vec<Cell>,
        /// The UEs; default one, "phone", at 20dB.
        pub ues: Vec<Ue> = vec![Ue {
                name: "phone".to_owned(),
                sinr: Some(sinr::DEFAULT.clone()),
                ..Ue::default()
            }],
        /// Handover between the cells; unset: none.
        pub handover: Option<Handover>,
        /// Radio link failure.
        pub link_failure: LinkFailure,
    }
}

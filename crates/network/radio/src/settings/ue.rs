//! User equipment.

use config::table;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

use super::{Fading, Length, Sinr, Speed, sinr};
use config::Cross;

table! {
    /// A UE, which is a node that flows and links can name. What it receives is given as sinr or by where it
    /// is: by position, waypoints or sumo; one of the four, or a SINR of 20dB.
    pub struct Ue {
        /// Name of the node; default "phone" for the first one, then "ue-2" and so on. One is called "phone".
        pub name: String,
        /// Number of them; where there are several, their nodes have numbers: "ue-2-1", "ue-2-2" and so
        /// on; default 1.
        pub count: u32 = 1,
        /// Mean SINR of the downlink over time: a ratio ("20dB"), a list of points (at, sinr), a trace, or a
        /// phone's log.
        pub sinr: Option<Sinr>,
        /// Position, at the start if it has a velocity.
        pub position: Option<Position>,
        /// Velocity from its position; unset: not at all.
        pub velocity: Option<Velocity>,
        /// Places that it passes, with straight ways between them.
        pub waypoints: Vec<WayPoint>,
        /// The way of a vehicle of the simulator SUMO.
        pub sumo: Option<Sumo>,
        /// Fast fading of its own; unset: that of radio.fading.
        pub fading: Option<Fading>,
        /// Traffic towards it, in addition to that of flows; default none.
        pub cross_traffic: Vec<Cross>,
    }
}

/// Source of the signals that a UE receives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum SignalSource<'a> {
    /// This SINR, from the first cell.
    Sinr(&'a Sinr),
    /// The signals of all cells at a position, with a velocity if it moves.
    Linear(Position, Option<Velocity>),
    /// The signals of all cells along these points.
    WayPoints(&'a [WayPoint]),
    /// The signals of all cells along the trajectory of a vehicle.
    Sumo(&'a Sumo),
}

impl Ue {
    /// Returns the source of the signals that the UE receives.
    pub fn signal_source(&self) -> SignalSource<'_> {
        if let Some(position) = self.position {
            SignalSource::Linear(position, self.velocity)
        } else if !self.waypoints.is_empty() {
            SignalSource::WayPoints(&self.waypoints)
        } else if let Some(sumo) = &self.sumo {
            SignalSource::Sumo(sumo)
        } else {
            SignalSource::Sinr(self.sinr.as_ref().unwrap_or(&sinr::DEFAULT))
        }
    }

    /// Returns whether its signals follow from its position.
    pub fn has_position(&self) -> bool {
        !matches!(self.signal_source(), SignalSource::Sinr(_))
    }

    /// Returns whether it represents all vehicles of a file that no other UE names. Their nodes are named after
    /// the UE and the vehicle: "ue-2-car7".
    pub fn is_wildcard(&self) -> bool {
        matches!(self.signal_source(), SignalSource::Sumo(sumo) if sumo.vehicle == ALL_VEHICLES)
    }

    /// Returns the names of its nodes; none if it represents all vehicles of a file.
    pub fn nodes(&self) -> impl Iterator<Item = String> + '_ {
        let count = if self.is_wildcard() { 0 } else { self.count };
        (1..=count).map(move |number| match count {
            1 => self.name.clone(),
            _ => format!("{}-{number}", self.name),
        })
    }
}

table! {
    /// A place on the ground.
    #[derive(Copy)]
    pub struct Position {
        /// Towards the east; default 0m.
        pub x: Length = Length::from_metres(0.0),
        /// Towards the north; default 0m.
        pub y: Length = Length::from_metres(0.0),
    }
}

table! {
    /// A constant velocity.
    #[derive(Copy)]
    pub struct Velocity {
        /// Towards the east; default 0m/s.
        pub x: Speed = Speed::from_metres_per_second(0.0),
        /// Towards the north; default 0m/s.
        pub y: Speed = Speed::from_metres_per_second(0.0),
    }
}

/// A place that is passed at a time.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WayPoint {
    /// Since the start of the run.
    pub at: Duration,
    /// Towards the east.
    pub x: Length,
    /// Towards the north.
    pub y: Length,
}

/// Value of `vehicle` that stands for all vehicles of a file.
const ALL_VEHICLES: &str = "*";

table! {
    /// A vehicle of the simulator SUMO, in a file that is given as exactly one of fcd and ns2.
    pub struct Sumo {
        /// Floating-car data, XML from sumo --fcd-output; a relative path counts from the directory of the
        /// scenario file.
        pub fcd: Option<String>,
        /// Movements of ns-2, from SUMO's traceExporter.py; a relative path counts from the directory of the
        /// scenario file.
        pub ns2: Option<String>,
        /// The vehicle's id, for ns-2 the node's number; or "*": one UE for each vehicle that no other entry
        /// names; compulsory.
        pub vehicle: String,
    }
}

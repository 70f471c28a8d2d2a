//! Medium access control (TS 36.321, TS 38.321): HARQ, scheduling, control channel, uplink grants.

pub mod harq;
pub mod subheader;

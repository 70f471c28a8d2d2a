//! Medium access control (TS 36.321, TS 38.321): HARQ, scheduling, control channel, uplink grants.

pub mod drx;
pub mod harq;
pub(crate) mod headroom;
pub mod pdcch;
pub mod scheduler;
pub(crate) mod subheader;
pub mod uplink;

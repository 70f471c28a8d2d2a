//! Video: adaptive streaming without sockets and without a network.
//!
//! A [`Manifest`] has the representations of a video and the sizes of its segments. A [`Client`] plays it: it is given
//! the time and the bytes that arrive, and answers with [`ClientCommand`]s. An [`abr::Abr`] chooses the representation
//! of each segment. [`score`] turns the [`Log`] of a session into what the viewer thinks of it.

pub mod abr;
mod client;
mod consistency;
mod ladders;
mod log;
mod manifest;
mod playback;
pub mod score;
mod settings;
mod sizes_file;
mod source;

pub use client::{Client, ClientCommand};
pub use ladders::Ladder;
pub use log::{Log, Outcome, SegmentDownload};
pub use manifest::{Manifest, Representation};
pub use playback::{Stage, Stall};
pub use settings::Player;
pub use source::LadderSource;

//! Channel: the SINR that one receiver gets from one cell, as a function of time.
//!
//! The mean comes from a trace in dB ([`SinrTrace`], [`PhoneLog`]) or from positions ([`Deployment`]): path loss,
//! shadowing, antennas, noise and interference. Fast fading ([`Fading`]) varies it, and a receiver that a Doppler
//! shift disturbs ([`Receiver`]) limits it. Draws are addressed by (seed, purpose, link), so the channel depends
//! neither on the order of the queries nor on the traffic.

mod antenna;
mod decibels;
mod deployment;
mod doppler;
mod doppler_loss;
mod error;
mod faded_sinr;
mod fading;
mod grid;
mod hst;
pub mod mobility;
mod noise;
mod path_loss;
mod phone_log;
mod position;
mod profile;
mod shadowing;
mod sinusoids;
mod trace;
mod ue_channel;

pub use deployment::Deployment;
pub use doppler::{Doppler, wavelength_m};
pub use doppler_loss::Receiver;
pub use error::ParameterError;
pub use faded_sinr::FadedSinr;
pub use fading::{Fading, FadingConfig, LineOfSight, LinkId};
pub use grid::Grid;
pub use hst::HighSpeedTrain;
pub(crate) use noise::thermal_noise_dbm;
pub use phone_log::{PhoneLog, PhoneSample};
pub use position::Position;
pub use profile::Tap;
pub use trace::SinrTrace;
pub use ue_channel::{Activity, Reception};

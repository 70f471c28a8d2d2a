//! Faded SINR: a mean SINR with fast fading on top.

use units::{Decibel, Instant};

use super::decibels::to_db;
use super::receiver::{Distortion, DopplerLoss};
use super::{Fading, Grid, Receiver, SinrSource};

/// Mean SINR: SINR without fast fading, as a function of time.
pub trait MeanSinr {
    /// Returns the mean SINR in dB.
    fn mean_db(&self, at: Instant) -> f64;
}

impl MeanSinr for Decibel {
    /// Returns the same value at any time.
    fn mean_db(&self, _: Instant) -> f64 {
        self.get()
    }
}

/// SINR with fast fading around a mean, as a receiver under Doppler shift sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct FadedSinr<M> {
    mean: M,
    fading: Option<(Fading, DopplerLoss)>,
}

impl<M: MeanSinr> FadedSinr<M> {
    /// Returns a source without fading: every PRB has the mean.
    pub fn unfaded(mean: M) -> Self {
        Self { mean, fading: None }
    }

    /// Puts `fading` on top of `mean`; `grid` is the one that `fading` was made for.
    pub fn new(mean: M, fading: Fading, receiver: Receiver, grid: &Grid) -> Self {
        let loss = DopplerLoss::new(receiver, fading.config(), grid);
        Self {
            mean,
            fading: Some((fading, loss)),
        }
    }
}

impl<M: MeanSinr> SinrSource for FadedSinr<M> {
    fn sinr_db(&self, at: Instant, out: &mut [f32]) {
        let mean_db = self.mean.mean_db(at);
        let Some((fading, loss)) = &self.fading else {
            out.fill(mean_db as f32);
            return;
        };
        fading.power(at, out);
        let mean = Decibel::new(mean_db).to_linear() as f32;
        distorted_db(out, mean, loss.at(at));
    }

    fn mean_db(&self, at: Instant) -> f64 {
        self.mean.mean_db(at)
    }
}

/// Converts powers over the mean into SINR in dB. `mean` is the mean SINR (linear); the distortion is in proportion
/// to the mean power received over all groups.
pub(crate) fn distorted_db(powers: &mut [f32], mean: f32, distortion: Distortion) {
    let received = powers.iter().sum::<f32>() / powers.len() as f32;
    let scale = mean * distortion.signal / (1.0 + mean * distortion.noise * received);
    for power in powers {
        *power = to_db(*power * scale);
    }
}

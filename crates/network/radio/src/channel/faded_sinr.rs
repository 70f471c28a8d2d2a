//! Faded SINR: a mean SINR with fast fading on top.

use units::{Decibel, Instant};

use super::decibels::to_db;
use super::doppler_loss::{Distortion, DopplerLoss};
use super::{Fading, Grid, Receiver, SinrTrace};

/// SINR with fast fading around a mean, as a receiver under Doppler shift sees it.
#[derive(Clone, PartialEq, Debug)]
pub struct FadedSinr {
    mean: SinrTrace,
    fading: Option<(Fading, DopplerLoss)>,
}

impl FadedSinr {
    /// Returns a source without fading: every PRB has the mean.
    pub fn unfaded(mean: SinrTrace) -> Self {
        Self { mean, fading: None }
    }

    /// Returns a source with `fading` around `mean`; `grid` is that of `fading`.
    pub fn new(mean: SinrTrace, fading: Fading, receiver: Receiver, grid: &Grid) -> Self {
        let loss = DopplerLoss::new(receiver, fading.config(), grid);
        Self {
            mean,
            fading: Some((fading, loss)),
        }
    }

    /// Writes the SINR in dB of each PRB group to `out`, which has one element per group of the [`Grid`].
    pub fn sinr_db(&self, at: Instant, out: &mut [f32]) {
        let mean_db = self.mean.mean_db(at);
        let Some((fading, loss)) = &self.fading else {
            out.fill(mean_db as f32);
            return;
        };
        fading.power(at, out);
        let mean = Decibel::new(mean_db).to_linear() as f32;
        distorted_db(out, mean, loss.at(at));
    }

    /// Returns the SINR in dB without fast fading.
    pub fn mean_db(&self, at: Instant) -> f64 {
        self.mean.mean_db(at)
    }
}

/// Converts powers relative to the mean into SINR in dB. `mean` is the mean SINR (linear). The distortion is in
/// proportion to the mean power, not to the current power.
pub(crate) fn distorted_db(powers: &mut [f32], mean: f32, distortion: Distortion) {
    let scale = mean * distortion.signal / (1.0 + mean * distortion.noise);
    for power in powers {
        *power = to_db(*power * scale);
    }
}

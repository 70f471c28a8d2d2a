//! UE channel: the signals that a moving UE receives from the cells around it.

use std::cell::{RefCell, RefMut};
use std::sync::Arc;
use units::{Decibel, Instant};

use super::decibels::to_db;
use super::doppler_loss::DopplerLoss;
use super::faded_sinr::distorted_db;
use super::mobility::Trajectory;
use super::{Deployment, Fading, FadingConfig, LinkId, ParameterError, Position, Receiver};
use crate::phy::SUBCARRIERS_PER_PRB;
use crate::settings::Interference;

/// Reception of one UE, a function of time alone.
///
/// It caches the powers of the latest update period, so it is not `Sync`.
#[derive(Clone, Debug)]
pub struct Reception {
    deployment: Arc<Deployment>,
    trajectory: Trajectory,
    /// Fading and Doppler loss by cell.
    fading: Option<(Vec<Fading>, DopplerLoss)>,
    cache: RefCell<PeriodCache>,
}

/// Values that are computed once in an update period.
#[derive(Clone, Debug)]
struct PeriodCache {
    /// Index of the update period; `None` before the first.
    period: Option<u64>,
    position: Position,
    powers_mw: Vec<f64>,
    /// Cached gains from the cells; `None` if not computed in this period.
    gain_db: Vec<Option<f64>>,
    /// Noise and interference by group.
    noise_plus_interference: Vec<f32>,
    scratch: Vec<f32>,
}

impl Reception {
    /// Returns the reception of UE number `ue` on its `trajectory`; `fading` varies what it receives around the mean.
    pub fn new(
        deployment: Arc<Deployment>,
        ue: u32,
        trajectory: Trajectory,
        fading: Option<(FadingConfig, Receiver)>,
    ) -> Result<Self, ParameterError> {
        let (cells, grid) = (deployment.cells.len(), deployment.grid);
        let fading = fading
            .map(|(config, receiver)| {
                let first = Fading::new(config, &grid, deployment.seed, LinkId { ue, cell: 0 })?;
                let others = (1..cells as u32).map(|cell| LinkId { ue, cell });
                let others = others.map(|link| first.of_link(deployment.seed, link));
                let links = core::iter::once(Ok(first.clone())).chain(others);
                let links = links.collect::<Result<Vec<_>, _>>()?;
                Ok::<_, ParameterError>((links, DopplerLoss::new(receiver, &config, &grid)))
            })
            .transpose()?;
        Ok(Self {
            trajectory,
            fading,
            cache: RefCell::new(PeriodCache {
                period: None,
                position: Position::default(),
                powers_mw: vec![0.0; cells],
                gain_db: vec![None; cells],
                noise_plus_interference: vec![0.0; grid.groups()],
                scratch: vec![0.0; grid.groups()],
            }),
            deployment,
        })
    }

    /// Returns the position of the UE.
    pub fn position(&self, at: Instant) -> Position {
        self.trajectory.at(at)
    }

    /// Returns the mean power of the reference signal of `cell` per resource element, in dBm: RSRP without fast
    /// fading (TS 36.214 §5.1.1).
    pub fn rsrp_dbm(&self, at: Instant, cell: usize) -> f64 {
        let cache = self.cache(at);
        Decibel::from_linear(cache.powers_mw[cell] / self.resource_elements()).get()
    }

    /// Returns the gain from `cell` to the UE without fast fading, antennas included, in dB. It is the same in the
    /// other direction.
    pub(crate) fn gain_db(&self, at: Instant, cell: usize) -> f64 {
        let mut cache = self.cache(at);
        let (cached, power_mw) = (cache.gain_db[cell], cache.powers_mw[cell]);
        cached.unwrap_or_else(|| {
            let tx_power_dbm = self.deployment.cells[cell].power.dbm();
            let gain = Decibel::from_linear(power_mw).get() - tx_power_dbm;
            cache.gain_db[cell] = Some(gain);
            gain
        })
    }

    /// Returns the RSRQ of `cell` without fast fading, in dB: PRBs times RSRP over all received power, where each
    /// cell transmits with the share `activity` of its power (TS 36.214 §5.1.3).
    pub fn rsrq_db(&self, at: Instant, cell: usize, activity: Activity<'_>) -> f64 {
        let cache = self.cache(at);
        let received: f64 = cache
            .powers_mw
            .iter()
            .enumerate()
            .map(|(other, power)| power * f64::from(activity.of(other)))
            .sum();
        let rsrp = cache.powers_mw[cell] / self.resource_elements();
        let rssi = received + self.deployment.noise_mw;
        Decibel::from_linear(self.deployment.grid.prbs() as f64 * rsrp / rssi).get()
    }

    /// Returns the SINR of `cell` without fast fading, in dB, where each other cell transmits with the share
    /// `activity` of its power.
    pub fn mean_sinr_db(&self, at: Instant, cell: usize, activity: Activity<'_>) -> f64 {
        let cache = self.cache(at);
        Decibel::from_linear(self.mean_sinr(&cache, cell, activity)).get()
    }

    /// Writes the SINR of `cell` by PRB group in dB to `out`, where each other cell transmits with the share
    /// `activity` of its power.
    pub fn sinr_db(&self, at: Instant, cell: usize, activity: Activity<'_>, out: &mut [f32]) {
        let mut cache = self.cache(at);
        let mean = self.mean_sinr(&cache, cell, activity);
        let Some((fading, doppler)) = &self.fading else {
            out.fill(Decibel::from_linear(mean).get() as f32);
            return;
        };
        fading[cell].power(at, out);
        let distortion = doppler.at(at);
        let propagation = &self.deployment.propagation;
        if propagation.interference != Interference::Faded {
            distorted_db(out, mean as f32, distortion);
            return;
        }
        let cache = &mut *cache;
        let noise = self.deployment.noise_mw;
        let min_faded_power = noise * Decibel::new(-propagation.culling.get()).to_linear();
        let signal = cache.powers_mw[cell] as f32;
        cache
            .noise_plus_interference
            .fill(noise as f32 + distortion.noise * signal);
        for (other, &power) in cache.powers_mw.iter().enumerate() {
            let power = power * f64::from(activity.of(other));
            if other == cell || power == 0.0 {
                continue;
            }
            if power < min_faded_power {
                let add = |sum: &mut f32| *sum += power as f32;
                cache.noise_plus_interference.iter_mut().for_each(add);
                continue;
            }
            fading[other].power(at, &mut cache.scratch);
            for (sum, faded) in cache.noise_plus_interference.iter_mut().zip(&cache.scratch) {
                *sum += power as f32 * faded;
            }
        }
        for (sinr, noise_plus_interference) in out.iter_mut().zip(&cache.noise_plus_interference) {
            *sinr = to_db(signal * distortion.signal * *sinr / noise_plus_interference);
        }
    }

    /// Returns the number of resource elements of a symbol, all with the power of the reference signal.
    fn resource_elements(&self) -> f64 {
        f64::from(SUBCARRIERS_PER_PRB) * self.deployment.grid.prbs() as f64
    }

    fn mean_sinr(&self, cache: &PeriodCache, cell: usize, activity: Activity<'_>) -> f64 {
        let mut noise_plus_interference = self.deployment.noise_mw;
        if self.deployment.propagation.interference != Interference::None {
            for (other, power) in cache.powers_mw.iter().enumerate() {
                if other != cell {
                    noise_plus_interference += power * f64::from(activity.of(other));
                }
            }
        }
        cache.powers_mw[cell] / noise_plus_interference
    }

    /// Returns the cache for the update period at `at`, computed for the position of the UE at the start of the period.
    fn cache(&self, at: Instant) -> RefMut<'_, PeriodCache> {
        let mut cache = self.cache.borrow_mut();
        let length = self.deployment.propagation.update_period.as_nanos();
        let period = at.as_nanos() / length;
        if cache.period != Some(period) {
            let position = self.trajectory.at(Instant::from_nanos(period * length));
            if cache.period.is_none() || cache.position != position {
                let powers_dbm = self.deployment.powers_dbm(&position);
                for (power_mw, power_dbm) in cache.powers_mw.iter_mut().zip(powers_dbm) {
                    *power_mw = Decibel::new(power_dbm).to_linear();
                }
                cache.gain_db.fill(None);
                cache.position = position;
            }
            cache.period = Some(period);
        }
        cache
    }
}

/// Share of their power that cells transmit with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Activity<'a> {
    /// All cells transmit with full power.
    Full,
    /// Each cell transmits with its share, from 0 to 1.
    Shares(&'a [f32]),
}

impl Activity<'_> {
    fn of(&self, cell: usize) -> f32 {
        match self {
            Self::Full => 1.0,
            Self::Shares(shares) => shares[cell],
        }
    }
}

//! Uplink power: transmit power of a UE with a position, and the resource blocks that it suffices for.

use super::RanConfig;
use crate::channel::thermal_noise_dbm;
use crate::mac::headroom::Headroom;
use units::Decibel;

/// Resource blocks of the sounding reference signal by which a base station measures a UE: the minimum
/// (TS 36.211 clause 5.5.3.2, TS 38.211 clause 6.4.1.4.3).
const SOUNDING_PRBS: u32 = 4;

/// Bytes of a block that carry no data: subheaders of MAC, and the header of RLC.
const HEADERS: f64 = 5.0;

/// Bytes of data above which headers and checksums are negligible, so that retransmissions gain nothing.
const LARGE_BLOCK: f64 = 100.0;

/// Minimum gain of blocks whose first transmission fails: each retransmission costs a HARQ round trip.
const MIN_RETRANSMISSION_GAIN: f64 = 1.25;

/// Open-loop power control of a carrier: TS 36.213 clause 5.1.1.1, TS 38.213 clause 7.1.1. Levels are over the
/// allocation, in dBm.
#[derive(Debug)]
pub(super) struct PowerControl {
    limit_dbm: f64,
    p0_dbm: f64,
    alpha: f64,
    /// Power relative to that on 180 kHz, dB, by the number of resource blocks.
    width_db: Vec<f64>,
    /// Whether a UE can be given that number of resource blocks.
    is_allocation: Vec<bool>,
    /// Noise at the base station, dBm, by the number of resource blocks.
    noise_dbm: Vec<f64>,
}

impl PowerControl {
    pub(super) fn new(config: &RanConfig) -> Self {
        let uplink = &config.radio.uplink;
        let hz = |prbs: u32| f64::from(prbs) * config.air.grid.prb_hz();
        let figure = config.radio.propagation.enb_noise_figure;
        let widths = 0..=config.air.prbs();
        Self {
            limit_dbm: uplink.power.dbm(),
            p0_dbm: uplink.p0.dbm(),
            alpha: uplink.alpha,
            width_db: widths
                .clone()
                .map(|prbs| Decibel::from_linear(hz(prbs) / 180e3).get())
                .collect(),
            is_allocation: widths
                .clone()
                .map(|prbs| config.air.uplink_allocation(prbs) == prbs)
                .collect(),
            noise_dbm: widths
                .map(|prbs| thermal_noise_dbm(hz(prbs), figure))
                .collect(),
        }
    }

    /// Returns the power that a UE would send with if it had no limit, dBm.
    fn required_dbm(&self, path_loss_db: f64, prbs: u32) -> f64 {
        self.p0_dbm + self.alpha * path_loss_db + self.width_db[prbs as usize]
    }

    /// Returns the power headroom on this number of blocks, in dB.
    pub(super) fn headroom_db(&self, path_loss_db: f64, prbs: u32) -> f64 {
        self.limit_dbm - self.required_dbm(path_loss_db, prbs)
    }

    /// Returns the SINR at the base station, in dB.
    pub(super) fn sinr_db(&self, path_loss_db: f64, prbs: u32) -> f64 {
        let sent_dbm = self.required_dbm(path_loss_db, prbs).min(self.limit_dbm);
        sent_dbm - path_loss_db - self.noise_dbm[prbs as usize]
    }

    /// Returns the uplink as a base station knows it from a report and the sounding reference signal.
    pub(super) fn measured(&self, path_loss_db: f64, report: Headroom) -> MeasuredUplink<'_> {
        let sounding = SOUNDING_PRBS.min(self.width_db.len() as u32 - 1);
        let mut measured = MeasuredUplink {
            control: self,
            report,
            unlimited_db: 0.0,
        };
        let shortfall_db = measured.shortfall_db(sounding);
        measured.unlimited_db = self.sinr_db(path_loss_db, sounding) + shortfall_db;
        measured
    }
}

/// Uplink of one UE as its base station knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeasuredUplink<'a> {
    control: &'a PowerControl,
    report: Headroom,
    /// SINR as long as the power suffices, dB.
    unlimited_db: f64,
}

impl MeasuredUplink<'_> {
    /// Returns the power that is missing on this number of blocks, in dB.
    fn shortfall_db(&self, prbs: u32) -> f64 {
        let width_db = |prbs: u32| self.control.width_db[prbs as usize];
        (width_db(prbs) - width_db(self.report.prbs) - self.report.db).max(0.0)
    }

    /// Returns the expected SINR on this number of blocks, in dB.
    pub(super) fn sinr_db(&self, prbs: u32) -> f64 {
        self.unlimited_db - self.shortfall_db(prbs)
    }

    /// Writes, for each number of free blocks from 0 on, the number of blocks on which the UE carries the most bytes. These
    /// are all free blocks as long as its power suffices, and fewer if the signal on all would be too weak. If blocks that
    /// keep the error target are little more than headers, larger ones with HARQ retransmissions are used.
    pub(super) fn best_allocations(&self, config: &RanConfig, into: &mut Vec<u16>) {
        into.clear();
        into.push(0);
        let mut schemes = config.air.up.schemes();
        let (mut at_target, mut retransmitted) = ((0.0, 1), (0.0, 1));
        for prbs in 1..=config.air.prbs() {
            let is_limited = self.shortfall_db(prbs) > 0.0;
            if self.control.is_allocation[prbs as usize] {
                let bytes = self.bytes_at_target(config, prbs, &mut schemes);
                at_target = larger(at_target, (bytes, prbs));
                if at_target.0 < LARGE_BLOCK && is_limited {
                    retransmitted = larger(
                        retransmitted,
                        (self.bytes_retransmitted(config, prbs), prbs),
                    );
                }
            }
            let best = if !is_limited {
                prbs
            } else if retransmitted.0 > MIN_RETRANSMISSION_GAIN * at_target.0 {
                retransmitted.1
            } else {
                at_target.1
            };
            into.push(best as u16);
        }
    }

    /// Returns the bytes of data in a transport block whose scheme keeps the error target. More resource blocks have less
    /// power each; so fewer `schemes` keep the target.
    fn bytes_at_target(&self, config: &RanConfig, prbs: u32, schemes: &mut u8) -> f64 {
        let (formats, sinr_db) = (&config.air.up, self.sinr_db(prbs));
        while *schemes > 0 && formats.adaptation.required_sinr_db(*schemes - 1, prbs) > sinr_db {
            *schemes -= 1;
        }
        match schemes.checked_sub(1) {
            Some(mcs) => f64::from(formats.get(mcs, prbs).bits / 8) - HEADERS,
            None => 0.0,
        }
    }

    /// Returns the data bytes per transmission of a block with the lowest scheme. The block is retransmitted until the
    /// combined energy meets the error target; 0 if HARQ does not allow as many transmissions.
    fn bytes_retransmitted(&self, config: &RanConfig, prbs: u32) -> f64 {
        let formats = &config.air.up;
        let missing_db = formats.adaptation.required_sinr_db(0, prbs) - self.sinr_db(prbs);
        let times = Decibel::new(missing_db).to_linear().ceil().max(1.0);
        if times > f64::from(config.harq().max_transmissions) {
            return 0.0;
        }
        (f64::from(formats.get(0, prbs).bits / 8) - HEADERS) / times
    }
}

/// Returns the pair of bytes and resource blocks with more bytes.
fn larger(a: (f64, u32), b: (f64, u32)) -> (f64, u32) {
    if b.0 > a.0 { b } else { a }
}

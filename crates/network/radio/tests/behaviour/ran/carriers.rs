//! Goodput of a saturated user over carriers drawn at random. It lies between half of the rate of the CQI tables and
//! Shannon's bound, block errors are at their target, and it never falls with a higher SINR or a wider carrier.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use radio::channel::mobility::Trajectory;
use radio::channel::{Deployment, FadedSinr, Position, Reception, SinrTrace};
use radio::ran::{Channel, Direction, RanConfig, User};
use radio::settings::{
    Cell, Frequency, Length, Modulation, PathLoss, Power, Radio, TddPattern, Technology,
};
use units::{Decibel, Instant, Quantity};

use crate::ran::lab::{Lab, ms};

/// Start of the measurement, after the first reports and grants, and its end, ms.
const SPAN_MS: [u64; 2] = [200, 900];

/// Block error rate that link adaptation aims at: TS 36.213 clause 7.2.3, TS 38.214 clause 5.2.2.1.
const TARGET: f64 = 0.1;

/// Minimum ratio of the goodput at a better place, or on a wider carrier, that counts as no loss, and that beyond the
/// edge.
const TOLERANCE: f64 = 0.95;
const EDGE_TOLERANCE: f64 = 0.75;

/// Widths in MHz by subcarrier spacing in kHz: TS 36.101 table 5.6-1, TS 38.101-1 and TS 38.101-2 table 5.3.2-1.
const LTE_MHZ: [f64; 6] = [1.4, 3.0, 5.0, 10.0, 15.0, 20.0];
const NR_MHZ: [(u32, &[f64]); 4] = [
    (15, &[5.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0]),
    (30, &[5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 100.0]),
    (60, &[10.0, 20.0, 40.0, 60.0, 80.0, 100.0]),
    (120, &[50.0, 100.0, 200.0, 400.0]),
];

/// Bits per symbol of each CQI: TS 36.213 tables 7.2.3-1 and 7.2.3-2, TS 38.214 tables 5.2.2.1-2 and 5.2.2.1-3.
const CQI_64QAM: [f64; 15] = [
    0.1523, 0.2344, 0.3770, 0.6016, 0.8770, 1.1758, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023,
    4.5234, 5.1152, 5.5547,
];
const CQI_256QAM: [f64; 15] = [
    0.1523, 0.3770, 0.8770, 1.4766, 1.9141, 2.4063, 2.7305, 3.3223, 3.9023, 4.5234, 5.1152, 5.5547,
    6.2266, 6.9141, 7.4063,
];

/// SINR in dB with all power on one resource block, below which blocks of the uplink that keep the error target are
/// little more than their headers, so that larger ones are sent several times.
const EDGE_DB: f64 = 6.0;

/// SINR in dB below which NR has CQI 1, and no scheme with its code rate (TS 38.214 tables 5.1.3.1-1 and 5.2.2.1-2).
const NR_LOWEST_DB: f64 = -4.5;

/// Rates in Mbit/s below which carriers are not compared: of few blocks in the time of the measurement.
const COMPARED_MBPS: f64 = 0.02;

#[derive(Clone, Copy, PartialEq, Debug)]
enum Place {
    /// SINR of the direction, dB.
    Sinr(f64),
    /// Path loss, dB; the cell sends 33 dBm on each MHz.
    PathLoss(f64),
}

#[derive(Clone, Debug)]
struct Case {
    technology: Technology,
    spacing_khz: u32,
    mhz: f64,
    /// The next wider carrier, if there is one.
    wider_mhz: Option<f64>,
    tdd: bool,
    modulation: Modulation,
    direction: Direction,
    place: Place,
    /// Gain of the better place, dB.
    step_db: f64,
}

fn widths(technology: Technology, spacing_khz: u32) -> &'static [f64] {
    match technology {
        Technology::Lte => &LTE_MHZ,
        Technology::Nr => {
            let row = NR_MHZ.iter().find(|(spacing, _)| *spacing == spacing_khz);
            row.expect("a spacing of the table").1
        }
    }
}

fn drawn() -> impl Strategy<Value = Case> {
    let carrier = prop_oneof![
        Just((Technology::Lte, 15)),
        proptest::sample::select(vec![15, 30, 60, 120]).prop_map(|khz| (Technology::Nr, khz)),
    ];
    let place = prop_oneof![
        (-6.0..30.0).prop_map(Place::Sinr),
        (60.0..145.0).prop_map(Place::PathLoss),
    ];
    let modulation = proptest::sample::select(vec![Modulation::Qam64, Modulation::Qam256]);
    let direction = proptest::sample::select(vec![Direction::Down, Direction::Up]);
    let others = (any::<bool>(), modulation, direction, place, 0.5..4.0);
    (carrier, any::<proptest::sample::Index>(), others).prop_map(
        |((technology, spacing_khz), index, (tdd, modulation, direction, place, step_db))| {
            let widths = widths(technology, spacing_khz);
            let index = index.index(widths.len());
            Case {
                technology,
                spacing_khz,
                mhz: widths[index],
                wider_mhz: widths.get(index + 1).copied(),
                tdd: tdd && technology == Technology::Nr,
                modulation,
                direction,
                place,
                step_db,
            }
        },
    )
}

impl Case {
    fn config(&self) -> RanConfig {
        // Band 3, or n257 in the second frequency range of NR.
        let hertz = if self.spacing_khz == 120 {
            28e9
        } else {
            1.8425e9
        };
        let mut radio = Radio {
            technology: self.technology,
            frequency: Some(Frequency::from_hertz(hertz)),
            bandwidth: Some(Frequency::from_hertz(self.mhz * 1e6)),
            modulation: self.modulation,
            log: true,
            ..Radio::default()
        };
        // Grants that nobody asks for take the place of assignments in narrow control regions.
        radio.uplink.prescheduling = None;
        if self.technology == Technology::Nr {
            let spacing = f64::from(self.spacing_khz) * 1e3;
            radio.subcarrier_spacing = Some(Frequency::from_hertz(spacing));
            radio.tdd = self.tdd.then(|| TddPattern::read("DDDSU").unwrap());
        }
        let air = radio.air_interface().unwrap();
        let channel = match self.place {
            Place::Sinr(sinr_db) => {
                radio.uplink.sinr = Decibel::new(sinr_db);
                let trace = SinrTrace::new(vec![(Instant::ZERO, sinr_db)]).unwrap();
                Channel::Traced(Box::new(FadedSinr::unfaded(trace)))
            }
            Place::PathLoss(loss_db) => {
                let dbm = 33.0 + 10.0 * self.mhz.log10();
                radio.cells = vec![Cell {
                    name: "cell-1".to_owned(),
                    height: Length::from_metres(1.5),
                    power: Power::from_dbm(dbm),
                    ..Cell::default()
                }];
                radio.propagation.model = PathLoss::Friis;
                let deployment = Deployment::new(&radio, air.grid(), 7).unwrap();
                let wavelength = 299_792_458.0 / hertz;
                let metres = wavelength / (4.0 * std::f64::consts::PI) * 10f64.powf(loss_db / 20.0);
                let place = Trajectory::Static(Position::new(metres, 0.0, 1.5));
                let reception = Reception::new(Arc::new(deployment), 0, place, None).unwrap();
                Channel::Placed(Box::new(reception))
            }
        };
        let users = vec![User {
            channel,
            speed_mps: None,
            observed: true,
        }];
        RanConfig { air, radio, users }
    }

    /// Returns the rate of decoded data in Mbit/s, and the mean block error rate of first attempts.
    fn run(&self) -> (f64, f64) {
        let mut lab = Lab::new(self.config());
        // Enough for the round trip of HARQ at the rate of the widest carrier.
        let packets = 700;
        while lab.ran.next_event() < ms(SPAN_MS[1]) {
            if lab.ran.next_event() < ms(SPAN_MS[0]) {
                lab.log.clear();
            }
            lab.fill(0, self.direction, packets);
            lab.tick();
        }
        let records = lab.log.iter();
        let blocks = records
            .filter(|record| record.direction == self.direction)
            .filter_map(|record| record.block);
        let (mut bytes, mut errors, mut first) = (0, 0.0, 0u32);
        for block in blocks {
            bytes += u64::from(if block.decoded { block.payload } else { 0 });
            if block.attempt == 1 {
                errors += f64::from(block.bler);
                first += 1;
            }
        }
        let mbps = bytes as f64 * 8e-3 / (SPAN_MS[1] - SPAN_MS[0]) as f64;
        (mbps, errors / f64::from(first.max(1)))
    }

    /// Shares of the time that the direction has: most, with the symbols of special slots, and least.
    fn shares(&self) -> [f64; 2] {
        match (self.tdd, self.direction) {
            (false, _) => [1.0, 1.0],
            (true, Direction::Down) => [3.75 / 5.0, 3.0 / 5.0],
            (true, Direction::Up) => [1.2 / 5.0, 1.0 / 5.0],
        }
    }

    /// Returns the width of one resource block in MHz, and the number of them.
    fn blocks(&self) -> (f64, u32) {
        let grid = self.config().air.grid();
        let mhz = 12.0 * f64::from(self.spacing_khz) / 1e3;
        (mhz, grid.prbs() as u32)
    }

    /// Returns the SINR in dB on this number of resource blocks, at full power.
    fn sinr_db(&self, prbs: u32) -> f64 {
        match (self.place, self.direction) {
            (Place::Sinr(sinr_db), _) => sinr_db,
            (Place::PathLoss(loss_db), Direction::Down) => {
                // -174 dBm/Hz and a noise figure of 7 dB.
                let (mhz, all) = self.blocks();
                let used_mhz = mhz * f64::from(all);
                33.0 + 10.0 * (self.mhz / used_mhz).log10() - loss_db + 114.0 - 7.0
            }
            (Place::PathLoss(loss_db), Direction::Up) => {
                let mhz = self.blocks().0 * f64::from(prbs);
                // 23 dBm, or -80 dBm of each 180 kHz at the base station, whose noise figure is 5 dB.
                let sent = 23f64.min(-80.0 + loss_db + 10.0 * (mhz / 0.18).log10());
                sent - loss_db + 114.0 - 10.0 * mhz.log10() - 5.0
            }
        }
    }

    /// Returns the most that is possible, in Mbit/s: Shannon's bound over the whole carrier.
    fn shannon(&self) -> f64 {
        let (mhz, all) = self.blocks();
        let bound = |prbs: u32| {
            let snr = 10f64.powf(self.sinr_db(prbs) / 10.0);
            mhz * f64::from(prbs) * (1.0 + snr).log2()
        };
        self.shares()[0] * bound(all)
    }

    /// Share of the symbols that a CQI of the downlink counts with: TS 36.213 clause 7.2.3, TS 38.214 clause 5.2.2.5.
    fn data_symbols(&self) -> f64 {
        match (self.direction, self.technology) {
            (Direction::Up, _) => 1.0,
            (Direction::Down, Technology::Lte) => 11.0 / 14.0,
            (Direction::Down, Technology::Nr) => 12.0 / 14.0,
        }
    }

    /// Returns the rate of the CQI tables in Mbit/s, on the best number of resource blocks. A CQI needs the SINR at which
    /// TR 36.942 annex A.2 has its efficiency on the link level: 0.6 of Shannon's bound down and 0.4 up, at most 4.4 and
    /// 2.0 bit/s/Hz, and nothing below -10 dB.
    fn tables(&self) -> f64 {
        let (mhz, all) = self.blocks();
        let (factor, most) = match self.direction {
            Direction::Down => (0.6, 4.4),
            Direction::Up => (0.4, 2.0),
        };
        let table = match (self.direction, self.modulation) {
            (Direction::Down, Modulation::Qam256) => CQI_256QAM,
            _ => CQI_64QAM,
        };
        let rate = |prbs: u32| {
            let sinr_db = self.sinr_db(prbs);
            let shannon = (1.0 + 10f64.powf(sinr_db / 10.0)).log2();
            let efficiency = f64::min(factor * shannon, most);
            let cqi = table.iter().rfind(|each| **each <= efficiency);
            match cqi {
                Some(efficiency) if sinr_db >= -10.0 => mhz * f64::from(prbs) * efficiency,
                _ => 0.0,
            }
        };
        let best = match self.direction {
            Direction::Down => rate(all),
            Direction::Up => (1..=all).map(rate).fold(0.0, f64::max),
        };
        self.shares()[1] * self.data_symbols() * best
    }

    fn is_beyond_the_edge(&self) -> bool {
        let lowest_db = match (self.place, self.direction, self.technology) {
            (Place::PathLoss(_), Direction::Up, _) => EDGE_DB,
            (_, _, Technology::Nr) => NR_LOWEST_DB,
            (_, _, Technology::Lte) => f64::NEG_INFINITY,
        };
        self.sinr_db(1) < lowest_db
    }

    /// Returns the case at a position that is better by this many dB.
    fn better(&self, step_db: f64) -> Self {
        let place = match self.place {
            Place::Sinr(sinr_db) => Place::Sinr(sinr_db + step_db),
            Place::PathLoss(loss_db) => Place::PathLoss(loss_db - step_db),
        };
        Self {
            place,
            ..self.clone()
        }
    }

    /// Returns the bounds that do not hold.
    fn violations(&self) -> Vec<String> {
        let (mbps, errors) = self.run();
        let (most, least) = (self.shannon(), 0.5 * self.tables());
        let better = self.better(self.step_db);
        let tolerance = if self.is_beyond_the_edge() {
            EDGE_TOLERANCE
        } else {
            TOLERANCE
        };
        let mut result = Vec::new();
        if mbps > most {
            result.push(format!("{mbps:.3} Mbit/s, Shannon's bound is {most:.3}"));
        }
        if mbps < least {
            result.push(format!(
                "{mbps:.3} Mbit/s, half of the tables is {least:.3}"
            ));
        }
        if errors > 1.25 * TARGET && !self.is_beyond_the_edge() {
            result.push(format!("block error rate {errors:.3}"));
        }
        let (higher, _) = better.run();
        if mbps > COMPARED_MBPS && higher < tolerance * mbps {
            result.push(format!(
                "{mbps:.3} Mbit/s, {higher:.3} at {:?}",
                better.place
            ));
        }
        if let Some(mhz) = self.wider_mhz {
            // Thresholds of a CQI on two carriers differ by hundredths of a dB.
            let same = self.better(0.1);
            let (wider, _) = Self { mhz, ..same }.run();
            if mbps > COMPARED_MBPS && wider < tolerance * mbps {
                result.push(format!("{mbps:.3} Mbit/s, {wider:.3} on {mhz} MHz"));
            }
        }
        result
    }
}

fn variable(name: &str, default: u32) -> u32 {
    std::env::var(name).map_or(default, |text| {
        text.parse()
            .unwrap_or_else(|_| panic!("{name}: {text:?} is not a number"))
    })
}

/// `make carriers CASES=500 SEED=7` draws more of them.
#[test]
fn goodput_over_carriers_drawn_at_random_is_within_its_bounds() {
    let cases = variable("CELLTCP_CARRIERS", 12);
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(u64::from(variable("CELLTCP_CARRIERS_SEED", 1))),
        failure_persistence: None,
        ..Config::default()
    });
    let mut violated = 0;
    for number in 0..cases {
        let tree = drawn().new_tree(&mut runner);
        let case = tree.expect("nothing is filtered out").current();
        let violations = case.violations();
        violated += u32::from(!violations.is_empty());
        for violation in violations {
            println!("{number}: {violation}: {case:?}");
        }
    }
    println!("{violated} of {cases} carriers violate a bound");
    assert_eq!(violated, 0);
}

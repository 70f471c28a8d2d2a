//! Share of the control channel: neither direction starves behind the other, whatever the carrier.
//!
//! A gNB decides slot by slot which messages it sends (TS 38.213 clause 10.1). Where the region is too small for an
//! assignment and a grant, each direction has a claim to half of the regions.

use proptest::prelude::*;
use radio::phy::nr::McsTable;
use radio::ran::{AirInterface, Carrier, Direction, NrCarrier, RanConfig};
use radio::settings::{Frequency, Technology, Uplink};

use crate::ran::lab::{Lab, lte, ms, steady};

/// Length of a run in ms.
const LENGTH: u64 = 400;
/// Time in which each direction has to have got its share, ms.
const WINDOW: u64 = 50;

#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Numerology; `None` in LTE.
    numerology: Option<u32>,
    prbs: u32,
    tdd: Option<&'static str>,
    control_symbols: u32,
    sinr_db: f64,
}

/// Carriers that hold from 1 to 45 control channel elements a slot.
const CARRIERS: [(Option<u32>, u32); 8] = [
    (None, 6),
    (None, 25),
    (None, 50),
    (Some(0), 25),
    (Some(1), 11),
    (Some(1), 51),
    (Some(2), 24),
    (Some(3), 32),
];

fn cells() -> impl Strategy<Value = Cell> {
    let patterns = [
        None,
        Some("DDDSU"),
        Some("DDDDDDDSUU"),
        Some("DDSUU"),
        Some("DSUUU"),
        Some("DU"),
    ];
    let carrier = proptest::sample::select(&CARRIERS[..]);
    let tdd = proptest::sample::select(patterns.to_vec());
    (carrier, tdd, 1..=3_u32, -5.0..25.0).prop_map(
        |((numerology, prbs), tdd, control_symbols, sinr_db)| Cell {
            numerology,
            prbs,
            tdd: tdd.filter(|_| numerology.is_some()),
            // LTE's tests have one symbol.
            control_symbols: if numerology.is_some() {
                control_symbols
            } else {
                1
            },
            sinr_db,
        },
    )
}

fn config(cell: Cell) -> RanConfig {
    let mut config = lte(
        if cell.numerology.is_none() {
            cell.prbs
        } else {
            100
        },
        vec![steady(cell.sinr_db)],
    );
    // Without unasked grants a UE whose reports are used up waits for retx_bsr, in any cell.
    config.radio.uplink = Uplink::default();
    let Some(numerology) = cell.numerology else {
        return config;
    };
    let carrier = Carrier::Nr(NrCarrier {
        prbs: cell.prbs,
        numerology,
        tdd: cell.tdd.map(|tdd| (tdd.to_owned(), [10, 2, 2])),
        table: McsTable::Qam64,
        layers: 1,
        control_symbols: cell.control_symbols,
    });
    config.air = AirInterface::shared(&carrier).expect("a carrier");
    config.radio.technology = Technology::Nr;
    config.radio.rlc.length_indicator_bits = 15;
    // The settings describe the same slots.
    let spacing_hz = 15e3 * f64::from(1 << numerology);
    config.radio.subcarrier_spacing = Some(Frequency::from_hertz(spacing_hz));
    config
}

/// Returns the blocks of each direction in each window, of full buffers where there is data.
fn blocks(cell: Cell, [down, up]: [bool; 2]) -> [Vec<u64>; 2] {
    let mut lab = Lab::new(config(cell));
    while lab.ran.next_event() < ms(LENGTH) {
        if down {
            lab.fill(0, Direction::Down, 50);
        }
        if up {
            lab.fill(0, Direction::Up, 50);
        }
        lab.tick();
    }
    let tti = lab.ran.config().air.tti().as_nanos();
    // The first window is that of the first report and request.
    let mut counts = [const { Vec::new() }; 2];
    for counts in &mut counts {
        *counts = vec![0; (LENGTH / WINDOW) as usize];
    }
    for record in lab.log.iter().filter(|record| record.block.is_some()) {
        let window = record.tti * tti / (WINDOW * 1_000_000);
        counts[record.direction as usize][window as usize] += 1;
    }
    counts.map(|counts| counts[1..].to_vec())
}

/// Verifies that either direction has at least `share` of the blocks that it has alone.
fn check(cell: Cell, share: f64) {
    let both = blocks(cell, [true, true]);
    let alone = [blocks(cell, [true, false]), blocks(cell, [false, true])];
    for direction in [Direction::Down, Direction::Up] {
        let index = direction as usize;
        let fewest = *both[index].iter().min().expect("windows");
        let usual =
            alone[index][index].iter().sum::<u64>() as f64 / alone[index][index].len() as f64;
        assert!(
            fewest as f64 >= share * usual,
            "{cell:?}: {direction:?} has {fewest} blocks in {WINDOW} ms beside the other direction, alone {usual}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn ts_38_213_10_1_grants_and_assignments_share_a_control_region_that_is_too_small_for_both(cell in cells()) {
        check(cell, 0.4);
    }
}

/// 50 MHz at 120 kHz have five elements, of which a message at -4 dB takes four: the region of every slot carries one.
#[test]
fn ts_38_213_10_1_a_narrow_fr2_carrier_grants_its_uplink_slots_at_low_sinr() {
    for sinr_db in [20.0, 5.0, 0.0, -4.0] {
        let cell = Cell {
            numerology: Some(3),
            prbs: 32,
            tdd: Some("DDDSU"),
            control_symbols: 1,
            sinr_db,
        };
        // Four regions carry the one grant of an uplink slot and three assignments.
        check(cell, 0.7);
    }
}

/// TS 38.214 clause 6.1.2.1: a slot with a control region grants those after it that have none.
#[test]
fn ts_38_214_6_1_2_1_grants_reach_uplink_slots_without_a_control_region_before_them() {
    for tdd in ["DSUUU", "DDSUU", "DUUUU"] {
        let cell = Cell {
            numerology: Some(1),
            prbs: 51,
            tdd: Some(tdd),
            control_symbols: 2,
            sinr_db: 20.0,
        };
        let [_, up] = blocks(cell, [false, true]);
        let slots = 2 * WINDOW;
        let uplink = tdd.matches('U').count() as u64 * slots / 5;
        // A UE takes two grants from a region.
        let controls = tdd.matches(['D', 'S']).count() as u64 * slots / 5;
        let most = uplink.min(2 * controls);
        assert!(
            up.iter().all(|blocks| *blocks + 4 >= most),
            "{tdd}: {up:?}, at most {most}"
        );
    }
}

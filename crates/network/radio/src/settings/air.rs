//! Air interface of the settings.

use std::sync::Arc;

use super::{Modulation, Radio, Technology, Transmit};
use crate::phy::{lte, nr};
use crate::ran::{AirError, AirInterface, Carrier, LteCarrier, NrCarrier};

impl Radio {
    /// Returns the air interface.
    ///
    /// # Errors
    /// If 3GPP has no such carrier.
    pub fn air_interface(&self) -> Result<Arc<AirInterface>, AirError> {
        AirInterface::shared(&carrier(self)?)
    }
}

fn carrier(radio: &Radio) -> Result<Carrier, AirError> {
    let width_mhz = radio.width().map_or(0.0, |width| width.hertz() / 1e6);
    Ok(match radio.technology {
        Technology::Lte => {
            let bandwidth = lte::Bandwidth::from_khz(libm::round(width_mhz * 1e3) as u32);
            Carrier::Lte(LteCarrier {
                prbs: bandwidth?.prbs(),
                cfi: radio.control_symbols,
                antenna_ports: match radio.transmit {
                    Transmit::Single => radio.layers,
                    Transmit::Diversity => 2,
                },
                table: match radio.modulation {
                    Modulation::Qam256 => lte::McsTable::Qam256,
                    Modulation::Qam64 | Modulation::LowRate => lte::McsTable::Qam64,
                },
                layers: radio.layers,
            })
        }
        Technology::Nr => {
            let numerology = (radio.spacing_khz() / 15).ilog2();
            let high = radio
                .carrier()
                .is_some_and(|carrier| carrier.hertz() > 10e9);
            let range = if high {
                nr::FrequencyRange::Fr2
            } else {
                nr::FrequencyRange::Fr1
            };
            let numbers = nr::Numerology::new(numerology)?;
            let width = libm::round(width_mhz) as u32;
            let special = radio.special_slot;
            Carrier::Nr(NrCarrier {
                prbs: range.prbs(numbers, width)?,
                numerology,
                tdd: radio.tdd.as_ref().map(|pattern| {
                    let symbols = [special.downlink, special.guard, special.uplink];
                    (pattern.letters().to_owned(), symbols)
                }),
                table: match radio.modulation {
                    Modulation::Qam64 => nr::McsTable::Qam64,
                    Modulation::Qam256 => nr::McsTable::Qam256,
                    Modulation::LowRate => nr::McsTable::LowRate,
                },
                layers: radio.layers,
                control_symbols: radio.control_symbols,
            })
        }
    })
}

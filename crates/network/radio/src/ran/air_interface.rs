//! Air interface of a carrier: its resource blocks, its transport formats, and the TTIs of each direction.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use units::Duration;

use super::Direction;
use crate::channel::{Grid, ParameterError};
use crate::mac::pdcch::ControlRegion;
use crate::mac::scheduler::Scheduler;
use crate::mac::uplink::GRANT_TO_TRANSMISSION;
use crate::phy::{
    ConfigError, LinkAdaptation, Modulation, SYMBOLS_PER_SLOT, TransportFormat, lte, nr,
};

/// An LTE carrier in FDD.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LteCarrier {
    /// Resource blocks: 6, 15, 25, 50, 75 or 100.
    pub prbs: u32,
    /// Symbols of the control region.
    pub cfi: u32,
    /// Antenna ports with reference signals.
    pub antenna_ports: u32,
    /// Modulation and coding schemes of the downlink.
    pub table: lte::McsTable,
    /// Layers, each a codeword of its own with the same scheme; 1 or 2.
    pub layers: u32,
}

/// An NR carrier.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct NrCarrier {
    /// Resource blocks, up to 273.
    pub prbs: u32,
    /// Numerology: 0 to 3 for 15 to 120 kHz.
    pub numerology: u32,
    /// Slots such as `DDDSU` and the downlink, guard and uplink symbols of `S`; `None` for FDD.
    pub tdd: Option<(String, [u32; 3])>,
    /// Modulation and coding schemes of the downlink.
    pub table: nr::McsTable,
    /// Layers of the downlink, 1 to 4.
    pub layers: u32,
    /// Symbols of the control resource set at the start of slots, 1 to 3.
    pub control_symbols: u32,
}

/// A carrier of either technology.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Carrier {
    /// LTE.
    Lte(LteCarrier),
    /// NR.
    Nr(NrCarrier),
}

/// Reason why there is no such carrier.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AirError {
    /// A configuration that the physical layer does not have.
    #[error(transparent)]
    Phy(#[from] ConfigError),
    /// A width that makes no grid.
    #[error(transparent)]
    Grid(#[from] ParameterError),
    /// More or fewer layers than the technology has.
    #[error("layers = {layers}: {technology} has 1 to {max}")]
    Layers {
        /// The given number.
        layers: u32,
        /// LTE or NR.
        technology: &'static str,
        /// Maximum of the technology.
        max: u32,
    },
}

/// Transport formats by number of resource blocks and then by scheme.
#[derive(Clone, Debug)]
pub(super) struct Formats {
    formats: Vec<TransportFormat>,
    schemes: usize,
    pub(super) adaptation: LinkAdaptation,
}

impl Formats {
    fn new(
        prbs: u32,
        schemes: u8,
        adaptation: LinkAdaptation,
        format: impl Fn(u8, u32) -> TransportFormat,
    ) -> Self {
        let formats = (1..=prbs).flat_map(|prbs| (0..schemes).map(move |mcs| (mcs, prbs)));
        Self {
            formats: formats.map(|(mcs, prbs)| format(mcs, prbs)).collect(),
            schemes: usize::from(schemes),
            adaptation,
        }
    }

    /// Returns the transport block of scheme `mcs` on `prbs` resource blocks, at least one.
    pub(super) fn get(&self, mcs: u8, prbs: u32) -> &TransportFormat {
        &self.formats[(prbs as usize - 1) * self.schemes + usize::from(mcs)]
    }

    pub(super) fn schemes(&self) -> u8 {
        self.schemes as u8
    }

    /// Returns the highest scheme that carries at most `rate` bits per resource block on a carrier of `carrier_prbs` blocks;
    /// `None` if even the lowest carries more.
    pub(super) fn scheme_of_rate(&self, rate: f32, carrier_prbs: u32) -> Option<u8> {
        let carries = |mcs: u8| self.get(mcs, carrier_prbs).bits as f32 / carrier_prbs as f32;
        (0..self.schemes()).rev().find(|mcs| carries(*mcs) <= rate)
    }

    /// Returns the minimum number of resource blocks, up to `max`, on which scheme `mcs` carries these bytes.
    pub(super) fn prbs_for(&self, mcs: u8, bytes: u64, max: u32) -> u32 {
        let (mut low, mut high) = (1, max);
        while low < high {
            let middle = (low + high) / 2;
            if u64::from(self.get(mcs, middle).bits / 8) >= bytes {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}

/// Air interface: a carrier with its constant tables.
#[derive(Debug)]
pub struct AirInterface {
    /// One transmission time interval.
    pub(super) tti: Duration,
    pub(super) grid: Grid,
    /// Resource blocks of each group that a scheduler assigns; groups of the channel are the same.
    pub(super) group_prbs: Vec<u16>,
    /// Resource blocks of a sub-band.
    pub(super) subband_prbs: u32,
    pub(super) pattern: nr::TddPattern,
    pub(super) down: Formats,
    /// Formats of slots whose symbols are not all downlink.
    pub(super) down_special: Option<Formats>,
    pub(super) up: Formats,
    /// Whether a user can be given any number of blocks in the uplink, as without transform precoding.
    any_uplink_allocation: bool,
    pub(super) layers: u32,
    /// Control region of a TTI.
    pub(super) control: ControlRegion,
    control_symbols: u32,
}

impl AirInterface {
    /// Returns the interface of a carrier. Each carrier is computed once per process.
    ///
    /// # Errors
    /// If 3GPP has no such carrier.
    pub fn shared(carrier: &Carrier) -> Result<Arc<Self>, AirError> {
        static CACHE: LazyLock<Mutex<HashMap<Carrier, Arc<AirInterface>>>> =
            LazyLock::new(Mutex::default);
        let cache = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(air) = cache().get(carrier) {
            return Ok(Arc::clone(air));
        }
        let air = Arc::new(match carrier {
            Carrier::Lte(carrier) => Self::lte(*carrier)?,
            Carrier::Nr(carrier) => Self::nr(carrier)?,
        });
        cache().insert(carrier.clone(), Arc::clone(&air));
        Ok(air)
    }

    fn lte(carrier: LteCarrier) -> Result<Self, AirError> {
        let bandwidth = lte::Bandwidth::from_prbs(carrier.prbs)?;
        let overhead = lte::Overhead::new(carrier.cfi, carrier.antenna_ports)?;
        let layers = check_layers(carrier.layers, "LTE", 2)?;
        let table = carrier.table;
        let elements = overhead.data_elements(bandwidth);
        let codewords = move |mcs, prbs| {
            let mut format = lte::format(table, mcs, prbs, 1, elements)
                .expect("a scheme and a number of blocks within the tables");
            format.bits *= layers;
            format.coded_bits *= layers;
            format.blocks.count *= layers;
            format
        };
        let adaptation = lte::link_adaptation(table, bandwidth, overhead);
        let capability = lte::uplink::Capability::Qam16;
        let group = bandwidth.rbg_size();
        Ok(Self {
            tti: Duration::from_millis(1),
            grid: Grid::lte(carrier.prbs as usize, group as usize)?,
            group_prbs: Scheduler::groups(carrier.prbs as u16, group as u16),
            subband_prbs: bandwidth
                .subband_size()
                .unwrap_or(carrier.prbs.next_multiple_of(group)),
            pattern: nr::TddPattern::fdd(),
            down: Formats::new(carrier.prbs, table.schemes(), adaptation, codewords),
            down_special: None,
            up: Formats::new(
                carrier.prbs,
                lte::uplink::SCHEMES,
                lte::uplink::link_adaptation(capability, bandwidth),
                |mcs, prbs| {
                    let prbs = lte::uplink::largest_allocation(prbs);
                    lte::uplink::format(capability, mcs, prbs)
                        .expect("a scheme and a number of blocks within the tables")
                },
            ),
            any_uplink_allocation: false,
            layers,
            control: ControlRegion::lte(overhead.control_channel_elements(bandwidth)),
            control_symbols: overhead.control_symbols(bandwidth),
        })
    }

    fn nr(carrier: &NrCarrier) -> Result<Self, AirError> {
        let control_symbols = carrier.control_symbols;
        if !(1..=3).contains(&control_symbols) {
            return Err(ConfigError::ControlSymbols(control_symbols).into());
        }
        let data_symbols = SYMBOLS_PER_SLOT - control_symbols;
        let numerology = nr::Numerology::new(carrier.numerology)?;
        let layers = check_layers(carrier.layers, "NR", 4)?;
        let (pattern, special) = match &carrier.tdd {
            None => (nr::TddPattern::fdd(), None),
            Some((letters, [downlink, guard, uplink])) => {
                let special = nr::Slot::special(*downlink, *guard, *uplink)?;
                let symbols = special.downlink_symbols;
                let pattern = nr::TddPattern::parse(letters, special)?;
                (pattern, letters.contains('S').then_some(symbols))
            }
        };
        // One DM-RS symbol that carries no data.
        let formats = |table: nr::McsTable, symbols: u32, layers: u32| {
            let allocation = nr::Allocation {
                symbols,
                dmrs_elements: 12,
                overhead_elements: 0,
                layers,
            };
            let adaptation = nr::link_adaptation(table, carrier.prbs, allocation);
            Formats::new(carrier.prbs, table.schemes(), adaptation, |mcs, prbs| {
                nr::format(table, mcs, prbs, allocation).expect("a scheme within the table")
            })
        };
        let down = formats(carrier.table, data_symbols, layers);
        let down_special = special
            .filter(|symbols| *symbols > control_symbols + 1)
            .map(|symbols| {
                let mut special = formats(carrier.table, symbols - control_symbols, layers);
                special.adaptation = special.adaptation.with_cqis_of(&down.adaptation);
                special
            });
        let group: u32 = match carrier.prbs {
            // Nominal size of a resource block group, configuration 1: TS 38.214 table 5.1.2.2.1-1.
            ..=36 => 2,
            37..=72 => 4,
            73..=144 => 8,
            _ => 16,
        };
        Ok(Self {
            tti: numerology.slot(),
            grid: Grid::new(
                carrier.prbs as usize,
                group as usize,
                f64::from(numerology.subcarrier_spacing_khz()) * 1e3,
            )?,
            group_prbs: Scheduler::groups(carrier.prbs as u16, group as u16),
            subband_prbs: group,
            pattern,
            down,
            down_special,
            up: formats(nr::McsTable::Qam64, SYMBOLS_PER_SLOT, 1),
            any_uplink_allocation: true,
            layers,
            control: ControlRegion::nr(carrier.numerology, carrier.prbs, control_symbols),
            control_symbols,
        })
    }

    /// Returns the length of a transmission time interval.
    pub fn tti(&self) -> Duration {
        self.tti
    }

    /// Returns the link adaptation of the downlink.
    pub fn adaptation(&self) -> &LinkAdaptation {
        &self.down.adaptation
    }

    /// Returns the modulation of each scheme of the downlink.
    pub fn modulations(&self) -> impl Iterator<Item = Modulation> {
        (0..self.down.schemes()).map(|mcs| self.down.get(mcs, 1).modulation)
    }

    /// Returns the resource blocks, and the groups for which the channel is evaluated.
    pub fn grid(&self) -> Grid {
        self.grid
    }

    /// Returns the formats of the downlink in `tti`; `None` if it has no room for data.
    pub(super) fn downlink(&self, tti: u64) -> Option<&Formats> {
        let symbols = self.pattern.slot(tti).downlink_symbols;
        if symbols == SYMBOLS_PER_SLOT {
            Some(&self.down)
        } else if symbols > 0 {
            self.down_special.as_ref()
        } else {
            None
        }
    }

    /// Returns an upper bound of the bytes that a user sends in a TTI in a direction: a block, in the uplink two.
    pub(super) fn max_bytes(&self, direction: Direction) -> u64 {
        let (formats, blocks) = match direction {
            Direction::Down => (&self.down, 1),
            Direction::Up => (&self.up, 2),
        };
        let largest = formats.get(formats.schemes() - 1, self.prbs());
        blocks * u64::from(largest.bits / 8)
    }

    /// Returns whether `tti` begins with a control region.
    pub(super) fn has_control(&self, tti: u64) -> bool {
        self.pattern.slot(tti).downlink_symbols >= self.control_symbols
    }

    /// Returns the uplink TTIs that the control region of `tti` grants. These are the first one after a UE's processing
    /// time, and later ones for which the next control region would be too late. TS 38.214 clause 6.1.2.1 allows grants
    /// for any later slot (K2).
    pub(super) fn grantable_ttis(&self, tti: u64) -> impl Iterator<Item = u64> + '_ {
        let first = self
            .pattern
            .next_uplink(tti + GRANT_TO_TRANSMISSION, SYMBOLS_PER_SLOT);
        let next = (tti + 1..).find(|tti| self.has_control(*tti));
        let late = next.map_or(0, |next| next + GRANT_TO_TRANSMISSION);
        let later = move |first: u64| (first + 1..late).filter(|tti| self.is_uplink(*tti));
        first
            .into_iter()
            .flat_map(move |first| core::iter::once(first).chain(later(first)))
    }

    /// Returns whether the whole of `tti` is for the uplink. Shorter uplink parts are left to sounding and control.
    pub(super) fn is_uplink(&self, tti: u64) -> bool {
        self.pattern.slot(tti).uplink_symbols == SYMBOLS_PER_SLOT
    }

    /// Returns the largest uplink allocation of at most `prbs` resource blocks.
    pub(super) fn uplink_allocation(&self, prbs: u32) -> u32 {
        if self.any_uplink_allocation {
            prbs
        } else {
            lte::uplink::largest_allocation(prbs)
        }
    }

    /// Returns the number of resource blocks of the carrier.
    pub(super) fn prbs(&self) -> u32 {
        self.grid.prbs() as u32
    }
}

fn check_layers(layers: u32, technology: &'static str, max: u32) -> Result<u32, AirError> {
    if (1..=max).contains(&layers) {
        Ok(layers)
    } else {
        Err(AirError::Layers {
            layers,
            technology,
            max,
        })
    }
}

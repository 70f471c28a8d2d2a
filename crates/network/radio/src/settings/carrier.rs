//! Settings of the carrier, and the quantities derived from them: frequency, width, TTI, HARQ timing.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use units::Duration;

use super::{Band, Frequency, Radio, Ue};
use crate::channel::ParameterError;
use crate::phy::{SYMBOLS_PER_SLOT as SYMBOLS, lte};
use config::{Quantity, as_text};

/// Operating band if neither a band nor a frequency is given; LTE and NR both have it.
const DEFAULT_BAND: u32 = 7;

/// The radio access technology.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Technology {
    /// LTE in FDD.
    #[default]
    Lte,
    /// 5G's New Radio.
    Nr,
}

/// Modulation and coding schemes of the downlink.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub enum Modulation {
    /// Up to 64QAM: TS 36.213 table 7.1.7.1-1, TS 38.214 table 5.1.3.1-1.
    #[default]
    #[serde(rename = "64qam")]
    Qam64,
    /// Up to 256QAM: TS 36.213 table 7.1.7.1-1A, TS 38.214 table 5.1.3.1-2.
    #[serde(rename = "256qam")]
    Qam256,
    /// Up to 64QAM with low code rates, NR only: TS 38.214 table 5.1.3.1-3.
    #[serde(rename = "64qam-low-rate")]
    LowRate,
}

/// Transmission of one layer from the antennas of a cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transmit {
    /// From one antenna.
    #[default]
    Single,
    /// From two, in a space-frequency block code (TS 36.211 clause 6.3.4.3).
    Diversity,
}

/// Repeating pattern of the slots of a TDD carrier: D for downlink, U for uplink, S for special.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TddPattern(String);

impl TddPattern {
    /// Returns the pattern, one letter per slot.
    pub fn letters(&self) -> &str {
        &self.0
    }
}

as_text!(TddPattern);

impl Quantity for TddPattern {
    const NAME: &'static str = "TddPattern";
    const PATTERN: &'static str = "^[DSU]+$";

    fn read(text: &str) -> Result<Self, String> {
        let is_known = text.chars().all(|letter| "DSU".contains(letter));
        if is_known && text.contains('D') && text.contains('U') {
            Ok(Self(text.to_owned()))
        } else {
            Err(format!(
                "{text:?} is not a TDD pattern; allowed: one letter per slot, D (downlink), U (uplink) or \
                 S (special), with a D and a U at least, such as \"DDDSU\""
            ))
        }
    }

    fn write(&self) -> String {
        self.0.clone()
    }
}

/// Symbols of a special slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SpecialSlot {
    /// For the downlink, at the start.
    pub downlink: u32,
    /// Between the two directions.
    pub guard: u32,
    /// For the uplink, at the end.
    pub uplink: u32,
}

impl Default for SpecialSlot {
    fn default() -> Self {
        Self {
            downlink: 10,
            guard: 2,
            uplink: 2,
        }
    }
}

as_text!(SpecialSlot);

impl Quantity for SpecialSlot {
    const NAME: &'static str = "SpecialSlot";
    const PATTERN: &'static str = r"^\s*[0-9]+\s*:\s*[0-9]+\s*:\s*[0-9]+\s*$";

    fn read(text: &str) -> Result<Self, String> {
        let parts: Option<Vec<u32>> = text
            .split(':')
            .map(|part| part.trim().parse().ok().filter(|count| *count <= SYMBOLS))
            .collect();
        match parts.as_deref() {
            Some(&[downlink, guard, uplink]) if downlink + guard + uplink == SYMBOLS => Ok(Self {
                downlink,
                guard,
                uplink,
            }),
            _ => Err(format!(
                "{text:?} is not a special slot; allowed: its downlink, guard and uplink symbols, \
                 {SYMBOLS} together, such as \"10:2:2\""
            )),
        }
    }

    fn write(&self) -> String {
        format!("{}:{}:{}", self.downlink, self.guard, self.uplink)
    }
}

impl Radio {
    /// Returns the operating band; `None` if the frequency is given instead, or if the technology does not have the band.
    pub(crate) fn operating_band(&self) -> Option<&'static Band> {
        let number = match (self.band, self.frequency) {
            (None, Some(_)) => return None,
            (band, _) => band.unwrap_or(DEFAULT_BAND),
        };
        let bands = Band::all(self.technology);
        bands.iter().find(|band| band.number == number)
    }

    /// Returns the centre of the downlink carrier; `None` for a band that the technology does not have.
    pub fn carrier(&self) -> Option<Frequency> {
        let band = self.operating_band().map(Band::centre);
        self.frequency.or(band)
    }

    /// Returns the centre of the downlink carrier.
    ///
    /// # Errors
    /// If the technology does not have the band.
    pub fn known_carrier(&self) -> Result<Frequency, ParameterError> {
        let band = self.band.unwrap_or(DEFAULT_BAND);
        let unknown = || ParameterError::new("band", band, "must be one of the technology");
        self.carrier().ok_or_else(unknown)
    }

    /// Returns the width of the carrier; `None` for a number of resource blocks that no LTE carrier has.
    pub fn width(&self) -> Option<Frequency> {
        let default = Frequency::from_hertz(20e6);
        let Some(prbs) = self.prbs else {
            return Some(self.bandwidth.unwrap_or(default));
        };
        let (khz, _) = lte::CARRIERS.iter().find(|&&(_, known)| known == prbs)?;
        Some(Frequency::from_hertz(f64::from(*khz) * 1e3))
    }

    /// Returns the subcarrier spacing in kHz: 15 in LTE; in NR as configured, by default 30.
    pub fn spacing_khz(&self) -> u32 {
        match (self.technology, self.subcarrier_spacing) {
            (Technology::Lte, _) => 15,
            (Technology::Nr, None) => 30,
            (Technology::Nr, Some(spacing)) => libm::round(spacing.hertz() / 1e3) as u32,
        }
    }

    /// Returns the length of a TTI: a subframe of LTE, a slot of NR (TS 38.211 clause 4.3.2).
    pub fn tti(&self) -> Duration {
        Duration::from_millis(15) / u64::from(self.spacing_khz().max(1))
    }

    /// Returns the maximum number of HARQ processes of a UE, which is the default.
    pub(crate) fn max_harq_processes(&self) -> u32 {
        match self.technology {
            Technology::Lte => 8,
            Technology::Nr => 16,
        }
    }

    /// Returns the number of parallel HARQ processes of a UE.
    pub fn harq_processes(&self) -> u32 {
        self.harq.processes.unwrap_or(self.max_harq_processes())
    }

    /// Returns the time from a HARQ attempt to the next one of the same process.
    pub fn harq_round_trip(&self) -> Duration {
        self.harq.round_trip.unwrap_or(self.tti() * 8)
    }

    /// Returns the time from a HARQ attempt until the receiving RLC has the data.
    pub fn decoding(&self) -> Duration {
        self.harq.decoding.unwrap_or(self.tti() * 4)
    }

    /// Returns the names of the nodes of all UEs. A wildcard UE has none before its file is read.
    pub fn nodes(&self) -> impl Iterator<Item = String> + '_ {
        self.ues.iter().flat_map(Ue::nodes)
    }

    /// Suffix of a UE's name that stands for all nodes of the UE.
    pub const EACH: &str = "-*";

    /// Returns the nodes for which a name with the suffix [`Self::EACH`] stands; `None` for any other text, and for
    /// wildcard UEs.
    pub fn each(&self, text: &str) -> Option<Vec<String>> {
        let name = text.strip_suffix(Self::EACH)?;
        let ue = self.ues.iter().find(|ue| ue.name == name)?;
        (!ue.is_wildcard()).then(|| ue.nodes().collect())
    }

    /// Returns whether the node may be a vehicle of a wildcard UE.
    pub fn may_be_vehicle(&self, node: &str) -> bool {
        let mut wildcards = self.ues.iter().filter(|ue| ue.is_wildcard());
        wildcards.any(|ue| {
            let rest = node.strip_prefix(ue.name.as_str());
            rest.and_then(|rest| rest.strip_prefix('-'))
                .is_some_and(|vehicle| !vehicle.is_empty())
        })
    }
}

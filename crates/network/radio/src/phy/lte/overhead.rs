//! Overhead of a subframe: resource elements for data, and control channel elements of the control region.

use super::Bandwidth;
use crate::phy::{ConfigError, SUBCARRIERS_PER_PRB, SYMBOLS_PER_SLOT};

/// Control region and reference signals of a carrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Overhead {
    cfi: u32,
    antenna_ports: u32,
}

impl Overhead {
    /// Returns a control region of `cfi` symbols (one more on 1.4 MHz carriers) and the reference signals of
    /// `antenna_ports` ports.
    ///
    /// One port is for a single antenna, two are for transmit diversity or two layers, four for up to four layers (TS
    /// 36.211 6.3.3 and 6.3.4). Each port has its own elements, in which the others are silent, so a second port costs
    /// data as many elements as the first, whether it brings a layer or not.
    ///
    /// # Errors
    /// If `cfi` is not 1 to 3 or `antenna_ports` not 1, 2 or 4.
    pub const fn new(cfi: u32, antenna_ports: u32) -> Result<Self, ConfigError> {
        if cfi < 1 || cfi > 3 {
            return Err(ConfigError::Cfi(cfi));
        }
        if !matches!(antenna_ports, 1 | 2 | 4) {
            return Err(ConfigError::AntennaPorts(antenna_ports));
        }
        Ok(Self { cfi, antenna_ports })
    }

    /// Returns the CSI reference resource, for which a receiver reports its CQI: three control symbols (TS 36.213
    /// 7.2.3) and the same reference signals.
    pub const fn reference(self) -> Self {
        Self {
            cfi: 3,
            antenna_ports: self.antenna_ports,
        }
    }

    /// Returns the symbols of the control region (TS 36.211 table 6.7-1).
    pub const fn control_symbols(self, bandwidth: Bandwidth) -> u32 {
        if bandwidth.prbs() <= 10 {
            self.cfi + 1
        } else {
            self.cfi
        }
    }

    /// Returns the resource elements for data in one resource block over a subframe, away from the six blocks in the
    /// middle of subframes with synchronisation and broadcast signals.
    ///
    /// The reference signals of ports 0 and 1 take 4 elements of symbols 0, 4, 7 and 11, those of one port alone 2; the
    /// reference signals of ports 2 and 3 take 4 of symbols 1 and 8 (TS 36.211 6.10.1.2). Those in the control region, of
    /// at most 4 symbols, cost no data.
    pub const fn data_elements(self, bandwidth: Bandwidth) -> u32 {
        let control = self.control_symbols(bandwidth);
        let first_pair = if self.antenna_ports == 1 { 2 } else { 4 };
        let mut references = 3 * first_pair;
        if self.antenna_ports == 4 {
            references += if control >= 2 { 4 } else { 8 };
        }
        (SYMBOLS_PER_SLOT - control) * SUBCARRIERS_PER_PRB - references
    }

    /// Returns the control channel elements for grants and assignments: 9 resource element groups each, of those that
    /// PCFICH and PHICH (with N_g = 1) leave in the control region (TS 36.211 6.7, 6.8.1, 6.9).
    pub const fn control_channel_elements(self, bandwidth: Bandwidth) -> u32 {
        const PCFICH: u32 = 4;
        let prbs = bandwidth.prbs();
        // A symbol with reference signals has two groups of four elements per block, others three. The
        // first counts as if there were two ports (TS 36.211 6.2.4).
        let second = if self.antenna_ports == 4 { 2 } else { 3 };
        let per_block = [2, second, 3, 3];
        let (mut groups, mut symbol) = (0, 0);
        while symbol < self.control_symbols(bandwidth) {
            groups += prbs * per_block[symbol as usize];
            symbol += 1;
        }
        let phich = 3 * prbs.div_ceil(8);
        (groups - PCFICH - phich) / 9
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(cfi: u32, ports: u32, prbs: u32) -> u32 {
        let bandwidth = Bandwidth::from_prbs(prbs).expect("a carrier");
        Overhead::new(cfi, ports)
            .expect("a configuration")
            .data_elements(bandwidth)
    }

    #[test]
    fn ts_36_101_table_a_3_9_1_1_carries_the_bits_printed_there() {
        // R.31-4, 20 MHz: one control symbol, two ports, 64QAM: 86400 bits on 100 blocks.
        assert_eq!(6 * 100 * elements(1, 2, 100), 86_400);
        // R.31-2, 10 MHz, alike: 43200 bits on 50 blocks.
        assert_eq!(6 * 50 * elements(1, 2, 50), 43_200);
    }

    #[test]
    fn ts_36_211_6_10_1_2_reference_signals_by_antenna_ports() {
        // A resource block has 8, 16 or 24 of them per subframe; the control region hides some.
        assert_eq!(
            [1, 2, 4].map(|ports| elements(1, ports, 50)),
            [156 - 6, 156 - 12, 156 - 20]
        );
        assert_eq!(
            [1, 2, 4].map(|ports| elements(2, ports, 50)),
            [144 - 6, 144 - 12, 144 - 16]
        );
        // The control region of 1.4 MHz has one symbol more.
        assert_eq!(elements(3, 2, 6), 120 - 12);
    }

    /// 20 MHz with three symbols: 100 blocks of 8 groups less 4 (PCFICH) and 39 (13 PHICH groups) are 757,
    /// 84 elements; 10 MHz: 400 less 4 and 21 are 375, 41 elements.
    #[test]
    fn control_channel_elements_follow_from_carrier_region_and_ports() {
        let count = |prbs, cfi, ports| {
            let bandwidth = Bandwidth::from_prbs(prbs).expect("a carrier");
            let overhead = Overhead::new(cfi, ports).expect("a configuration");
            overhead.control_channel_elements(bandwidth)
        };
        assert_eq!([1, 2, 3].map(|cfi| count(100, cfi, 2)), [17, 50, 84]);
        assert_eq!(count(100, 3, 4), 73);
        assert_eq!(count(50, 3, 2), 41);
    }

    #[test]
    fn impossible_control_regions_are_rejected() {
        assert_eq!(Overhead::new(4, 1), Err(ConfigError::Cfi(4)));
        assert_eq!(Overhead::new(1, 3), Err(ConfigError::AntennaPorts(3)));
    }
}

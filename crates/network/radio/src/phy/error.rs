//! Errors of a configuration of the physical layer.

/// Error about a configuration that no specification defines.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConfigError {
    /// No LTE carrier has that many resource blocks.
    #[error("prbs = {0}: an LTE carrier has 6, 15, 25, 50, 75 or 100 (TS 36.101 table 5.6-1)")]
    LtePrbs(u32),
    /// No LTE carrier is that wide.
    #[error(
        "bandwidth = {0} kHz: an LTE carrier is 1400, 3000, 5000, 10000, 15000 or 20000 kHz wide"
    )]
    LteBandwidth(u32),
    /// The control region is out of the range of the carrier.
    #[error("cfi = {0}: the control format indicator is 1, 2 or 3 (TS 36.212 5.3.4)")]
    Cfi(u32),
    /// A control resource set is shorter or longer than NR has it.
    #[error("control_symbols = {0}: a control resource set has 1, 2 or 3 (TS 38.211 7.3.2.2)")]
    ControlSymbols(u32),
    /// There is no such number of cell-specific antenna ports.
    #[error(
        "antenna_ports = {0}: cell-specific reference signals know 1, 2 or 4 (TS 36.211 6.10.1)"
    )]
    AntennaPorts(u32),
    /// There is no NR numerology with that index.
    #[error("numerology = {0}: 0 to 3 are supported (15, 30, 60 and 120 kHz; TS 38.211 4.2)")]
    Numerology(u32),
    /// There is no NR carrier of that width at that subcarrier spacing and frequency range.
    #[error(
        "bandwidth = {mhz} MHz: not defined at {scs_khz} kHz in {range} (TS 38.101-{part} 5.3.2)"
    )]
    NrBandwidth {
        /// Requested width, in MHz.
        mhz: u32,
        /// Subcarrier spacing in kHz.
        scs_khz: u32,
        /// `FR1` or `FR2`.
        range: &'static str,
        /// Part of TS 38.101 that has the table.
        part: u32,
    },
    /// The TDD pattern cannot be read.
    #[error("tdd pattern = {0:?}: one letter per slot, D (downlink), U (uplink) or S (special)")]
    TddPattern(String),
    /// Special slots have no room for their symbols.
    #[error("special slot = {downlink}:{guard}:{uplink}: the symbols must add up to 14")]
    SpecialSlot {
        /// Downlink symbols.
        downlink: u32,
        /// Guard symbols.
        guard: u32,
        /// Uplink symbols.
        uplink: u32,
    },
}

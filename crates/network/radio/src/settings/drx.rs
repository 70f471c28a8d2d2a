//! Discontinuous reception.

use config::table;
use units::Duration;

table! {
    /// Discontinuous reception of all UEs (TS 36.321 and TS 38.321, clause 5.7); times are whole TTIs.
    pub struct Drx {
        /// Time that a UE listens at the start of each cycle, onDurationTimer; default 10ms.
        pub on_duration: Duration = Duration::from_millis(10),
        /// Time that it continues to listen after new data or a grant for new data, drx-InactivityTimer; default 100ms.
        pub inactivity: Duration = Duration::from_millis(100),
        /// Time that it waits for a retransmission from one HARQ round trip after a failed attempt,
        /// drx-RetransmissionTimer, and in NR for a grant to repeat each block that it sent,
        /// drx-RetransmissionTimerUL; default 8ms.
        pub retransmission: Duration = Duration::from_millis(8),
        /// Length of a cycle, longDRX-Cycle; default 320ms.
        pub long_cycle: Duration = Duration::from_millis(320),
        /// Start of the cycle, drxStartOffset; default 0s.
        pub offset: Duration,
        /// Length of the cycles that follow activity, shortDRX-Cycle, of which a long one is a multiple;
        /// unset: none.
        pub short_cycle: Option<Duration>,
        /// Number of short cycles, drxShortCycleTimer; default 4.
        pub short_cycles: u32 = 4,
    }
}

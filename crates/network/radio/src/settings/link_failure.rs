//! Radio link failure and what follows.

use config::table;
use units::{Decibel, Duration};

table! {
    /// Failure of a link (TS 36.331 clause 5.3.11), and re-establishment (clause 5.3.7).
    pub struct LinkFailure {
        /// Out of sync below this mean SINR of 200 ms; default -8dB: TS 36.133 clause 7.6 has no level in dB.
        pub out_of_sync: Decibel = Decibel::new(-8.0),
        /// In sync above this mean SINR of 100 ms; default -6dB.
        pub in_sync: Decibel = Decibel::new(-6.0),
        /// Out-of-sync indications in a row that start T310; default 1 (TS 36.331 clause 9.2.5).
        pub n310: u32 = 1,
        /// In-sync indications in a row that stop T310; default 1.
        pub n311: u32 = 1,
        /// Time until the link counts as failed, T310; default 1s.
        pub t310: Duration = Duration::from_millis(1_000),
        /// Time to find and read a suitable cell, from the failure or from when there is one again; default 100ms.
        pub cell_selection: Duration = Duration::from_millis(100),
        /// Time for cell selection before the UE goes idle, T311; default 1s.
        pub t311: Duration = Duration::from_millis(1_000),
        /// Random access and messages of a re-establishment; default 50ms.
        pub reestablishment: Duration = Duration::from_millis(50),
        /// Time for the re-establishment before the UE goes idle, T301; default 1s.
        pub t301: Duration = Duration::from_millis(1_000),
        /// A new connection from idle, bearers included; default 100ms (TR 25.913).
        pub connection: Duration = Duration::from_millis(100),
        /// Whether a cell that was not prepared fetches the UE's context, rather than have it connect anew;
        /// default false.
        pub context_fetch: bool,
    }
}

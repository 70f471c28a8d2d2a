//! Catalogue of CCAs: a file or folder for each, which is declared and entered here.

pub mod bbr;
pub mod bbr3;
pub mod bic;
pub mod cdg;
pub mod copa;
pub mod cubic;
pub mod dctcp;
pub mod highspeed;
pub mod htcp;
pub mod hybla;
pub mod illinois;
pub mod ledbat;
pub mod lp;
pub mod nv;
pub mod reno;
pub mod scalable;
pub mod sprout;
pub mod vegas;
pub mod veno;
pub mod westwood;
pub mod yeah;

use crate::CcaInfo;

macro_rules! entries {
    ($($module:ident),+ $(,)?) => {
        /// Congestion controls of celltcp itself.
        pub const CCAS: [&CcaInfo; [$(stringify!($module)),+].len()] = [$(&$module::INFO),+];
    };
}

entries! {
    bic,
    cubic,
    highspeed,
    htcp,
    hybla,
    reno,
    scalable,
    westwood,
    cdg,
    copa,
    ledbat,
    lp,
    nv,
    vegas,
    illinois,
    veno,
    yeah,
    bbr,
    bbr3,
    dctcp,
    sprout,
}

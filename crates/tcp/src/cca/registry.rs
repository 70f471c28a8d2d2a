//! Congestion controls by name.

use super::bbr::Bbr;
use super::cubic::Cubic;
use super::reno::Reno;
use super::slow_start::{HyStart, Standard};
use super::{CongestionControl, SlowStart};

/// The kernel's names of the congestion controls that are here.
pub const NAMES: [&str; 3] = ["reno", "cubic", "bbr"];

/// There is no congestion control of that name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownCca {
    name: String,
}

impl core::fmt::Display for UnknownCca {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(
            f,
            "unknown congestion control {:?}; there are {}",
            self.name,
            NAMES.join(", ")
        )
    }
}

impl std::error::Error for UnknownCca {}

/// A congestion control and the slow start that it comes with.
pub type Pair = (Box<dyn CongestionControl>, Box<dyn SlowStart>);

/// The congestion control that the kernel calls `name`, with its parameters at their defaults.
///
/// # Errors
/// If there is none of that name.
pub fn cca_by_name(name: &str) -> Result<Pair, UnknownCca> {
    Ok(match name {
        "reno" => (Box::new(Reno), Box::new(Standard)),
        "cubic" => (Box::new(Cubic::default()), Box::new(HyStart::default())),
        "bbr" => (Box::new(Bbr::default()), Box::new(Standard)),
        _ => {
            return Err(UnknownCca {
                name: name.to_owned(),
            });
        }
    })
}

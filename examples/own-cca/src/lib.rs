//! A congestion control of one's own: it implements celltcp's trait, says what it is, and is added to the
//! catalogue. Scenarios then know it by its name.
//!
//! `Gentle` is NewReno that gives up less on a loss, by a factor that scenarios can choose. It is here to
//! be read, not to be used.

use cca::slow_start::Method;
use cca::{Cca, CongestionControl, Family, Parameter, Window, registry};

/// What scenarios can choose.
const PARAMETERS: &[Parameter] = &[Parameter {
    name: "keep",
    meaning: "Share of the window that is left after a loss.",
    unit: "",
    source: "this example",
    default: || "0.8".to_owned(),
    allowed: || "numbers from 0.1 to 0.9".to_owned(),
    canonical: |text| {
        let keep: f64 = text.parse().ok()?;
        (0.1..=0.9).contains(&keep).then(|| keep.to_string())
    },
}];

/// The entry in the catalogue.
pub const ABOUT: Cca = Cca {
    name: "gentle",
    aliases: &[],
    title: "NewReno that gives up less",
    family: Family::User,
    reference: "this example",
    year: 2026,
    linux: false,
    parameters: PARAMETERS,
    slow_start: Some(Method::Standard),
    build: &|settings| {
        let keep = settings.get("keep").and_then(|text| text.parse().ok());
        Box::new(Gentle {
            keep: keep.unwrap_or(0.8),
        })
    },
};

/// Adds it to the catalogue.
///
/// # Errors
/// If celltcp has one of that name.
pub fn register() -> Result<(), registry::NameTaken> {
    registry::add(ABOUT)
}

/// The state of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Gentle {
    keep: f64,
}

impl CongestionControl for Gentle {
    fn name(&self) -> &'static str {
        ABOUT.name
    }

    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        ((f64::from(window.cwnd) * self.keep) as u32).max(2)
    }

    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        window.grow_additively(window.cwnd, acked);
    }
}

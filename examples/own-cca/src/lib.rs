//! Example of a CCA outside of celltcp: it implements celltcp's trait, describes itself, and is exported from a shared
//! library, which `celltcp compare --cca-file` loads.
//!
//! `Gentle` is NewReno with a smaller reduction after a loss, by a factor that scenarios can set. It is made to be
//! read, not to be used.

use cca::slow_start::Method;
use cca::{CcaInfo, CongestionControl, Family, Parameter, Window};

/// Parameters that scenarios can set.
const PARAMETERS: &[Parameter] = &[Parameter {
    name: "keep",
    meaning: "Share of the window that is left after a loss.",
    unit: "",
    source: "this example",
    default: &|| "0.8".to_owned(),
    allowed: &|| "numbers from 0.1 to 0.9".to_owned(),
    canonical: &|text| {
        let keep: f64 = text.parse().ok()?;
        (0.1..=0.9).contains(&keep).then(|| keep.to_string())
    },
}];

/// Catalogue entry.
pub const INFO: CcaInfo = CcaInfo {
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

cca_plugin::export!(INFO);

/// State of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Gentle {
    keep: f64,
}

impl CongestionControl for Gentle {
    fn ssthresh(&mut self, window: &mut Window) -> u32 {
        ((f64::from(window.cwnd) * self.keep) as u32).max(2)
    }

    fn cong_avoid(&mut self, window: &mut Window, acked: u32) {
        window.grow_additively(window.cwnd, acked);
    }

    /// Samples, qlog and pictures of a run have this name.
    fn mode(&self, window: &Window) -> &'static str {
        window.mode().unwrap_or("gentle_growth")
    }
}

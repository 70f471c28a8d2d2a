//! Congestion controls by name.

use std::sync::{PoisonError, RwLock};

use super::about::Pair;
use super::{
    Cca, bbr, bbr3, bic, cdg, copa, cubic, dctcp, highspeed, htcp, hybla, illinois, ledbat, lp, nv,
    reno, scalable, sprout, vegas, veno, westwood, yeah,
};
use super::{SettingError, Settings};

/// The congestion controls that celltcp itself has.
pub const CCAS: [&Cca; 21] = [
    &bic::ABOUT,
    &cubic::ABOUT,
    &highspeed::ABOUT,
    &htcp::ABOUT,
    &hybla::ABOUT,
    &reno::ABOUT,
    &scalable::ABOUT,
    &westwood::ABOUT,
    &cdg::ABOUT,
    &copa::ABOUT,
    &ledbat::ABOUT,
    &lp::ABOUT,
    &nv::ABOUT,
    &vegas::ABOUT,
    &illinois::ABOUT,
    &veno::ABOUT,
    &yeah::ABOUT,
    &bbr::ABOUT,
    &bbr3::ABOUT,
    &dctcp::ABOUT,
    &sprout::ABOUT,
];

/// Those that users have added.
static ADDED: RwLock<Vec<&'static Cca>> = RwLock::new(Vec::new());

/// There is no congestion control of that name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownCca {
    name: String,
}

impl core::fmt::Display for UnknownCca {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let names: Vec<&str> = all().iter().map(|cca| cca.name).collect();
        write!(
            f,
            "unknown congestion control {:?}; there are {}",
            self.name,
            names.join(", ")
        )
    }
}

impl std::error::Error for UnknownCca {}

/// The name is that of another congestion control.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameTaken(pub String);

impl core::fmt::Display for NameTaken {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "a congestion control of celltcp is called {:?}", self.0)
    }
}

impl std::error::Error for NameTaken {}

/// All congestion controls: those of celltcp, then those that users have added.
pub fn all() -> Vec<&'static Cca> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    CCAS.into_iter().chain(added.iter().copied()).collect()
}

/// Adds a user's congestion control for the life of the process, in place of an earlier one of the same
/// name that a user added.
///
/// # Errors
/// If celltcp has one of that name itself.
pub fn add(cca: Cca) -> Result<(), NameTaken> {
    let own = CCAS.iter().any(|own| goes_by(own, cca.name));
    if own {
        return Err(NameTaken(cca.name.to_owned()));
    }
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    added.retain(|earlier| earlier.name != cca.name);
    added.push(Box::leak(Box::new(cca)));
    Ok(())
}

fn goes_by(cca: &Cca, name: &str) -> bool {
    cca.name == name || cca.aliases.contains(&name)
}

/// The congestion control that goes by `name` in the kernel or in the literature, in any case of letters.
pub fn find(name: &str) -> Option<&'static Cca> {
    let lower = name.to_ascii_lowercase();
    all().into_iter().find(|cca| goes_by(cca, &lower))
}

/// The congestion control called `name`, with its parameters at their defaults.
///
/// # Errors
/// If there is none of that name.
pub fn cca_by_name(name: &str) -> Result<Pair, UnknownCca> {
    let unknown = || UnknownCca {
        name: name.to_owned(),
    };
    let cca = find(name).ok_or_else(unknown)?;
    cca.build(&Settings::new())
        .map_err(|_: SettingError| unknown())
}

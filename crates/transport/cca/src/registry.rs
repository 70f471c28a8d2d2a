//! Registry of congestion controls by name.

use std::sync::{PoisonError, RwLock};

use config::suggestion;

use super::CcaInfo;
use super::catalogue::CCAS;
use super::info::BuiltCca;
use super::{SettingError, Settings};

/// Congestion controls that users have added.
static ADDED: RwLock<Vec<&'static CcaInfo>> = RwLock::new(Vec::new());

/// Error: no congestion control has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown congestion control {name:?}; there are {}", names().join(", "))]
pub struct UnknownCca {
    name: String,
}

fn names() -> Vec<&'static str> {
    all().iter().map(|cca| cca.name).collect()
}

/// Error: another congestion control already has this name.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a congestion control of celltcp is called {0:?}")]
pub struct NameTaken(pub String);

/// Returns all congestion controls: those of celltcp first, then those that users have added.
pub fn all() -> Vec<&'static CcaInfo> {
    let added = ADDED.read().unwrap_or_else(PoisonError::into_inner);
    CCAS.into_iter().chain(added.iter().copied()).collect()
}

/// Adds a user's congestion control for the life of the process. It replaces an earlier one of the same name
/// that a user added.
///
/// # Errors
/// Returns an error if celltcp itself has a congestion control of that name.
pub fn add(cca: CcaInfo) -> Result<(), NameTaken> {
    let own = CCAS.iter().any(|own| goes_by(own, cca.name));
    if own {
        return Err(NameTaken(cca.name.to_owned()));
    }
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    added.retain(|earlier| earlier.name != cca.name);
    added.push(Box::leak(Box::new(cca)));
    Ok(())
}

fn goes_by(cca: &CcaInfo, name: &str) -> bool {
    cca.name == name || cca.aliases.contains(&name)
}

/// Finds a congestion control by its name in the kernel or in the literature, regardless of case.
pub fn find(name: &str) -> Option<&'static CcaInfo> {
    let lower = name.to_ascii_lowercase();
    all().into_iter().find(|cca| goes_by(cca, &lower))
}

/// Returns the names of all congestion controls, in alphabetical order.
pub fn sorted_names() -> Vec<&'static str> {
    let mut names = names();
    names.sort_unstable();
    names
}

/// Finds a congestion control as [`find`] does.
///
/// # Errors
/// There is none of that name: the message names the nearest one, and what is allowed, with the words `besides`.
pub fn called(name: &str, besides: &[&'static str]) -> Result<&'static CcaInfo, String> {
    find(name).ok_or_else(|| {
        let all = all();
        let aliases = all.iter().flat_map(|cca| cca.aliases.iter().copied());
        let allowed = [besides, &sorted_names()].concat();
        let lower = name.to_ascii_lowercase();
        let near = suggestion(&lower, allowed.iter().copied().chain(aliases));
        let allowed = allowed.join(", ");
        format!("{name:?} is not a congestion control{near}; allowed: {allowed}")
    })
}

/// Creates the congestion control called `name`, with its parameters at their defaults.
///
/// # Errors
/// Returns an error if no congestion control has that name.
pub fn cca_by_name(name: &str) -> Result<BuiltCca, UnknownCca> {
    let unknown = || UnknownCca {
        name: name.to_owned(),
    };
    let cca = find(name).ok_or_else(unknown)?;
    cca.build(&Settings::new())
        .map_err(|_: SettingError| unknown())
}

//! Registry of congestion controls by name.

use std::sync::{PoisonError, RwLock};

use config::{Spec, suggestion};

use super::CcaInfo;
use super::SettingError;
use super::catalogue::CCAS;
use super::info::BuiltCca;

/// Congestion controls that users have added.
static ADDED: RwLock<Vec<&'static CcaInfo>> = RwLock::new(Vec::new());

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

/// Returns a name with settings as it is printed: the name of the kernel, and values in their canonical form.
///
/// # Errors
/// There is no such congestion control, as [`called`] reports, or it rejects a setting.
pub fn canonical(given: &Spec, besides: &[&'static str]) -> Result<Spec, String> {
    let cca = called(&given.name, besides)?;
    let print = |(parameter, value): (&String, &String)| {
        Ok((parameter.clone(), cca.canonical(parameter, value)?))
    };
    let settings = given.settings.iter().map(print).collect();
    let settings: Result<_, SettingError> = settings;
    let settings = settings.and_then(|settings| cca.check(&settings).map(|()| settings));
    let settings = settings.map_err(|error| error.to_string())?;
    Ok(Spec::new(cca.name, settings))
}

/// Creates the congestion control of a text such as `cubic` or `cubic:beta=0.8`.
///
/// # Errors
/// There is no such congestion control, as [`called`] reports, or it rejects a setting.
pub fn cca_by_name(text: &str) -> Result<BuiltCca, String> {
    let spec: Spec = text.parse()?;
    let built = called(&spec.name, &[])?.build(&spec.settings);
    built.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::cca_by_name;

    #[test]
    fn a_text_names_a_cca_and_its_parameters() {
        assert!(cca_by_name("bbr").is_ok());
        assert!(cca_by_name("cubic:beta=0.8,hystart=off").is_ok());
        for (text, part) in [
            ("cubick", "\"cubick\" is not a congestion control"),
            ("cubic:gamma=1", "no parameter \"gamma\""),
            (
                "cubic:beta",
                "\"beta\" is not a setting; allowed: parameter=value",
            ),
        ] {
            let error = cca_by_name(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}

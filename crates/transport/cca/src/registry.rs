//! Registry of congestion controls by name.

use std::sync::{PoisonError, RwLock};

use config::{Spec, suggestion};

use super::CcaInfo;
use super::catalogue::CCAS;
use super::info::BuiltCca;

/// Congestion controls that users have added.
static ADDED: RwLock<Vec<&'static CcaInfo>> = RwLock::new(Vec::new());

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
pub fn add(cca: CcaInfo) -> Result<(), String> {
    if CCAS.iter().any(|built_in| has_name(built_in, cca.name)) {
        let name = cca.name;
        return Err(format!(
            "{name:?} is a built-in congestion control; allowed: any other name"
        ));
    }
    let mut added = ADDED.write().unwrap_or_else(PoisonError::into_inner);
    added.retain(|earlier| earlier.name != cca.name);
    added.push(Box::leak(Box::new(cca)));
    Ok(())
}

fn has_name(cca: &CcaInfo, name: &str) -> bool {
    cca.name == name || cca.aliases.contains(&name)
}

/// Finds a congestion control by its name in the kernel or in the literature, regardless of case.
pub fn find(name: &str) -> Option<&'static CcaInfo> {
    let lower = name.to_ascii_lowercase();
    all().into_iter().find(|cca| has_name(cca, &lower))
}

/// Returns the names of all congestion controls, in alphabetical order.
pub fn sorted_names() -> Vec<&'static str> {
    let mut names: Vec<_> = all().iter().map(|cca| cca.name).collect();
    names.sort_unstable();
    names
}

/// Finds a congestion control as [`find`] does. The error also lists `other_words`, which the caller accepts.
///
/// # Errors
/// If there is none of that name. The message names the most similar name, and all names and words that are allowed.
pub fn lookup(name: &str, other_words: &[&'static str]) -> Result<&'static CcaInfo, String> {
    find(name).ok_or_else(|| {
        let all = all();
        let aliases = all.iter().flat_map(|cca| cca.aliases.iter().copied());
        let allowed = [other_words, &sorted_names()].concat();
        let lower = name.to_ascii_lowercase();
        let similar = suggestion(&lower, allowed.iter().copied().chain(aliases));
        let allowed = allowed.join(", ");
        format!("{name:?} is not a congestion control{similar}; allowed: {allowed}")
    })
}

/// Returns a congestion control as it is printed: the name of the kernel, and settings in their canonical form.
///
/// # Errors
/// There is no such congestion control, as [`lookup`] reports, or it rejects a setting.
pub fn canonical(spec: &Spec, other_words: &[&'static str]) -> Result<Spec, String> {
    let cca = lookup(&spec.name, other_words)?;
    let mut settings = spec.settings.clone();
    for (parameter, value) in &mut settings {
        *value = cca.canonical(parameter, value)?;
    }
    cca.check(&settings)?;
    Ok(Spec::new(cca.name, settings))
}

/// Creates the congestion control of a text such as `cubic` or `cubic:beta=0.8`.
///
/// # Errors
/// There is no such congestion control, as [`lookup`] reports, or it rejects a setting.
pub fn cca_by_name(text: &str) -> Result<BuiltCca, String> {
    let spec: Spec = text.parse()?;
    lookup(&spec.name, &[])?.build(&spec.settings)
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

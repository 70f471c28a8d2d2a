//! Policy and memory files that the parameters of `auto` name.

use std::collections::BTreeMap;
use std::io;

use super::Auto;
use crate::destination_cache::DestinationCache;
use crate::policy::{BUILT_IN, Policy, builtin, builtin_text};

/// Texts of policy and memory files, by the file names in the parameters of `auto`.
pub type Files = BTreeMap<String, String>;

impl Auto {
    /// Reads the files of the policy and the memory into `files`, by `read`, and checks them. Built-in policies and
    /// files that `files` has are not read.
    ///
    /// # Errors
    /// If a file cannot be read or is invalid, or the policy cannot use these parameters.
    pub fn load(
        &self,
        files: &mut Files,
        read: impl Fn(&str) -> io::Result<String>,
    ) -> Result<(), String> {
        let add = |files: &mut Files, file: &str, allowed: &str| {
            if !files.contains_key(file) {
                let text = read(file).map_err(|error| {
                    format!("{file:?} cannot be read: {error}; allowed: {allowed}")
                })?;
                files.insert(file.to_owned(), text);
            }
            Ok::<_, String>(())
        };
        if builtin_text(&self.policy).is_err() {
            let built_in = BUILT_IN.map(|(name, _)| name).join(", ");
            add(files, &self.policy, &format!("{built_in}, or a file"))?;
        }
        self.check(&self.policy_in(files)?)?;
        if let Some(file) = &self.memory {
            add(files, file, "the file of a memory")?;
        }
        self.memory_in(files).map(drop)
    }

    /// Returns the policy: the one whose text is in `files`, or a built-in one.
    pub fn policy_in(&self, files: &Files) -> Result<Policy, String> {
        let policy = match files.get(&self.policy) {
            Some(text) => Policy::from_toml(text, &self.policy),
            None => builtin(&self.policy),
        }?;
        Ok(match self.cca {
            Some(cca) => policy.with_fixed_cca(cca),
            None => policy,
        })
    }

    /// Returns the memory whose text is in `files`; an empty one if no file is named.
    ///
    /// # Errors
    /// The message names file, field, value and what is allowed.
    pub(crate) fn memory_in(&self, files: &Files) -> Result<DestinationCache, String> {
        let Some(file) = &self.memory else {
            return Ok(DestinationCache::default());
        };
        let text = files.get(file).map_or("", String::as_str);
        DestinationCache::from_toml(text, file).map_err(|error| error.to_string())
    }
}

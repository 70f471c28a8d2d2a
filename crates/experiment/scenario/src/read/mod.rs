//! Reading of scenarios from a text and overrides.

mod complete;
mod named_files;
mod overrides;
mod selection;

use std::path::Path as FilePath;

use config::{ConfigError, Document, Location, Node};

use crate::model::{Buffer, Capacity, Path, Scenario, TraceFile};
use crate::synonyms::field_meant;

impl Scenario {
    /// Reads a scenario file. `origin` is its name in errors, and the scenario's name if the file gives none. Each of
    /// `overrides` is `field=value`, such as `path.buffer=2bdp` or `flows.0.cca=bbr`. The value is TOML, or else a
    /// text. Overrides are applied in order.
    ///
    /// # Errors
    /// The first fault, with its line or override.
    pub fn from_toml(text: &str, origin: &str, overrides: &[String]) -> Result<Self, ConfigError> {
        read(Document::from_toml(text, origin)?, origin, overrides)
    }

    /// Returns the scenario of a link trace alone, as [`Scenario::of_trace`] does, with overrides as in
    /// [`Scenario::from_toml`].
    ///
    /// # Errors
    /// The first override that is rejected.
    pub fn from_trace(
        down: &str,
        up: Option<&str>,
        overrides: &[String],
    ) -> Result<Self, ConfigError> {
        let tree = Node::from_json(&Self::of_trace(down, up).to_value(), Location::Whole);
        read(Document::new(tree, down), down, overrides)
    }

    /// Returns a bulk download over a recorded access link. It has the trace in `down`, the trace in `up` or else
    /// 50Mbit/s, a base RTT of 40ms, and the deep buffer of cellular networks, 750 packets. Relative paths count from
    /// the working directory.
    pub fn of_trace(down: &str, up: Option<&str>) -> Self {
        let capacity = |trace: &str| Capacity::Trace(TraceFile::named(trace));
        let defaults = Path::default();
        Self {
            name: stem(down),
            description: format!("A bulk download over the link recorded in {down}."),
            path: Path {
                down: capacity(down),
                up: up.map_or(defaults.up.clone(), capacity),
                buffer: Buffer::Packets(750),
                ..defaults
            },
            ..Self::default()
        }
    }
}

/// Hint in errors about rates: the field of rates that change.
const RATES_OVER_TIME: &str =
    "rates over time are steps = [{ at = \"0s\", rate = \"5Mbit/s\" }] in place of rate";

fn read(
    mut document: Document,
    origin: &str,
    overrides: &[String],
) -> Result<Scenario, ConfigError> {
    if !overrides.is_empty() {
        let defaults = document.read::<Scenario>().map_or_else(
            |_| Node::empty(Location::Whole),
            |mut scenario| {
                // An override of a radio field adds a section radio if there is none.
                scenario.radio.get_or_insert_default();
                Node::from_json(&scenario.to_value(), Location::Whole)
            },
        );
        for assignment in overrides {
            if overrides::unsets(assignment) {
                reject_unknown_field(&document, &defaults, assignment)?;
            }
            document.change(assignment, |tree, origin| {
                overrides::apply(tree, &defaults, assignment, origin)
            })?;
        }
    }
    let mut scenario: Scenario = document.read().map_err(with_meaning)?;
    complete::names(&mut scenario, &stem(origin));
    crate::validate::check(&scenario).map_err(|error| document.error(error))?;
    scenario.source = document.into();
    Ok(scenario)
}

/// Rejects an assignment to a field that does not exist: removing it would change nothing, without a word.
fn reject_unknown_field(
    document: &Document,
    defaults: &Node,
    assignment: &str,
) -> Result<(), ConfigError> {
    let mut with_value = document.clone();
    with_value.change(assignment, |tree, origin| {
        overrides::set(tree, defaults, assignment, origin)
    })?;
    let error = with_value.read::<Scenario>().err();
    error
        .filter(|error| error.message.starts_with(config::UNKNOWN_FIELD))
        .map_or(Ok(()), |error| Err(with_meaning(error)))
}

/// Returns the error about a field with what is probably meant: `steps` for a list of rates, or a known field for an unknown
/// one unless the error names a near one already.
fn with_meaning(error: ConfigError) -> ConfigError {
    if error.message.starts_with("a list is not") && error.field.ends_with(".rate") {
        let message = format!("{}; {RATES_OVER_TIME}", error.message);
        return ConfigError { message, ..error };
    }
    let Some(allowed) = error.message.strip_prefix(config::UNKNOWN_FIELD) else {
        return error;
    };
    if !allowed.starts_with("; allowed") {
        return error;
    }
    // An override may go on into a table that there is not.
    let whole = error.place.strip_prefix("override ");
    let overridden = whole.and_then(|whole| whole.split('=').next());
    let meant = field_meant(&error.field).or_else(|| field_meant(overridden?.trim()));
    let Some(meant) = meant else {
        return error;
    };
    let message = format!(
        "{}; did you mean {meant:?}?{allowed}",
        config::UNKNOWN_FIELD
    );
    ConfigError { message, ..error }
}

/// Returns the name of a file without its directory and extension.
fn stem(file: &str) -> String {
    FilePath::new(file).file_stem().map_or_else(
        || file.to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

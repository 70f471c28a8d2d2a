//! From a text and overrides to a scenario.

mod complete;
mod deserialize;
mod error;
mod overrides;
mod selection;
mod tree;

use std::path::Path as FilePath;

pub(crate) use error::Problem;
pub use error::ScenarioError;
use serde::Deserialize;
use tree::{Node, Origin, Value};

use crate::model::{Buffer, Capacity, Path, Scenario, TraceFile};

impl Scenario {
    /// Reads a scenario file. `origin` is its name in errors, and the scenario's name where the file
    /// gives none. Each of `overrides` is `field=value`, such as `path.buffer=2bdp` or
    /// `flows.0.cca=bbr`; the value is TOML, or else a text. They are applied in order.
    ///
    /// # Errors
    /// The first thing that is wrong, with the line or the override it is in.
    pub fn from_toml(
        text: &str,
        origin: &str,
        overrides: &[String],
    ) -> Result<Self, ScenarioError> {
        let tree =
            Node::from_toml(text).map_err(|problem| ScenarioError::new(origin, &[], problem))?;
        read(tree, origin, overrides)
    }

    /// The scenario that a link trace alone makes, as from [`Scenario::of_trace`], with overrides as in
    /// [`Scenario::from_toml`].
    ///
    /// # Errors
    /// The first override that is wrong.
    pub fn from_trace(
        down: &str,
        up: Option<&str>,
        overrides: &[String],
    ) -> Result<Self, ScenarioError> {
        let tree = Node::from_json(&Self::of_trace(down, up).to_value(), Origin::Whole);
        read(tree, down, overrides)
    }

    /// A bulk download over a recorded access link: the trace in `down`, the one in `up` or else
    /// 50Mbit/s, a base RTT of 40ms and the deep buffer of cellular networks, 750 packets. Relative
    /// paths count from where the program runs.
    pub fn of_trace(down: &str, up: Option<&str>) -> Self {
        let capacity = |trace: &str| {
            Capacity::Trace(TraceFile {
                trace: trace.to_owned(),
                format: None,
            })
        };
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

fn read(mut tree: Node, origin: &str, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    let failed = |problem| ScenarioError::new(origin, overrides, problem);
    if !overrides.is_empty() {
        let defaults = Scenario::deserialize(&tree)
            .map(|mut scenario| {
                // An override of the radio makes one where there is none.
                scenario.radio.get_or_insert_default();
                Node::from_json(&scenario.to_value(), Origin::Whole)
            })
            .unwrap_or(Node {
                origin: Origin::Whole,
                value: Value::Table(Vec::new()),
            });
        for (number, assignment) in overrides.iter().enumerate() {
            overrides::apply(&mut tree, &defaults, assignment, number).map_err(failed)?;
        }
    }
    let mut scenario = Scenario::deserialize(&tree).map_err(|error| failed(error.into()))?;
    complete::names(&mut scenario, &stem(origin));
    crate::validate::check(&scenario).map_err(|(field, message)| {
        failed(Problem {
            origin: tree.origin_of(&field),
            field,
            message,
        })
    })?;
    Ok(scenario)
}

/// The name of a file without its directory and extension.
fn stem(file: &str) -> String {
    FilePath::new(file).file_stem().map_or_else(
        || file.to_owned(),
        |stem| stem.to_string_lossy().into_owned(),
    )
}

//! Overrides: changes of single fields of a tree before it is read.

use config::{FieldError, Location, Node, Value};

/// Groups of fields of which a table has at most one.
const ALTERNATIVES: [&[&str]; 7] = [
    &["rate", "steps", "trace", "generate"],
    &["band", "frequency"],
    &["bandwidth", "prbs"],
    &["speed", "doppler"],
    &["sinr", "position", "waypoints", "sumo"],
    &["trace", "phone_log"],
    &["fcd", "ns2"],
];

/// Fields that are valid only together with another one.
const DEPENDENT_FIELDS: [(&str, &str); 3] = [
    ("format", "trace"),
    ("offset", "phone_log"),
    ("velocity", "position"),
];

/// Returns whether a field of a table is removed when `set` is set.
fn is_replaced_by(field: &str, set: &str) -> bool {
    let excludes = |other: &str| {
        let mut all = ALTERNATIVES.iter();
        other != set && all.any(|group| group.contains(&set) && group.contains(&other))
    };
    let mut companions = DEPENDENT_FIELDS.iter();
    excludes(field) || companions.any(|(companion, of)| *companion == field && excludes(of))
}

/// Tables whose keys are names with dots.
const NAMES_WITH_DOTS: [&str; 2] = ["kernel.sysctl.", "kernel.module."];

/// Returns the keys of the path to a field.
fn keys(field: &str) -> Vec<&str> {
    let field = field.trim();
    let named = NAMES_WITH_DOTS
        .iter()
        .find_map(|table| field.strip_prefix(table));
    let Some(name) = named else {
        return field.split('.').map(str::trim).collect();
    };
    let table = &field[..field.len() - name.len() - 1];
    let name = name.trim_matches('"');
    table.split('.').chain(core::iter::once(name)).collect()
}

/// Value that removes a field, as if its file lacked it.
const UNSET: &str = "unset";

/// Returns whether an assignment `field=unset` removes a field.
pub(super) fn unsets(assignment: &str) -> bool {
    let value = assignment.split_once('=').map(|(_, value)| value.trim());
    value == Some(UNSET)
}

/// Applies `field=value`; `field=unset` removes the field, and changes nothing where it is not set. Missing tables of
/// the path are copied from `defaults`.
pub(super) fn apply(
    tree: &mut Node,
    defaults: &Node,
    assignment: &str,
    origin: Location,
) -> Result<(), FieldError> {
    if unsets(assignment) {
        return unset(tree, &parts(assignment)?.0);
    }
    set(tree, defaults, assignment, origin)
}

/// Applies `field=value`, whatever the value.
pub(super) fn set(
    tree: &mut Node,
    defaults: &Node,
    assignment: &str,
    origin: Location,
) -> Result<(), FieldError> {
    let (keys, text) = parts(assignment)?;
    let value = Node::from_toml_value(text.trim(), origin);
    let mut cursor = Cursor {
        node: tree,
        defaults: Some(defaults),
        name: "",
    };
    for (depth, key) in keys.iter().enumerate() {
        let sets_kind = depth + 1 == keys.len() && *key == "kind";
        if sets_kind && cursor.node.child("kind").and_then(text_of) != text_of(&value) {
            cursor.node.value = Value::Table(Vec::new());
        }
        cursor = cursor.enter(key, origin).map_err(|message| FieldError {
            field: keys[..=depth].join("."),
            message,
        })?;
    }
    *cursor.node = value;
    Ok(())
}

/// Returns the keys of the field and the text of the value of `field=value`.
fn parts(assignment: &str) -> Result<(Vec<&str>, &str), FieldError> {
    let malformed = |message: &str| FieldError {
        field: String::new(),
        message: message.to_owned(),
    };
    let (field, text) = assignment
        .split_once('=')
        .ok_or_else(|| malformed("not of the form field=value"))?;
    let keys = keys(field);
    if keys.iter().any(|key| key.is_empty()) {
        return Err(malformed("the field is empty or has an empty part"));
    }
    Ok((keys, text))
}

/// Removes a field from its table, if it is there.
fn unset(tree: &mut Node, keys: &[&str]) -> Result<(), FieldError> {
    let (last, tables) = keys.split_last().expect("a text has at least one part");
    let mut node = tree;
    for key in tables {
        let Some(inner) = node.child_mut(key) else {
            return Ok(());
        };
        node = inner;
    }
    match &mut node.value {
        Value::Table(fields) => fields.retain(|(field, _)| field != last),
        Value::List(_) => {
            return Err(FieldError::new(
                keys.join("."),
                "an element of a list cannot be unset; allowed: its fields",
            ));
        }
        _ => {}
    }
    Ok(())
}

/// Position in the tree that an override has reached.
struct Cursor<'a> {
    node: &'a mut Node,
    defaults: Option<&'a Node>,
    /// Key of this position.
    name: &'a str,
}

impl<'a> Cursor<'a> {
    /// Returns the field or element called `key`, which is created if it is missing.
    fn enter(self, key: &'a str, origin: Location) -> Result<Self, String> {
        let Self {
            node,
            defaults,
            name,
        } = self;
        expand_shorthand(node, name, origin);
        let defaults = defaults.and_then(|defaults| defaults.child(key));
        let missing =
            || defaults.map_or_else(|| Node::empty(origin), |d| d.clone().moved_to(origin));
        let node = match &mut node.value {
            Value::List(items) => {
                let length = items.len();
                let index: usize = key
                    .parse()
                    .ok()
                    .filter(|index| *index <= length)
                    .ok_or_else(|| {
                        format!("{key:?} is not a place in the list; allowed: 0 to {length}")
                    })?;
                if index == length {
                    items.push(Node::empty(origin));
                }
                &mut items[index]
            }
            Value::Table(fields) => {
                fields.retain(|(other, _)| !is_replaced_by(other, key));
                let known = fields.iter().position(|(field, _)| field == key);
                let index = known.unwrap_or_else(|| {
                    let index = if key == "kind" { 0 } else { fields.len() };
                    fields.insert(index, (key.to_owned(), missing()));
                    index
                });
                &mut fields[index].1
            }
            _ => return Err("only lists and tables have fields".to_owned()),
        };
        Ok(Self {
            node,
            defaults,
            name: key,
        })
    }
}

/// Replaces a scalar that is a shorthand for a table by that table: `cca = "bbr"` becomes `cca = { name = "bbr" }`.
fn expand_shorthand(node: &mut Node, name: &str, origin: Location) {
    let shorthand_key = match (&node.value, name) {
        (Value::List(_) | Value::Table(_), _) => return,
        (Value::Text(_), "cca") => Some("name"),
        (
            Value::Text(_),
            "queue" | "uplink_queue" | "workload" | "model" | "antenna" | "trigger",
        ) => Some("kind"),
        _ => None,
    };
    let inner = core::mem::replace(node, Node::empty(origin));
    if let (Some(key), Value::Table(fields)) = (shorthand_key, &mut node.value) {
        fields.push((key.to_owned(), inner));
    }
}

fn text_of(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Text(text) => Some(text),
        _ => None,
    }
}

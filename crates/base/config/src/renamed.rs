//! Renamed fields and words: documents may still have those of the version before.

use serde_json::Value as Json;

use crate::document::LocatedError;
use crate::{FieldError, Location, Node, Value};

/// Former key of a field, and the present one.
pub type RenamedKey = (&'static str, &'static str);

/// Renamed fields and words of a configuration. In the names of tables and fields, `*` is any place in a list.
#[derive(Clone, Copy, Debug)]
pub struct Renamed {
    /// Tables, and the keys in them that have been renamed.
    pub keys: &'static [(&'static str, &'static [RenamedKey])],
    /// Fields by their present names, and their words that have been renamed.
    pub words: &'static [(&'static str, &'static [RenamedKey])],
}

/// Use of a former name in a document.
#[derive(Clone, Debug)]
pub struct Deprecation {
    /// Place where it was written.
    pub(crate) origin: Location,
    /// Field with the former name, and the present name.
    pub(crate) hint: FieldError,
}

impl Deprecation {
    fn of_key(origin: Location, table: &str, former: &str, key: &str) -> Self {
        let message = format!("deprecated; use {}", joined(table, key));
        Self {
            origin,
            hint: FieldError::new(joined(table, former), message),
        }
    }
}

impl Renamed {
    /// Gives fields and words in `tree` their present names.
    ///
    /// # Errors
    /// A field is given by both names.
    pub(crate) fn update(&self, tree: &mut Node) -> Result<Vec<Deprecation>, LocatedError> {
        let mut deprecations = Vec::new();
        for (table, keys) in self.keys {
            visit(tree, table, "", &mut |node, place| {
                for key in *keys {
                    deprecations.extend(rename_field(node, place, *key)?);
                }
                Ok(())
            })?;
        }
        for (field, words) in self.words {
            visit(tree, field, "", &mut |node, place| {
                let Value::Text(word) = &mut node.value else {
                    return Ok(());
                };
                for (former, now) in *words {
                    if word == former {
                        *word = (*now).to_owned();
                        let message = format!("{former:?} is deprecated; use {now:?}");
                        deprecations.push(Deprecation {
                            origin: node.origin,
                            hint: FieldError::new(place, message),
                        });
                        break;
                    }
                }
                Ok(())
            })?;
        }
        Ok(deprecations)
    }

    /// Gives the keys on the way to a field, which was written at `origin`, their present names.
    pub fn update_path(&self, path: &mut [&str], origin: Location) -> Vec<Deprecation> {
        let mut deprecations = Vec::new();
        for (table, keys) in self.keys {
            let depth = table.split('.').count();
            let Some((on_the_way, [field, ..])) = path.split_at_checked(depth) else {
                continue;
            };
            let here = table.split('.').zip(on_the_way);
            if !here.into_iter().all(|(one, key)| one == "*" || one == *key) {
                continue;
            }
            if let Some((former, now)) = keys.iter().find(|(former, _)| former == field) {
                let table = on_the_way.join(".");
                deprecations.push(Deprecation::of_key(origin, &table, former, now));
                path[depth] = now;
            }
        }
        deprecations
    }

    /// Gives fields and words in `json` their former names, in their places.
    pub fn revert(&self, json: &mut Json) {
        for (field, words) in self.words {
            visit_json(json, field, &mut |value| {
                let renamed = words.iter().find(|(_, now)| value == now);
                if let Some((former, _)) = renamed {
                    *value = Json::from(*former);
                }
            });
        }
        // A table of a renamed table is found by the present name, so the inner one comes first.
        for (table, keys) in self.keys.iter().rev() {
            visit_json(json, table, &mut |value| {
                let Some(fields) = value.as_object_mut() else {
                    return;
                };
                if keys.iter().any(|(_, now)| fields.contains_key(*now)) {
                    let all = core::mem::take(fields).into_iter();
                    *fields = all
                        .map(|(key, value)| {
                            let renamed = keys.iter().find(|(_, now)| *now == key);
                            (
                                renamed.map_or(key, |(former, _)| (*former).to_owned()),
                                value,
                            )
                        })
                        .collect();
                }
            });
        }
    }
}

/// Renames a field of the table `node` at `place`, if it is there by its former name.
fn rename_field(
    node: &mut Node,
    place: &str,
    (former, now): RenamedKey,
) -> Result<Option<Deprecation>, LocatedError> {
    let Value::Table(fields) = &mut node.value else {
        return Ok(None);
    };
    let has_both = fields.iter().any(|(key, _)| key == now);
    let Some((key, value)) = fields.iter_mut().find(|(key, _)| key == former) else {
        return Ok(None);
    };
    let origin = value.origin;
    if has_both {
        let message = format!("given as {now}, too; allowed: {now} alone");
        let wrong = FieldError::new(joined(place, former), message);
        return Err(LocatedError { origin, wrong });
    }
    *key = now.to_owned();
    Ok(Some(Deprecation::of_key(origin, place, former, now)))
}

/// Calls `act` with each value that `pattern` describes, and with its place. `above` is the place of `node`.
fn visit(
    node: &mut Node,
    pattern: &str,
    above: &str,
    act: &mut impl FnMut(&mut Node, &str) -> Result<(), LocatedError>,
) -> Result<(), LocatedError> {
    if pattern.is_empty() {
        return act(node, above);
    }
    let (first, rest) = pattern.split_once('.').unwrap_or((pattern, ""));
    match &mut node.value {
        Value::Table(fields) => {
            for (key, inner) in fields.iter_mut().filter(|(key, _)| key == first) {
                visit(inner, rest, &joined(above, key), act)?;
            }
        }
        Value::List(items) if first == "*" => {
            for (number, inner) in items.iter_mut().enumerate() {
                visit(inner, rest, &joined(above, &number.to_string()), act)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// Calls `act` with each value that `pattern` describes.
fn visit_json(json: &mut Json, pattern: &str, act: &mut impl FnMut(&mut Json)) {
    if pattern.is_empty() {
        return act(json);
    }
    let (first, rest) = pattern.split_once('.').unwrap_or((pattern, ""));
    match json {
        Json::Object(fields) => {
            if let Some(inner) = fields.get_mut(first) {
                visit_json(inner, rest, act);
            }
        }
        Json::Array(items) if first == "*" => {
            for inner in items {
                visit_json(inner, rest, act);
            }
        }
        _ => {}
    }
}

/// Returns the name of a field in a table.
fn joined(table: &str, key: &str) -> String {
    if table.is_empty() {
        key.to_owned()
    } else {
        format!("{table}.{key}")
    }
}

#[cfg(test)]
mod tests {
    use super::Renamed;
    use crate::{Document, FieldError, Node};

    const RENAMED: Renamed = Renamed {
        keys: &[
            ("cups.*", &[("content", "drink")]),
            ("cups.*.drink", &[("warm", "hot")]),
        ],
        words: &[("cups.*.material", &[("china", "porcelain")])],
    };

    fn updated(text: &str) -> Result<Document, String> {
        let document = Document::from_toml(text, "cups.toml").expect("TOML");
        document
            .updated(&RENAMED)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn former_names_are_read_and_named_with_their_lines() {
        let text =
            "[[cups]]\nmaterial = \"china\"\n[cups.content]\nwarm = true\n[[cups]]\ndrink = {}";
        let document = updated(text).expect("each name once");
        assert_eq!(
            document.deprecations(),
            [
                "cups.toml:3: cups.0.content: deprecated; use cups.0.drink",
                "cups.toml:4: cups.0.drink.warm: deprecated; use cups.0.drink.hot",
                "cups.toml:2: cups.0.material: \"china\" is deprecated; use \"porcelain\"",
            ]
        );
    }

    #[test]
    fn a_field_by_both_names_is_refused() {
        let error = updated("[[cups]]\ndrink = {}\ncontent = {}").expect_err("it is given twice");
        assert_eq!(
            error,
            "cups.toml:3: cups.0.content: given as drink, too; allowed: drink alone"
        );
    }

    #[test]
    fn paths_are_updated_key_by_key() {
        let mut path = ["cups", "1", "content", "warm"];
        let mut document = updated("").expect("nothing is wrong");
        let changed = document.change("cups.1.content.warm=1", |_: &mut Node, origin| {
            Ok::<_, FieldError>(RENAMED.update_path(&mut path, origin))
        });
        assert_eq!(changed, Ok(()));
        assert_eq!(path, ["cups", "1", "drink", "hot"]);
        assert_eq!(
            document.deprecations(),
            [
                "override cups.1.content.warm=1: cups.1.content: deprecated; use cups.1.drink",
                "override cups.1.content.warm=1: cups.1.drink.warm: deprecated; use cups.1.drink.hot",
            ]
        );
    }

    #[test]
    fn former_names_come_back_in_their_places() {
        let now = "{\"cups\":[{\"a\":1,\"drink\":{\"hot\":true},\"material\":\"porcelain\"}]}";
        let mut json = serde_json::from_str(now).expect("JSON");
        RENAMED.revert(&mut json);
        assert_eq!(
            json.to_string(),
            "{\"cups\":[{\"a\":1,\"content\":{\"warm\":true},\"material\":\"china\"}]}"
        );
    }
}

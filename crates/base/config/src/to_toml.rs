//! Printer: a configuration as a complete TOML file, each field with its description.

use std::borrow::Cow;

use serde_json::{Map, Value};

/// Width of comments.
const COLUMNS: usize = 100;

/// Prints a configuration, given as its `fields` in JSON, as a TOML file with every field, defaults included. Above
/// each field stands its description from the JSON schema. Unset fields are comments.
pub fn to_toml(schema: &Value, fields: &Value) -> String {
    let mut printer = Printer {
        schema,
        text: String::new(),
    };
    if let Value::Object(fields) = fields {
        printer.print_table(&mut Vec::new(), fields, schema, true);
    }
    printer.text
}

struct Printer<'a> {
    schema: &'a Value,
    text: String,
}

impl<'a> Printer<'a> {
    /// Prints the fields of the table called `path`: first those on one line, then unset fields that the JSON leaves
    /// out, then those with a header.
    fn print_table(
        &mut self,
        path: &mut Vec<String>,
        fields: &Map<String, Value>,
        schema: &'a Value,
        commented: bool,
    ) {
        for (key, value) in fields {
            let Some(line) = on_one_line(value) else {
                continue;
            };
            if commented {
                self.print_comment(self.property(schema, key, fields));
            }
            match value {
                Value::Null => self.text.push_str(&format!("# {} =\n", toml_key(key))),
                // A hop's constant rate reads better without braces.
                Value::Object(inner) if inner.keys().eq([key]) => {
                    self.text
                        .push_str(&format!("{} = {}\n", toml_key(key), inner[key]));
                }
                _ => self.text.push_str(&format!("{} = {line}\n", toml_key(key))),
            }
        }
        let declared = self.properties(schema, fields).into_iter().flatten();
        for (key, property) in declared.filter(|(key, _)| !fields.contains_key(*key)) {
            if commented {
                self.print_comment(Some(property));
            }
            self.text.push_str(&format!("# {} =\n", toml_key(key)));
        }
        for (key, value) in fields {
            if on_one_line(value).is_some() {
                continue;
            }
            let property = self.property(schema, key, fields);
            path.push(key.clone());
            match value {
                Value::Array(items) => {
                    for (index, item) in items.iter().enumerate() {
                        let first = commented && index == 0;
                        let items = property.map(|p| &p["items"]);
                        self.print_section(path, ("[[", "]]"), item, (property, items), first);
                    }
                }
                _ => self.print_section(path, ("[", "]"), value, (property, property), commented),
            }
            path.pop();
        }
    }

    fn print_section(
        &mut self,
        path: &mut Vec<String>,
        (open, close): (&str, &str),
        value: &Value,
        (described, schema): (Option<&'a Value>, Option<&'a Value>),
        commented: bool,
    ) {
        self.text.push('\n');
        if commented {
            self.print_comment(described);
        }
        self.text
            .push_str(&format!("{open}{}{close}\n", path.join(".")));
        if let Value::Object(fields) = value {
            self.print_table(path, fields, schema.unwrap_or(&Value::Null), commented);
        }
    }

    /// Returns the properties of a table with those `fields`: those of the schema, of what it refers to, or of the
    /// alternative whose kind the table has.
    fn properties(
        &self,
        schema: &'a Value,
        fields: &Map<String, Value>,
    ) -> Option<&'a Map<String, Value>> {
        if let Some(properties) = schema["properties"].as_object() {
            let kind = &schema["properties"]["kind"]["const"];
            let fits = kind.is_null() || fields.get("kind") == Some(kind);
            return Some(properties).filter(|properties| {
                fits && fields.keys().all(|key| properties.contains_key(key))
            });
        }
        self.subschemas(schema)
            .find_map(|inner| self.properties(inner, fields))
    }

    /// Returns the schemas that a schema refers to, or has as alternatives.
    fn subschemas(&self, schema: &'a Value) -> impl Iterator<Item = &'a Value> {
        let referred = schema["$ref"]
            .as_str()
            .and_then(|reference| self.schema.pointer(reference.trim_start_matches('#')));
        let alternatives = ["oneOf", "anyOf"]
            .into_iter()
            .filter_map(|word| schema[word].as_array())
            .flatten();
        referred.into_iter().chain(alternatives)
    }

    /// Returns the schema of the field `key` in a table with those `fields`.
    fn property(
        &self,
        schema: &'a Value,
        key: &str,
        fields: &Map<String, Value>,
    ) -> Option<&'a Value> {
        let kind = &schema["properties"]["kind"]["const"];
        if !kind.is_null() && fields.get("kind") != Some(kind) {
            return None;
        }
        if let Some(property) = schema["properties"].get(key) {
            return Some(property);
        }
        self.subschemas(schema)
            .find_map(|inner| self.property(inner, key, fields))
    }

    /// Prints the description in `schema` as comments.
    fn print_comment(&mut self, schema: Option<&Value>) {
        let Some(description) = schema.and_then(|schema| schema["description"].as_str()) else {
            return;
        };
        let mut line = "#".to_owned();
        for word in description.split_whitespace() {
            if line.chars().count() + 1 + word.chars().count() > COLUMNS {
                self.text.push_str(&line);
                self.text.push('\n');
                line = "#".to_owned();
            }
            line.push(' ');
            line.push_str(word);
        }
        self.text.push_str(&line);
        self.text.push('\n');
    }
}

/// Returns a key, in quotes if it needs them.
fn toml_key(key: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if key.chars().all(plain) {
        Cow::Borrowed(key)
    } else {
        Cow::Owned(Value::from(key).to_string())
    }
}

/// Returns the value in TOML, if it fits a line or is a list of short tables; otherwise it gets a header.
fn on_one_line(value: &Value) -> Option<String> {
    match value {
        Value::Null => Some(String::new()),
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        // The escapes of JSON are valid in TOML, but TOML wants DEL escaped, too.
        Value::String(_) => Some(value.to_string().replace('\u{7f}', "\\u007F")),
        Value::Array(items) if items.is_empty() => Some("[]".to_owned()),
        Value::Array(items) => {
            let short = |item: &Value| {
                item.as_object()
                    .filter(|fields| fields.len() <= 2)
                    .and_then(inline_table)
            };
            let lines: Option<Vec<String>> = items.iter().map(short).collect();
            lines.map(|lines| format!("[\n    {},\n]", lines.join(",\n    ")))
        }
        Value::Object(fields) => match fields.get("kind") {
            Some(kind) if fields.len() == 1 => on_one_line(kind),
            Some(_) if fields.len() == 2 => inline_table(fields),
            None if fields.is_empty() => Some("{}".to_owned()),
            None if fields.len() == 1 => inline_table(fields),
            _ => None,
        },
    }
}

/// Returns a table in braces, if all its values are scalars.
fn inline_table(fields: &Map<String, Value>) -> Option<String> {
    let scalars: Option<Vec<String>> = fields
        .iter()
        .map(|(key, value)| match value {
            Value::Null | Value::Array(_) | Value::Object(_) => None,
            scalar => on_one_line(scalar).map(|text| format!("{} = {text}", toml_key(key))),
        })
        .collect();
    scalars.map(|scalars| format!("{{ {} }}", scalars.join(", ")))
}

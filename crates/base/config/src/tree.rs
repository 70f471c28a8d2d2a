//! Tree: the values of a document, each with the line that it was written on.

use toml::de::{DeTable, DeValue};

use crate::FieldError;
use crate::document::LocatedError;
use crate::nesting::check_nesting;

/// Place where a value was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Location {
    /// Anywhere in the document.
    Whole,
    /// On this line of the file, counted from one.
    Line(usize),
    /// In the override with this number, counted from zero.
    Override(usize),
}

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct Node {
    /// Place where it was written.
    pub location: Location,
    /// The value.
    pub value: Value,
}

/// Value, as TOML and JSON both have them.
#[derive(Clone, Debug)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A table. Keys are unique; `kind` comes first.
    Table(Vec<(String, Node)>),
}

impl Node {
    /// Returns an empty table.
    pub fn empty(location: Location) -> Self {
        Self {
            location,
            value: Value::Table(Vec::new()),
        }
    }

    /// Parses a TOML document.
    pub(crate) fn from_toml(text: &str) -> Result<Self, LocatedError> {
        let lines = Lines::of(text);
        let syntax_error = |location, message: String| LocatedError {
            location,
            error: FieldError::new("", message),
        };
        check_nesting(text)
            .map_err(|(offset, message)| syntax_error(lines.location(offset), message))?;
        let document = DeTable::parse(text).map_err(|error| {
            let span = error.span();
            let location = span.map_or(Location::Whole, |span| lines.location(span.start));
            syntax_error(location, error.message().replace('\n', "; "))
        })?;
        Ok(Self {
            location: Location::Whole,
            value: convert_table(document.get_ref(), &|offset| lines.location(offset)),
        })
    }

    /// Parses one TOML value; any other text becomes a text.
    pub fn from_toml_value(text: &str, location: Location) -> Self {
        let parsed = check_nesting(text)
            .ok()
            .and_then(|()| DeValue::parse(text).ok())
            .map(|value| convert_value(value.get_ref(), &|_| location));
        Self {
            location,
            value: parsed.unwrap_or_else(|| Value::Text(text.to_owned())),
        }
    }

    /// Converts a JSON value. Fields that are null are left out; any other null is an empty table.
    pub fn from_json(json: &serde_json::Value, location: Location) -> Self {
        use serde_json::Value as Json;
        let value = match json {
            Json::Null => Value::Table(Vec::new()),
            Json::Bool(b) => Value::Bool(*b),
            Json::Number(n) => n.as_i64().map_or_else(
                || Value::Float(n.as_f64().unwrap_or(f64::NAN)),
                Value::Integer,
            ),
            Json::String(s) => Value::Text(s.clone()),
            Json::Array(items) => {
                Value::List(items.iter().map(|i| Self::from_json(i, location)).collect())
            }
            Json::Object(fields) => Value::Table(
                fields
                    .iter()
                    .filter(|(_, value)| !value.is_null())
                    .map(|(key, value)| (key.clone(), Self::from_json(value, location)))
                    .collect(),
            ),
        };
        Self { location, value }
    }

    /// Returns this value, and everything in it, as if written at `location`.
    pub fn moved_to(mut self, location: Location) -> Self {
        self.location = location;
        self.value = match self.value {
            Value::List(items) => {
                Value::List(items.into_iter().map(|i| i.moved_to(location)).collect())
            }
            Value::Table(fields) => Value::Table(
                fields
                    .into_iter()
                    .map(|(key, node)| (key, node.moved_to(location)))
                    .collect(),
            ),
            scalar => scalar,
        };
        self
    }

    /// Returns the element of a list or the field of a table.
    pub fn child(&self, key: &str) -> Option<&Self> {
        match &self.value {
            Value::List(items) => key.parse::<usize>().ok().and_then(|i| items.get(i)),
            Value::Table(fields) => fields.iter().find(|(k, _)| k == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// Returns the element of a list or the field of a table, to be changed.
    pub fn child_mut(&mut self, key: &str) -> Option<&mut Self> {
        match &mut self.value {
            Value::List(items) => key.parse::<usize>().ok().and_then(|i| items.get_mut(i)),
            Value::Table(fields) => {
                let mut known = fields.iter_mut();
                known.find(|(k, _)| k == key).map(|(_, node)| node)
            }
            _ => None,
        }
    }

    /// Returns the place of `field`, or else of the nearest value around it.
    pub(crate) fn location_of(&self, field: &str) -> Location {
        let mut node = self;
        for key in field.split('.') {
            match node.child(key) {
                Some(child) => node = child,
                None => break,
            }
        }
        node.location
    }
}

/// Converts a TOML table; `locate` returns the location of a byte offset.
fn convert_table(table: &DeTable<'_>, locate: &dyn Fn(usize) -> Location) -> Value {
    let mut fields = Vec::with_capacity(table.len());
    for (key, entry) in table {
        let node = Node {
            location: locate(key.span().start),
            value: convert_value(entry.get_ref(), locate),
        };
        let is_kind = key.get_ref() == "kind";
        let index = if is_kind { 0 } else { fields.len() };
        fields.insert(index, (key.get_ref().to_string(), node));
    }
    Value::Table(fields)
}

fn convert_value(value: &DeValue<'_>, locate: &dyn Fn(usize) -> Location) -> Value {
    match value {
        DeValue::Boolean(b) => Value::Bool(*b),
        DeValue::String(s) => Value::Text(s.to_string()),
        DeValue::Datetime(time) => Value::Text(time.to_string()),
        // An integer beyond i64 becomes infinity, which every range rejects.
        DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix())
            .map_or(Value::Float(f64::INFINITY), Value::Integer),
        DeValue::Float(x) => Value::Float(x.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| Node {
                    location: locate(item.span().start),
                    value: convert_value(item.get_ref(), locate),
                })
                .collect(),
        ),
        DeValue::Table(fields) => convert_table(fields, locate),
    }
}

/// Byte offsets at which lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self(core::iter::once(0).chain(after_breaks).collect())
    }

    fn location(&self, offset: usize) -> Location {
        Location::Line(self.0.partition_point(|start| *start <= offset))
    }
}

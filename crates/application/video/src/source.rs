//! Source of a bitrate ladder: a built-in one by its name, or a file of segment sizes.

use std::borrow::Cow;
use std::sync::Arc;

use config::{FieldError, suggestion};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ladders::Ladder;
use crate::manifest::Manifest;

/// Suffix that marks a text as the name of a file.
const ENDING: &str = ".json";

/// Source of a ladder.
#[derive(Clone, PartialEq, Debug)]
pub enum LadderSource {
    /// A built-in ladder.
    BuiltIn(Ladder),
    /// A file of segment sizes.
    File {
        /// Name as the scenario gives it.
        name: String,
        /// Contents of the file; `None` until it has been read.
        manifest: Option<Arc<Manifest>>,
    },
}

impl Default for LadderSource {
    fn default() -> Self {
        Self::BuiltIn(Ladder::default())
    }
}

impl From<Ladder> for LadderSource {
    fn from(ladder: Ladder) -> Self {
        Self::BuiltIn(ladder)
    }
}

impl LadderSource {
    /// Returns the name of the file, if there is one.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::BuiltIn(_) => None,
            Self::File { name, .. } => Some(name),
        }
    }

    /// Returns the manifest; `None` if a file has not been read yet.
    pub fn manifest(&self) -> Option<Arc<Manifest>> {
        match self {
            Self::BuiltIn(ladder) => Some(Arc::new(ladder.manifest())),
            Self::File { manifest, .. } => manifest.clone(),
        }
    }

    /// Returns the notes on the file, each with the file's name in front; none for a built-in ladder.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::File {
                name,
                manifest: Some(manifest),
            } => {
                let notes = manifest.notes().iter();
                notes.map(|note| format!("{name}: {note}")).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Reads the file, if there is one. `read` returns the path, for errors, and the contents.
    ///
    /// # Errors
    /// The fault of `read`, or the first one in the file, with its line.
    pub fn load(
        &mut self,
        read: impl FnOnce(&str) -> Result<(String, String), FieldError>,
    ) -> Result<(), FieldError> {
        if let Self::File { name, manifest } = self {
            let (path, text) = read(name)?;
            let result =
                Manifest::from_json(&text, &path).map_err(|error| FieldError::new("", error))?;
            *manifest = Some(Arc::new(result));
        }
        Ok(())
    }
}

impl Serialize for LadderSource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::BuiltIn(ladder) => ladder.serialize(serializer),
            Self::File { name, .. } => serializer.serialize_str(name),
        }
    }
}

impl<'de> Deserialize<'de> for LadderSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Word)
    }
}

/// Visitor that parses the name of a ladder or of a file.
struct Word;

impl Visitor<'_> for Word {
    type Value = LadderSource;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a ladder or a file of segment sizes")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<LadderSource, E> {
        if text.ends_with(ENDING) {
            let name = text.to_owned();
            return Ok(LadderSource::File {
                name,
                manifest: None,
            });
        }
        text.parse().map(Ladder::into).map_err(|_| {
            let words = Ladder::NAMES;
            let suggestion = suggestion(text, words.iter().copied());
            E::custom(format!(
                "{text:?} is not a choice here{suggestion}; allowed: {}, or a file of segment sizes, which ends in {ENDING}",
                words.join(", ")
            ))
        })
    }
}

impl JsonSchema for LadderSource {
    fn schema_name() -> Cow<'static, str> {
        "LadderSource".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let built_in = generator.subschema_for::<Ladder>();
        json_schema!({
            "anyOf": [
                built_in,
                {
                    "description": "File of segment sizes.",
                    "type": "string",
                    "pattern": r"\.json$"
                }
            ]
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> Result<LadderSource, String> {
        serde_json::from_str(&format!("{text:?}")).map_err(|error| error.to_string())
    }

    #[test]
    fn words_are_built_in_and_names_of_files_are_read_on_demand() {
        assert_eq!(source("4k"), Ok(Ladder::UltraHd.into()));
        let mut file = source("films/short.json").unwrap();
        assert_eq!(file.file(), Some("films/short.json"));
        assert!(file.manifest().is_none());
        let text = r#"{"segment_duration_ms": 2000, "bitrates_kbps": [800], "segment_sizes_bits": [[1600080]]}"#;
        file.load(|name| Ok((format!("/here/{name}"), text.to_owned())))
            .unwrap();
        assert_eq!(file.manifest().unwrap().video_bytes(0, 0).get(), 200_010);
        assert_eq!(
            serde_json::to_string(&file).unwrap(),
            "\"films/short.json\""
        );
    }

    #[test]
    fn a_wrong_word_is_told_what_is_allowed() {
        let message = source("8k").unwrap_err();
        assert!(
            message.contains(
                "allowed: bbb, 1080p, 4k, or a file of segment sizes, which ends in .json"
            ),
            "{message}"
        );
    }

    #[test]
    fn faults_of_the_file_name_it_and_the_line() {
        let mut file = source("short.json").unwrap();
        let error = file.load(|name| Ok((format!("/here/{name}"), "{\n}".to_owned())));
        let message = error.unwrap_err().to_string();
        assert!(message.starts_with("/here/short.json:2: "), "{message}");
    }
}

//! Reader of segment sizes in the JSON format of the ABR simulator Sabre; errors name the line.
//!
//! The object has `segment_duration_ms`, `bitrates_kbps` and `segment_sizes_bits`, which has one row for each segment
//! with one size for each bitrate. Three keys may be added: `resolutions` with texts such as "1280x720", one for each
//! bitrate, `frame_rate`, and `audio_kbps`.

use core::fmt::{self, Display};
use core::marker::PhantomData;

use config::ConfigError;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use units::{Duration, Rate};

use crate::consistency;
use crate::manifest::{Manifest, Representation};

const KEYS: &[&str] = &[
    "segment_duration_ms",
    "bitrates_kbps",
    "segment_sizes_bits",
    "resolutions",
    "frame_rate",
    "audio_kbps",
];

/// Resolution of a bitrate where the file has none.
const FULL_HD: (u32, u32) = (1920, 1080);

impl Manifest {
    /// Reads the text of a file of segment sizes; `file` is its name in errors.
    ///
    /// # Errors
    /// The first fault, with its line.
    pub fn from_json(text: &str, file: &str) -> Result<Self, ConfigError> {
        // Editors of Windows begin a text with a byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = reader.deserialize_map(ManifestVisitor);
        read.and_then(|manifest| reader.end().map(|()| manifest))
            .map_err(|error| {
                let with_line = error.to_string();
                let message = with_line
                    .rsplit_once(" at line ")
                    .map_or(&*with_line, |(message, _)| message);
                ConfigError {
                    place: format!("{file}:{}", error.line()),
                    field: String::new(),
                    message: message.to_owned(),
                }
            })
    }
}

/// Visitor of the whole JSON object.
struct ManifestVisitor;

impl<'de> Visitor<'de> for ManifestVisitor {
    type Value = Manifest;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with segment_duration_ms, bitrates_kbps and segment_sizes_bits")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Manifest, A::Error> {
        let mut fields = Fields::default();
        while let Some(key) = map.next_key::<String>()? {
            fields.read(&key, &mut map)?;
        }
        fields.manifest()
    }
}

/// Values of the keys that have been read.
#[derive(Default)]
struct Fields {
    segment: Option<Duration>,
    rates: Option<Vec<Rate>>,
    sizes: Option<Vec<Vec<u64>>>,
    resolutions: Option<Vec<(u32, u32)>>,
    frame_rate: Option<f64>,
    audio: Rate,
}

impl Fields {
    /// Reads the value of a key.
    fn read<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<(), A::Error> {
        let is_repeated = match key {
            "segment_duration_ms" => self.segment.is_some(),
            "bitrates_kbps" => self.rates.is_some(),
            "segment_sizes_bits" => self.sizes.is_some(),
            _ => false,
        };
        if is_repeated {
            return Err(A::Error::custom(format!(
                "{key}: is given twice; allowed: once"
            )));
        }
        let with_key = |error: A::Error| A::Error::custom(format!("{key}: {error}"));
        let key_error = |text: String| with_key(A::Error::custom(text));
        let mut number = |low, high| {
            let value = map.next_value().map_err(with_key)?;
            check_number(&value, low, high, None).map_err(key_error)
        };
        match key {
            "segment_duration_ms" => {
                let ms = number(0.001, 3_600_000.0)?;
                self.segment = Some(Duration::from_secs_f64(ms / 1e3));
            }
            "bitrates_kbps" => {
                let columns = self.sizes.as_ref().map(|rows| rows[0].len());
                let list = CheckedList::new(String::new(), columns, |kbps, before: &[f64]| {
                    check_number(&kbps, 0.001, 1e9, before.last())
                });
                let kbps = map.next_value_seed(list).map_err(with_key)?;
                let rates = kbps.iter().map(|kbps| Rate::from_mbps(kbps / 1e3));
                self.rates = Some(rates.collect());
            }
            "segment_sizes_bits" => {
                let columns = self.rates.as_ref().map(Vec::len);
                self.sizes = Some(map.next_value_seed(Rows(columns)).map_err(with_key)?);
            }
            "resolutions" => {
                let texts: Vec<String> = map.next_value().map_err(with_key)?;
                let pairs: Result<_, _> = texts.iter().map(|text| parse_resolution(text)).collect();
                self.resolutions = Some(pairs.map_err(key_error)?);
            }
            "frame_rate" => self.frame_rate = Some(number(1.0, 240.0)?),
            "audio_kbps" => self.audio = Rate::from_mbps(number(0.0, 100_000.0)? / 1e3),
            other => return Err(A::Error::unknown_field(other, KEYS)),
        }
        Ok(())
    }

    /// Returns the manifest of these values, with notes on what is assumed and what is unlikely.
    fn manifest<E: Error>(self) -> Result<Manifest, E> {
        let segment = self.segment.ok_or_else(|| E::missing_field(KEYS[0]))?;
        let rates = self.rates.ok_or_else(|| E::missing_field(KEYS[1]))?;
        let sizes = self.sizes.ok_or_else(|| E::missing_field(KEYS[2]))?;
        let assumed = self.resolutions.is_none().then(|| {
            let (width, height) = FULL_HD;
            let frames = if self.frame_rate.is_none() { ", at 24 frames per second" } else { "" };
            format!(
                "there are no resolutions, by which qoe (P.1203) scores: it takes {width}x{height} for every \
                 bitrate{frames}"
            )
        });
        let resolutions = self
            .resolutions
            .unwrap_or_else(|| vec![FULL_HD; rates.len()]);
        check_count(resolutions.len(), Some(rates.len()))
            .map_err(|error| E::custom(format!("resolutions: {error}")))?;
        let representation = |(rate, (width, height))| Representation {
            rate,
            width,
            height,
        };
        let pairs = rates.into_iter().zip(resolutions);
        let manifest = Manifest::constant(segment, pairs.map(representation).collect())
            .and_then(|manifest| manifest.with_sizes(sizes))
            .map_err(E::custom)?;
        let unlikely = consistency::check(&manifest)
            .map_err(|error| E::custom(format!("segment_sizes_bits: {error}")))?;
        let notes = assumed.into_iter().chain(unlikely).collect();
        let manifest = manifest.with_notes(notes).with_audio(self.audio);
        match self.frame_rate {
            Some(rate) => manifest.with_frame_rate(rate).map_err(E::custom),
            None => Ok(manifest),
        }
    }
}

/// Rejects a list without one entry per bitrate, once the number of `bitrates` is known.
fn check_count(count: usize, bitrates: Option<usize>) -> Result<(), String> {
    match bitrates {
        Some(bitrates) if bitrates != count => Err(format!(
            "{count} entries are out of range; allowed: {bitrates}, one for each bitrate"
        )),
        _ => Ok(()),
    }
}

/// Reads a resolution such as "1280x720".
fn parse_resolution(text: &str) -> Result<(u32, u32), String> {
    let pair = text
        .split_once('x')
        .and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match pair {
        Some((width, height)) if width > 0 && height > 0 => Ok((width, height)),
        _ => Err(format!(
            "{text:?} is no resolution; allowed: texts such as \"1280x720\""
        )),
    }
}

/// Largest size, bits.
const MAX_BITS: u64 = 1_000_000_000_000;

/// Converts a size from bits to bytes.
fn parse_size(bits: &Number) -> Result<u64, String> {
    let allowed = match bits.as_u64() {
        Some(whole @ 1..=MAX_BITS) => return Ok(whole.div_ceil(8)),
        Some(1..) => format!("{MAX_BITS} or less"),
        None if bits.is_f64() => "a whole number of bits".to_owned(),
        _ => "1 or more".to_owned(),
    };
    Err(out_of_range(bits, &allowed))
}

/// Checks that a number is in range and above `before`, the previous one of its list.
fn check_number(value: &Number, low: f64, high: f64, before: Option<&f64>) -> Result<f64, String> {
    let value = value.as_f64().unwrap_or(f64::NAN);
    if !(low..=high).contains(&value) {
        return Err(out_of_range(value, &format!("{low} to {high}")));
    }
    match before {
        Some(before) if value <= *before => {
            let allowed = format!("more than {before}, the one before it");
            Err(out_of_range(value, &allowed))
        }
        _ => Ok(value),
    }
}

fn out_of_range(value: impl Display, allowed: &str) -> String {
    format!("{value} is out of range; allowed: {allowed}")
}

/// Error text for an empty list.
const EMPTY: &str = "the list is empty; allowed: one entry or more";

/// Seed of a non-empty list. It checks an item as soon as it is read, so that errors have its line.
struct CheckedList<I, V, F> {
    /// Name of the list before errors.
    prefix: String,
    /// Number of entries, if it is known.
    count: Option<usize>,
    /// Converts an item, given the previous values.
    check: F,
    types: PhantomData<fn(I) -> V>,
}

impl<I, V, F: Fn(I, &[V]) -> Result<V, String>> CheckedList<I, V, F> {
    fn new(prefix: String, count: Option<usize>, check: F) -> Self {
        Self {
            prefix,
            count,
            check,
            types: PhantomData,
        }
    }
}

impl<'de, I: Deserialize<'de>, V, F: Fn(I, &[V]) -> Result<V, String>> DeserializeSeed<'de>
    for CheckedList<I, V, F>
{
    type Value = Vec<V>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<V>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, I: Deserialize<'de>, V, F: Fn(I, &[V]) -> Result<V, String>> Visitor<'de>
    for CheckedList<I, V, F>
{
    type Value = Vec<V>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<V>, A::Error> {
        let list_error = |error: String| A::Error::custom(format!("{}{error}", self.prefix));
        let mut values = Vec::with_capacity(self.count.unwrap_or_default());
        while let Some(item) = list.next_element()? {
            values.push((self.check)(item, &values).map_err(list_error)?);
        }
        if values.is_empty() {
            return Err(list_error(EMPTY.to_owned()));
        }
        check_count(values.len(), self.count).map_err(list_error)?;
        Ok(values)
    }
}

/// Reader of the rows of sizes, with the number of sizes in each if the bitrates have been read already.
struct Rows(Option<usize>);

impl<'de> DeserializeSeed<'de> for Rows {
    type Value = Vec<Vec<u64>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows {
    type Value = Vec<Vec<u64>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of rows of sizes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut rows: Vec<Vec<u64>> = Vec::new();
        loop {
            let columns = self.0.or(rows.first().map(Vec::len));
            let prefix = format!("row {}: ", rows.len() + 1);
            let row = CheckedList::new(prefix, columns, |bits, _: &[u64]| parse_size(&bits));
            match list.next_element_seed(row)? {
                Some(row) => rows.push(row),
                None if rows.is_empty() => return Err(A::Error::custom(EMPTY)),
                None => return Ok(rows),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Bytes;

    /// Example of the appendix on Sabre in "From theory to practice: improving bitrate adaptation in dash.js" (2018).
    const EXAMPLE: &str = r#"{
  "segment_duration_ms": 3000,
  "bitrates_kbps": [1000, 2000, 4000],
  "segment_sizes_bits": [
    [3000000, 6000000, 12000000],
    [3177800, 6311760, 12310936],
    [2932704, 5854096, 11732072],
    [2667248, 5652216, 11217520],
    [3222248, 6181928, 12739472]
  ]
}"#;

    fn fault(text: &str) -> String {
        Manifest::from_json(text, "film.json")
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn the_published_example_is_read() {
        let manifest = Manifest::from_json(EXAMPLE, "film.json").unwrap();
        assert_eq!(manifest.segment_duration(), Duration::from_secs(3));
        assert_eq!(manifest.segment_bytes(1, 2), Bytes::new(12_310_936 / 8));
        assert_eq!(manifest.rate(0), 1e6);
    }

    #[test]
    fn keys_in_any_order_and_optional_keys_are_read() {
        let text = r#"{"segment_sizes_bits": [[800, 1600]], "frame_rate": 50, "audio_kbps": 8,
            "resolutions": ["640x360", "1280x720"], "bitrates_kbps": [1, 2], "segment_duration_ms": 1000}"#;
        let manifest = Manifest::from_json(text, "film.json").unwrap();
        assert_eq!(manifest.segment_bytes(0, 1), Bytes::new(1_200));
        assert_eq!(
            (manifest.representations()[1].height, manifest.frame_rate()),
            (720, 50.0)
        );
    }

    #[test]
    fn faults_name_file_and_line() {
        let short = EXAMPLE.replace("5854096, ", "");
        assert_eq!(
            fault(&short),
            "film.json:7: segment_sizes_bits: row 3: 2 entries are out of range; allowed: 3, one for each bitrate"
        );
        assert_eq!(
            fault(&EXAMPLE.replace("2667248", "0")),
            "film.json:8: segment_sizes_bits: row 4: 0 is out of range; allowed: 1 or more"
        );
        assert_eq!(
            fault(&EXAMPLE.replace("2000, 4000", "2000, 1500")),
            "film.json:3: bitrates_kbps: 1500 is out of range; allowed: more than 2000, the one before it"
        );
        assert!(
            fault(&EXAMPLE.replace("bitrates_kbps", "bitrates"))
                .starts_with("film.json:3: unknown field")
        );
        assert!(
            fault(&EXAMPLE.replace("6311760", "\"many\""))
                .starts_with("film.json:6: segment_sizes_bits:")
        );
        assert!(fault("{\n}").starts_with("film.json:2: missing field `segment_duration_ms`"));
        assert!(fault("").starts_with("film.json:1: EOF"));
    }
}

//! Reader of segment sizes in the JSON format of the ABR simulator Sabre; errors name the line.
//!
//! The object has `segment_duration_ms`, `bitrates_kbps` and `segment_sizes_bits`, which has one row for each segment
//! with one size for each bitrate. Three keys may be added: `resolutions` with texts such as "1280x720", one for each
//! bitrate, `frame_rate`, and `audio_kbps`.

use config::ConfigError;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
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
        let read = reader.deserialize_map(Keys);
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

/// Visitor of the JSON object.
struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Manifest;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
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
        let inside = |error: A::Error| A::Error::custom(format!("{key}: {error}"));
        let mut number = |low, high| {
            let numbers = map.next_value_seed(Numbers::one(low, high));
            numbers.map(|numbers| numbers[0]).map_err(inside)
        };
        match key {
            "segment_duration_ms" => {
                let ms = number(0.001, 3_600_000.0)?;
                self.segment = Some(Duration::from_secs_f64(ms / 1e3));
            }
            "bitrates_kbps" => {
                let kbps = map.next_value_seed(Numbers::rising()).map_err(inside)?;
                same_count(kbps.len(), self.sizes.as_ref().map(|rows| rows[0].len()))
                    .map_err(inside)?;
                let rates = kbps.iter().map(|kbps| Rate::from_mbps(kbps / 1e3));
                self.rates = Some(rates.collect());
            }
            "segment_sizes_bits" => {
                let columns = self.rates.as_ref().map(Vec::len);
                self.sizes = Some(map.next_value_seed(Rows { columns }).map_err(inside)?);
            }
            "resolutions" => {
                let words: Vec<String> = map.next_value().map_err(inside)?;
                let pairs: Result<_, A::Error> =
                    words.iter().map(|word| resolution(word)).collect();
                self.resolutions = Some(pairs.map_err(inside)?);
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
        same_count(resolutions.len(), Some(rates.len()))
            .map_err(|error: E| E::custom(format!("resolutions: {error}")))?;
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
            .map_err(|wrong| E::custom(format!("segment_sizes_bits: {wrong}")))?;
        let notes = assumed.into_iter().chain(unlikely).collect();
        let manifest = manifest.with_notes(notes).with_audio(self.audio);
        match self.frame_rate {
            Some(rate) => manifest.with_frame_rate(rate).map_err(E::custom),
            None => Ok(manifest),
        }
    }
}

/// Refuses a list that does not have one entry for each bitrate, if the number of `bitrates` is known already.
fn same_count<E: Error>(count: usize, bitrates: Option<usize>) -> Result<(), E> {
    match bitrates {
        Some(bitrates) if bitrates != count => {
            let message = format!(
                "{count} entries are out of range; allowed: {bitrates}, one for each bitrate"
            );
            Err(E::custom(message))
        }
        _ => Ok(()),
    }
}

/// Reads a resolution such as "1280x720".
fn resolution<E: Error>(word: &str) -> Result<(u32, u32), E> {
    let pair = word
        .split_once('x')
        .and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match pair {
        Some((width, height)) if width > 0 && height > 0 => Ok((width, height)),
        _ => Err(E::custom(format!(
            "{word:?} is no resolution; allowed: texts such as \"1280x720\""
        ))),
    }
}

/// Reader of a number, or of a list of rising numbers, from `low` to `high`.
#[derive(Clone, Copy)]
struct Numbers {
    low: f64,
    high: f64,
    is_list: bool,
}

impl Numbers {
    fn one(low: f64, high: f64) -> Self {
        let is_list = false;
        Self { low, high, is_list }
    }

    fn rising() -> Self {
        let (low, high) = (0.001, 1e9);
        Self {
            low,
            high,
            is_list: true,
        }
    }

    fn check<E: Error>(self, value: f64, above: f64) -> Result<f64, E> {
        if !(self.low..=self.high).contains(&value) {
            let Self { low, high, .. } = self;
            return Err(E::custom(format!(
                "{value} is out of range; allowed: {low} to {high}"
            )));
        }
        if value <= above {
            return Err(E::custom(format!(
                "{value} is out of range; allowed: more than {above}, the one before it"
            )));
        }
        Ok(value)
    }
}

impl<'de> DeserializeSeed<'de> for Numbers {
    type Value = Vec<f64>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<f64>, D::Error> {
        if self.is_list {
            deserializer.deserialize_seq(self)
        } else {
            deserializer.deserialize_f64(self)
        }
    }
}

impl<'de> Visitor<'de> for Numbers {
    type Value = Vec<f64>;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(if self.is_list {
            "a list of numbers"
        } else {
            "a number"
        })
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Vec<f64>, E> {
        Ok(vec![self.check(value, f64::NEG_INFINITY)?])
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Vec<f64>, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Vec<f64>, E> {
        self.visit_f64(value as f64)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<f64>, A::Error> {
        let mut values: Vec<f64> = Vec::new();
        while let Some(value) = list.next_element()? {
            let above = values.last().copied().unwrap_or(f64::NEG_INFINITY);
            values.push(self.check(value, above)?);
        }
        match values.len() {
            0 => Err(A::Error::custom(
                "the list is empty; allowed: 1 number or more",
            )),
            _ => Ok(values),
        }
    }
}

/// Reader of the rows, which converts sizes from bits to bytes.
struct Rows {
    /// Number of sizes in a row, if the bitrates have been read already.
    columns: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Rows {
    type Value = Vec<Vec<u64>>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows {
    type Value = Vec<Vec<u64>>;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a list of rows of sizes")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut rows: Vec<Vec<u64>> = Vec::new();
        loop {
            let columns = self.columns.or(rows.first().map(Vec::len));
            let number = rows.len() + 1;
            match list.next_element_seed(Row { number, columns })? {
                Some(row) => rows.push(row),
                None if rows.is_empty() => {
                    return Err(A::Error::custom(
                        "the list is empty; allowed: 1 row or more",
                    ));
                }
                None => return Ok(rows),
            }
        }
    }
}

/// Reader of a row.
struct Row {
    number: usize,
    columns: Option<usize>,
}

impl<'de> DeserializeSeed<'de> for Row {
    type Value = Vec<u64>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<u64>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Row {
    type Value = Vec<u64>;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a list of sizes in bits")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<u64>, A::Error> {
        let mut sizes = Vec::with_capacity(self.columns.unwrap_or(8));
        let row = self.number;
        while let Some(bits) = list.next_element_seed(Bits { row })? {
            sizes.push(bits.div_ceil(8));
        }
        same_count(sizes.len(), self.columns)
            .map_err(|error: A::Error| A::Error::custom(format!("row {row}: {error}")))?;
        Ok(sizes)
    }
}

/// Largest size, bits.
const MAX_BITS: u64 = 1_000_000_000_000;

/// Reader of a size.
#[derive(Clone, Copy)]
struct Bits {
    row: usize,
}

impl Bits {
    fn refuse<E: Error>(self, bits: impl core::fmt::Display, allowed: &str) -> E {
        let row = self.row;
        E::custom(format!(
            "row {row}: {bits} is out of range; allowed: {allowed}"
        ))
    }
}

impl<'de> DeserializeSeed<'de> for Bits {
    type Value = u64;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u64, D::Error> {
        deserializer.deserialize_u64(self)
    }
}

impl Visitor<'_> for Bits {
    type Value = u64;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "a size in bits, 1 to {MAX_BITS}, in row {}", self.row)
    }

    fn visit_u64<E: Error>(self, bits: u64) -> Result<u64, E> {
        match bits {
            0 => Err(self.refuse(bits, "1 or more")),
            1..=MAX_BITS => Ok(bits),
            _ => Err(self.refuse(bits, &format!("{MAX_BITS} or less"))),
        }
    }

    fn visit_i64<E: Error>(self, bits: i64) -> Result<u64, E> {
        u64::try_from(bits).map_or_else(
            |_| Err(self.refuse(bits, "1 or more")),
            |bits| self.visit_u64(bits),
        )
    }

    fn visit_f64<E: Error>(self, bits: f64) -> Result<u64, E> {
        Err(self.refuse(bits, "a whole number of bits"))
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
        assert_eq!(manifest.segment(), Duration::from_secs(3));
        assert_eq!(manifest.size(1, 2), Bytes::new(12_310_936 / 8));
        assert_eq!(manifest.rate(0), 1e6);
    }

    #[test]
    fn the_keys_may_stand_in_any_order_and_more_are_known() {
        let text = r#"{"segment_sizes_bits": [[800, 1600]], "frame_rate": 50, "audio_kbps": 8,
            "resolutions": ["640x360", "1280x720"], "bitrates_kbps": [1, 2], "segment_duration_ms": 1000}"#;
        let manifest = Manifest::from_json(text, "film.json").unwrap();
        assert_eq!(manifest.size(0, 1), Bytes::new(1_200));
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

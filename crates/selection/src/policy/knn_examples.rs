//! kNN: training examples and nearest-neighbour search.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::knn_distance::{Column, TOP, least};
use super::{cca_named, on_linux};
use crate::features::{FEATURES, Features, feature_index};

/// Parts of the outcome of a CCA, which have columns such as `a:bbr`, in percent.
pub const PARTS: [&str; 7] = ["a", "b", "c", "use", "goodput@", "delay@", "power"];

/// Columns that are neither features nor outcomes.
const FAMILY: &str = "family";
const BEFORE: &str = "before";
const FAIR: &str = "fair_share";

/// Sum of the weights in the distances, which then fit in 16 bits: sums of short numbers are fast.
const WEIGHTS: f64 = 200.0;
/// Moments whose distances are summed at a time, so that they stay in the fastest memory.
const BLOCK: usize = 512;
/// Moments that are passed over at a time if none of them is among the nearest.
const LOOK: usize = 64;

/// Table of measured moments. Its text is CSV.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ExampleTable {
    text: Arc<str>,
    examples: Arc<Examples>,
}

impl PartialEq for ExampleTable {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl From<ExampleTable> for String {
    fn from(evidence: ExampleTable) -> Self {
        evidence.text.as_ref().to_owned()
    }
}

impl TryFrom<String> for ExampleTable {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // A campaign asks for the same long table in each of its runs.
        static LAST: Mutex<Option<ExampleTable>> = Mutex::new(None);
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(same) = last.filter(|last| *last.text == *text) {
            return Ok(same);
        }
        let examples = Examples::read(&text)?;
        let read = Self {
            text: text.into(),
            examples: Arc::new(examples),
        };
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(read.clone());
        Ok(read)
    }
}

impl JsonSchema for ExampleTable {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Evidence".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// The moments most alike.
#[derive(Clone, Debug)]
pub struct Neighbours {
    /// Rows, with weights that fall with the distance.
    pub rows: Vec<(usize, f64)>,
    /// Their mean distance: the weighted mean of the differences in rank, from 0 to 1.
    pub distance: f64,
}

/// Columns of the text of a table.
#[derive(Debug)]
struct Examples {
    families: Vec<String>,
    /// Numbers of the CCAs in use before, by `names_before`.
    before: Vec<u8>,
    names_before: Vec<&'static str>,
    /// Fair share of the flow; 1 if it is alone.
    fair: Vec<f32>,
    columns: Vec<Column>,
    ccas: Vec<&'static str>,
    /// Whether Linux has each.
    on_linux: Vec<bool>,
    /// Parts per row and CCA.
    outcomes: Vec<[f32; PARTS.len()]>,
}

/// Places of the columns in the header of a table.
struct Header {
    names: csv::StringRecord,
    family: usize,
    before: usize,
    fair: usize,
    /// Numbers of features, with the places of their columns.
    features: Vec<(usize, usize)>,
    /// CCAs, with the places of the columns of their parts.
    ccas: Vec<(&'static str, Vec<usize>)>,
}

impl Header {
    fn read(names: csv::StringRecord) -> Result<Self, String> {
        let place = |wanted: &str| {
            names.iter().position(|name| name == wanted).ok_or_else(|| {
                let columns = names.iter().take(8).collect::<Vec<_>>().join(", ");
                format!("the table has no column {wanted:?}; it has {columns} and so on")
            })
        };
        let (family, before, fair) = (place(FAMILY)?, place(BEFORE)?, place(FAIR)?);
        let mut features = Vec::new();
        let mut ccas: Vec<(&'static str, Vec<usize>)> = Vec::new();
        for (number, name) in names.iter().enumerate() {
            if [family, before, fair].contains(&number) {
                continue;
            }
            if let Some(feature) = feature_index(name) {
                features.push((feature, number));
            } else if let Some((part, cca)) = name.split_once(':')
                && PARTS.contains(&part)
            {
                let known =
                    cca_named(cca).map_err(|reason| format!("column {name:?}: {reason}"))?;
                if !ccas.iter().any(|(other, _)| *other == known) {
                    let columns = PARTS.iter().map(|part| place(&format!("{part}:{cca}")));
                    ccas.push((known, columns.collect::<Result<_, _>>()?));
                }
            } else {
                return Err(format!(
                    "column {name:?} is not allowed; allowed: {FAMILY}, {BEFORE}, {FAIR}, features, and outcomes such \
                     as a:bbr"
                ));
            }
        }
        Ok(Self {
            family,
            before,
            fair,
            features,
            ccas,
            names,
        })
    }

    /// Returns the number in a column of a row; rows are counted from 0.
    fn number(&self, record: &csv::StringRecord, row: usize, column: usize) -> Result<f64, String> {
        let spelt = &record[column];
        let value = spelt.parse().ok().filter(|value: &f64| value.is_finite());
        value.ok_or_else(|| self.refuse(row, column, format_args!("{spelt:?} is not a number")))
    }

    /// Returns the error of a value, with its row and its column.
    fn refuse(&self, row: usize, column: usize, reason: impl core::fmt::Display) -> String {
        let name = &self.names[column];
        format!("row {}, column {name:?}: {reason}", row + 1)
    }
}

impl Examples {
    fn read(text: &str) -> Result<Self, String> {
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .from_reader(text.trim_start().as_bytes());
        let header = Header::read(reader.headers().map_err(|error| error.to_string())?.clone())?;
        let mut examples = Self {
            families: Vec::new(),
            before: Vec::new(),
            names_before: Vec::new(),
            fair: Vec::new(),
            columns: Vec::new(),
            ccas: header.ccas.iter().map(|cca| cca.0).collect(),
            on_linux: header.ccas.iter().map(|cca| on_linux(cca.0)).collect(),
            outcomes: Vec::new(),
        };
        let mut values = vec![Vec::new(); header.features.len()];
        let mut record = csv::StringRecord::new();
        for row in 0.. {
            if !reader
                .read_record(&mut record)
                .map_err(|error| error.to_string())?
            {
                break;
            }
            examples.add(&header, &record, row)?;
            for (&(_, column), values) in header.features.iter().zip(&mut values) {
                let is_known = !record[column].is_empty();
                let value = is_known.then(|| header.number(&record, row, column));
                values.push(value.transpose()?);
            }
            examples.add_outcomes(&header, &record, row)?;
        }
        if examples.outcomes.is_empty() {
            return Err(
                "the table has no outcomes; allowed: one row and one CCA or more".to_owned(),
            );
        }
        let columns = header.features.iter().zip(&values);
        examples.columns = columns
            .map(|((feature, _), values)| Column::new(*feature, values))
            .collect();
        Ok(examples)
    }

    /// Adds family, CCA in use before and fair share of a row.
    fn add(
        &mut self,
        header: &Header,
        record: &csv::StringRecord,
        row: usize,
    ) -> Result<(), String> {
        self.families.push(record[header.family].to_owned());
        let name = cca_named(&record[header.before])
            .map_err(|reason| header.refuse(row, header.before, reason))?;
        let known = self.names_before.iter().position(|other| *other == name);
        let place = known.unwrap_or(self.names_before.len());
        if known.is_none() {
            self.names_before.push(name);
        }
        self.before.push(u8::try_from(place).unwrap_or(u8::MAX));
        let share = header.number(record, row, header.fair)?;
        if !(share > 0.0 && share <= 1.0) {
            let reason = format_args!("{share} is not allowed; allowed: above 0, up to 1");
            return Err(header.refuse(row, header.fair, reason));
        }
        self.fair.push(share as f32);
        Ok(())
    }

    /// Adds the parts of the outcomes of a row, CCA by CCA.
    fn add_outcomes(
        &mut self,
        header: &Header,
        record: &csv::StringRecord,
        row: usize,
    ) -> Result<(), String> {
        for (_, columns) in &header.ccas {
            let mut parts = [0.0; PARTS.len()];
            for (part, &column) in parts.iter_mut().zip(columns) {
                let percent = header.number(record, row, column)?;
                if !(0.0..=100.0).contains(&percent) {
                    let reason = format_args!("{percent} is not allowed; allowed: 0 to 100");
                    return Err(header.refuse(row, column, reason));
                }
                *part = (percent / 100.0) as f32;
            }
            self.outcomes.push(parts);
        }
        Ok(())
    }
}

impl ExampleTable {
    /// Returns the number of moments.
    pub fn rows(&self) -> usize {
        self.examples.before.len()
    }

    /// Returns the CCAs whose outcomes the table has.
    pub fn ccas(&self) -> &[&'static str] {
        &self.examples.ccas
    }

    /// Returns the CCAs with their places; on a Linux kernel those that it has.
    pub(super) fn available(&self, kernel: bool) -> impl Iterator<Item = (usize, &'static str)> {
        let examples = &*self.examples;
        let all = examples.ccas.iter().copied().enumerate();
        all.filter(move |(place, _)| !kernel || examples.on_linux[*place])
    }

    /// Returns the names of its features.
    pub(super) fn features(&self) -> impl Iterator<Item = &'static str> {
        let columns = self.examples.columns.iter();
        columns.map(|column| FEATURES[column.feature].name)
    }

    /// Returns whether the table has the feature of this number.
    pub(super) fn has(&self, feature: usize) -> bool {
        self.examples
            .columns
            .iter()
            .any(|column| column.feature == feature)
    }

    /// Returns the parts of the outcome of a CCA, by its place.
    pub(super) fn outcome(&self, row: usize, cca: usize) -> &[f32; PARTS.len()] {
        &self.examples.outcomes[row * self.examples.ccas.len() + cca]
    }

    /// Returns the share of a fair share that a CCA, by its place, got beside other flows; `None` if there were none.
    pub(super) fn share(&self, row: usize, cca: usize) -> Option<f64> {
        let fair = f64::from(self.examples.fair[row]);
        (fair < 1.0).then(|| f64::from(self.outcome(row, cca)[3]) / fair)
    }

    /// Returns in words from which families of networks rows are, the most frequent `most` first.
    pub(super) fn families(&self, rows: impl Iterator<Item = usize>, most: usize) -> String {
        let mut counts = BTreeMap::new();
        for row in rows {
            *counts
                .entry(self.examples.families[row].as_str())
                .or_insert(0) += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
        let named = counts.iter().take(most);
        let named: Vec<_> = named
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        named.join(", ")
    }

    /// Returns the `count` rows that are most alike to these features and the CCA in use.
    pub(super) fn nearest(
        &self,
        features: &Features,
        weight: impl Fn(&str) -> f64,
        present: &str,
        before: f64,
        count: usize,
    ) -> Neighbours {
        let examples = &*self.examples;
        let weights: Vec<_> = self.features().map(weight).collect();
        let total = before + weights.iter().sum::<f64>();
        let scaled = |weight: f64| (weight / total * WEIGHTS).round() as u16;
        let columns = examples.columns.iter().zip(&weights);
        let terms = columns.map(|(column, weight)| {
            let known = features.0[column.feature];
            let place = column.place(known.map(|known| known.value));
            (column, place, scaled(*weight))
        });
        let terms: Vec<_> = terms.filter(|term| term.2 > 0).collect();
        let mut names = examples.names_before.iter();
        // A CCA under which nothing was measured is another one at every moment.
        let present = names.position(|name| *name == present);
        let present = present.and_then(|place| u8::try_from(place).ok());
        let other = scaled(before) * u16::from(TOP);
        let count = count.min(self.rows());
        let mut near = Vec::with_capacity(count + 1);
        let mut block = [0; BLOCK];
        let mut farthest = u16::MAX;
        for (first, moments) in (0..).step_by(BLOCK).zip(examples.before.chunks(BLOCK)) {
            let sums = &mut block[..moments.len()];
            for (sum, moment) in sums.iter_mut().zip(moments) {
                *sum = if Some(*moment) == present { 0 } else { other };
            }
            for &(column, place, weight) in &terms {
                column.add(place, weight, first, sums);
            }
            for (first, sums) in (first..).step_by(LOOK).zip(sums.chunks(LOOK)) {
                if least(sums) >= farthest {
                    continue;
                }
                for (row, &sum) in (first..).zip(sums) {
                    if sum < farthest {
                        farthest = keep(&mut near, count, sum, row);
                    }
                }
            }
        }
        let farthest = near
            .last()
            .map_or(0.0, |last: &(u16, usize)| f64::from(last.0))
            + 1.0;
        let sum: f64 = near.iter().map(|each| f64::from(each.0)).sum();
        let scaled =
            f64::from(terms.iter().map(|term| term.2).sum::<u16>() + other / u16::from(TOP));
        let rows = near.iter().map(|&(distance, row)| {
            // The farthest still counts a little, so that equals all count.
            (row, 1.0 - f64::from(distance) / farthest + 1e-3)
        });
        Neighbours {
            rows: rows.collect(),
            distance: sum / near.len() as f64 / (scaled * f64::from(TOP)),
        }
    }
}

/// Adds a row to the `count` with the shortest distances, which are in ascending order; of equals the first come first.
/// Returns the distance from which on no row is added any more.
fn keep(near: &mut Vec<(u16, usize)>, count: usize, distance: u16, row: usize) -> u16 {
    let place = near.partition_point(|each| each.0 <= distance);
    near.insert(place, (distance, row));
    near.truncate(count);
    match near.last() {
        Some(last) if near.len() == count => last.0,
        _ => u16::MAX,
    }
}

//! kNN: training examples and nearest-neighbour search.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use super::knn_distance::{Column, MAX_RANK, QueryRank, min_sum};
use super::{canonical_cca, is_in_linux};
use crate::features::{FEATURES, Features, feature_index};

/// Metrics of the outcome of a CCA, in percent, each with a column per CCA such as `a:bbr`. They are the parts a, b and c
/// of PM, the capacity use, and the measures of the requirements `power`, `goodput@` and `delay@` (the last two
/// without their bounds).
pub const OUTCOME_METRICS: [&str; 7] = ["a", "b", "c", "use", "goodput@", "delay@", "power"];

/// Index of the capacity use in [`OUTCOME_METRICS`].
pub(super) const CAPACITY_USE: usize = 3;

/// Column of the family of networks.
const FAMILY: &str = "family";
/// Column of the CCA in use before the switch, and key of its weight.
pub(super) const PRIOR_CCA: &str = "before";
/// Column of the fair share of the flow.
const FAIR_SHARE: &str = "fair_share";

/// Sum of the scaled weights, so small that a distance fits into a u16 (vectorised sums).
const WEIGHT_SUM: f64 = 200.0;
/// Rows whose distances are summed at a time, so that they stay in the L1 cache.
const BLOCK_ROWS: usize = 512;
/// Rows whose minimum distance is checked at once before single rows are compared.
const SKIP_ROWS: usize = 64;

/// Table of kNN examples, one row per sampled time of a run; serialised as CSV.
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
    fn from(table: ExampleTable) -> Self {
        table.text.as_ref().to_owned()
    }
}

impl TryFrom<String> for ExampleTable {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        // A campaign reads the same long table in each of its runs.
        static LAST: Mutex<Option<ExampleTable>> = Mutex::new(None);
        let last = LAST.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(same) = last.filter(|last| *last.text == *text) {
            return Ok(same);
        }
        let examples = Examples::parse(&text)?;
        let table = Self {
            text: text.into(),
            examples: Arc::new(examples),
        };
        *LAST.lock().unwrap_or_else(PoisonError::into_inner) = Some(table.clone());
        Ok(table)
    }
}

impl JsonSchema for ExampleTable {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ExampleTable".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

/// Row of the table with its weight.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Neighbour {
    /// Index of the row.
    pub(super) row: usize,
    /// Weight, which falls with the distance.
    pub(super) weight: f64,
}

/// Result of a nearest-neighbour search.
#[derive(Clone, Debug)]
pub(super) struct Neighbours {
    /// The nearest rows, in ascending order of distance.
    pub(super) neighbours: Vec<Neighbour>,
    /// Their mean distance: the weighted mean of the differences in rank, from 0 to 1.
    pub(super) distance: f64,
}

/// Parsed columns of a table.
#[derive(Debug)]
struct Examples {
    families: Vec<String>,
    /// Index into `prior_cca_names`, by row.
    prior_ccas: Vec<u8>,
    prior_cca_names: Vec<&'static str>,
    /// Fair share of the flow; 1 if it is alone.
    fair_shares: Vec<f32>,
    columns: Vec<Column>,
    ccas: Vec<&'static str>,
    /// Whether Linux has each of `ccas`.
    is_in_linux: Vec<bool>,
    /// Metrics per row and CCA.
    outcomes: Vec<[f32; OUTCOME_METRICS.len()]>,
}

/// Column of a feature.
struct FeatureColumn {
    feature: usize,
    column: usize,
}

/// Columns of the outcome of a CCA, in the order of [`OUTCOME_METRICS`].
struct CcaColumns {
    cca: &'static str,
    columns: Vec<usize>,
}

/// Column indices of a table.
struct Header {
    names: csv::StringRecord,
    family: usize,
    prior_cca: usize,
    fair_share: usize,
    features: Vec<FeatureColumn>,
    ccas: Vec<CcaColumns>,
}

impl Header {
    fn parse(names: csv::StringRecord) -> Result<Self, String> {
        let find_column = |column: &str| {
            names.iter().position(|name| name == column).ok_or_else(|| {
                let columns = names.iter().take(8).collect::<Vec<_>>().join(", ");
                format!("the table has no column {column:?}; it has {columns} and so on")
            })
        };
        let family = find_column(FAMILY)?;
        let prior_cca = find_column(PRIOR_CCA)?;
        let fair_share = find_column(FAIR_SHARE)?;
        let mut features = Vec::new();
        let mut ccas: Vec<CcaColumns> = Vec::new();
        for (column, name) in names.iter().enumerate() {
            if [family, prior_cca, fair_share].contains(&column) {
                continue;
            }
            if let Some(feature) = feature_index(name) {
                features.push(FeatureColumn { feature, column });
            } else if let Some((metric, cca)) = name.split_once(':')
                && OUTCOME_METRICS.contains(&metric)
            {
                let canonical =
                    canonical_cca(cca).map_err(|reason| format!("column {name:?}: {reason}"))?;
                if !ccas.iter().any(|other| other.cca == canonical) {
                    let columns = OUTCOME_METRICS
                        .iter()
                        .map(|metric| find_column(&format!("{metric}:{cca}")));
                    ccas.push(CcaColumns {
                        cca: canonical,
                        columns: columns.collect::<Result<_, _>>()?,
                    });
                }
            } else {
                return Err(format!(
                    "column {name:?} is not allowed; allowed: {FAMILY}, {PRIOR_CCA}, {FAIR_SHARE}, features, and outcomes such \
                     as a:bbr"
                ));
            }
        }
        Ok(Self {
            family,
            prior_cca,
            fair_share,
            features,
            ccas,
            names,
        })
    }

    /// Returns the number in a column of a row; rows are counted from 0.
    fn parse_number(
        &self,
        record: &csv::StringRecord,
        row: usize,
        column: usize,
    ) -> Result<f64, String> {
        let text = &record[column];
        let value = text.parse().ok().filter(|value: &f64| value.is_finite());
        value.ok_or_else(|| self.cell_error(row, column, format_args!("{text:?} is not a number")))
    }

    /// Returns the error text of a cell, with its row and its column.
    fn cell_error(&self, row: usize, column: usize, reason: impl core::fmt::Display) -> String {
        let name = &self.names[column];
        format!("row {}, column {name:?}: {reason}", row + 1)
    }
}

impl Examples {
    fn parse(text: &str) -> Result<Self, String> {
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .from_reader(text.trim_start().as_bytes());
        let header = Header::parse(reader.headers().map_err(|error| error.to_string())?.clone())?;
        let mut examples = Self {
            families: Vec::new(),
            prior_ccas: Vec::new(),
            prior_cca_names: Vec::new(),
            fair_shares: Vec::new(),
            columns: Vec::new(),
            ccas: header.ccas.iter().map(|each| each.cca).collect(),
            is_in_linux: header
                .ccas
                .iter()
                .map(|each| is_in_linux(each.cca))
                .collect(),
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
            for (feature, values) in header.features.iter().zip(&mut values) {
                let is_known = !record[feature.column].is_empty();
                let value = is_known.then(|| header.parse_number(&record, row, feature.column));
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
            .map(|(column, values)| Column::new(column.feature, values))
            .collect();
        Ok(examples)
    }

    /// Adds family, prior CCA and fair share of a row.
    fn add(
        &mut self,
        header: &Header,
        record: &csv::StringRecord,
        row: usize,
    ) -> Result<(), String> {
        self.families.push(record[header.family].to_owned());
        let name = canonical_cca(&record[header.prior_cca])
            .map_err(|reason| header.cell_error(row, header.prior_cca, reason))?;
        let present = self.prior_cca_names.iter().position(|other| *other == name);
        let index = present.unwrap_or(self.prior_cca_names.len());
        if present.is_none() {
            self.prior_cca_names.push(name);
        }
        self.prior_ccas.push(u8::try_from(index).unwrap_or(u8::MAX));
        let share = header.parse_number(record, row, header.fair_share)?;
        if !(share > 0.0 && share <= 1.0) {
            let reason = format_args!("{share} is not allowed; allowed: above 0, up to 1");
            return Err(header.cell_error(row, header.fair_share, reason));
        }
        self.fair_shares.push(share as f32);
        Ok(())
    }

    /// Adds the outcomes of a row, CCA by CCA.
    fn add_outcomes(
        &mut self,
        header: &Header,
        record: &csv::StringRecord,
        row: usize,
    ) -> Result<(), String> {
        for cca in &header.ccas {
            let mut metrics = [0.0; OUTCOME_METRICS.len()];
            for (metric, &column) in metrics.iter_mut().zip(&cca.columns) {
                let percent = header.parse_number(record, row, column)?;
                if !(0.0..=100.0).contains(&percent) {
                    let reason = format_args!("{percent} is not allowed; allowed: 0 to 100");
                    return Err(header.cell_error(row, column, reason));
                }
                *metric = (percent / 100.0) as f32;
            }
            self.outcomes.push(metrics);
        }
        Ok(())
    }
}

impl ExampleTable {
    /// Returns the number of rows.
    pub(super) fn rows(&self) -> usize {
        self.examples.prior_ccas.len()
    }

    /// Returns the CCAs whose outcomes the table has.
    pub(super) fn ccas(&self) -> &[&'static str] {
        &self.examples.ccas
    }

    /// Returns index and name of the CCAs; if `linux_only`, only those of Linux.
    pub(super) fn available(
        &self,
        linux_only: bool,
    ) -> impl Iterator<Item = (usize, &'static str)> {
        let examples = &*self.examples;
        let all = examples.ccas.iter().copied().enumerate();
        all.filter(move |(index, _)| !linux_only || examples.is_in_linux[*index])
    }

    /// Returns the names of its features.
    pub(super) fn features(&self) -> impl Iterator<Item = &'static str> {
        let columns = self.examples.columns.iter();
        columns.map(|column| FEATURES[column.feature].name)
    }

    /// Returns whether the table has the feature with this index.
    pub(super) fn has(&self, feature: usize) -> bool {
        self.examples
            .columns
            .iter()
            .any(|column| column.feature == feature)
    }

    /// Returns the outcome of CCA number `cca` in a row.
    pub(super) fn outcome(&self, row: usize, cca: usize) -> &[f32; OUTCOME_METRICS.len()] {
        &self.examples.outcomes[row * self.examples.ccas.len() + cca]
    }

    /// Returns the capacity use of CCA number `cca` over its fair share; `None` if the flow was alone.
    pub(super) fn fair_share_ratio(&self, row: usize, cca: usize) -> Option<f64> {
        let fair = f64::from(self.examples.fair_shares[row]);
        (fair < 1.0).then(|| f64::from(self.outcome(row, cca)[CAPACITY_USE]) / fair)
    }

    /// Formats the `max_families` most frequent network families of `rows` as pairs of count and name.
    pub(super) fn families(
        &self,
        rows: impl Iterator<Item = usize>,
        max_families: usize,
    ) -> String {
        let mut counts = BTreeMap::new();
        for row in rows {
            *counts
                .entry(self.examples.families[row].as_str())
                .or_insert(0) += 1;
        }
        let mut counts: Vec<_> = counts.into_iter().collect();
        counts.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
        let pairs: Vec<_> = counts
            .iter()
            .take(max_families)
            .map(|(name, count)| format!("{count} {name}"))
            .collect();
        pairs.join(", ")
    }

    /// Returns the `count` rows nearest to these features and the CCA in use.
    pub(super) fn nearest(
        &self,
        features: &Features,
        weight: impl Fn(&str) -> f64,
        current_cca: &str,
        prior_cca_weight: f64,
        count: usize,
    ) -> Neighbours {
        let examples = &*self.examples;
        let weights: Vec<_> = self.features().map(weight).collect();
        let total = prior_cca_weight + weights.iter().sum::<f64>();
        let scaled = |weight: f64| (weight / total * WEIGHT_SUM).round() as u16;
        let columns = examples.columns.iter().zip(&weights);
        let terms = columns.map(|(column, weight)| {
            let estimate = features.0[column.feature];
            Term {
                column,
                rank: column.query_rank(estimate.map(|estimate| estimate.value)),
                weight: scaled(*weight),
            }
        });
        let terms: Vec<_> = terms.filter(|term| term.weight > 0).collect();
        let mut names = examples.prior_cca_names.iter();
        // A CCA that is in no row differs from the prior CCA of every row.
        let current = names.position(|name| *name == current_cca);
        let current = current.and_then(|index| u8::try_from(index).ok());
        let prior_weight = scaled(prior_cca_weight);
        let mismatch = prior_weight * u16::from(MAX_RANK);
        let count = count.min(self.rows());
        let mut nearest = Vec::with_capacity(count + 1);
        let mut block = [0; BLOCK_ROWS];
        let mut distance_limit = u16::MAX;
        let chunks = examples.prior_ccas.chunks(BLOCK_ROWS);
        for (block_start, prior_ccas) in (0..).step_by(BLOCK_ROWS).zip(chunks) {
            let block_sums = &mut block[..prior_ccas.len()];
            for (sum, prior_cca) in block_sums.iter_mut().zip(prior_ccas) {
                *sum = if Some(*prior_cca) == current {
                    0
                } else {
                    mismatch
                };
            }
            for term in &terms {
                term.column
                    .add(term.rank, term.weight, block_start, block_sums);
            }
            let parts = block_sums.chunks(SKIP_ROWS);
            for (first, sums) in (block_start..).step_by(SKIP_ROWS).zip(parts) {
                if min_sum(sums) >= distance_limit {
                    continue;
                }
                for (row, &distance) in (first..).zip(sums) {
                    if distance < distance_limit {
                        let candidate = Candidate { distance, row };
                        distance_limit = insert_nearest(&mut nearest, count, candidate);
                    }
                }
            }
        }
        // Not zero, even if all distances are.
        let weight_scale = nearest
            .last()
            .map_or(0.0, |last: &Candidate| f64::from(last.distance))
            + 1.0;
        let sum: f64 = nearest.iter().map(|row| f64::from(row.distance)).sum();
        let total_weight =
            f64::from(terms.iter().map(|term| term.weight).sum::<u16>() + prior_weight);
        let neighbours = nearest.iter().map(|candidate| Neighbour {
            row: candidate.row,
            // The farthest rows have this small weight at least, so that rows at equal distances all count.
            weight: 1.0 - f64::from(candidate.distance) / weight_scale + 1e-3,
        });
        Neighbours {
            neighbours: neighbours.collect(),
            distance: sum / nearest.len() as f64 / (total_weight * f64::from(MAX_RANK)),
        }
    }
}

/// Feature of a query with its scaled weight.
struct Term<'a> {
    column: &'a Column,
    rank: QueryRank,
    weight: u16,
}

/// Row that may be among the nearest.
struct Candidate {
    distance: u16,
    row: usize,
}

/// Adds a row to the `count` nearest ones, which are in ascending order of distance; equal distances keep their order.
/// Returns the distance that a further row must be below.
fn insert_nearest(nearest: &mut Vec<Candidate>, count: usize, candidate: Candidate) -> u16 {
    let index = nearest.partition_point(|row| row.distance <= candidate.distance);
    nearest.insert(index, candidate);
    nearest.truncate(count);
    match nearest.last() {
        Some(last) if nearest.len() == count => last.distance,
        _ => u16::MAX,
    }
}

//! Columns: tables as Arrow record batches, of one run or of many.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int32Array, RecordBatch, StringArray, UInt32Array,
    UInt64Array,
};
use arrow_pyarrow::PyArrowType;
use arrow_schema::{Field, Schema};
use results::{Column, ColumnInfo, TableInfo, Tables};

use crate::error::Result;

/// Returns the columns as a batch whose fields carry the meaning of each; only texts are copied.
pub(crate) fn record_batch(
    infos: &[ColumnInfo],
    columns: Vec<Column>,
) -> Result<PyArrowType<RecordBatch>> {
    let (fields, arrays) = fields_and_arrays(infos, columns);
    into_batch(fields, arrays)
}

/// One table of several runs, with the run of each row.
struct JoinedTable {
    info: &'static TableInfo,
    columns: Vec<Column>,
    /// Number of the run of each row.
    runs: Vec<u32>,
    /// Index of the label of each row.
    labels: Vec<i32>,
}

/// The tables of several runs, joined.
#[derive(Default)]
pub(crate) struct JoinedTables {
    tables: Vec<JoinedTable>,
    labels: Vec<String>,
}

impl JoinedTables {
    /// Appends the rows of a run that has this number and this label.
    pub(crate) fn add(&mut self, tables: Tables, run: u32, label: &str) {
        let present = self.labels.iter().position(|other| other == label);
        let label_index = present.unwrap_or(self.labels.len()) as i32;
        if present.is_none() {
            self.labels.push(label.to_owned());
        }
        for (index, (info, columns)) in tables.into_columns().enumerate() {
            let rows = columns.first().map_or(0, Column::len);
            if index == self.tables.len() {
                self.tables.push(JoinedTable {
                    info,
                    columns,
                    runs: vec![run; rows],
                    labels: vec![label_index; rows],
                });
                continue;
            }
            let table = &mut self.tables[index];
            for (column, new_rows) in table.columns.iter_mut().zip(columns) {
                column.append(new_rows);
            }
            table.runs.resize(table.runs.len() + rows, run);
            table.labels.resize(table.labels.len() + rows, label_index);
        }
    }

    /// Returns a batch by the name of each table. Its first columns are `run` and, unless the table has such a column,
    /// `cca`: number and label of the run of each row.
    pub(crate) fn into_batches(self) -> Result<Vec<(&'static str, PyArrowType<RecordBatch>)>> {
        let label_texts: ArrayRef = Arc::new(StringArray::from(self.labels));
        let mut batches = Vec::with_capacity(self.tables.len());
        for table in self.tables {
            let (mut fields, mut arrays) = fields_and_arrays(table.info.columns, table.columns);
            if !table.info.columns.iter().any(|each| each.name == "cca") {
                let indices = Int32Array::from(table.labels);
                let labels = DictionaryArray::<Int32Type>::try_new(indices, label_texts.clone());
                let labels: ArrayRef = Arc::new(labels?);
                fields.insert(0, Field::new("cca", labels.data_type().clone(), true));
                arrays.insert(0, labels);
            }
            let runs: ArrayRef = Arc::new(UInt32Array::from(table.runs));
            fields.insert(0, Field::new("run", runs.data_type().clone(), true));
            arrays.insert(0, runs);
            batches.push((table.info.name, into_batch(fields, arrays)?));
        }
        Ok(batches)
    }
}

/// Returns the fields, with the meaning of each column as metadata, and the arrays.
fn fields_and_arrays(infos: &[ColumnInfo], columns: Vec<Column>) -> (Vec<Field>, Vec<ArrayRef>) {
    let arrays: Vec<ArrayRef> = columns.into_iter().map(array).collect();
    let fields = infos
        .iter()
        .zip(&arrays)
        .map(|(info, array)| {
            let meaning = HashMap::from([("meaning".to_owned(), info.meaning.to_owned())]);
            Field::new(info.name, array.data_type().clone(), false).with_metadata(meaning)
        })
        .collect();
    (fields, arrays)
}

fn into_batch(fields: Vec<Field>, arrays: Vec<ArrayRef>) -> Result<PyArrowType<RecordBatch>> {
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)?;
    Ok(PyArrowType(batch))
}

fn array(column: Column) -> ArrayRef {
    match column {
        Column::U64(values) => Arc::new(UInt64Array::from(values)),
        Column::U32(values) => Arc::new(UInt32Array::from(values)),
        Column::F64(values) => Arc::new(Float64Array::from(values)),
        Column::Text(values) => Arc::new(StringArray::from(values)),
    }
}

//! Tables as Arrow record batches.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_schema::{Field, Schema};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;
use record::{Column, ColumnInfo};

use crate::refuse;

/// The columns as a batch whose fields carry the meaning of each; nothing is copied but texts.
pub(crate) fn batch(infos: &[ColumnInfo], columns: Vec<Column>) -> PyResult<PyRecordBatch> {
    let arrays: Vec<ArrayRef> = columns.into_iter().map(array).collect();
    let fields: Vec<Field> = infos
        .iter()
        .zip(&arrays)
        .map(|(info, array)| {
            let meaning = HashMap::from([("meaning".to_owned(), info.meaning.to_owned())]);
            Field::new(info.name, array.data_type().clone(), false).with_metadata(meaning)
        })
        .collect();
    let schema = Arc::new(Schema::new(fields));
    RecordBatch::try_new(schema, arrays)
        .map(PyRecordBatch::from)
        .map_err(refuse)
}

fn array(column: Column) -> ArrayRef {
    match column {
        Column::U64(values) => Arc::new(UInt64Array::from(values)),
        Column::U32(values) => Arc::new(UInt32Array::from(values)),
        Column::F64(values) => Arc::new(Float64Array::from(values)),
        Column::Text(values) => Arc::new(StringArray::from(values)),
    }
}

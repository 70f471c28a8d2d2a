//! Fingerprint: the digest of all results of a run. It shows that faster code leaves the same results.

use std::io::Write;

use config::digest;
use results::Tables;

/// Returns the digest of all tables. Numbers count in full, as their shortest exact texts.
pub(crate) fn fingerprint(tables: Tables) -> std::io::Result<String> {
    let mut text = Vec::new();
    for (table, columns) in tables.into_columns() {
        write!(text, "{} {columns:?}", table.name)?;
    }
    digest(text.as_slice())
}

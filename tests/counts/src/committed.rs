//! Committed counts: a file with the count of each case, in the order of the cases.

use std::path::Path;

use crate::cases::CASES;
use crate::error::CountsError;

/// First line of the file.
const HEADER: &str = "case,count";

/// Instructions of a case.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Counted {
    /// Name of the case.
    pub(crate) case: &'static str,
    /// Instructions.
    pub(crate) count: u64,
}

/// Reads the counts of all cases.
pub(crate) fn read(file: &Path) -> Result<Vec<Counted>, CountsError> {
    let text = std::fs::read_to_string(file).map_err(|error| CountsError::File {
        file: file.to_owned(),
        error,
    })?;
    parse(&text).map_err(|reason| CountsError::Malformed {
        file: file.to_owned(),
        reason,
    })
}

/// Writes the counts of all cases.
pub(crate) fn write(file: &Path, counts: &[Counted]) -> Result<(), CountsError> {
    std::fs::write(file, text(counts)).map_err(|error| CountsError::File {
        file: file.to_owned(),
        error,
    })
}

fn text(counts: &[Counted]) -> String {
    let rows = counts
        .iter()
        .map(|each| format!("{},{}\n", each.case, each.count));
    core::iter::once(format!("{HEADER}\n"))
        .chain(rows)
        .collect()
}

/// Understands the text of the file. It must have all cases in their order, so that none is left uncompared.
fn parse(text: &str) -> Result<Vec<Counted>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(HEADER) {
        return Err(format!("line 1 is not {HEADER:?}"));
    }
    let mut counts = Vec::new();
    for (case, number) in CASES.iter().zip(2..) {
        let line = lines.next().unwrap_or_default();
        let count = line
            .strip_prefix(case.name)
            .and_then(|rest| rest.strip_prefix(','))
            .and_then(|count| count.parse().ok())
            .filter(|&count| count > 0);
        let count = count.ok_or_else(|| {
            let name = case.name;
            format!("line {number} is {line:?}, not the name {name} and its count")
        })?;
        counts.push(Counted {
            case: case.name,
            count,
        });
    }
    match lines.next() {
        None => Ok(counts),
        Some(line) => Err(format!("{line:?} follows the last case")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts() -> Vec<Counted> {
        let each = CASES.iter().zip(1..);
        let counted = each.map(|(case, count)| Counted {
            case: case.name,
            count,
        });
        counted.collect()
    }

    #[test]
    fn what_was_written_is_read() {
        let written = text(&counts());
        assert!(written.starts_with("case,count\nwired,1\nwired-samples,2\n"));
        assert_eq!(parse(&written), Ok(counts()));
    }

    #[test]
    fn the_committed_file_is_well_formed() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.csv");
        assert!(read(&file).is_ok());
    }

    #[test]
    fn lines_that_are_wrong_are_named() {
        let good = text(&counts());
        for (from, to, message) in [
            ("case,count", "case;count", "line 1 is not \"case,count\""),
            (
                "drive,3",
                "drive,",
                "line 4 is \"drive,\", not the name drive",
            ),
            ("drive,3", "drive,0", "line 4 is \"drive,0\""),
            ("drive,3", "drive,-3", "line 4 is \"drive,-3\""),
            (
                "drive,3\n",
                "",
                "line 4 is \"four-flows,4\", not the name drive",
            ),
            ("wired,1", "wirde,1", "line 2 is \"wirde,1\""),
            ("nine-cells,8\n", "", "line 9 is \"\""),
            (
                "cells,8\n",
                "cells,8\nten,1\n",
                "\"ten,1\" follows the last case",
            ),
        ] {
            let error = parse(&good.replace(from, to)).unwrap_err();
            assert!(error.contains(message), "{to:?}: {error}");
        }
    }
}

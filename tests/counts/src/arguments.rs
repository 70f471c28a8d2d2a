//! Arguments: what the command line asks for.

use std::path::{Path, PathBuf};

use crate::cases::Case;
use crate::error::CountsError;

/// Text of `--help`.
pub(crate) const USAGE: &str = "\
Counts the instructions of short simulations under valgrind and compares them with committed counts.

celltcp-counts [--times N] [--file FILE] [--write]
celltcp-counts --case NAME [--times N]

  --write      write the counts to the file instead of comparing them
  --times N    simulate N times as long; the table then has multiples of the committed counts, and none fails
  --file FILE  file with the committed counts; unless given, counts.csv in the folder of this package
  --case NAME  only run a case, without valgrind, and print the fingerprint of its results

Exit status: 0, 1 if a case has more than 2 % more instructions than committed, 2 if it cannot count.
";

/// Command line: help, one case here, or the count of all cases.
#[derive(PartialEq, Debug)]
pub(crate) enum Arguments {
    /// Tell how the program is used.
    Help,
    /// Run one case here.
    Case {
        /// The case.
        case: &'static Case,
        /// Multiple of its length.
        times: u32,
    },
    /// Count all cases.
    Count(Count),
}

/// Options of the count of all cases.
#[derive(PartialEq, Debug)]
pub(crate) struct Count {
    /// Multiple of their lengths.
    pub(crate) times: u32,
    /// File with the committed counts.
    pub(crate) file: PathBuf,
    /// Whether the file is written.
    pub(crate) write: bool,
}

impl Arguments {
    /// Understands the arguments after the name of the program.
    pub(crate) fn parse(given: impl Iterator<Item = String>) -> Result<Self, CountsError> {
        let mut given = given;
        let (mut case, mut times, mut write, mut file) = (None, 1, false, None);
        while let Some(name) = given.next() {
            let mut value = || {
                let value = given.next();
                value.ok_or_else(|| wrong(format!("{name} needs a value")))
            };
            match name.as_str() {
                "--help" => return Ok(Self::Help),
                "--write" => write = true,
                "--case" => case = Some(Case::called(&value()?)?),
                "--times" => times = multiple(&value()?)?,
                "--file" => file = Some(PathBuf::from(value()?)),
                _ => return Err(wrong(format!("{name:?} is not understood"))),
            }
        }
        if write && times != 1 {
            return Err(wrong("--write is not understood with --times".to_owned()));
        }
        let Some(case) = case else {
            let file = file.unwrap_or_else(own_file);
            return Ok(Self::Count(Count { times, file, write }));
        };
        if write || file.is_some() {
            let reason = "--write and --file are not understood with --case";
            return Err(wrong(reason.to_owned()));
        }
        Ok(Self::Case { case, times })
    }
}

/// Returns the committed file.
fn own_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.csv")
}

fn multiple(text: &str) -> Result<u32, CountsError> {
    match text.parse() {
        Ok(times) if times > 0 => Ok(times),
        _ => Err(wrong(format!("--times {text:?} is not understood"))),
    }
}

fn wrong(reason: String) -> CountsError {
    CountsError::Arguments(reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Arguments, String> {
        let each = text.split_whitespace().map(ToOwned::to_owned);
        Arguments::parse(each).map_err(|error| error.to_string())
    }

    #[test]
    fn all_cases_are_counted_unless_one_is_named() {
        let count = |times, file: PathBuf, write| Arguments::Count(Count { times, file, write });
        assert_eq!(parse(""), Ok(count(1, own_file(), false)));
        assert_eq!(parse("--write"), Ok(count(1, own_file(), true)));
        assert_eq!(
            parse("--times 2 --file a.csv"),
            Ok(count(2, "a.csv".into(), false))
        );
        let case = Case::called("drive").unwrap();
        assert_eq!(
            parse("--case drive --times 3"),
            Ok(Arguments::Case { case, times: 3 })
        );
        assert_eq!(parse("--times 3 --help"), Ok(Arguments::Help));
    }

    #[test]
    fn mistakes_are_rejected() {
        for (text, message) in [
            ("--case", "--case needs a value; --help tells what is"),
            ("--times 0", "--times \"0\" is not understood"),
            ("--times two", "--times \"two\" is not understood"),
            ("drive", "\"drive\" is not understood"),
            ("--write --times 2", "--write is not understood with"),
            ("--case drive --write", "are not understood with --case"),
            (
                "--case drift",
                "\"drift\" is no case; allowed: wired, wired-samples, drive",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}

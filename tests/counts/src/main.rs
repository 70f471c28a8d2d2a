//! Counts: instructions of short simulations, counted by callgrind and compared with committed counts.
//!
//! Without `--case` the program runs itself under valgrind, once for each case. It exits with 1 if a count has grown by
//! too much, and with 2 if it cannot count.

mod arguments;
mod callgrind;
mod cases;
mod committed;
mod comparison;
mod error;
mod fingerprint;
mod measured;

use std::process::ExitCode;

use arguments::{Arguments, Count, USAGE};
use comparison::Comparison;
use error::CountsError;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("celltcp-counts: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<ExitCode, CountsError> {
    match Arguments::parse(std::env::args().skip(1))? {
        Arguments::Help => {
            print!("{USAGE}");
            Ok(ExitCode::SUCCESS)
        }
        Arguments::Case { case, times } => {
            println!("{} {}", case.name, measured::run(case, times)?);
            Ok(ExitCode::SUCCESS)
        }
        Arguments::Count(wanted) => count(&wanted),
    }
}

/// Counts all cases, prints them with the committed counts, and checks or writes them.
fn count(wanted: &Count) -> Result<ExitCode, CountsError> {
    // The file is read first: counting takes a while, and is in vain with a malformed file.
    let before = if wanted.write {
        Vec::new()
    } else {
        committed::read(&wanted.file)?
    };
    let now = callgrind::count_all(wanted.times)?;
    if wanted.write {
        committed::write(&wanted.file, &now)?;
        return Ok(ExitCode::SUCCESS);
    }
    let comparison = Comparison::new(&before, &now, wanted.times);
    print!("{comparison}");
    let grown = comparison.grown();
    if grown.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    eprintln!(
        "celltcp-counts: too many instructions: {}",
        grown.join(", ")
    );
    Ok(ExitCode::FAILURE)
}

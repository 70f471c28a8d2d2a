//! Callgrind: this program under valgrind, once for each case, and the instructions it counts.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::cases::{CASES, Case};
use crate::committed::Counted;
use crate::error::CountsError;
use crate::measured::COUNTED;

/// Counts all cases for `times` their lengths, as many at once as there are processors.
pub(crate) fn count_all(times: u32) -> Result<Vec<Counted>, CountsError> {
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = CASES.get(index) else {
                return Ok(done);
            };
            done.push((index, count(case, times)?));
        }
    };
    let mut all = thread::scope(|scope| {
        let working: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let mut all = Vec::new();
        for thread in working {
            let done: Result<Vec<_>, CountsError> = thread.join().unwrap_or_else(|panic| {
                std::panic::resume_unwind(panic);
            });
            all.extend(done?);
        }
        Ok(all)
    })?;
    all.sort_unstable_by_key(|&(index, _)| index);
    Ok(all.into_iter().map(|(_, counted)| counted).collect())
}

/// Counts one case.
fn count(case: &'static Case, times: u32) -> Result<Counted, CountsError> {
    let failed = |reason: String| CountsError::Failed {
        case: case.name,
        reason,
    };
    let file = written_by(case);
    let output = under_callgrind(case, times, &file).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => CountsError::NoValgrind,
        _ => failed(error.to_string()),
    })?;
    let text = std::fs::read_to_string(&file);
    // There is none if valgrind failed, which is an error below.
    let _ = std::fs::remove_file(&file);
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(failed(format!("valgrind failed: {}", stderr.trim_end())));
    }
    let text = text.map_err(|error| failed(error.to_string()))?;
    let count = total(&text);
    let count = count.ok_or_else(|| failed("callgrind has counted nothing".to_owned()))?;
    Ok(Counted {
        case: case.name,
        count,
    })
}

/// Returns the file that callgrind writes for a case of this process.
fn written_by(case: &Case) -> PathBuf {
    let name = format!("celltcp-counts-{}-{}", std::process::id(), case.name);
    std::env::temp_dir().join(name)
}

fn under_callgrind(case: &Case, times: u32, file: &Path) -> io::Result<Output> {
    let itself = std::env::current_exe()?;
    Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind"])
        .arg(format!("--toggle-collect={COUNTED}"))
        .arg(format!("--callgrind-out-file={}", file.display()))
        .arg(itself)
        .args(["--case", case.name, "--times", &times.to_string()])
        .output()
}

/// Returns the total of what callgrind wrote; `None` if it counted nothing.
fn total(text: &str) -> Option<u64> {
    let total = text.lines().find_map(|line| line.strip_prefix("totals:"))?;
    total.trim().parse().ok().filter(|&count| count > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_is_read() {
        let text = "version: 1\nevents: Ir\nsummary: 12\n\nfn=(1) main\n1 12\n\ntotals: 12\n";
        assert_eq!(total(text), Some(12));
        assert_eq!(total("events: Ir\ntotals: 0\n"), None);
        assert_eq!(total("events: Ir\n"), None);
        assert_eq!(total("totals: many\n"), None);
    }
}

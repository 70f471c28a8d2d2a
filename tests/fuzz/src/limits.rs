//! Limits of a mutant: an allocator that rejects memory above a limit, and a watch over the time.

use std::alloc::System;
use std::fs::File;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use cap::Cap;
use nix::time::{ClockId, clock_gettime};

/// Most CPU time that a parser may take for one input.
pub const MAX_TIME: Duration = Duration::from_secs(5);
/// Longest that a parser may take by the clock on the wall, on a machine that does other things, too.
const MAX_WALL_TIME: Duration = Duration::from_secs(60);
/// Maximum memory that a parser may have at one time, bytes. An allocation above it fails, which ends the process.
pub const MAX_MEMORY: usize = 1 << 30;

/// Time between two looks of the watch.
const LOOK: Duration = Duration::from_millis(50);

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Runs `work` with [`MAX_MEMORY`] in addition to the memory allocated before.
pub(crate) fn within_memory<T>(work: impl FnOnce() -> T) -> T {
    /// Removes the limit, also when `work` panics.
    struct Limited;
    impl Drop for Limited {
        fn drop(&mut self) {
            let _ = ALLOCATOR.set_limit(usize::MAX);
        }
    }
    // It fails if more than that is allocated already, which cannot be.
    let _ = ALLOCATOR.set_limit(ALLOCATOR.allocated() + MAX_MEMORY);
    let _limited = Limited;
    work()
}

/// Watch over the inputs of a target. It notes in a file which mutant is tried, because an input that takes too much
/// memory ends the process, and it ends the process for one that takes too much time.
pub(crate) struct Watch {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    note: File,
    begun: Instant,
    /// Milliseconds from `begun` to the start of the current mutant; zero between mutants.
    started: AtomicU64,
    /// CPU time of the process at the start of the current mutant, milliseconds.
    cpu_started: AtomicU64,
    number: AtomicU64,
    ended: AtomicBool,
}

impl Watch {
    /// Starts a watch that notes the mutant in `note`.
    pub(crate) fn start(note: &PathBuf, target: &str, seed: u64) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            note: File::create(note)?,
            begun: Instant::now(),
            started: AtomicU64::new(0),
            cpu_started: AtomicU64::new(0),
            number: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        });
        let (watched, target) = (Arc::clone(&shared), target.to_owned());
        let thread = std::thread::spawn(move || watched.watch(&target, seed));
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Runs `work` on a mutant within the limits.
    pub(crate) fn limited<T>(&self, seed: u64, number: u64, work: impl FnOnce() -> T) -> T {
        let note = format!("{seed}:{number:<20}\n");
        // The note only helps to find the input again.
        let _ = self.shared.note.write_all_at(note.as_bytes(), 0);
        self.shared.number.store(number, Ordering::Relaxed);
        self.shared.cpu_started.store(cpu_ms(), Ordering::Relaxed);
        let now = self.shared.begun.elapsed().as_millis() as u64;
        self.shared.started.store(now.max(1), Ordering::Relaxed);
        within_memory(work)
    }

    /// Notes that no mutant is tried now.
    pub(crate) fn rest(&self) {
        self.shared.started.store(0, Ordering::Relaxed);
    }
}

impl Shared {
    fn watch(&self, target: &str, seed: u64) {
        while !self.ended.load(Ordering::Relaxed) {
            std::thread::sleep(LOOK);
            let started = self.started.load(Ordering::Relaxed);
            let now = self.begun.elapsed().as_millis() as u64;
            let waited = Duration::from_millis(now.saturating_sub(started));
            let before = self.cpu_started.load(Ordering::Relaxed);
            let worked = Duration::from_millis(cpu_ms().saturating_sub(before));
            // The time of the process is that of the mutant: targets have turns, and nothing else runs for long.
            if started != 0 && (worked.min(waited) > MAX_TIME || waited > MAX_WALL_TIME) {
                let number = self.number.load(Ordering::Relaxed);
                // Not with a macro: the test harness would hide the line.
                let line = format!(
                    "{target}: a mutant takes more than {MAX_TIME:?}; CELLTCP_FUZZ_CASE={seed}:{number} repeats it\n"
                );
                let _ = std::io::stderr().write_all(line.as_bytes());
                std::process::abort();
            }
        }
    }
}

/// Returns the CPU time of the process, milliseconds.
fn cpu_ms() -> u64 {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)
        .map_or(0, |time| Duration::from(time).as_millis() as u64)
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_above_the_limit_is_rejected_while_a_mutant_is_tried() {
        let reserve = || Vec::<u8>::new().try_reserve_exact(2 * MAX_MEMORY);
        assert!(within_memory(reserve).is_err());
        assert!(reserve().is_ok());
    }
}

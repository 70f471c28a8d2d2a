//! Batches: many runs on several threads in one call, whose tables are returned joined.
//!
//! A batch consists of chunks. The tables of a chunk are delivered together, chunk by chunk in their order, so
//! that the delivered tables do not depend on the number of threads.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use kernel_engine::Parts;
use network_builder::Traces;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use results::Tables;
use units::{Duration, Instant};

use crate::columns::Joined;
use crate::error::{Error, Result, reject};
use crate::faults::{Case, catch};
use crate::python_cca;
use crate::run::{RunInProgress, Watch};
use crate::scenarios::Scenario;

/// Wall time between two checks for signals, and between two reports of progress.
const TICK: std::time::Duration = std::time::Duration::from_millis(200);

/// Wall time that a piece of a run should take. A run can be stopped between pieces.
const PIECE: std::time::Duration = std::time::Duration::from_millis(50);

/// Simulated time of the first piece of a thread; later pieces grow.
const FIRST_PIECE: Duration = Duration::from_millis(50);

/// Fixed-point representation of 1.0 in the progress of a run.
const PROGRESS_SCALE: u64 = 1_000_000;

/// A job as Python writes it: number and label of the run in the tables, scenario, seed, and for a Linux
/// kernel the files of the kernel, of the guest's program and of the path.
type JobTuple = (
    u32,
    String,
    Py<Scenario>,
    u64,
    Option<(PathBuf, PathBuf, PathBuf)>,
);

/// A run of a batch.
struct Job {
    number: u32,
    label: String,
    scenario: Arc<scenario::Scenario>,
    traces: Arc<Traces>,
    seed: u64,
    kernel: Option<Parts>,
}

impl From<JobTuple> for Job {
    fn from((number, label, scenario, seed, kernel): JobTuple) -> Self {
        let scenario = scenario.get();
        Self {
            number,
            label,
            scenario: Arc::clone(&scenario.inner),
            traces: Arc::clone(&scenario.traces),
            seed,
            kernel: kernel.map(|(linux, guest, path)| Parts { linux, guest, path }),
        }
    }
}

impl Job {
    /// Returns the run as errors name it.
    fn case(&self) -> Case {
        Case::new(
            &self.scenario,
            self.label.clone(),
            self.seed,
            self.kernel.is_some(),
        )
    }
}

/// State shared by the threads of a batch.
struct Batch {
    jobs: Vec<Job>,
    next: AtomicUsize,
    stop: AtomicBool,
    /// Number of threads that may still finish a run.
    working: AtomicUsize,
    /// Panic of a thread outside of a run.
    thread_panic: Mutex<Option<String>>,
    /// Share of its run that each thread has simulated, in parts of [`PROGRESS_SCALE`].
    progress: Vec<AtomicU64>,
    /// Finished runs that are not delivered yet, by their index in `jobs`.
    done: Mutex<Vec<(usize, Result<Tables>)>>,
    progress_changed: Condvar,
}

impl Batch {
    fn done(&self) -> MutexGuard<'_, Vec<(usize, Result<Tables>)>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Runs jobs as [`Batch::work`] does, and counts the thread as ended even after a panic.
    fn work_counted(&self, share: &AtomicU64) {
        if let Err(panic) = catch(|| self.work(share)) {
            *self
                .thread_panic
                .lock()
                .unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
        self.working.fetch_sub(1, Ordering::Release);
        self.progress_changed.notify_one();
    }

    /// Runs jobs in their order until none is left, one fails or the batch is stopped.
    fn work(&self, share: &AtomicU64) {
        let mut piece = FIRST_PIECE;
        while !self.stopped() {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(job) = self.jobs.get(index) else {
                return;
            };
            let outcome = catch(|| self.run(job, &mut piece, share))
                .unwrap_or_else(|panic| Err(job.case().panicked(&panic)));
            let Some(outcome) = outcome.transpose() else {
                return;
            };
            share.store(0, Ordering::Relaxed);
            let has_failed = outcome.is_err();
            self.done().push((index, outcome));
            self.progress_changed.notify_one();
            if has_failed {
                return;
            }
        }
    }

    /// Simulates one run; returns `None` if the batch is stopped before its end.
    fn run(&self, job: &Job, piece: &mut Duration, share: &AtomicU64) -> Result<Option<Tables>> {
        let mut going = RunInProgress::start(
            &job.scenario,
            &job.traces,
            job.case(),
            job.seed,
            job.kernel.as_ref(),
            Watch::default(),
        )?;
        let length = job.scenario.duration;
        let mut at = Duration::ZERO;
        while at < length {
            at = length.min(at + *piece);
            let start = std::time::Instant::now();
            loop {
                let reached = going.advance(Instant::ZERO + at)?;
                if let Some(raised) = python_cca::take_raised() {
                    return Err(raised);
                }
                if self.stopped() {
                    return Ok(None);
                }
                if reached {
                    break;
                }
            }
            let spent = start.elapsed();
            if spent < PIECE / 2 {
                *piece = *piece * 4;
            } else if spent > PIECE * 2 {
                *piece = (*piece / 2).max(FIRST_PIECE);
            }
            let done = PROGRESS_SCALE as f64 * at.as_secs_f64() / length.as_secs_f64();
            share.store(done as u64, Ordering::Relaxed);
        }
        going.finish().map(Some)
    }

    /// Waits for finished runs for up to a tick, and removes them from the batch.
    fn finished(&self) -> Vec<(usize, Result<Tables>)> {
        let done = self.done();
        let waited = self
            .progress_changed
            .wait_timeout_while(done, TICK, |done| done.is_empty());
        let (mut done, _) = waited.unwrap_or_else(PoisonError::into_inner);
        core::mem::take(&mut *done)
    }

    /// Returns whether all threads have ended. Finished runs may still wait in the batch.
    fn has_ended(&self) -> bool {
        self.working.load(Ordering::Acquire) == 0
    }

    /// Returns the error of a batch whose threads have ended without all runs.
    fn lost_runs(&self) -> Error {
        let panic = self
            .thread_panic
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let cause = panic.as_deref().unwrap_or("the cause is unknown");
        Error::Internal(format!(
            "threads have ended without their runs: {cause}; this is a fault of celltcp: please report it"
        ))
    }

    /// Progress of the batch from 0 to 1, given the number of finished runs.
    fn share(&self, finished: usize) -> f64 {
        let parts: u64 = self
            .progress
            .iter()
            .map(|share| share.load(Ordering::Relaxed))
            .sum();
        (finished as f64 + parts as f64 / PROGRESS_SCALE as f64) / self.jobs.len() as f64
    }
}

/// Delivers chunks to Python as they become complete.
struct Delivery<'a> {
    batch: &'a Batch,
    chunks: Vec<Range<usize>>,
    tables: Vec<Option<Tables>>,
    deliver: &'a Py<PyAny>,
    progress: Option<&'a Py<PyAny>>,
}

impl Delivery<'_> {
    /// Collects finished runs and delivers chunks until all are delivered.
    fn all(&mut self) -> Result<()> {
        let mut finished = 0;
        let mut last_report = std::time::Instant::now();
        for number in 0..self.chunks.len() {
            let chunk = self.chunks[number].clone();
            while self.tables[chunk.clone()].iter().any(Option::is_none) {
                let has_ended = self.batch.has_ended();
                let outcomes = self.batch.finished();
                if has_ended && outcomes.is_empty() {
                    return Err(self.batch.lost_runs());
                }
                finished += outcomes.len();
                self.store(outcomes)?;
                if last_report.elapsed() >= TICK {
                    last_report = std::time::Instant::now();
                    self.report_progress(self.batch.share(finished), finished)?;
                }
            }
            Python::attach(|py| self.deliver_chunk(py, chunk, true))?;
        }
        self.report_progress(1.0, self.batch.jobs.len())
    }

    /// Stores the tables of finished runs until their chunk is complete. If runs have failed, returns the error of the
    /// first of them.
    fn store(&mut self, outcomes: Vec<(usize, Result<Tables>)>) -> Result<()> {
        let mut failed: Option<(usize, Error)> = None;
        for (index, outcome) in outcomes {
            match outcome {
                Ok(tables) => self.tables[index] = Some(tables),
                Err(error) if failed.as_ref().is_none_or(|(first, _)| index < *first) => {
                    failed = Some((index, error));
                }
                Err(_) => {}
            }
        }
        failed.map_or(Ok(()), |(_, error)| Err(error))
    }

    /// Checks for signals, and calls `progress`.
    fn report_progress(&self, share: f64, finished: usize) -> Result<()> {
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = self.progress {
                progress.call1(py, (share, finished))?;
            }
            Ok(())
        })
    }

    /// Delivers the finished runs of a chunk: their indices in the batch and their joined tables.
    fn deliver_chunk(&mut self, py: Python<'_>, chunk: Range<usize>, complete: bool) -> Result<()> {
        let mut indices = Vec::new();
        let mut joined = Joined::default();
        for index in chunk {
            if let Some(tables) = self.tables[index].take() {
                let job = &self.batch.jobs[index];
                joined.add(tables, job.number, &job.label);
                indices.push(index);
            }
        }
        if indices.is_empty() {
            return Ok(());
        }
        let all = PyDict::new(py);
        for (name, batch) in joined.into_batches()? {
            all.set_item(name, batch.into_pyobject(py)?)?;
        }
        self.deliver.call1(py, (indices, all, complete))?;
        Ok(())
    }
}

/// Simulates the runs of all chunks on `threads` threads, without the GIL.
///
/// Calls `deliver(indices, tables, complete)` for every chunk, in order. `indices` counts runs over all chunks. `tables`
/// has a record batch per table, whose columns `run` and `cca` are number and label of the run.
///
/// Calls `progress(share, finished)` a few times a second with the progress of the batch from 0 to 1 and the number of
/// finished runs. After an error or an interrupt, the finished runs of incomplete chunks are delivered with `complete`
/// false, and the error is raised.
#[pyfunction]
#[pyo3(signature = (chunks, threads, deliver, progress=None))]
#[expect(clippy::needless_pass_by_value, reason = "they come from Python")]
pub(crate) fn run_batch(
    py: Python<'_>,
    chunks: Vec<Vec<JobTuple>>,
    threads: usize,
    deliver: Py<PyAny>,
    progress: Option<Py<PyAny>>,
) -> Result<()> {
    let mut ranges = Vec::with_capacity(chunks.len());
    let mut jobs: Vec<Job> = Vec::new();
    for chunk in chunks {
        let first = jobs.len();
        jobs.extend(chunk.into_iter().map(Job::from));
        ranges.push(first..jobs.len());
    }
    let threads = threads.clamp(1, jobs.len().max(1));
    let batch = Batch {
        next: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
        working: AtomicUsize::new(threads),
        thread_panic: Mutex::default(),
        progress: (0..threads).map(|_| AtomicU64::new(0)).collect(),
        done: Mutex::default(),
        progress_changed: Condvar::new(),
        jobs,
    };
    py.detach(|| {
        let mut delivery = Delivery {
            tables: batch.jobs.iter().map(|_| None).collect(),
            chunks: ranges,
            batch: &batch,
            deliver: &deliver,
            progress: progress.as_ref(),
        };
        let outcome = thread::scope(|scope| {
            let started = batch.progress.iter().try_for_each(|share| {
                let thread = thread::Builder::new();
                thread.spawn_scoped(scope, || batch.work_counted(share))?;
                Ok(())
            });
            // The threads must stop after an error, too, because the scope waits for them.
            let outcome = match started {
                Ok(()) => {
                    catch(|| delivery.all()).unwrap_or_else(|panic| Err(Error::Internal(panic)))
                }
                Err(error) => Err(no_threads(threads, &error)),
            };
            batch.stop.store(true, Ordering::Relaxed);
            outcome
        });
        if outcome.is_err() {
            // The first error is raised; later errors while stopping are not.
            let _ = delivery.store(core::mem::take(&mut batch.done()));
            for chunk in delivery.chunks.clone() {
                let _ = Python::attach(|py| delivery.deliver_chunk(py, chunk, false));
            }
        }
        outcome
    })
}

fn no_threads(wanted: usize, error: &std::io::Error) -> Error {
    reject(format!(
        "jobs: the system does not start {wanted} threads: {error}; allowed: as many as it starts"
    ))
}

/// Returns the number of threads that this process can run at a time: the processors of its affinity mask, limited by
/// the CPU quota of its control groups (cgroups v1 and v2).
#[pyfunction]
pub(crate) fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

//! Batches: many runs on several threads in one call, whose tables are returned joined.
//!
//! A batch consists of chunks, which are delivered in order, each with the joined tables of its runs. So the tables do
//! not depend on the number of threads.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use kernel_engine::Parts;
use network_builder::Traces;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use results::Tables;
use units::{Duration, Instant};

use crate::columns::JoinedTables;
use crate::error::{Error, Result, reject};
use crate::faults::{RunIdentity, catch, lock};
use crate::python_cca;
use crate::run::{Observers, RunInProgress};
use crate::scenarios::Scenario;

/// Wall time between two checks for signals, and between two reports of progress.
const POLL_INTERVAL: std::time::Duration = std::time::Duration::from_millis(200);

/// Wall time that a step of a run should take. A run can be stopped between steps.
const STEP_WALL_TIME: std::time::Duration = std::time::Duration::from_millis(50);

/// Simulated time of the shortest step, with which each thread starts.
const MIN_STEP: Duration = Duration::from_millis(50);

/// Fixed-point representation of 1.0 in the progress of a run.
const PROGRESS_SCALE: u64 = 1_000_000;

/// A job from Python: number and label of the run in the tables, scenario, and seed. For a Linux kernel, also the files
/// of the kernel, of the guest's program and of the path.
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
    /// Returns the identity of the run in errors.
    fn identity(&self) -> RunIdentity {
        RunIdentity::new(
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
    /// Index of the next job.
    next_job: AtomicUsize,
    is_stopped: AtomicBool,
    /// Number of threads that may still finish a run.
    running_threads: AtomicUsize,
    /// Panic of a thread outside of a run.
    thread_panic: Mutex<Option<String>>,
    /// Share of its run that each thread has simulated, in units of 1/[`PROGRESS_SCALE`].
    progress: Vec<AtomicU64>,
    /// Finished runs that are not delivered yet, by their index in `jobs`.
    finished: Mutex<Vec<(usize, Result<Tables>)>>,
    run_finished: Condvar,
}

impl Batch {
    fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Runs a thread: jobs as [`Batch::run_jobs`] does. It counts as ended even after a panic.
    fn run_thread(&self, progress: &AtomicU64) {
        if let Err(panic) = catch(|| self.run_jobs(progress)) {
            *lock(&self.thread_panic) = Some(panic);
        }
        self.running_threads.fetch_sub(1, Ordering::Release);
        self.run_finished.notify_one();
    }

    /// Runs jobs in their order until none is left, one fails or the batch is stopped.
    fn run_jobs(&self, progress: &AtomicU64) {
        let mut step = MIN_STEP;
        while !self.is_stopped() {
            let index = self.next_job.fetch_add(1, Ordering::Relaxed);
            let Some(job) = self.jobs.get(index) else {
                return;
            };
            let outcome = catch(|| self.run_job(job, &mut step, progress))
                .unwrap_or_else(|panic| Err(job.identity().panic_error(&panic)));
            let Some(outcome) = outcome.transpose() else {
                return;
            };
            progress.store(0, Ordering::Relaxed);
            let has_failed = outcome.is_err();
            lock(&self.finished).push((index, outcome));
            self.run_finished.notify_one();
            if has_failed {
                return;
            }
        }
    }

    /// Simulates one run; returns `None` if the batch is stopped before its end.
    fn run_job(
        &self,
        job: &Job,
        step: &mut Duration,
        progress: &AtomicU64,
    ) -> Result<Option<Tables>> {
        let mut run = RunInProgress::start(
            &job.scenario,
            &job.traces,
            job.identity(),
            job.seed,
            job.kernel.as_ref(),
            Observers::default(),
        )?;
        let length = job.scenario.duration;
        let mut until = Duration::ZERO;
        while until < length {
            until = length.min(until + *step);
            let start = std::time::Instant::now();
            loop {
                let is_reached = run.advance(Instant::ZERO + until)?;
                if let Some(raised) = python_cca::take_raised() {
                    return Err(raised);
                }
                if self.is_stopped() {
                    return Ok(None);
                }
                if is_reached {
                    break;
                }
            }
            let wall_time = start.elapsed();
            if wall_time < STEP_WALL_TIME / 2 {
                *step = *step * 4;
            } else if wall_time > STEP_WALL_TIME * 2 {
                *step = (*step / 2).max(MIN_STEP);
            }
            let share = PROGRESS_SCALE as f64 * until.as_secs_f64() / length.as_secs_f64();
            progress.store(share as u64, Ordering::Relaxed);
        }
        run.finish().map(Some)
    }

    /// Waits for finished runs for up to [`POLL_INTERVAL`], and removes them from the batch.
    fn take_finished(&self) -> Vec<(usize, Result<Tables>)> {
        let finished = lock(&self.finished);
        let waited = self
            .run_finished
            .wait_timeout_while(finished, POLL_INTERVAL, |finished| finished.is_empty());
        let (mut finished, _) = waited.unwrap_or_else(PoisonError::into_inner);
        core::mem::take(&mut *finished)
    }

    /// Returns whether all threads have ended. Finished runs may still wait in the batch.
    fn threads_ended(&self) -> bool {
        self.running_threads.load(Ordering::Acquire) == 0
    }

    /// Returns the error of a batch whose threads have ended without all runs.
    fn lost_runs(&self) -> Error {
        let panic = lock(&self.thread_panic);
        let cause = panic.as_deref().unwrap_or("the cause is unknown");
        Error::Internal(format!(
            "threads have ended without their runs: {cause}; this is a fault of celltcp: please report it"
        ))
    }

    /// Returns the progress of the batch from 0 to 1, given the number of finished runs.
    fn progress(&self, finished: usize) -> f64 {
        let scaled: u64 = self
            .progress
            .iter()
            .map(|progress| progress.load(Ordering::Relaxed))
            .sum();
        (finished as f64 + scaled as f64 / PROGRESS_SCALE as f64) / self.jobs.len() as f64
    }
}

/// Delivers chunks to Python as they become complete.
struct Delivery<'a> {
    batch: &'a Batch,
    /// Indices of the jobs of each chunk.
    chunks: Vec<Range<usize>>,
    /// Tables of the runs that have finished and are not delivered, by job.
    tables: Vec<Option<Tables>>,
    deliver: &'a Py<PyAny>,
    progress: Option<&'a Py<PyAny>>,
}

impl Delivery<'_> {
    /// Collects finished runs and delivers chunks until all are delivered.
    fn deliver_all(&mut self) -> Result<()> {
        let mut finished = 0;
        let mut last_report = std::time::Instant::now();
        for number in 0..self.chunks.len() {
            let chunk = self.chunks[number].clone();
            while self.tables[chunk.clone()].iter().any(Option::is_none) {
                let threads_ended = self.batch.threads_ended();
                let outcomes = self.batch.take_finished();
                if threads_ended && outcomes.is_empty() {
                    return Err(self.batch.lost_runs());
                }
                finished += outcomes.len();
                self.store(outcomes)?;
                if last_report.elapsed() >= POLL_INTERVAL {
                    last_report = std::time::Instant::now();
                    self.report_progress(self.batch.progress(finished), finished)?;
                }
            }
            Python::attach(|py| self.deliver_chunk(py, chunk, true))?;
        }
        self.report_progress(1.0, self.batch.jobs.len())
    }

    /// Stores the tables of finished runs until their chunk is complete. If runs have failed, returns the error of the
    /// first of them.
    fn store(&mut self, mut outcomes: Vec<(usize, Result<Tables>)>) -> Result<()> {
        outcomes.sort_by_key(|(index, _)| *index);
        let mut stored = Ok(());
        for (index, outcome) in outcomes {
            match outcome {
                Ok(tables) => self.tables[index] = Some(tables),
                Err(error) => stored = stored.and(Err(error)),
            }
        }
        stored
    }

    /// Checks for signals, and calls `progress`.
    fn report_progress(&self, progress: f64, finished: usize) -> Result<()> {
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(callback) = self.progress {
                callback.call1(py, (progress, finished))?;
            }
            Ok(())
        })
    }

    /// Delivers the finished runs of a chunk: their indices in the batch and their joined tables.
    fn deliver_chunk(
        &mut self,
        py: Python<'_>,
        chunk: Range<usize>,
        is_complete: bool,
    ) -> Result<()> {
        let mut indices = Vec::new();
        let mut joined = JoinedTables::default();
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
        let tables = PyDict::new(py);
        for (name, batch) in joined.into_batches()? {
            tables.set_item(name, batch.into_pyobject(py)?)?;
        }
        self.deliver.call1(py, (indices, tables, is_complete))?;
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
        next_job: AtomicUsize::new(0),
        is_stopped: AtomicBool::new(false),
        running_threads: AtomicUsize::new(threads),
        thread_panic: Mutex::default(),
        progress: (0..threads).map(|_| AtomicU64::new(0)).collect(),
        finished: Mutex::default(),
        run_finished: Condvar::new(),
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
            let started = batch.progress.iter().try_for_each(|progress| {
                let thread = thread::Builder::new();
                thread.spawn_scoped(scope, || batch.run_thread(progress))?;
                Ok(())
            });
            let outcome = match started {
                Ok(()) => catch(|| delivery.deliver_all())
                    .unwrap_or_else(|panic| Err(Error::Internal(panic))),
                Err(error) => Err(spawn_error(threads, &error)),
            };
            // The threads must stop after an error, too, because the scope waits for them.
            batch.is_stopped.store(true, Ordering::Relaxed);
            outcome
        });
        if outcome.is_err() {
            // The first error is raised; later errors while stopping are not.
            let _ = delivery.store(core::mem::take(&mut *lock(&batch.finished)));
            for chunk in delivery.chunks.clone() {
                let _ = Python::attach(|py| delivery.deliver_chunk(py, chunk, false));
            }
        }
        outcome
    })
}

fn spawn_error(threads: usize, error: &std::io::Error) -> Error {
    reject(format!(
        "jobs: the system does not start {threads} threads: {error}; allowed: as many as it starts"
    ))
}

/// Returns the number of threads that this process can run at a time. It is the number of CPUs in the affinity mask,
/// limited by the CPU quota of the control groups (cgroups v1 and v2).
#[pyfunction]
pub(crate) fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

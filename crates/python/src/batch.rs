//! Batches: many runs on several threads in one call, whose tables come back joined.
//!
//! A batch consists of chunks. The tables of a chunk are delivered together, chunk by chunk in their order, so
//! that what is delivered does not depend on the number of threads.

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
use crate::faults::{Case, InternalError, catch};
use crate::python_cca;
use crate::refuse;
use crate::run::{Going, Watch};
use crate::scenarios::Scenario;

/// Wall time between two looks at interrupts, and between two calls for progress.
const TICK: std::time::Duration = std::time::Duration::from_millis(200);

/// Wall time that a piece of a run should take. A run can be stopped between pieces.
const PIECE: std::time::Duration = std::time::Duration::from_millis(50);

/// Simulated time of the first piece of a thread, from which on pieces grow.
const FIRST_PIECE: Duration = Duration::from_millis(50);

/// Shares of a run are counted in parts of this many.
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

/// A run to do.
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
    lost: Mutex<Option<String>>,
    /// Share of its run that each thread has done, in parts of [`PROGRESS_SCALE`].
    progress: Vec<AtomicU64>,
    done: Mutex<Vec<(usize, PyResult<Tables>)>>,
    progress_changed: Condvar,
}

impl Batch {
    fn done(&self) -> MutexGuard<'_, Vec<(usize, PyResult<Tables>)>> {
        self.done.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Does jobs as [`Batch::work`], and counts the thread as gone whatever ends it.
    fn work_counted(&self, share: &AtomicU64) {
        if let Err(panic) = catch(|| self.work(share)) {
            *self.lost.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic);
        }
        self.working.fetch_sub(1, Ordering::Release);
        self.progress_changed.notify_one();
    }

    /// Does jobs in their order until there is none left, one fails or the batch is stopped.
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

    /// Does one run; nothing comes of it if the batch is stopped before its end.
    fn run(&self, job: &Job, piece: &mut Duration, share: &AtomicU64) -> PyResult<Option<Tables>> {
        let mut going = Going::start(
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
            let begun = std::time::Instant::now();
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
            let spent = begun.elapsed();
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

    /// Waits for finished runs, but no longer than a tick.
    fn finished(&self) -> Vec<(usize, PyResult<Tables>)> {
        let done = self.done();
        let waited = self
            .progress_changed
            .wait_timeout_while(done, TICK, |done| done.is_empty());
        let (mut done, _) = waited.unwrap_or_else(PoisonError::into_inner);
        core::mem::take(&mut *done)
    }

    /// Returns whether no thread is left that could finish a run; what is finished may wait to be taken.
    fn are_gone(&self) -> bool {
        self.working.load(Ordering::Acquire) == 0
    }

    /// Returns the error of a batch whose threads have ended without all runs.
    fn lost_runs(&self) -> PyErr {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let panic = lost.as_deref().unwrap_or("no thread says why");
        InternalError::new_err(format!(
            "threads have ended without their runs: {panic}; this is a fault of celltcp: please report it"
        ))
    }

    /// Share of all runs that is done, given how many are finished.
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
    /// Takes finished runs until all chunks are delivered.
    fn all(&mut self) -> PyResult<()> {
        let mut finished = 0;
        let mut last_report = std::time::Instant::now();
        for number in 0..self.chunks.len() {
            let chunk = self.chunks[number].clone();
            while self.tables[chunk.clone()].iter().any(Option::is_none) {
                let are_gone = self.batch.are_gone();
                let news = self.batch.finished();
                if are_gone && news.is_empty() {
                    return Err(self.batch.lost_runs());
                }
                finished += news.len();
                self.keep(news)?;
                if last_report.elapsed() >= TICK {
                    last_report = std::time::Instant::now();
                    self.tell(self.batch.share(finished), finished)?;
                }
            }
            Python::attach(|py| self.deliver_chunk(py, chunk, true))?;
        }
        self.tell(1.0, self.batch.jobs.len())
    }

    /// Keeps the tables of finished runs; of several that failed, the first one is reported.
    fn keep(&mut self, news: Vec<(usize, PyResult<Tables>)>) -> PyResult<()> {
        let mut failed: Option<(usize, PyErr)> = None;
        for (index, outcome) in news {
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

    /// Looks for interrupts, and calls for progress.
    fn tell(&self, share: f64, finished: usize) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = self.progress {
                progress.call1(py, (share, finished))?;
            }
            Ok(())
        })
    }

    /// Hands the finished runs of a chunk over, as their places in the batch and their joined tables.
    fn deliver_chunk(
        &mut self,
        py: Python<'_>,
        chunk: Range<usize>,
        complete: bool,
    ) -> PyResult<()> {
        let mut places = Vec::new();
        let mut joined = Joined::default();
        for index in chunk {
            if let Some(tables) = self.tables[index].take() {
                let job = &self.batch.jobs[index];
                joined.add(tables, job.number, &job.label);
                places.push(index);
            }
        }
        if places.is_empty() {
            return Ok(());
        }
        let all = PyDict::new(py);
        for (name, batch) in joined.into_batches()? {
            all.set_item(name, batch.into_pyobject(py)?)?;
        }
        self.deliver.call1(py, (places, all, complete)).map(drop)
    }
}

/// Does all runs of the chunks on so many threads, without the GIL.
///
/// Calls `deliver(places, tables, complete)` for every chunk, in their order: the places of its runs in the
/// batch, counted over all chunks, and a record batch by the name of each table, whose columns `run` and `cca`
/// hold number and label of the run. Calls `progress(share, finished)` with the share of the batch that is done and
/// the number of finished runs a few times a second. When something fails or is
/// interrupted, what is finished of chunks that are not whole is delivered with `complete` false, and the error
/// is raised.
#[pyfunction]
#[pyo3(signature = (chunks, threads, deliver, progress=None))]
#[expect(clippy::needless_pass_by_value, reason = "they come from Python")]
pub(crate) fn run_batch(
    py: Python<'_>,
    chunks: Vec<Vec<JobTuple>>,
    threads: usize,
    deliver: Py<PyAny>,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
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
        lost: Mutex::default(),
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
            // Whatever happens here, the threads are to stop: the scope waits for them.
            let outcome = match started {
                Ok(()) => catch(|| delivery.all())
                    .unwrap_or_else(|panic| Err(InternalError::new_err(panic))),
                Err(error) => Err(no_threads(threads, &error)),
            };
            batch.stop.store(true, Ordering::Relaxed);
            outcome
        });
        if outcome.is_err() {
            // The first error counts; what else went wrong while stopping does not.
            let _ = delivery.keep(core::mem::take(&mut batch.done()));
            for chunk in delivery.chunks.clone() {
                let _ = Python::attach(|py| delivery.deliver_chunk(py, chunk, false));
            }
        }
        outcome
    })
}

fn no_threads(wanted: usize, error: &std::io::Error) -> PyErr {
    refuse(format!(
        "jobs: the system does not start {wanted} threads: {error}; allowed: as many as it starts"
    ))
}

/// Returns the number of threads that this process may use: of the processors that its affinity leaves it, as many as
/// the quota of its control groups (cgroups v1 and v2) pays for.
#[pyfunction]
pub(crate) fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

//! Run: one run of a scenario on a Linux kernel.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration as WallTime, Instant as WallInstant};

use kernel_protocol::{FrameReader, Job, Report};
use network_builder::Traces;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use results::{Samples, Tables};
use scenario::Scenario;
use units::Instant;

use crate::Parts;
use crate::cpu::ReservedCpu;
use crate::memory;
use crate::process::Process;

/// Time to wait for a report before checking the process, ms.
const POLL_MS: u16 = 200;

/// Options of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// Verify the run by the invariant checker.
    pub check: bool,
    /// File for a capture of the packets of a node.
    pub pcap: Option<PathBuf>,
    /// The node of the capture; unset: the server's host.
    pub pcap_at: Option<String>,
    /// Time without a report after which the kernel counts as hung.
    pub report_timeout: WallTime,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            check: false,
            pcap: None,
            pcap_at: None,
            // Usual runs report several times a second.
            report_timeout: WallTime::from_secs(120),
        }
    }
}

/// Reason why a run has no results.
#[derive(Debug, thiserror::Error)]
pub enum KernelError {
    /// The kernel cannot be started.
    #[error("the kernel cannot be started: {0}")]
    Start(io::Error),
    /// The guest or the path rejects the scenario.
    #[error("{0}")]
    Failed(String),
    /// The path has panicked, which is a fault of celltcp.
    #[error("the path in the kernel has panicked; its console ends with\n{console}")]
    Panicked {
        /// The last lines that it printed.
        console: String,
    },
    /// The guest has ended before the run.
    #[error("the kernel's program ended early; the console ends with\n{console}")]
    Ended {
        /// The last lines that the kernel printed.
        console: String,
    },
    /// The process has ended early.
    #[error("the kernel ended early ({status}); its console ends with\n{console}")]
    Crashed {
        /// Exit status of the process.
        status: String,
        /// The last lines that it printed.
        console: String,
    },
    /// No report came for a long time.
    #[error("the kernel has not reported for {} s and was killed; its console ends with\n{console}", report_timeout.as_secs())]
    Hung {
        /// Time without a report.
        report_timeout: WallTime,
        /// The last lines that it printed.
        console: String,
    },
    /// The reports cannot be read.
    #[error("the kernel's reports: {0}")]
    Reports(#[from] io::Error),
}

/// Rejects AS-TCP with a server that must understand its option, which Linux does not.
fn reject_far_acks(scenario: &Scenario) -> Result<(), KernelError> {
    if scenario.far_ack_kind().is_none() {
        return Ok(());
    }
    let reason = "path.middleboxes: \"as\" needs servers that understand its TCP option, and Linux does not; allowed on \
                  the kernel engine: \"es\", or tcp.far_acks = false, with which \"as\" falls back to \"es\"";
    Err(KernelError::Failed(reason.to_owned()))
}

/// Rejects explicit loss notifications for servers that must understand them, which Linux does not.
fn reject_eln(scenario: &Scenario) -> Result<(), KernelError> {
    if !scenario.has_eln() {
        return Ok(());
    }
    let reason = "path.middleboxes: \"eln\" needs servers that understand its notifications, and Linux does not; allowed \
                  on the kernel engine: \"snoop\", or tcp.eln = false, with which they have no effect";
    Err(KernelError::Failed(reason.to_owned()))
}

/// A run of a scenario on a Linux kernel.
#[derive(Debug)]
pub struct KernelRun {
    process: Process,
    /// Held until the run is over.
    _cpu: Option<ReservedCpu>,
    reports: File,
    frames: FrameReader,
    end: Instant,
    reached: Instant,
    last_report: WallInstant,
    report_timeout: WallTime,
    samples: Samples,
    outcome: Option<Tables>,
}

impl KernelRun {
    /// Starts the run of `scenario` with `seed`. The kernel runs on its own from here.
    ///
    /// # Errors
    /// If the scenario needs what Linux does not have, or a program is missing or cannot be started.
    pub fn new(
        parts: &Parts,
        scenario: &Scenario,
        traces: &Traces,
        seed: u64,
        options: &Options,
    ) -> Result<Self, KernelError> {
        reject_far_acks(scenario)?;
        reject_eln(scenario)?;
        let current_dir = std::env::current_dir().map_err(KernelError::Start)?;
        let absolute = |file: &Path| current_dir.join(file).to_string_lossy().into_owned();
        let cpu = ReservedCpu::reserve();
        let job = Job {
            scenario: scenario.to_toml(),
            directory: absolute(traces.files().directory()),
            files: traces
                .files()
                .texts()
                .into_iter()
                .map(|(file, text)| (current_dir.join(file), text))
                .collect(),
            seed,
            engine: std::process::id(),
            cpu: cpu.as_ref().map(ReservedCpu::number),
            memory: memory::size(scenario),
            check: options.check,
            pcap: options.pcap.as_deref().map(absolute),
            pcap_at: options.pcap_at.clone(),
        };
        let (process, reports) = Process::start(parts, &job).map_err(KernelError::Start)?;
        process.log("has started");
        Ok(Self {
            process,
            _cpu: cpu,
            reports,
            frames: FrameReader::default(),
            end: Instant::ZERO + scenario.duration,
            reached: Instant::ZERO,
            last_report: WallInstant::now(),
            report_timeout: options.report_timeout,
            samples: Samples::default(),
            outcome: None,
        })
    }

    /// Waits until the run has reached `until`, or its end if that is earlier, but not much longer than `at_most`.
    /// Returns whether it has.
    pub fn advance(&mut self, until: Instant, at_most: WallTime) -> Result<bool, KernelError> {
        let start = WallInstant::now();
        while !self.has_reached(until) {
            if start.elapsed() > at_most {
                return Ok(false);
            }
            if self.read_reports()? {
                self.last_report = WallInstant::now();
            } else if let Some(status) = self.process.exit_status()? {
                // Its last reports may have come after the last read.
                if !self.read_reports()? {
                    return Err(KernelError::Crashed {
                        status: status.to_string(),
                        console: self.process.console(),
                    });
                }
            } else if self.last_report.elapsed() > self.report_timeout {
                self.process.log("has not reported in time");
                return Err(KernelError::Hung {
                    report_timeout: self.report_timeout,
                    console: self.process.console(),
                });
            }
        }
        Ok(true)
    }

    fn has_reached(&self, until: Instant) -> bool {
        self.outcome.is_some() || until < self.end && self.reached >= until
    }

    /// Removes and returns the samples since the last call.
    pub fn take_samples(&mut self) -> Samples {
        core::mem::take(&mut self.samples)
    }

    /// Waits for the end of the run and returns its tables; samples are those since the last call.
    pub fn finish(mut self) -> Result<Tables, KernelError> {
        self.advance(self.end, WallTime::MAX)?;
        let mut tables = self
            .outcome
            .ok_or_else(|| KernelError::Failed("the run has no results".to_owned()))?;
        tables.samples = self.samples;
        Ok(tables)
    }

    /// Waits up to [`POLL_MS`] for reports and processes them; returns whether bytes came.
    fn read_reports(&mut self) -> Result<bool, KernelError> {
        let mut ready = [PollFd::new(self.reports.as_fd(), PollFlags::POLLIN)];
        poll(&mut ready, PollTimeout::from(POLL_MS)).map_err(io::Error::from)?;
        let readable = ready[0]
            .revents()
            .is_some_and(|events| events.contains(PollFlags::POLLIN));
        if !readable {
            return Ok(false);
        }
        let count = match self.frames.fill(&mut self.reports) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        while let Some(report) = self.frames.next_message()? {
            match report {
                Report::Reached(at) => {
                    if self.reached == Instant::ZERO && at > 0 {
                        self.process.log("has connected");
                    }
                    self.reached = Instant::from_nanos(at);
                }
                Report::Samples(samples) => self.samples.append(*samples),
                Report::Done(mut tables) => {
                    self.process.log("is done");
                    self.samples.append(core::mem::take(&mut tables.samples));
                    self.outcome = Some(*tables);
                }
                Report::Failed(reason) => return Err(KernelError::Failed(reason)),
                Report::Panicked => {
                    return Err(KernelError::Panicked {
                        console: self.process.console(),
                    });
                }
                Report::Ended => {
                    return Err(KernelError::Ended {
                        console: self.process.console(),
                    });
                }
            }
        }
        Ok(count > 0)
    }
}

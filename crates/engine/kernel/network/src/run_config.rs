//! Run configuration: reads the engine's job and plans the path.

use std::fs::File;
use std::io::{self, BufWriter};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use kernel_protocol::{JOB_VARIABLE, Job, REPORT_VARIABLE};
use network_builder::{Files, Plan, Traces};
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sched::{CpuSet, sched_setaffinity};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{Pid, getppid};
use scenario::Scenario;

use crate::linux_queue;

/// The run that is wanted, and the pipe for its reports.
pub(crate) struct RunConfig {
    pub(crate) job: Job,
    pub(crate) scenario: Scenario,
    pub(crate) plan: Plan,
    pub(crate) reports: BufWriter<File>,
}

impl RunConfig {
    /// Reads the job that the environment names and opens the pipe for reports.
    pub(crate) fn from_environment() -> io::Result<Self> {
        let job: Job = kernel_protocol::decode(&std::fs::read(env_variable(JOB_VARIABLE)?)?)?;
        // The engine's end must be ours, whatever it dies of; it may have died already.
        set_pdeathsig(Signal::SIGKILL)?;
        if getppid().as_raw() as u32 != job.engine {
            return Err(io::Error::other("the engine process has exited"));
        }
        if let Some(cpu) = job.cpu {
            pin_to_cpu(cpu as usize)?;
        }
        let reports = pipe(&env_variable(REPORT_VARIABLE)?)?;
        let mut scenario =
            Scenario::from_toml(&job.scenario, "scenario", &[]).map_err(io::Error::other)?;
        let mut files = Files::with_texts(Path::new(&job.directory), job.files.clone());
        files.load_named(&mut scenario).map_err(io::Error::other)?;
        let traces = Traces::from_files(&scenario, files).map_err(io::Error::other)?;
        let mut plan =
            Plan::new(&scenario.expand_flows(), &traces, job.seed).map_err(io::Error::other)?;
        if scenario.kernel.queue {
            linux_queue::bypass_access_queue(&mut plan);
        }
        Ok(Self {
            job,
            scenario,
            plan,
            reports: BufWriter::new(reports),
        })
    }
}

fn env_variable(name: &str) -> io::Result<String> {
    std::env::var(name).map_err(|error| io::Error::other(format!("{name}: {error}")))
}

/// Opens a pipe for writing. It fails where nobody reads, rather than wait for a reader.
fn pipe(name: &str) -> io::Result<File> {
    let file = File::options()
        .write(true)
        .custom_flags(OFlag::O_NONBLOCK.bits())
        .open(name)?;
    fcntl(&file, FcntlArg::F_SETFL(OFlag::empty()))?;
    Ok(file)
}

/// Binds this process, and those that it starts, to one processor.
fn pin_to_cpu(cpu: usize) -> io::Result<()> {
    let mut set = CpuSet::new();
    set.set(cpu)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &set)?)
}

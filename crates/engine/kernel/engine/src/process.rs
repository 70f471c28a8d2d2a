//! Process: a user-mode kernel and its working folder.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

use kernel_protocol::{JOB_VARIABLE, Job, PATH_VARIABLE, REPORT_VARIABLE, SEED_VARIABLE};
use nix::fcntl::OFlag;
use nix::sys::signal::{Signal, killpg};
use nix::sys::stat::Mode;
use nix::unistd::{Pid, mkfifo};
use tempfile::TempDir;

use crate::{console, initrd};

/// Names of files in the working folder.
const INITRD: &str = "initrd";
const JOB: &str = "job";
const REPORTS: &str = "reports";
const CONSOLE: &str = "console";

/// The kernel's command line, after the size of its memory. It is mixed into the kernel's entropy, so it is the same
/// for every run of a scenario; differences go through the environment. The clock starts at a time when certificates
/// and the like would be valid.
const COMMAND_LINE: [&str; 11] = [
    "initrd=initrd",
    "time-travel=inf-cpu",
    "time-travel-start=1700000000000000000",
    "seccomp=on",
    "quiet",
    "con=null",
    "con0=null,fd:1",
    "noreboot",
    "panic=-1",
    "umid=celltcp",
    "uml_dir=uml",
];

/// The three programs of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parts {
    /// The user-mode kernel.
    pub linux: PathBuf,
    /// The guest's program, linked statically.
    pub guest: PathBuf,
    /// The path, a shared object.
    pub path: PathBuf,
}

/// A running kernel. Dropping it kills the kernel and removes the folder.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    folder: TempDir,
}

impl Process {
    /// Starts a kernel on a job; returns it and the file to which its path reports.
    pub(crate) fn start(parts: &Parts, job: &Job) -> io::Result<(Self, File)> {
        let folder = tempfile::Builder::new().prefix("celltcp-").tempdir()?;
        let file = |name: &str| folder.path().join(name);
        initrd::write(&parts.guest, &file(INITRD))?;
        std::fs::write(file(JOB), kernel_protocol::encode(job)?)?;
        mkfifo(&file(REPORTS), Mode::S_IRUSR | Mode::S_IWUSR)?;
        std::fs::create_dir(file("uml"))?;
        // Opened without waiting for the other side, which may never come.
        let reports = OpenOptions::new()
            .read(true)
            .custom_flags(OFlag::O_NONBLOCK.bits())
            .open(file(REPORTS))?;
        let console = File::create(file(CONSOLE))?;
        let shared_memory = Path::new("/dev/shm");
        let memory_folder = if shared_memory.is_dir() {
            shared_memory
        } else {
            folder.path()
        };
        let child = Command::new(&parts.linux)
            .arg(format!("mem={}M", job.memory >> 20))
            .args(COMMAND_LINE)
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", ".")
            .env("TMPDIR", memory_folder)
            .env(PATH_VARIABLE, &parts.path)
            .env(SEED_VARIABLE, job.seed.to_string())
            .env(JOB_VARIABLE, JOB)
            .env(REPORT_VARIABLE, REPORTS)
            .stdin(Stdio::null())
            .stdout(console.try_clone()?)
            .stderr(console)
            // A group of its own: an interrupt from the keyboard goes to us, and all of it can be killed.
            .process_group(0)
            .spawn()
            .map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", parts.linux.display()))
            })?;
        Ok((Self { child, folder }, reports))
    }

    /// Returns the exit status, if the process has ended.
    pub(crate) fn exit_status(&mut self) -> io::Result<Option<ExitStatus>> {
        self.child.try_wait()
    }

    /// Logs an event of the kernel.
    pub(crate) fn log(&self, event: &str) {
        tracing::info!(target: "celltcp::events::kernel", "kernel {} {event}", self.child.id());
    }

    /// Returns the last lines that the kernel printed.
    pub(crate) fn console(&self) -> String {
        console::last_lines(&self.folder.path().join(CONSOLE))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Programs of the guest are processes of the same group. One that has ended needs no signal.
        let _ = killpg(Pid::from_raw(self.child.id() as i32), Signal::SIGKILL);
        let _ = self.child.wait();
    }
}

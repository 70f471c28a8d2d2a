//! Kernels that fail: each kind of failure has an error of its own, which ends with what the kernel printed.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant as WallInstant};

use kernel_engine::{KernelError, KernelRun, Options, Parts};
use network_builder::Traces;
use scenario::Scenario;
use units::Instant;

/// Time that a kernel may be silent in these tests.
const REPORT_TIMEOUT: Duration = Duration::from_millis(600);

/// Returns the error of a run on a kernel that is this shell script.
fn error_of(script: &str, folder: &Path) -> KernelError {
    let linux = folder.join("linux");
    fs::write(&linux, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&linux, Permissions::from_mode(0o755)).unwrap();
    run(linux.as_path(), folder).unwrap_err()
}

fn run(linux: &Path, folder: &Path) -> Result<bool, KernelError> {
    let guest = folder.join("guest");
    fs::write(&guest, "a program").unwrap();
    let parts = Parts {
        linux: linux.to_owned(),
        path: guest.clone(),
        guest,
    };
    let scenario = Scenario::from_toml("name = \"failing\"", "failing.toml", &[]).unwrap();
    let traces = Traces::load(&scenario, folder).unwrap();
    let options = Options {
        report_timeout: REPORT_TIMEOUT,
        ..Options::default()
    };
    let mut run = KernelRun::new(&parts, &scenario, &traces, 1, &options)?;
    let end = Instant::ZERO + scenario.duration;
    run.advance(end, Duration::from_secs(60))
}

/// The kernels are tried one after the other: a script that another thread still writes cannot be run.
#[test]
fn each_failure_is_told_apart_within_its_time() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path();
    let begun = WallInstant::now();

    let error = error_of("echo no memory; exit 3", folder);
    assert!(matches!(error, KernelError::Crashed { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("exit status: 3") && text.ends_with("no memory"),
        "{text}"
    );

    let error = error_of("echo oops; kill -SEGV $$", folder);
    assert!(matches!(error, KernelError::Crashed { .. }), "{error}");
    let text = error.to_string();
    assert!(
        text.contains("signal: 11") && text.ends_with("oops"),
        "{text}"
    );

    let error = error_of("echo waiting; exec /bin/sleep 60", folder);
    assert!(matches!(error, KernelError::Hung { .. }), "{error}");
    assert!(error.to_string().ends_with("waiting"), "{error}");

    let error = error_of("echo nonsense > reports; exec /bin/sleep 60", folder);
    assert!(matches!(error, KernelError::Reports(_)), "{error}");

    let missing = run(&folder.join("none"), folder).unwrap_err();
    assert!(matches!(missing, KernelError::Start(_)), "{missing}");
    assert!(
        missing.to_string().contains("none: No such file"),
        "{missing}"
    );

    assert!(begun.elapsed() < Duration::from_secs(20));
}

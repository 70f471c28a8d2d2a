//! Sysctls and module parameters of the kernel, as files.

use std::io;
use std::path::{Path, PathBuf};

/// Returns the file of a sysctl such as `net.ipv4.tcp_ecn`.
pub fn sysctl_file(name: &str) -> PathBuf {
    Path::new("/proc/sys").join(name.replace('.', "/"))
}

/// Sets a parameter of a kernel module, which holds for all its connections.
///
/// # Errors
/// If the kernel has no such module or parameter, or does not accept the value.
pub fn set_module_parameter(module: &str, parameter: &str, value: &str) -> io::Result<()> {
    std::fs::write(
        format!("/sys/module/{module}/parameters/{parameter}"),
        value,
    )
}

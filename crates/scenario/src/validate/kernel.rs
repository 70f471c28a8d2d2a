//! Checks of kernel settings.

use super::{Wrong, refuse};
use crate::model::Kernel;

/// Checks that names can be those of files below `/proc/sys/net` and `/sys/module`. Only the kernel can tell at run
/// time whether it has them.
pub(super) fn check(kernel: &Kernel) -> Result<(), Wrong> {
    let plain = |name: &str| {
        name.split('.').all(|part| {
            !part.is_empty()
                && part
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        })
    };
    for name in kernel.sysctl.keys() {
        if !plain(name) || !name.starts_with("net.") {
            return refuse(
                format!("kernel.sysctl.{name}"),
                "is not the name of a sysctl of a host's network; allowed: names such as \
                 net.ipv4.tcp_notsent_lowat"
                    .to_owned(),
            );
        }
    }
    for name in kernel.module.keys() {
        if !plain(name) || name.split('.').count() != 2 {
            return refuse(
                format!("kernel.module.{name}"),
                "is not a module and its parameter; allowed: names such as tcp_cubic.hystart"
                    .to_owned(),
            );
        }
    }
    Ok(())
}

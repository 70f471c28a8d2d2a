//! Checks of kernel settings.

use super::{FieldError, reject};
use crate::model::{Buffer, Capacity, Kernel, Queue, Scenario};
use config::changed_fields;

/// Fields of the path that an access link with a queue of Linux can have.
const BESIDE_LINUX_QUEUE: [&str; 10] = [
    "rtt",
    "down",
    "up",
    "buffer",
    "uplink_buffer",
    "queue",
    "uplink_queue",
    "mtu",
    "uplink_loss",
    "wired",
];

pub(super) fn check(scenario: &Scenario) -> Result<(), FieldError> {
    if scenario.kernel.queue {
        queue(scenario)?;
    }
    names(&scenario.kernel)
}

/// Checks that the queue before the access link can be one of Linux.
fn queue(scenario: &Scenario) -> Result<(), FieldError> {
    let path = &scenario.path;
    let field = "kernel.queue";
    let limited = matches!(path.buffer, Buffer::Packets(_));
    if scenario.radio.is_some() || !matches!(path.down, Capacity::Constant { .. }) || !limited {
        return reject(
            field,
            "takes an access link of constant rate, whose path.buffer is in packets",
        );
    }
    if !matches!(
        path.queue,
        Queue::Codel(_) | Queue::FqCodel(_) | Queue::Pie(_)
    ) {
        return reject(field, "path.queue is not one of codel, fq-codel, pie");
    }
    let mut set = changed_fields(path).into_iter();
    match set.find(|(name, _)| !BESIDE_LINUX_QUEUE.contains(&name.as_str())) {
        Some((name, _)) => reject(
            field,
            format!("has no effect on path.{name}; leave one out"),
        ),
        None => Ok(()),
    }
}

/// Checks that names can be those of files below `/proc/sys/net` and `/sys/module`. Only the kernel knows at run
/// time whether it has them.
fn names(kernel: &Kernel) -> Result<(), FieldError> {
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
            return reject(
                format!("kernel.sysctl.{name}"),
                "is not the name of a sysctl of a host's network; allowed: names such as \
                 net.ipv4.tcp_notsent_lowat"
                    .to_owned(),
            );
        }
    }
    for name in kernel.module.keys() {
        if !plain(name) || name.split('.').count() != 2 {
            return reject(
                format!("kernel.module.{name}"),
                "is not a module and its parameter; allowed: names such as tcp_cubic.hystart"
                    .to_owned(),
            );
        }
    }
    Ok(())
}

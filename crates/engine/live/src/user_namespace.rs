//! User namespace: the rights to create network namespaces, for users who are not root (user_namespaces(7)).

use std::io;
use std::os::unix::fs::MetadataExt;

use nix::sched::{CloneFlags, unshare};

/// Returns user and group of this process, which own its folder in `/proc`.
///
/// # Errors
/// If `/proc` is not there.
pub(crate) fn user_and_group() -> io::Result<(u32, u32)> {
    let folder = std::fs::metadata("/proc/self")?;
    Ok((folder.uid(), folder.gid()))
}

/// Moves this process to a user namespace in which it has all rights and its own user and group. Programs that it starts
/// keep user and group, without these rights.
///
/// # Errors
/// Those of unshare(2), such as `EINVAL` if the process has several threads, and of the files of the mapping.
pub fn enter_user_namespace() -> io::Result<()> {
    let (user, group) = user_and_group()?;
    unshare(CloneFlags::CLONE_NEWUSER)?;
    // Without this, a user could leave groups that take rights away.
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))
}

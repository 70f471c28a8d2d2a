//! User namespace: the rights to create network namespaces, for users who are not root (user_namespaces(7)).
#![allow(
    unsafe_code,
    reason = "no library wraps these uses of capget(2), capset(2) and prctl(2)"
)]

use std::io;
use std::os::unix::fs::MetadataExt;

use nix::sched::{CloneFlags, unshare};

/// Returns user and group of this process, which own its folder in `/proc`.
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

/// `_LINUX_CAPABILITY_VERSION_3` of linux/capability.h.
const VERSION: u32 = 0x2008_0522;

/// `struct __user_cap_header_struct` of linux/capability.h; thread 0 is the calling one.
#[repr(C)]
struct CapabilityHeader {
    version: u32,
    thread: libc::c_int,
}

/// `struct __user_cap_data_struct` of linux/capability.h: 32 capabilities.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct CapabilitySets {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// Lets programs that this thread starts inherit its rights, which users who are not root have in a user namespace
/// only.
pub fn pass_on_rights() -> io::Result<()> {
    let mut header = CapabilityHeader {
        version: VERSION,
        thread: 0,
    };
    let mut sets = [CapabilitySets::default(); 2];
    // SAFETY: header and sets are whole structures of this version, which the kernel reads and writes only during the call.
    check_call(unsafe { libc::syscall(libc::SYS_capget, &raw mut header, sets.as_mut_ptr()) })?;
    for set in &mut sets {
        set.inheritable = set.permitted;
    }
    // SAFETY: as above.
    check_call(unsafe { libc::syscall(libc::SYS_capset, &raw mut header, sets.as_ptr()) })?;
    let bits = sets
        .iter()
        .flat_map(|set| (0..u32::BITS).map(move |bit| set.permitted >> bit & 1));
    for (capability, _) in (0_u64..).zip(bits).filter(|&(_, bit)| bit == 1) {
        // SAFETY: all arguments are numbers.
        let raised = unsafe {
            libc::prctl(
                libc::PR_CAP_AMBIENT,
                libc::PR_CAP_AMBIENT_RAISE,
                capability,
                0_u64,
                0_u64,
            )
        };
        check_call(raised.into())?;
    }
    Ok(())
}

/// Returns the result of a system call.
fn check_call(code: libc::c_long) -> io::Result<()> {
    if code < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

//! Socket options that no library offers, and reading without a copy.
#![allow(
    unsafe_code,
    reason = "getsockopt, setsockopt and recv are called with pointers"
)]

use std::io;
use std::mem::size_of;
use std::os::fd::{AsFd, AsRawFd};

/// Size of a buffer for the value of an option, which TCP_INFO and TCP_CC_INFO stay below.
const MAX_VALUE: usize = 512;

/// Returns the bytes of a TCP option; their number depends on the kernel.
pub(crate) fn tcp_option(socket: &impl AsFd, option: i32) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0_u8; MAX_VALUE];
    let mut length = MAX_VALUE as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to the buffer, and the number to `length`.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            option,
            bytes.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    bytes.truncate(length as usize);
    Ok(bytes)
}

/// Sets an option to the bytes of `value`, in the byte order of the machine.
fn set_option(socket: &impl AsFd, level: i32, option: i32, value: &[u8]) -> io::Result<()> {
    // SAFETY: the kernel reads as many bytes as the slice has.
    let result = unsafe {
        libc::setsockopt(
            socket.as_fd().as_raw_fd(),
            level,
            option,
            value.as_ptr().cast(),
            value.len() as libc::socklen_t,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Caps the pacing rate, bytes per second; `u64::MAX` lifts the cap.
pub fn cap_pacing_rate(socket: &impl AsFd, bytes_per_second: u64) -> io::Result<()> {
    const { assert!(size_of::<libc::c_ulong>() == size_of::<u64>()) };
    let value = bytes_per_second.to_ne_bytes();
    set_option(socket, libc::SOL_SOCKET, libc::SO_MAX_PACING_RATE, &value)
}

/// Caps the receive window, bytes.
pub fn clamp_window(socket: &impl AsFd, bytes: u32) -> io::Result<()> {
    let value = bytes.to_ne_bytes();
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_WINDOW_CLAMP, &value)
}

/// Caps the maximum segment size that is announced, bytes.
pub fn set_max_segment(socket: &impl AsFd, bytes: u32) -> io::Result<()> {
    let value = bytes.to_ne_bytes();
    set_option(socket, libc::IPPROTO_TCP, libc::TCP_MAXSEG, &value)
}

/// Changes the congestion control.
///
/// # Errors
/// If the kernel does not have it, or this process may not use it (`net.ipv4.tcp_allowed_congestion_control`).
pub fn set_congestion(socket: &impl AsFd, name: &str) -> io::Result<()> {
    let option = libc::TCP_CONGESTION;
    set_option(socket, libc::IPPROTO_TCP, option, name.as_bytes())
}

/// Discards data of a blocking TCP socket without copying them, until `count` bytes have arrived or the stream has
/// ended; returns how many bytes there were.
///
/// The kernel does all of it in one call, so that a receiver costs nothing per packet. Each segment is read when it
/// arrives.
pub fn discard(socket: &impl AsFd, count: u64) -> io::Result<u64> {
    /// The longest read that Linux does.
    const MAX_READ: u64 = 0x7fff_f000;
    let length = count.min(MAX_READ) as usize;
    // SAFETY: with MSG_TRUNC the kernel drops what it would have written (tcp(7)): the pointer is not
    // used.
    let discarded = unsafe {
        libc::recv(
            socket.as_fd().as_raw_fd(),
            std::ptr::null_mut(),
            length,
            libc::MSG_TRUNC | libc::MSG_WAITALL,
        )
    };
    u64::try_from(discarded).map_err(|_| io::Error::last_os_error())
}

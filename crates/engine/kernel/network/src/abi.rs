//! ABI: the functions that the kernel calls, as `kernel/driver/path.h` declares them.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_longlong, c_uint, c_ulonglong};
use std::io;
use std::ptr;
use std::sync::Mutex;

use kernel_protocol::{Message, Report};

use crate::call_stack::OwnStack;
use crate::run_config::RunConfig;
use crate::session::{Session, Verdict};

/// `CELLTCP_PATH_ABI`.
const ABI: c_uint = 2;
/// `CELLTCP_NEVER`.
const NEVER: c_ulonglong = c_ulonglong::MAX;
/// Numbers of errors as Linux has them.
const EIO: c_longlong = -5;

/// `enum celltcp_action`.
const DELIVER: u16 = 0;
const DROP: u16 = 1;
const SENT: u16 = 2;
const CREATED: u16 = 3;

/// `struct celltcp_verdict`.
#[repr(C)]
pub(crate) struct CVerdict {
    packet: c_uint,
    action: u16,
    port: u16,
    congestion: c_uint,
    length: c_uint,
    bytes: *const u8,
}

impl CVerdict {
    /// Writes a verdict, and the bytes of a packet that a middlebox has created.
    fn new(verdict: Verdict, created: Option<&[u8]>) -> Self {
        let (packet, action, port, congestion) = match verdict {
            Verdict::Deliver {
                packet,
                port,
                congestion,
            } => (packet, DELIVER, port, congestion.into()),
            Verdict::Drop { packet } => (packet, DROP, 0, 0),
            Verdict::Sent { packet } => (packet, SENT, 0, 0),
        };
        Self {
            // The path's identity has the kernel's number in its lower half.
            packet: packet as c_uint,
            action: if created.is_some() { CREATED } else { action },
            port,
            congestion,
            length: created.map_or(0, <[u8]>::len) as c_uint,
            bytes: created.map_or(ptr::null(), <[u8]>::as_ptr),
        }
    }
}

/// The session and the stack that it runs on. The kernel calls one function at a time.
struct Running {
    session: Session,
    stack: OwnStack,
}

static RUNNING: Mutex<Option<Running>> = Mutex::new(None);

/// Runs `work` with the session, on its stack. A failure or panic is reported to the engine and ends the kernel's
/// process.
fn with_session<T>(work: impl FnOnce(&mut Session) -> io::Result<T>) -> Option<T> {
    let mut running = RUNNING.lock().ok()?;
    let Running { session, stack } = running.as_mut()?;
    let failure = match stack.run(|| work(session)) {
        Some(Ok(value)) => return Some(value),
        Some(Err(error)) => Report::Failed(error.to_string()),
        None => Report::Panicked,
    };
    session.fail(&failure);
    std::process::abort();
}

/// Begins a run with the job in the environment.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn celltcp_path_open(abi: c_uint) -> c_int {
    open(abi, RunConfig::from_environment)
}

/// Begins a run and returns the number of ports; negative if it cannot begin.
fn open(abi: c_uint, start: impl FnOnce() -> io::Result<RunConfig>) -> c_int {
    if abi != ABI {
        eprintln!(
            "celltcp: the kernel's driver has ABI {abi}, the path {ABI}; `celltcp kernel build` builds the kernel again"
        );
        return -1;
    }
    let Ok(mut stack) = OwnStack::new() else {
        return -1;
    };
    match stack.run(|| start().map(Session::new)) {
        Some(Ok(session)) => {
            let ports = session.ports() as c_int;
            if let Ok(mut running) = RUNNING.lock() {
                *running = Some(Running { session, stack });
            }
            ports
        }
        Some(Err(error)) => {
            eprintln!("celltcp: {error}");
            -1
        }
        None => -1,
    }
}

/// Sends a packet that leaves a port.
///
/// # Safety
/// `bytes` points to `length` readable bytes, which do not change before this function returns.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn celltcp_path_transmit(
    port: c_uint,
    packet: c_uint,
    now: c_ulonglong,
    bytes: *const u8,
    length: c_uint,
) -> c_int {
    // SAFETY: the driver has the packet in a buffer of its own during this call.
    let bytes = unsafe { std::slice::from_raw_parts(bytes, length as usize) };
    match with_session(|session| Ok(session.transmit(now, port, packet, bytes))).flatten() {
        Some(verdict) => verdict.into(),
        None => -1,
    }
}

/// Returns when the path is to be advanced.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn celltcp_path_next() -> c_ulonglong {
    with_session(|session| Ok(session.next_advance()))
        .flatten()
        .unwrap_or(NEVER)
}

/// Advances the path and returns the number of verdicts.
///
/// # Safety
/// `verdicts` has room for `max` verdicts.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn celltcp_path_advance(
    now: c_ulonglong,
    verdicts: *mut CVerdict,
    max: c_uint,
) -> c_uint {
    // SAFETY: the driver's array is static and initialised, and nobody else uses it during this call.
    let slots = unsafe { std::slice::from_raw_parts_mut(verdicts, max as usize) };
    with_session(|session| {
        session.advance(now)?;
        let mut count = 0;
        for slot in slots {
            let Some((verdict, created)) = session.next_verdict() else {
                break;
            };
            *slot = CVerdict::new(verdict, created);
            count += 1;
        }
        Ok(count)
    })
    .unwrap_or(0)
}

/// Processes a message of the guest.
///
/// # Safety
/// `message` points to `length` readable bytes.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn celltcp_path_write(
    now: c_ulonglong,
    message: *const u8,
    length: c_ulonglong,
) -> c_longlong {
    // SAFETY: the driver has copied the message into a buffer of that length.
    let bytes = unsafe { std::slice::from_raw_parts(message, length as usize) };
    let done = with_session(|session| {
        let message: Message = kernel_protocol::decode(bytes)?;
        session.on_message(now, message)
    });
    done.map_or(EIO, |()| length as c_longlong)
}

/// Returns the reply to the last message.
///
/// # Safety
/// `reply` points to `max` writable bytes.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn celltcp_path_read(
    _now: c_ulonglong,
    reply: *mut u8,
    max: c_ulonglong,
) -> c_longlong {
    // SAFETY: the driver has allocated the buffer for this call; bytes of any value are valid.
    let buffer = unsafe { std::slice::from_raw_parts_mut(reply, max as usize) };
    let Some(bytes) = with_session(Session::take_reply) else {
        return EIO;
    };
    let bytes = bytes.unwrap_or_default();
    let Some(out) = buffer.get_mut(..bytes.len()) else {
        return EIO;
    };
    out.copy_from_slice(&bytes);
    bytes.len() as c_longlong
}

/// Ends the run because the guest shuts down.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn celltcp_path_close() {
    with_session(|session| {
        session.fail(&Report::Ended);
        Ok(())
    });
}

#[cfg(test)]
mod tests;

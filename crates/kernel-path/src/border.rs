//! The functions that the kernel calls, as `kernel/driver/path.h` declares them.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_longlong, c_uint, c_ulonglong};
use std::sync::Mutex;

use sidechannel::Message;

use crate::session::{Session, Verdict};
use crate::stack::OwnStack;
use crate::start::Start;

/// `CELLTCP_PATH_ABI`.
const ABI: c_uint = 1;
/// `CELLTCP_NEVER`.
const NEVER: c_ulonglong = c_ulonglong::MAX;
/// Numbers of errors as Linux has them.
const EIO: c_longlong = -5;

/// `struct celltcp_verdict`.
#[repr(C)]
pub struct CVerdict {
    packet: c_uint,
    action: u16,
    port: u16,
    congestion: c_uint,
}

impl From<Verdict> for CVerdict {
    fn from(verdict: Verdict) -> Self {
        let of = |packet, action, port, congestion| Self {
            packet,
            action,
            port,
            congestion,
        };
        match verdict {
            Verdict::Deliver {
                packet,
                port,
                congestion,
            } => of(packet, 0, port, congestion.into()),
            Verdict::Drop { packet } => of(packet, 1, 0, 0),
            Verdict::Sent { packet } => of(packet, 2, 0, 0),
        }
    }
}

/// The session, and the stack that it runs on. The kernel calls one function at a time.
struct Running {
    session: Session,
    stack: OwnStack,
}

static RUNNING: Mutex<Option<Running>> = Mutex::new(None);

/// Works with the session, on its stack. A failure or panic ends the run: the engine is told, and the
/// kernel's process with it.
fn with<T>(work: impl FnOnce(&mut Session) -> std::io::Result<T>) -> Option<T> {
    let mut running = RUNNING.lock().ok()?;
    let Running { session, stack } = running.as_mut()?;
    let failure = match stack.run(|| work(session)) {
        Some(Ok(value)) => return Some(value),
        Some(Err(error)) => error.to_string(),
        None => "the path has panicked; the console says where".to_owned(),
    };
    session.fail(failure);
    std::process::abort();
}

/// Begins.
#[unsafe(no_mangle)]
pub extern "C" fn celltcp_path_open(abi: c_uint) -> c_int {
    if abi != ABI {
        eprintln!(
            "celltcp: the kernel's driver has ABI {abi}, the path {ABI}: build the kernel again"
        );
        return -1;
    }
    let Ok(mut stack) = OwnStack::new() else {
        return -1;
    };
    match stack.run(|| Start::from_environment().map(Session::new)) {
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

/// A packet leaves a port.
///
/// # Safety
/// `headers` points to `headers_length` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celltcp_path_transmit(
    port: c_uint,
    packet: c_uint,
    length: c_uint,
    now: c_ulonglong,
    headers: *const u8,
    headers_length: c_uint,
) -> c_int {
    // SAFETY: the driver passes the linear part of a buffer that it owns during this call.
    let headers = unsafe { std::slice::from_raw_parts(headers, headers_length as usize) };
    match with(|session| Ok(session.transmit(now, port, packet, length, headers))).flatten() {
        Some(told) => told.into(),
        None => -1,
    }
}

/// When the path is to be advanced.
#[unsafe(no_mangle)]
pub extern "C" fn celltcp_path_next() -> c_ulonglong {
    with(|session| Ok(session.next()))
        .flatten()
        .unwrap_or(NEVER)
}

/// Does what is due.
///
/// # Safety
/// `verdicts` has room for `max`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celltcp_path_advance(
    now: c_ulonglong,
    verdicts: *mut CVerdict,
    max: c_uint,
) -> c_uint {
    // SAFETY: the driver's array is static and initialised, and nobody else uses it during this call.
    let room = unsafe { std::slice::from_raw_parts_mut(verdicts, max as usize) };
    with(|session| {
        session.advance(now)?;
        let mut count = 0;
        for place in room {
            let Some(verdict) = session.verdict() else {
                break;
            };
            *place = verdict.into();
            count += 1;
        }
        Ok(count)
    })
    .unwrap_or(0)
}

/// A message of the guest.
///
/// # Safety
/// `message` points to `length` readable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celltcp_path_write(
    now: c_ulonglong,
    message: *const u8,
    length: c_ulonglong,
) -> c_longlong {
    // SAFETY: the driver has copied the message into a buffer of that length.
    let bytes = unsafe { std::slice::from_raw_parts(message, length as usize) };
    let done = with(|session| {
        let message: Message = sidechannel::decode(bytes)?;
        session.message(now, message)
    });
    done.map_or(EIO, |()| length as c_longlong)
}

/// The answer to the last message.
///
/// # Safety
/// `answer` points to `max` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn celltcp_path_read(
    _now: c_ulonglong,
    answer: *mut u8,
    max: c_ulonglong,
) -> c_longlong {
    // SAFETY: the driver has allocated the buffer for this call; bytes of any value are valid.
    let room = unsafe { std::slice::from_raw_parts_mut(answer, max as usize) };
    let Some(bytes) = with(Session::take_answer) else {
        return EIO;
    };
    let bytes = bytes.unwrap_or_default();
    let Some(place) = room.get_mut(..bytes.len()) else {
        return EIO;
    };
    place.copy_from_slice(&bytes);
    bytes.len() as c_longlong
}

/// The guest shuts down.
#[unsafe(no_mangle)]
pub extern "C" fn celltcp_path_close() {
    with(|session| {
        session.fail("the guest has shut down before the end of the run".to_owned());
        Ok(())
    });
}

//! Real time: the driver of a session, which reads and writes the devices of its hosts by the clock of the machine.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use net::HostId;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use thread_priority::{
    RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};
use units::{Duration, Instant};

use crate::capture::CaptureWriter;
use crate::device::{Device, ReceiveBuffers};
use crate::host::in_step;
use crate::log::{Digest, LogWriter};
use crate::merge_queue::MergeQueue;
use crate::offload::GroSegment;
use crate::sender_watch::SenderWatch;
use crate::{Arrival, Lateness, Session};

/// Times that a device is read before the next; each may give many packets.
const BATCH: usize = 8;
/// Priority among real-time threads: the lowest, which is above all others.
const PRIORITY: u8 = 1;

/// Operation of an error.
const PATH: &str = "the path";

/// Files that are written while a run goes on.
#[derive(Default)]
pub struct Files {
    /// Log of arrivals.
    pub log: Option<LogWriter>,
    /// Capture at a host.
    pub capture: Option<CaptureWriter>,
}

/// A session in real time, with counts of packets that do not reach the path or a host.
pub struct Progress {
    /// The path and what was measured.
    pub session: Session,
    /// Lateness of departures.
    pub lateness: Lateness,
    /// Digest of departures.
    pub digest: Digest,
    /// Files that are written meanwhile.
    pub(crate) files: Files,
    /// Segments that wait for others.
    merge_queue: MergeQueue,
    /// Packets without a host of the path as destination.
    pub no_route: u64,
    /// Packets that were not whole, or that a device did not accept.
    pub refused: u64,
    /// CPU time of the thread at the last measurement.
    cpu_time: Duration,
    /// Time of the session at that measurement.
    cpu_measured_at: Instant,
}

impl Progress {
    /// Returns the CPU share of the path.
    pub fn cpu_share(&self) -> f64 {
        let time = self.cpu_measured_at.since_start().as_secs_f64();
        if time > 0.0 {
            self.cpu_time.as_secs_f64() / time
        } else {
            0.0
        }
    }
}

/// State that the driver shares with its user.
struct Shared {
    progress: Mutex<Progress>,
    /// Time zero of the session.
    zero: std::time::Instant,
    stop: AtomicBool,
    wake: EventFd,
}

impl Shared {
    fn progress(&self) -> MutexGuard<'_, Progress> {
        // The state after a panic is whole enough to be shown.
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the current time of the session.
    fn now(&self) -> Instant {
        Instant::ZERO + Duration::from_nanos(self.zero.elapsed().as_nanos() as u64)
    }
}

/// Devices of hosts.
type Devices = Vec<(HostId, Device)>;

/// A driver at work, in a thread of its own.
pub struct Driver {
    shared: Arc<Shared>,
    /// The devices, until it is stopped.
    devices: Option<Arc<Devices>>,
    thread: Option<JoinHandle<std::io::Result<()>>>,
}

impl Driver {
    /// Starts to drive `session`, whose time zero is now, and writes `files`. With `spin`, the thread never
    /// sleeps.
    pub fn start(
        session: Session,
        devices: Devices,
        senders: SenderWatch,
        files: Files,
        spin: bool,
    ) -> std::io::Result<Self> {
        let progress = Progress {
            session,
            lateness: Lateness::default(),
            digest: Digest::default(),
            files,
            merge_queue: MergeQueue::default(),
            no_route: 0,
            refused: 0,
            cpu_time: Duration::ZERO,
            cpu_measured_at: Instant::ZERO,
        };
        let flags = EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC;
        let shared = Arc::new(Shared {
            progress: Mutex::new(progress),
            zero: std::time::Instant::now(),
            stop: AtomicBool::new(false),
            wake: EventFd::from_flags(flags)?,
        });
        let devices = Arc::new(devices);
        let (thread_shared, thread_devices) = (Arc::clone(&shared), Arc::clone(&devices));
        let thread = std::thread::Builder::new()
            .name("celltcp-live".to_owned())
            .spawn(move || drive(&thread_shared, &thread_devices, &senders, spin))?;
        Ok(Self {
            shared,
            devices: Some(devices),
            thread: Some(thread),
        })
    }

    /// Calls `read` with the state of the running session; the path waits meanwhile.
    pub fn with_progress<T>(&self, read: impl FnOnce(&mut Progress) -> T) -> T {
        read(&mut self.shared.progress())
    }

    /// Advances the session to the current time, and changes it.
    ///
    /// # Errors
    /// If the path has failed, or those of the change.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut Progress) -> Result<T, String>,
    ) -> Result<T, String> {
        let mut progress = self.shared.progress();
        let devices = self.devices.as_deref().map_or(&[][..], Vec::as_slice);
        let now = self.shared.now();
        advance(&mut progress, devices, now, || self.shared.now()).map_err(in_step(PATH))?;
        deliver_waiting(&mut progress, devices, || self.shared.now());
        let changed = change(&mut progress);
        drop(progress);
        // The next event may be earlier now.
        self.shared.wake.write(1).map_err(in_step(PATH))?;
        changed
    }

    /// Returns whether the thread still runs; it ends early by a failure only.
    pub fn is_running(&self) -> bool {
        self.thread
            .as_ref()
            .is_some_and(|thread| !thread.is_finished())
    }

    /// Stops the path, whose devices are gone afterwards.
    pub fn stop(&mut self) -> std::io::Result<()> {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.wake.write(1)?;
        let ended = self.thread.take().map(JoinHandle::join);
        self.devices = None;
        match ended {
            None => return Ok(()),
            Some(Ok(result)) => result?,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
        }
        let mut progress = self.shared.progress();
        let end = progress.session.now();
        let files = core::mem::take(&mut progress.files);
        if let Some(log) = files.log {
            log.finish(end, &progress.digest)?;
        }
        files.capture.map_or(Ok(()), CaptureWriter::finish)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Whoever wants to know the failure calls `stop`.
        let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| self.stop()));
    }
}

/// Requests that the kernel wakes this thread as precisely as it can. A rejection is no failure: lateness shows it.
fn request_precise_wakeups(spin: bool) {
    let _ = set_timerslack(1);
    // A thread that never sleeps would leave no CPU time to others.
    if spin {
        return;
    }
    if let Ok(priority) = ThreadPriorityValue::try_from(PRIORITY) {
        let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        let priority = ThreadPriority::Crossplatform(priority);
        let _ = set_thread_priority_and_policy(thread_native_id(), priority, policy);
    }
}

fn drive(
    shared: &Shared,
    devices: &Devices,
    senders: &SenderWatch,
    spin: bool,
) -> std::io::Result<()> {
    request_precise_wakeups(spin);
    let polled = devices.iter().map(|(_, device)| device.as_fd());
    let polled = polled.chain([shared.wake.as_fd()]);
    let mut polled: Vec<_> = polled
        .map(|file| PollFd::new(file, PollFlags::POLLIN))
        .collect();
    let mut buffers = ReceiveBuffers::default();
    // Whether `polled` has current events.
    let mut is_polled = false;
    while !shared.stop.load(Ordering::Relaxed) {
        let mut progress = shared.progress();
        for (&(host, ref device), polled) in devices.iter().zip(&polled) {
            if is_polled && polled.any() == Some(false) {
                continue;
            }
            for _ in 0..BATCH {
                // Segments that the kernel sends at once arrive at once.
                let mut now = None;
                let arrive = |packet: &[u8]| {
                    let now = *now.get_or_insert_with(|| shared.now());
                    arrive(shared, &mut progress, devices, now, host, packet)
                };
                if !device.receive(&mut buffers, arrive)? {
                    break;
                }
            }
        }
        advance(&mut progress, devices, shared.now(), || shared.now())?;
        for sockets in senders.reports.try_iter() {
            progress.session.report(&sockets);
            let cpu_time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?;
            let cpu_time = std::time::Duration::from(cpu_time).as_nanos() as u64;
            progress.cpu_time = Duration::from_nanos(cpu_time);
            progress.cpu_measured_at = shared.now();
        }
        deliver_waiting(&mut progress, devices, || shared.now());
        let next = progress.session.next_event() + progress.merge_queue.moderation();
        drop(progress);
        if !spin {
            is_polled = sleep(&mut polled, next.saturating_since(shared.now()))?;
            if is_polled && polled.last().and_then(PollFd::any) == Some(true) {
                shared.wake.read()?;
            }
        }
    }
    Ok(())
}

/// Puts a packet of a host on the path.
fn arrive(
    shared: &Shared,
    progress: &mut Progress,
    devices: &Devices,
    now: Instant,
    host: HostId,
    packet: &[u8],
) -> std::io::Result<()> {
    advance(progress, devices, now, || shared.now())?;
    match progress.session.arrive(now, host, packet) {
        Arrival::Sent(_) => {
            let at = progress.session.now();
            if let Some(log) = &mut progress.files.log {
                log.arrival(at, host, packet)?;
            }
            if let Some(capture) = &mut progress.files.capture {
                capture.packet(at, host, packet)?;
            }
        }
        Arrival::NoRoute => progress.no_route += 1,
        Arrival::Malformed => progress.refused += 1,
    }
    Ok(())
}

/// Advances the path to `now`, and delivers the packets that have left it to their hosts, except for those that wait
/// for others.
fn advance(
    progress: &mut Progress,
    devices: &[(HostId, Device)],
    now: Instant,
    clock: impl Fn() -> Instant,
) -> std::io::Result<()> {
    let advanced = progress.session.advance(now);
    advanced.map_err(std::io::Error::other)?;
    let mut merge_queue = core::mem::take(&mut progress.merge_queue);
    merge_queue.end_waits(now, |segment| deliver(progress, devices, segment, &clock));
    while let Some(departure) = progress.session.next_departure() {
        progress.digest.add(&departure);
        if let Some(capture) = &mut progress.files.capture {
            capture.packet(departure.at, departure.host, &departure.bytes)?;
        }
        let merges = device_of(devices, departure.host).is_some_and(Device::merges);
        let send = |segment| deliver(progress, devices, segment, &clock);
        merge_queue.add(clock(), departure, merges, send);
    }
    progress.merge_queue = merge_queue;
    Ok(())
}

/// Delivers all packets that wait for others.
fn deliver_waiting(
    progress: &mut Progress,
    devices: &[(HostId, Device)],
    clock: impl Fn() -> Instant,
) {
    let mut merge_queue = core::mem::take(&mut progress.merge_queue);
    merge_queue.end_all_waits(|segment| deliver(progress, devices, segment, &clock));
    progress.merge_queue = merge_queue;
}

/// Delivers a packet, or merged segments, to the host.
fn deliver(
    progress: &mut Progress,
    devices: &[(HostId, Device)],
    mut segment: GroSegment,
    clock: impl Fn() -> Instant,
) {
    let now = clock();
    let device = device_of(devices, segment.host());
    let sent = device.map(|device| device.send(&mut segment));
    // A host whose device is full or down loses the packet, as a card would.
    let is_refused = !matches!(sent, Some(Ok(())));
    for packet in segment.into_packets() {
        progress.lateness.add(now.saturating_since(packet.at));
        progress.refused += u64::from(is_refused);
        progress.session.recycle(packet.bytes);
    }
}

fn device_of(devices: &[(HostId, Device)], host: HostId) -> Option<&Device> {
    let mut devices = devices.iter();
    devices
        .find(|(id, _)| *id == host)
        .map(|(_, device)| device)
}

/// Waits for this time, or until one of `polled` can be read. Returns whether their events are current.
fn sleep(polled: &mut [PollFd<'_>], time: Duration) -> std::io::Result<bool> {
    if time == Duration::ZERO {
        return Ok(false);
    }
    let time = std::time::Duration::from_nanos(time.as_nanos());
    match ppoll(polled, Some(TimeSpec::from_duration(time)), None) {
        Ok(_) => Ok(true),
        Err(nix::errno::Errno::EINTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

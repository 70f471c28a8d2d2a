//! Client: requests segments, fills the buffer and plays it, as a state machine in integer time.

use std::collections::BTreeMap;
use std::sync::Arc;

use units::{Bytes, Duration, Instant};

use crate::abr::{Abr, AbrState, Progress};
use crate::log::{Log, Outcome, SegmentDownload};
use crate::manifest::Manifest;
use crate::playback::{Playback, Stage, Stall, Thresholds};
use crate::settings::Player;

/// Command of the client to the owner of its connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientCommand {
    /// Requests a segment over an open connection without a request; `bytes` are to arrive.
    Request {
        /// Index of the connection.
        connection: usize,
        /// Index of the segment.
        segment: usize,
        /// Quality of the segment.
        quality: usize,
        /// Bytes of the response.
        bytes: Bytes,
    },
    /// Abandons the running request of a connection: closes it, opens another one in its place and reports
    /// [`Client::opened`].
    Abandon {
        /// Index of the connection.
        connection: usize,
    },
    /// Calls [`Client::wake`] at this time, instead of the time asked for before.
    WakeAt(Instant),
    /// Ends the session.
    Done(Outcome),
}

/// Request that runs.
#[derive(Clone, Copy, Debug)]
struct Running {
    segment: usize,
    quality: usize,
    bytes: u64,
    arrived: u64,
    requested: Instant,
    /// Bytes that the session had received at that time.
    received: u64,
    /// The first bytes.
    first: Option<First>,
}

/// First bytes of a response.
#[derive(Clone, Copy, Debug)]
struct First {
    at: Instant,
    bytes: u64,
    /// Bytes that the session had received with them.
    received: u64,
}

/// State of a connection.
#[derive(Clone, Copy, Debug)]
enum Connection {
    Closed,
    Idle,
    Busy(Running),
}

/// Client of one session.
///
/// Its invariants: the buffer is never above its limit; every part of the video is played once and in order; the time of a
/// session is the sum of start-up, stalls and played video.
pub struct Client {
    manifest: Arc<Manifest>,
    player: Player,
    abr: Box<dyn Abr>,
    playback: Playback,
    connections: Vec<Connection>,
    segments: usize,
    /// First segment that has not been requested yet.
    next: usize,
    /// Segments to be requested again, with their quality.
    refetch: BTreeMap<usize, usize>,
    /// Segments that have been abandoned once; they are not abandoned again.
    abandoned_once: Vec<usize>,
    /// Segments that arrived before one of a lower number.
    out_of_order: BTreeMap<usize, SegmentDownload>,
    /// Segments in the buffer or played.
    downloads: Vec<SegmentDownload>,
    abandoned: u32,
    wasted: u64,
    /// Bytes that have arrived over all connections.
    received: u64,
    /// Time up to which the session has been carried on.
    until: Instant,
    outcome: Option<Outcome>,
    /// Quality of the latest request.
    last: Option<usize>,
    /// Time until which the adaptation pauses.
    paused_until: Instant,
    /// Time of the latest [`ClientCommand::WakeAt`].
    wake: Instant,
}

impl Client {
    /// Creates the client of a session; it begins with [`Client::start`].
    ///
    /// The settings have been checked for the manifest.
    pub fn new(manifest: Arc<Manifest>, player: &Player) -> Self {
        let segment = manifest.segment_duration();
        let segments = (player.length.as_nanos() / segment.as_nanos()).max(1);
        let thresholds = Thresholds {
            startup: player.startup,
            resume: player.resume,
            full: player.max_buffer.saturating_sub(segment) + Duration::from_nanos(1),
        };
        Self {
            abr: player.abr.build(&manifest),
            playback: Playback::new(segment * segments, thresholds),
            connections: vec![Connection::Closed; player.connections as usize],
            segments: segments as usize,
            next: 0,
            refetch: BTreeMap::new(),
            abandoned_once: Vec::new(),
            out_of_order: BTreeMap::new(),
            downloads: Vec::new(),
            abandoned: 0,
            wasted: 0,
            received: 0,
            until: Instant::ZERO,
            outcome: None,
            last: None,
            paused_until: Instant::ZERO,
            wake: Instant::NEVER,
            player: player.clone(),
            manifest,
        }
    }

    /// Begins the session: the viewer opens the video. The connections are being opened.
    pub fn start(&mut self, now: Instant, out: &mut Vec<ClientCommand>) {
        self.playback.open(now);
        self.update(now, out);
    }

    /// Reports that a connection is open and has no request.
    pub fn opened(&mut self, now: Instant, connection: usize, out: &mut Vec<ClientCommand>) {
        self.playback.advance(now);
        if matches!(self.connections[connection], Connection::Closed) {
            self.connections[connection] = Connection::Idle;
        }
        self.update(now, out);
    }

    /// Reports that a connection was closed from outside. Its request is made again.
    pub fn closed(&mut self, now: Instant, connection: usize, out: &mut Vec<ClientCommand>) {
        self.playback.advance(now);
        if let Connection::Busy(running) = self.connections[connection] {
            self.drop_request(running, running.quality);
        }
        self.connections[connection] = Connection::Closed;
        self.update(now, out);
    }

    /// Reports that `bytes` more of the running request of a connection have arrived.
    pub fn arrived(
        &mut self,
        now: Instant,
        connection: usize,
        bytes: u64,
        out: &mut Vec<ClientCommand>,
    ) {
        self.playback.advance(now);
        if self.outcome.is_none()
            && let Connection::Busy(mut running) = self.connections[connection]
        {
            let fresh = bytes.min(running.bytes - running.arrived);
            running.arrived += fresh;
            self.received += fresh;
            running.first = running.first.or(Some(First {
                at: now,
                bytes: fresh,
                received: self.received,
            }));
            self.connections[connection] = Connection::Busy(running);
            if running.arrived == running.bytes {
                self.connections[connection] = Connection::Idle;
                self.complete(now, running);
            } else if let Some(quality) = self.abandons(now, &running) {
                self.drop_request(running, quality);
                self.abandoned_once.push(running.segment);
                self.connections[connection] = Connection::Closed;
                out.push(ClientCommand::Abandon { connection });
            }
        }
        self.update(now, out);
    }

    /// Tells the time that [`ClientCommand::WakeAt`] asked for.
    pub fn wake(&mut self, now: Instant, out: &mut Vec<ClientCommand>) {
        self.wake = Instant::NEVER;
        self.playback.advance(now);
        self.update(now, out);
    }

    /// Ends the session from outside.
    pub fn stop(&mut self, now: Instant, out: &mut Vec<ClientCommand>) {
        self.playback.advance(now);
        self.update(now, out);
        if self.outcome.is_none() {
            self.end(now, Outcome::Stopped, out);
        }
    }

    /// Returns the record of the session so far.
    pub fn log(&self) -> Log {
        let playback = &self.playback;
        let opened = playback.opened();
        let behind = |latency| {
            (self.until.saturating_since(opened) + latency).saturating_sub(playback.played())
        };
        Log {
            opened,
            startup: playback.started().map(|started| started - opened),
            until: self.until,
            played: playback.played(),
            stalls: playback.stalls().to_vec(),
            segments: self.downloads.clone(),
            abandoned: self.abandoned,
            wasted: Bytes::new(self.wasted),
            latency: self.player.latency.map(behind),
            outcome: self.outcome,
        }
    }

    /// Returns the segments that are in the buffer or were played, in the order of their numbers.
    pub fn downloads(&self) -> &[SegmentDownload] {
        &self.downloads
    }

    /// Returns the stalls that are over, in the order of time; all of them once the session has ended.
    pub fn stalls(&self) -> &[Stall] {
        if self.is_over() {
            self.playback.stalls()
        } else {
            self.playback.past_stalls()
        }
    }

    /// Returns whether the session has ended.
    pub fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    /// Returns the video in the buffer.
    pub fn buffer(&self) -> Duration {
        self.playback.level()
    }

    /// Returns the state of the playback.
    pub fn stage(&self) -> Stage {
        self.playback.stage()
    }

    /// Notes that a request will not be completed.
    fn drop_request(&mut self, running: Running, quality: usize) {
        self.refetch.insert(running.segment, quality);
        self.abandoned += 1;
        self.wasted += running.arrived;
    }

    /// Adds a segment, and those after it that arrived before it, to the buffer.
    fn complete(&mut self, now: Instant, running: Running) {
        let first = running.first.unwrap_or(First {
            at: now,
            bytes: running.bytes,
            received: self.received,
        });
        let before = first.received - running.received - first.bytes;
        let after = self.received - first.received - (running.bytes - first.bytes);
        let download = SegmentDownload {
            segment: running.segment,
            quality: running.quality,
            bytes: Bytes::new(running.bytes),
            requested: running.requested,
            first: first.at,
            first_bytes: Bytes::new(first.bytes),
            beside: [before, after].map(Bytes::new),
            finished: now,
            buffer: Duration::ZERO,
        };
        self.out_of_order.insert(running.segment, download);
        while let Some(next) = self.out_of_order.remove(&self.downloads.len()) {
            self.playback.append(self.manifest.segment_duration());
            let buffer = self.playback.level();
            self.downloads.push(SegmentDownload { buffer, ..next });
        }
        let manifest = Arc::clone(&self.manifest);
        let state = self.state(&manifest, now, running.segment + 1);
        self.abr.downloaded(&state, &download);
    }

    /// Returns the lower quality for which the adaptation abandons a request.
    fn abandons(&mut self, now: Instant, running: &Running) -> Option<usize> {
        let first = running.first?.at;
        if !self.player.abandon
            || running.quality == 0
            || self.abandoned_once.contains(&running.segment)
        {
            return None;
        }
        let progress = Progress {
            quality: running.quality,
            bytes: running.bytes,
            arrived: running.arrived,
            requested: running.requested,
            first,
        };
        let manifest = Arc::clone(&self.manifest);
        let state = self.state(&manifest, now, running.segment);
        self.abr
            .abandon(&state, &progress)
            .filter(|quality| *quality < running.quality)
    }

    /// Returns the most video that the buffer may hold: that of the player, and in a live stream no more than there is.
    fn max_buffer(&self, now: Instant) -> Duration {
        let ahead = |latency| {
            let since = now.saturating_since(self.playback.opened());
            (since + latency).saturating_sub(self.playback.played())
        };
        let live = self.player.latency.map_or(Duration::MAX, ahead);
        self.player.max_buffer.min(live)
    }

    fn state<'a>(&self, manifest: &'a Manifest, now: Instant, segment: usize) -> AbrState<'a> {
        AbrState {
            manifest,
            now,
            segment,
            segments: self.segments,
            last: self.last,
            buffer: self.playback.level(),
            max_buffer: self.max_buffer(now),
            stage: self.playback.stage(),
            stalls: self.playback.stalls().len(),
            initial: self.player.initial,
        }
    }

    /// Ends the session if that is due; else makes the requests that are due and asks for the next call.
    fn update(&mut self, now: Instant, out: &mut Vec<ClientCommand>) {
        if self.outcome.is_some() {
            return;
        }
        self.until = now;
        if let Some(ended) = self.playback.ended() {
            return self.end(ended, Outcome::Watched, out);
        }
        let leaves = self
            .playback
            .stall_start()
            .map(|since| since + self.player.patience);
        if leaves.is_some_and(|leaves| leaves <= now) {
            return self.end(now, self.reason_to_leave(), out);
        }
        let due = self.request(now, out);
        let ends =
            (self.playback.filled() == self.playback.total()).then(|| self.playback.empty_at());
        let wake = [due, leaves, ends]
            .into_iter()
            .flatten()
            .min()
            .unwrap_or(Instant::NEVER);
        if wake != self.wake && wake != Instant::NEVER {
            self.wake = wake;
            out.push(ClientCommand::WakeAt(wake));
        }
    }

    fn reason_to_leave(&self) -> Outcome {
        let has_bytes = |connection: &Connection| matches!(connection, Connection::Busy(running) if running.arrived > 0);
        let is_silent = self.downloads.is_empty()
            && self.out_of_order.is_empty()
            && self.wasted == 0
            && !self.connections.iter().any(has_bytes);
        match self.playback.stage() {
            Stage::Starting if is_silent => Outcome::NothingArrived,
            Stage::Starting => Outcome::NeverStarted,
            _ => Outcome::QuitInStall,
        }
    }

    /// Makes all requests that are possible now; returns the time at which the next may be possible, if only time is
    /// missing.
    fn request(&mut self, now: Instant, out: &mut Vec<ClientCommand>) -> Option<Instant> {
        while let Some(connection) = self
            .connections
            .iter()
            .position(|connection| matches!(connection, Connection::Idle))
        {
            let (segment, quality) = match self.refetch.pop_first() {
                Some(again) => again,
                None if self.next == self.segments => return None,
                None => {
                    let due = self.due(now)?;
                    if due > now {
                        return Some(due);
                    }
                    let manifest = Arc::clone(&self.manifest);
                    let choice = self.abr.choose(&self.state(&manifest, now, self.next));
                    let pause = choice.pause.min(self.playback.level());
                    if !pause.is_zero() && self.playback.stage() == Stage::Playing {
                        self.paused_until = now + pause;
                        continue;
                    }
                    self.next += 1;
                    (self.next - 1, choice.quality.min(manifest.top()))
                }
            };
            self.last = Some(quality);
            let bytes = self.manifest.segment_bytes(segment, quality);
            self.connections[connection] = Connection::Busy(Running {
                segment,
                quality,
                bytes: bytes.get(),
                arrived: 0,
                requested: now,
                received: self.received,
                first: None,
            });
            out.push(ClientCommand::Request {
                connection,
                segment,
                quality,
                bytes,
            });
        }
        None
    }

    /// Returns the time from which the next segment may be requested: the buffer has room for it, the server has it,
    /// and the adaptation does not pause. Nothing if the buffer has no room and nothing is played.
    fn due(&self, now: Instant) -> Option<Instant> {
        let end = self.manifest.segment_duration() * (self.next as u64 + 1);
        let excess = (end - self.playback.played()).saturating_sub(self.player.max_buffer);
        let room = match self.playback.stage() {
            _ if excess.is_zero() => now,
            // Playing stops at the end of the buffer; another segment that arrives before changes the answer.
            Stage::Playing => now + excess.min(self.playback.level().max(Duration::from_nanos(1))),
            _ => return None,
        };
        let available = match self.player.latency {
            Some(latency) => self.playback.opened() + end.saturating_sub(latency),
            None => now,
        };
        Some(room.max(available).max(self.paused_until))
    }

    fn end(&mut self, at: Instant, outcome: Outcome, out: &mut Vec<ClientCommand>) {
        self.until = at;
        self.outcome = Some(outcome);
        out.push(ClientCommand::Done(outcome));
    }
}

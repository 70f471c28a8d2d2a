//! Video: the client plays a video by adaptive streaming, and the server sends its segments.

use std::sync::Arc;

use config::{FieldContext, FieldError};
use units::random::RngStream;
use units::{Bytes, Duration, Instant, Measure};
use video::score::{Screen, session_metrics};
use video::{Client, ClientCommand, LadderSource, Manifest, player_table};

use crate::application::{Application, Command, End};
use crate::workload::Settings;

player_table! {
    /// Video that the receiving node plays by adaptive streaming: it requests segments, and the sending node sends them.
    /// Events have "segment_mbps", "fetch_s" and "buffer_s" of each segment when it has
    /// arrived (rate of its representation, time from the request to the last byte, video in the buffer then), and
    /// "stall_s" of each stall at its end. At the end of the session, or of the run, they have its metrics:
    /// "qoe" (ITU-T P.1203.3 without its random forest, from 1 to 5; 1 if less than a second was played), "linear_qoe",
    /// "startup_s", "stalls", "stalled_s", "bitrate_mbps", "switches", "abandoned" and "watched_s".
    pub struct Video {
        /// Representations of the video and the sizes of its segments: "bbb", "1080p", "4k", or a file of segment sizes
        /// (JSON), whose name ends in ".json"; default "bbb".
        pub ladder: LadderSource,
        ..player,
        /// Connections that carry requests at the same time; default 1.
        pub connections: u32 = 1,
        /// Whether the adaptations of dash.js, throughput and bola-e, abandon a segment that takes too long; default
        /// true. The client then aborts the connection and opens another one.
        pub abandon: bool = true,
        /// Payload of each request; default 500B.
        pub request: Bytes = Bytes::new(500),
        /// Time from the last byte of a request at the sending node to the first byte of the segment; default 10ms.
        pub think: Duration = Duration::from_millis(10),
        /// Screen of the viewer.
        pub screen: Screen,
    }
}

impl Video {
    /// Reads the file of segment sizes, if the ladder is one. `read` returns the path, for errors, and
    /// the contents.
    ///
    /// # Errors
    /// If the file is not a valid list of segment sizes, or the player cannot play its segments.
    pub(crate) fn load(
        &mut self,
        read: impl FnOnce(&str) -> Result<(String, String), FieldError>,
    ) -> Result<(), FieldError> {
        if self.ladder.file().is_none() {
            return Ok(());
        }
        self.ladder.load(read).in_table("ladder")?;
        self.check()
    }
}

/// First bytes of a segment. The server writes them separately, so that their arrival is notified.
const FIRST_WRITE: u64 = 500;

/// Score of a session that has played less than a second.
const WORST: f64 = 1.0;

impl Settings for Video {
    fn check(&self) -> Result<(), FieldError> {
        let player = self.player(self.connections, self.abandon);
        player.check()?;
        // The segments of a file are known once it has been read.
        if let Some(manifest) = self.ladder.manifest() {
            player.check_for(&manifest)?;
        }
        self.screen.check().in_table("screen")
    }

    fn is_random(&self) -> bool {
        false
    }

    fn mean_period_ns(&self, rtt_ns: f64) -> f64 {
        rtt_ns + self.think.to_base()
    }

    fn application(&self, _: RngStream) -> Box<dyn Application> {
        Box::new(Streaming::new(self.clone()))
    }
}

/// A connection of a session.
#[derive(Clone, Copy, Debug)]
struct Connection {
    /// Bytes of the response to the running request.
    response: u64,
    /// Time at which the server answers.
    answer_at: Instant,
}

/// Connection without a request.
const NO_REQUEST: Connection = Connection {
    response: 0,
    answer_at: Instant::NEVER,
};

/// Application of a flow that carries a video. The client has its connections from the start: bytes that are written
/// before the handshake is complete wait for it.
pub(crate) struct Streaming {
    manifest: Arc<Manifest>,
    client: Client,
    config: Video,
    is_open: bool,
    connections: Vec<Connection>,
    /// Connection that the current call concerns.
    slot: usize,
    /// Segments and stalls that have been recorded.
    recorded: (usize, usize),
    /// Time at which the client is to be called.
    client_at: Instant,
    /// Time of the latest [`Command::WakeAt`].
    wake_at: Instant,
    commands: Vec<ClientCommand>,
}

impl Streaming {
    /// Creates the application.
    ///
    /// # Panics
    /// If the file of the ladder has not been read.
    pub(crate) fn new(config: Video) -> Self {
        let manifest = config
            .ladder
            .manifest()
            .expect("the files of all workloads have been read");
        let player = config.player(config.connections, config.abandon);
        let connections = config.connections as usize;
        Self {
            client: Client::new(Arc::clone(&manifest), &player),
            manifest,
            config,
            is_open: false,
            connections: vec![NO_REQUEST; connections],
            slot: 0,
            recorded: (0, 0),
            client_at: Instant::NEVER,
            wake_at: Instant::NEVER,
            commands: Vec::new(),
        }
    }

    fn send_response(&mut self, slot: usize, out: &mut Vec<Command>) {
        let connection = &mut self.connections[slot];
        connection.answer_at = Instant::NEVER;
        // The engine reports each message, so that the client learns when the first bytes have arrived.
        let head = FIRST_WRITE.min(connection.response);
        out.extend([Command::SelectSlot(slot), Command::Send(End::Server, head)]);
        if connection.response > head {
            out.push(Command::Send(End::Server, connection.response - head));
        }
    }

    /// Carries out the commands of the client, and schedules the next call.
    fn run_client_commands(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.record_progress(out);
        // An abandoned request leads to the next command at once.
        while !self.commands.is_empty() {
            let mut commands = core::mem::take(&mut self.commands);
            for command in commands.drain(..) {
                self.carry_out(now, command, out);
            }
            if self.commands.is_empty() {
                self.commands = commands;
            }
        }
        let answers = self
            .connections
            .iter()
            .map(|connection| connection.answer_at);
        let next = answers.fold(self.client_at, Instant::min);
        if next != self.wake_at && next != Instant::NEVER {
            self.wake_at = next;
            out.push(Command::WakeAt(next));
        }
    }

    fn carry_out(&mut self, now: Instant, command: ClientCommand, out: &mut Vec<Command>) {
        match command {
            ClientCommand::Request {
                connection, bytes, ..
            } => {
                self.connections[connection].response = bytes.get();
                let request = self.config.request.get().max(1);
                out.extend([
                    Command::SelectSlot(connection),
                    Command::Send(End::Client, request),
                ]);
            }
            ClientCommand::Abandon { connection } => {
                // HTTP/1.1 has no other way to end a response early (RFC 9112 section 9.6).
                self.connections[connection] = NO_REQUEST;
                out.extend([
                    Command::SelectSlot(connection),
                    Command::Abort(End::Client),
                    Command::Open,
                ]);
                self.client.opened(now, connection, &mut self.commands);
            }
            ClientCommand::WakeAt(at) => self.client_at = at,
            ClientCommand::Done(_) => {
                self.report(out);
                for (slot, connection) in self.connections.iter_mut().enumerate() {
                    connection.answer_at = Instant::NEVER;
                    out.extend([
                        Command::SelectSlot(slot),
                        Command::CancelUnsent(End::Server),
                        Command::Close(End::Client),
                    ]);
                }
            }
        }
    }

    /// Records the segments that have arrived since the last call, and the stalls that are over.
    fn record_progress(&mut self, out: &mut Vec<Command>) {
        let (segments, stalls) = self.recorded;
        let (downloads, over) = (self.client.downloads(), self.client.stalls());
        for segment in &downloads[segments..] {
            let rate = self.manifest.representations()[segment.quality].rate;
            out.extend([
                Command::Record("segment_mbps", rate.as_mbps()),
                Command::Record("fetch_s", segment.duration().as_secs_f64()),
                Command::Record("buffer_s", segment.buffer.as_secs_f64()),
            ]);
        }
        for stall in &over[stalls..] {
            out.push(Command::Record("stall_s", stall.length.as_secs_f64()));
        }
        self.recorded = (downloads.len(), over.len());
    }

    /// Records the metrics of the session.
    fn report(&self, out: &mut Vec<Command>) {
        let log = self.client.log();
        let result = session_metrics(&self.manifest, &log, &self.config.screen, None);
        let metrics = [
            ("qoe", Some(result.mos.map_or(WORST, |mos| mos.o46))),
            ("linear_qoe", Some(result.linear)),
            ("startup_s", result.startup_s),
            ("stalls", Some(result.stalls as f64)),
            ("stalled_s", Some(result.stalled_s)),
            ("bitrate_mbps", result.bitrate_mbps),
            ("switches", Some(result.switches as f64)),
            ("abandoned", Some(f64::from(log.abandoned))),
            ("watched_s", Some(log.played.as_secs_f64())),
        ];
        let record =
            |(name, value): (&'static str, Option<f64>)| Some(Command::Record(name, value?));
        out.extend(metrics.into_iter().filter_map(record));
    }
}

impl Application for Streaming {
    fn wants_progress(&self) -> bool {
        true
    }

    fn select_slot(&mut self, slot: usize) {
        self.slot = slot;
    }

    fn on_wake(&mut self, now: Instant, out: &mut Vec<Command>) {
        self.wake_at = Instant::NEVER;
        if !self.is_open {
            self.is_open = true;
            self.client.start(now, &mut self.commands);
            for slot in 0..self.connections.len() {
                out.extend([Command::SelectSlot(slot), Command::Open]);
                self.client.opened(now, slot, &mut self.commands);
            }
        }
        for slot in 0..self.connections.len() {
            if self.connections[slot].answer_at <= now {
                self.send_response(slot, out);
            }
        }
        if self.client_at <= now {
            self.client_at = Instant::NEVER;
            self.client.wake(now, &mut self.commands);
        }
        self.run_client_commands(now, out);
    }

    fn on_progress(&mut self, now: Instant, end: End, bytes: u64, out: &mut Vec<Command>) {
        if end == End::Client {
            self.client
                .arrived(now, self.slot, bytes, &mut self.commands);
            self.run_client_commands(now, out);
        }
    }

    fn on_received(&mut self, now: Instant, end: End, _: u64, out: &mut Vec<Command>) {
        if end == End::Client || self.client.is_over() {
            return;
        }
        if self.config.think.is_zero() {
            self.send_response(self.slot, out);
        } else {
            self.connections[self.slot].answer_at = now + self.config.think;
        }
        self.run_client_commands(now, out);
    }

    fn on_stopped(&mut self, now: Instant, out: &mut Vec<Command>) {
        if self.is_open && !self.client.is_over() {
            self.client.stop(now, &mut self.commands);
            self.commands.clear();
            self.record_progress(out);
            self.report(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn bytes_of(command: &Command) -> Option<(End, u64)> {
        match command {
            Command::Send(end, bytes) => Some((*end, *bytes)),
            _ => None,
        }
    }

    fn recorded(out: &[Command], wanted: &str) -> Option<f64> {
        out.iter().find_map(|command| match command {
            Command::Record(name, value) if *name == wanted => Some(*value),
            _ => None,
        })
    }

    /// Plays a video of two segments, each of which takes a second; returns the commands from the last byte on.
    fn play(app: &mut Streaming) -> Vec<Command> {
        let mut out = Vec::new();
        app.on_wake(at(0), &mut out);
        assert_eq!(out[..2], [Command::SelectSlot(0), Command::Open]);
        for (segment, request_ms) in [(0, 0), (1, 1_070)] {
            assert_eq!(out.iter().find_map(bytes_of), Some((End::Client, 500)));
            out.clear();
            app.on_received(at(request_ms + 60), End::Server, 500, &mut out);
            assert_eq!(out, [Command::WakeAt(at(request_ms + 70))]);
            out.clear();
            app.on_wake(at(request_ms + 70), &mut out);
            let size = app.manifest.segment_bytes(segment, 3).get();
            assert_eq!(
                out.iter().find_map(bytes_of).map(|(end, _)| end),
                Some(End::Server)
            );
            let sent: u64 = out
                .iter()
                .filter_map(bytes_of)
                .map(|(_, bytes)| bytes)
                .sum();
            assert!(segment > 0 || sent == size);
            out.clear();
            app.on_progress(at(request_ms + 100), End::Client, sent / 2, &mut out);
            app.on_progress(
                at(request_ms + 1_070),
                End::Client,
                sent - sent / 2,
                &mut out,
            );
        }
        out
    }

    #[test]
    fn the_server_answers_each_request_and_the_session_ends_with_its_figures() {
        let config = Video {
            length: Duration::from_secs(6),
            ..Video::default()
        };
        config.check().unwrap();
        let mut app = Streaming::new(config);
        let mut out = play(&mut app);
        // The first segment has arrived at 1.07 s; the video ends 6 s later.
        assert!(out.contains(&Command::WakeAt(at(7_070))), "{out:?}");
        out.clear();
        app.on_wake(at(7_070), &mut out);
        let values = ["startup_s", "stalls", "stalled_s", "watched_s"]
            .map(|name| recorded(&out, name).unwrap());
        assert_eq!(values, [1.07, 0.0, 0.0, 6.0]);
        assert!(recorded(&out, "qoe").is_some_and(|qoe| (1.0..5.0).contains(&qoe)));
        assert_eq!(out.last(), Some(&Command::Close(End::Client)));
    }

    #[test]
    fn the_end_of_a_run_records_what_was_watched() {
        let mut app = Streaming::new(Video::default());
        let mut out = play(&mut app);
        out.clear();
        app.on_stopped(at(4_070), &mut out);
        assert_eq!(recorded(&out, "watched_s"), Some(3.0));
        assert!(
            out.iter()
                .all(|command| matches!(command, Command::Record(_, _)))
        );
        out.clear();
        app.on_stopped(at(4_070), &mut out);
        assert_eq!(out, []);
    }

    /// Plays with `abandon` on a link whose rate falls from 3 to 1 Mbit/s in the second segment; returns the commands of
    /// the rest of that segment.
    fn play_on_a_falling_link(abandon: bool) -> (Streaming, Vec<Command>) {
        let config = Video {
            abr: video::abr::Algorithm::Throughput,
            initial: Rate::from_mbps(3.0),
            abandon,
            ..Video::default()
        };
        let mut app = Streaming::new(config);
        let mut out = Vec::new();
        app.on_wake(at(0), &mut out);
        app.on_received(at(20), End::Server, 500, &mut out);
        app.on_wake(at(30), &mut out);
        app.on_progress(at(60), End::Client, app.connections[0].response, &mut out);
        out.clear();
        app.on_received(at(80), End::Server, 500, &mut out);
        app.on_wake(at(90), &mut out);
        out.clear();
        let mut left = app.connections[0].response;
        for step in 1_u64.. {
            let bytes = left.min(1_250);
            app.on_progress(at(100 + 10 * step), End::Client, bytes, &mut out);
            left -= bytes;
            if left == 0 || out.contains(&Command::Abort(End::Client)) {
                break;
            }
        }
        (app, out)
    }

    #[test]
    fn an_abandoned_segment_is_requested_again_on_a_new_connection() {
        let (mut app, out) = play_on_a_falling_link(true);
        let commands: Vec<_> = out
            .iter()
            .filter(|command| !matches!(command, Command::Record(_, _) | Command::WakeAt(_)))
            .collect();
        let expected = [
            Command::SelectSlot(0),
            Command::Abort(End::Client),
            Command::Open,
            Command::SelectSlot(0),
            Command::Send(End::Client, 500),
        ];
        assert_eq!(commands, expected.iter().collect::<Vec<_>>());
        let mut out = Vec::new();
        app.on_stopped(at(5_000), &mut out);
        assert_eq!(recorded(&out, "abandoned"), Some(1.0));
    }

    #[test]
    fn a_player_that_does_not_abandon_fetches_the_whole_segment() {
        let (_, out) = play_on_a_falling_link(false);
        assert!(!out.contains(&Command::Abort(End::Client)));
        assert!(recorded(&out, "fetch_s").is_some_and(|fetch| fetch > 5.0));
    }

    #[test]
    fn a_buffer_without_room_for_a_segment_is_rejected() {
        let config = Video {
            ladder: video::Ladder::FullHd.into(),
            max_buffer: Duration::from_secs(3),
            ..Video::default()
        };
        assert_eq!(config.check().unwrap_err().field, "max_buffer");
    }
}

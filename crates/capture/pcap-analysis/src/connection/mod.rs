//! Connection: a state machine that follows the segments of both sides past the capture.
//!
//! It does no I/O and has no clock: it is called with each packet, and appends rows to the tables. A [`direction`]
//! follows one direction; [`loss`] has the rules for kinds of loss.

mod capture_point;
mod cca_inference;
mod copies;
mod counts;
mod delayed_ack;
mod direction;
mod flight;
mod full_queue;
mod handshake;
mod histogram;
mod ignored_duplicates;
mod interval;
mod lateness;
mod limits;
mod loss;
mod messages;
mod output;
mod pause;
mod queue_delay;
mod reset_origin;
mod rtt;
mod sack_history;
mod sender_clock;
mod stalls;
mod timestamp_rtt;
mod trains;
mod turns;
mod undecided;
mod units;
mod waits;

use tcp::{Ecn, Flags, Segment};

use crate::ends::Ends;
use crate::input::decode::Packet;
use crate::tables::{ResetRow, Tables};

use copies::Copies;
use direction::{Direction, SeenSegment, SegmentKind};
use handshake::Handshake;
pub use loss::LOSS_KINDS;
use pause::Pause;
use reset_origin::ResetOrigin;
use turns::{NewData, Turns};
use units::UnitData;
use waits::Waits;

/// Time without packets beyond this counts as idle, ns.
const MAX_PAUSE_NS: u64 = 1_000_000_000;
/// Windows are smaller than this, bytes (RFC 7323 §2.3); a larger jump of sequence numbers is another connection.
const MAX_WINDOW: u32 = 1 << 30;

/// One connection.
pub(crate) struct Connection {
    pub(crate) number: u32,
    ends: Ends,
    begin_ns: u64,
    pub(crate) last_ns: u64,
    idle_ns: u64,
    /// Segments of the client (up), and of the server (down).
    directions: [Direction; 2],
    handshake: Handshake,
    waits: Waits,
    copies: Copies,
    reset_by: Option<usize>,
    captured_twice: u64,
    reset_origin: ResetOrigin,
    pause: Pause,
    turns: Turns,
    /// Time at the end of the capture in which data were in flight and the receiver sent nothing, ns.
    unanswered_ns: u64,
    wrong_lengths: u64,
    is_tunnelled: bool,
    is_reused: bool,
    /// Number of losses by kind.
    losses_by_kind: [u64; loss::LOSS_KINDS.len()],
}

impl Connection {
    /// Begins with the first packet.
    pub(crate) fn new(number: u32, packet: &Packet, ends: Ends, is_reused: bool) -> Self {
        Self {
            number,
            ends,
            begin_ns: packet.at_ns,
            last_ns: packet.at_ns,
            idle_ns: 0,
            directions: Default::default(),
            handshake: Handshake::default(),
            waits: Waits::default(),
            copies: Copies::default(),
            reset_by: None,
            captured_twice: 0,
            reset_origin: ResetOrigin::default(),
            pause: Pause::default(),
            turns: Turns::default(),
            unanswered_ns: 0,
            wrong_lengths: 0,
            is_tunnelled: false,
            is_reused,
            losses_by_kind: Default::default(),
        }
    }

    /// Returns whether a packet with the same ends begins another connection.
    pub(crate) fn is_port_reuse(&self, packet: &Packet) -> bool {
        let side = self.side(packet);
        let direction = &self.directions[side];
        let Some(base) = direction.base else {
            return false;
        };
        let flags = packet.segment.flags;
        if flags.contains(Flags::SYN) {
            // A repeated SYN has the same sequence number; any other opens a new connection.
            let opens = !flags.contains(Flags::ACK);
            return opens && packet.segment.seq.wrapping_add(1) != base as u32;
        }
        let distance = packet
            .segment
            .seq
            .wrapping_sub(direction.flight.highest as u32);
        let jumps = distance > MAX_WINDOW && distance.wrapping_neg() > MAX_WINDOW;
        self.is_over() && jumps && packet.segment.len > 0
    }

    /// Returns whether both sides have sent a FIN, or one a RST.
    pub(crate) fn is_over(&self) -> bool {
        self.reset_by.is_some() || self.directions.iter().all(|direction| direction.has_fin)
    }

    /// Returns by how much more the capture's clock advanced than the sender's, up to `packet` at `at_ns`.
    pub(crate) fn surplus_ns(&self, packet: &Packet, at_ns: u64) -> Option<u64> {
        let (value, _) = packet.segment.timestamps?;
        self.directions[self.side(packet)]
            .clock
            .surplus_ns(value, at_ns)
    }

    fn side(&self, packet: &Packet) -> usize {
        usize::from(packet.source != self.ends.client)
    }

    /// Processes a packet and appends rows to `tables`, those of segments only with `has_segment_rows`.
    pub(crate) fn on_packet(
        &mut self,
        packet: &Packet,
        has_segment_rows: bool,
        tables: &mut Tables,
    ) {
        let side = self.side(packet);
        if self.copies.observe(side, packet) {
            self.captured_twice += 1;
            return;
        }
        let at_ns = packet.at_ns;
        self.wrong_lengths += u64::from(packet.has_wrong_length);
        self.is_tunnelled |= packet.is_tunnelled;
        let pause_ns = at_ns.saturating_sub(self.last_ns);
        self.idle_ns += pause_ns.saturating_sub(MAX_PAUSE_NS);
        let is_reset = packet.segment.flags.contains(Flags::RST);
        self.pause.on_packet(side, pause_ns, is_reset);
        self.reset_origin
            .on_packet(side, at_ns, packet.ttl, is_reset);
        self.last_ns = at_ns;
        let since_ns = at_ns.saturating_sub(self.begin_ns);
        for up in [true, false] {
            let direction = &mut self.directions[usize::from(!up)];
            if let Some(row) = direction.interval.advance_to(since_ns, self.number, up) {
                tables.intervals.push(row);
            }
        }
        self.count(side, packet);
        let segment = &packet.segment;
        // After a RST no data are acknowledged.
        if self.reset_by.is_none() {
            let [from, to] = self.directions_of(side);
            from.integrate(at_ns, to.window);
            to.integrate(at_ns, from.window);
        }
        self.track_handshake(side, packet);
        let connects = segment.flags.contains(Flags::SYN);
        self.directions[1 - side].are_acks_cut |= packet.is_header_cut && !connects;
        self.on_ack(side, segment, at_ns, since_ns);
        let kind = self.on_data(side, packet);
        if is_reset {
            self.on_reset(side, at_ns, tables);
        }
        self.classify_losses(at_ns, tables);
        if has_segment_rows {
            tables.segments.push(self.segment_row(side, packet, kind));
        }
    }

    /// Returns the direction of this side's segments, and that of the other side's.
    fn directions_of(&mut self, side: usize) -> [&mut Direction; 2] {
        let [up, down] = &mut self.directions;
        if side == 0 { [up, down] } else { [down, up] }
    }

    fn count(&mut self, side: usize, packet: &Packet) {
        let counts = &mut self.directions[side].counts;
        counts.packets += 1;
        counts.marked += u64::from(packet.segment.ecn == Ecn::Ce);
        let flags = packet.segment.flags;
        let connects = flags.contains(Flags::SYN) || flags.contains(Flags::FIN);
        let is_pure_ack = packet.segment.len == 0 && flags.contains(Flags::ACK);
        let echoes = flags.contains(Flags::ECE) && !flags.contains(Flags::SYN);
        counts.congestion_echoes += u64::from(echoes);
        if is_pure_ack && !connects && !flags.contains(Flags::RST) {
            counts.acks += 1;
        }
    }

    fn track_handshake(&mut self, side: usize, packet: &Packet) {
        let segment = &packet.segment;
        let at_ns = packet.at_ns;
        if segment.flags.contains(Flags::SYN) {
            let direction = &mut self.directions[side];
            let is_repeated = direction.base.is_some();
            let number = direction.unwrap_seq(segment);
            // ACKs that were captured before the SYN may have suggested another start.
            direction.base = Some(number);
            direction.counts.retransmissions += u64::from(is_repeated && direction.has_syn);
            direction.has_syn = true;
            direction.mss = segment.mss;
            direction.scale = segment.window_scale;
            direction.is_syn_cut = packet.is_header_cut;
            direction.offers_sack = segment.sack_permitted;
            // RFC 3168 §6.1.1: ECE and CWR in a SYN, ECE alone in its answer.
            direction.offers_ecn = segment.flags.contains(Flags::ECE);
            direction.has_timestamps = segment.timestamps.is_some();
        }
        let [up, down] = &mut self.directions;
        self.handshake.on_segment(side, segment, at_ns, up, down);
        if segment.flags.contains(Flags::SYN)
            && let Some(wait) = self.handshake.wait()
        {
            self.waits.add(wait);
        }
    }

    /// Processes the ACK fields of a segment.
    fn on_ack(&mut self, side: usize, segment: &Segment, at_ns: u64, since_ns: u64) {
        let [from, to] = self.directions_of(side);
        let closed_since = from.closed_since;
        let is_window_same = from.on_window(segment, at_ns);
        let closure = closed_since.filter(|_| from.closed_since.is_none());
        if let Some((value, echo)) = segment.timestamps {
            if segment.len > 0 {
                from.on_silence(value, at_ns, to.clock.last_value() == echo);
            }
            let bytes = to.counts.passed_bytes();
            from.timestamp_rtt.on_timestamp(value, at_ns, bytes);
            from.clock.on_timestamp(value, at_ns);
            from.lateness.on_timestamp(value, at_ns);
            if segment.flags.contains(Flags::ACK)
                && let Some(sample) =
                    to.timestamp_rtt
                        .on_echo(echo, at_ns, from.counts.passed_bytes())
                && !(segment.len > 0 && from.was_application_limited(at_ns, to))
            {
                from.near.add(sample);
                from.near_queue.add(sample);
                from.near_queue.add_recent(sample);
                from.interval.add_near_rtt(sample);
            }
        }
        if let Some(since) = closure {
            self.waits.add((since, at_ns));
        }
        // After a RST no data are acknowledged, and nobody waits for ACKs.
        let is_over = self.reset_by.is_some();
        if !segment.flags.contains(Flags::ACK) || segment.flags.contains(Flags::RST) || is_over {
            return;
        }
        let [from, to] = self.directions_of(side);
        if let Some(window) = from.window {
            to.interval.add_window(window);
        }
        let rtt = to.answers.smoothed_ns().unwrap_or(0);
        let waiting = to.busy_since.filter(|_| !to.flight.is_empty());
        let stall = to
            .stalls
            .on_packet(at_ns, waiting, rtt, to.flight.highest_sacked);
        to.limits
            .on_answer(stall.map_or(0, |(from, until)| until - from));
        to.counts.unanswered = 0;
        if to.count_duplicate_ack(segment, is_window_same, at_ns) {
            from.counts.duplicate_acks += 1;
        }
        if let Some(stall) = stall {
            self.waits.add(stall);
        }
        let [from, to] = self.directions_of(side);
        let min_full = to.min_full_segment(from);
        to.acknowledge(segment, at_ns, since_ns, min_full);
    }

    /// Processes the payload or FIN of a segment.
    fn on_data(&mut self, side: usize, packet: &Packet) -> SegmentKind {
        let (segment, at_ns) = (&packet.segment, packet.at_ns);
        let [from, to] = self.directions_of(side);
        let fin = segment.flags.contains(Flags::FIN);
        let start = from.unwrap_seq(segment);
        let mut end = start + u64::from(segment.len);
        if segment.flags.contains(Flags::SYN) && segment.len == 0 {
            return SegmentKind::NoPayload;
        }
        if segment.len > 0 {
            let first = from.payload_ns.map_or(at_ns, |(first, _)| first);
            from.payload_ns = Some((first, at_ns));
            from.last_len = segment.len;
            to.delayed_acks.on_request();
        }
        if fin && !segment.flags.contains(Flags::RST) {
            end += 1;
            from.has_fin = true;
        }
        if start == end {
            let is_keep_alive = start + 1 == from.flight.highest
                && from.flight.is_empty()
                && segment.flags.bits() & (Flags::RST | Flags::SYN).bits() == 0;
            from.counts.keep_alives += u64::from(is_keep_alive);
            return if is_keep_alive {
                SegmentKind::Probe
            } else {
                SegmentKind::NoPayload
            };
        }
        let near = output::min_rtt(&to.answers, &from.near);
        let seen = SeenSegment {
            at_ns,
            near_ns: near.unwrap_or(0),
            near_usual_ns: from.near.smoothed_ns().or(near).unwrap_or(0),
            start,
            end,
            len: segment.len,
            is_fin: fin,
            timestamp: segment.timestamps.map(|(value, _)| value),
            identification: packet.identification,
        };
        let is_closed = to.closed_since.is_some();
        let new_data = (from.flight.is_empty() && !is_closed).then_some(NewData {
            at_ns,
            acked_ns: from.acked_ns,
            rtt_ns: seen.near_ns,
        });
        let kind = from.on_data(&seen, is_closed);
        let is_full = u64::from(segment.len) >= from.min_full_segment(to);
        if segment.len > 0 && kind == SegmentKind::New {
            from.messages.on_new_data(at_ns, segment.len, is_full);
            if side == 0 {
                let is_all_acked = to.flight.is_empty();
                to.units.on_request(at_ns, segment.len, is_all_acked);
            }
        }
        if segment.len > 0 && kind != SegmentKind::Probe {
            let waited_ns = new_data.as_ref().map_or(0, NewData::waited_ns);
            let unit_data = UnitData {
                at_ns,
                start,
                end: start + u64::from(segment.len),
                kind,
                is_full,
                paused_ns: waited_ns,
                rtt_ns: seen.near_ns + from.answers.min_ns().unwrap_or(0),
            };
            from.units.on_data(&unit_data);
            from.on_train_data(&seen, kind);
            if let Some(data) = new_data.filter(|_| kind == SegmentKind::New) {
                self.turns.on_new_data(side, &data);
            }
            self.turns.on_payload(side, at_ns);
        }
        let [from, to] = self.directions_of(side);
        // Each side announces the size of the segments that it receives.
        let mss = to.mss.map_or(0, u64::from);
        if kind == SegmentKind::New
            && segment.len > 0
            && let Some(wait) = from.delayed_acks.on_data(at_ns, seen.near_ns, mss)
        {
            self.waits.add(wait);
        }
        let [from, _] = self.directions_of(side);
        let rtt = from.answers.smoothed_ns().unwrap_or(0);
        if kind == SegmentKind::Retransmission
            && let Some(wait) = from
                .ignored_duplicates
                .on_retransmission(at_ns, seen.near_ns, rtt)
        {
            self.waits.add(wait);
        }
        kind
    }

    fn on_reset(&mut self, side: usize, at_ns: u64, tables: &mut Tables) {
        let phase = if self.reset_by.is_some() {
            "after reset"
        } else if self.directions.iter().any(|direction| direction.has_fin) {
            "after FIN"
        } else if self
            .directions
            .iter()
            .all(|direction| direction.counts.bytes == 0)
        {
            "handshake"
        } else {
            "data"
        };
        self.directions[side].counts.resets += 1;
        if self.reset_by.is_none() {
            self.end_waits(at_ns);
        }
        self.reset_by.get_or_insert(side);
        self.directions[1 - side].is_refused = true;
        tables.resets.push(ResetRow {
            connection: self.number,
            t_s: at_ns.saturating_sub(self.begin_ns) as f64 / 1e9,
            up: u32::from(side == 0),
            phase: phase.to_owned(),
            in_flight: self.directions[1 - side].flight.bytes(),
        });
    }

    /// Classifies the losses that later packets cannot affect.
    fn classify_losses(&mut self, at_ns: u64, tables: &mut Tables) {
        for side in 0..2 {
            let rtt = self.directions[side].answers.smoothed_ns().unwrap_or(0);
            let settling_time = (2 * rtt).max(50_000_000);
            let is_settled = |loss: &loss::Loss| {
                let since = loss.acked_ns.unwrap_or(loss.repaired_ns);
                at_ns >= since.saturating_add(settling_time)
            };
            while self.directions[side]
                .acked_losses
                .front()
                .is_some_and(is_settled)
            {
                self.classify_first(side);
            }
            if self.directions[side].undecided.is_due(at_ns) {
                self.append_loss_rows(side, at_ns, tables);
            }
            self.append_unit_rows(side, tables);
        }
    }

    fn append_unit_rows(&mut self, side: usize, tables: &mut Tables) {
        let units = &mut self.directions[side].units;
        for row in units.rows(self.number, side == 0, self.begin_ns) {
            tables.units.push(row);
        }
    }

    /// Moves the first acknowledged loss to the undecided ones, with its judgement if it needs no queue.
    fn classify_first(&mut self, side: usize) {
        let direction = &mut self.directions[side];
        let Some(loss) = direction.acked_losses.pop_front() else {
            return;
        };
        let rtt = direction.delays(&loss).min_ns().unwrap_or(0);
        // An outage takes what waits in the queue, too: what was sent within the RTT of that queue.
        let queued_rtt = loss.queue.rtt_ns.unwrap_or(0).max(rtt);
        let stalls = &direction.stalls;
        let stall_end = stalls.outage_end_around(loss.lost_ns, loss.start, queued_rtt);
        let judgement = loss.classify(stall_end, rtt);
        direction.undecided.push(loss, judgement);
    }

    /// Appends the rows of the losses whose kind is known at `at_ns`.
    fn append_loss_rows(&mut self, side: usize, at_ns: u64, tables: &mut Tables) {
        for (loss, judgement) in self.directions[side].decide_losses(at_ns) {
            let base = self.directions[side].base.unwrap_or(0);
            self.losses_by_kind[judgement.kind as usize] += 1;
            let row = loss.row(judgement, self.number, side == 0, self.begin_ns, base);
            tables.losses.push(row);
        }
    }

    /// Ends the waits of a connection when it is reset, or after its last packet.
    fn end_waits(&mut self, at_ns: u64) {
        for direction in &mut self.directions {
            let rtt = direction.answers.smoothed_ns().unwrap_or(0);
            let waiting = direction
                .busy_since
                .filter(|_| direction.has_data_in_flight());
            let closure = direction.closed_since.map(|since| (since, at_ns));
            let stall =
                direction
                    .stalls
                    .on_end(at_ns, waiting, rtt, direction.flight.highest_sacked);
            if let Some((from, until)) = stall {
                self.unanswered_ns = self.unanswered_ns.max(until - from);
                direction.limits.on_answer(until - from);
            }
            for wait in stall.into_iter().chain(closure) {
                self.waits.add(wait);
            }
        }
    }

    /// Ends the connection and appends its last rows.
    pub(crate) fn finish(mut self, tables: &mut Tables) {
        if self.reset_by.is_none() {
            self.end_waits(self.last_ns);
        }
        for side in 0..2 {
            let direction = &mut self.directions[side];
            let open = core::mem::take(&mut direction.open_losses);
            direction.acked_losses.extend(open);
            while !self.directions[side].acked_losses.is_empty() {
                self.classify_first(side);
            }
            self.append_loss_rows(side, u64::MAX, tables);
            self.directions[side].units.finish();
            self.append_unit_rows(side, tables);
            let up = side == 0;
            if let Some(row) = self.directions[side].interval.row(self.number, up) {
                tables.intervals.push(row);
            }
        }
        let row = self.row();
        tables.connections.push(row);
    }
}

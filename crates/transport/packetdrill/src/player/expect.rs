//! Packets that TCP must send: the wait for them and their comparison.

use units::Instant;

use super::{MAX_WAIT, PlayError, Player, SentPacket, instant, script_time};
use crate::compare::{first_difference, segment_text};
use crate::script::{Event, Packet, TcpOption, Time};
use tcp::Flags;

impl Player {
    /// Waits for the next packet and compares it with the expected one.
    pub(super) fn expect_packet(
        &mut self,
        event: &Event,
        expected: &Packet,
    ) -> Result<(), PlayError> {
        let expected_event = self.expected_text(event, expected);
        let (from, to) = self.time_range(event.time);
        let until = match event.time {
            Time::Any => self.now + MAX_WAIT,
            _ => (instant(to) + self.tolerance).max(self.now),
        };
        let Some(mut seen) = self.next_packet(until)? else {
            return Self::fail(
                event.line,
                expected_event,
                self.no_packet_text(),
                "no packet",
            );
        };
        self.join_bursts(until, expected.len, &mut seen)?;
        self.learn_offsets(expected, &mut seen);
        let timestamp = self.script_timestamp(expected, &seen);
        let at = script_time(seen.sent_at);
        let seen_text = format!("{:.6} > {}", at as f64 * 1e-6, segment_text(&seen.packet));
        if let Some(reason) = first_difference(expected, &seen.packet, timestamp) {
            return Self::fail(event.line, expected_event, seen_text, reason);
        }
        let relative_slack =
            (from - self.previous_us).saturating_mul(self.tolerance_per_mille) / 1_000;
        let slack = (self.tolerance.as_micros() as i64).max(relative_slack);
        if event.time != Time::Any && (at < from - slack || at > to + slack) {
            return Self::fail(event.line, expected_event, seen_text, "time");
        }
        self.previous_us = self.script_time();
        Ok(())
    }

    /// Returns the next packet of the socket under test, if one leaves before `until`.
    fn next_packet(&mut self, until: Instant) -> Result<Option<SentPacket>, PlayError> {
        loop {
            while let Some(packet) = self.sent_packets.pop_front() {
                if Some(packet.socket) == self.under_test {
                    return Ok(Some(packet));
                }
            }
            match self.next_deadline() {
                Some(at) if at <= until => self.run_timers(at)?,
                _ => return Ok(None),
            }
        }
    }

    /// Appends following bursts until `seen` has `len` bytes. All of them but the last have the same length.
    fn join_bursts(
        &mut self,
        until: Instant,
        len: u32,
        seen: &mut SentPacket,
    ) -> Result<(), PlayError> {
        let size = seen.packet.len;
        let mut last = size;
        while self.joins_bursts && size > 0 && seen.packet.len < len && last == size {
            let Some(next) = self.next_packet(until)? else {
                break;
            };
            let is_adjacent = next.packet.seq == seen.packet.seq.wrapping_add(seen.packet.len);
            if !is_adjacent || next.packet.ack != seen.packet.ack {
                self.sent_packets.push_front(next);
                break;
            }
            last = next.packet.len;
            seen.append(&next.packet);
        }
        Ok(())
    }

    /// Returns the text of a missing packet, for reports.
    fn no_packet_text(&self) -> String {
        match self.next_deadline() {
            Some(at) => format!(
                "no packet before {:.6}, when a timer is due",
                script_time(at) as f64 * 1e-6
            ),
            None => "no packet, and no timer runs".to_owned(),
        }
    }

    /// Learns the initial sequence number and the timestamp that the script uses for our end.
    fn learn_offsets(&mut self, expected: &Packet, seen: &mut SentPacket) {
        let Some(connection) = self.sockets[seen.socket].connection_mut() else {
            return;
        };
        if seen.packet.flags.contains(Flags::SYN) && connection.seq_offset == 0 {
            connection.seq_offset = expected.seq.wrapping_sub(seen.packet.seq);
            seen.packet.seq = expected.seq;
        }
        let value = expected
            .options
            .iter()
            .flatten()
            .find_map(|option| match option {
                TcpOption::Timestamps(value, _) => Some(*value),
                _ => None,
            });
        if let (Some(script), Some((actual, _))) = (value, seen.packet.timestamps) {
            connection.timestamps.push((script, actual));
        }
    }

    /// Returns the timestamp of a packet in the script's numbers and its tolerance, ticks, if the script checks timestamps.
    fn script_timestamp(&self, expected: &Packet, seen: &SentPacket) -> Option<(u32, u32)> {
        if self.timestamp_tick.is_zero() || expected.options.is_none() {
            return None;
        }
        let connection = self.sockets[seen.socket].connection()?;
        let (script, first) = *connection.timestamps.first()?;
        let (actual, _) = seen.packet.timestamps?;
        let max = self.tolerance.as_nanos() / self.timestamp_tick.as_nanos();
        Some((actual.wrapping_sub(first).wrapping_add(script), max as u32))
    }
}

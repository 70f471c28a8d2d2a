//! Packets that TCP must send: the wait for them and their comparison.

use units::Instant;

use super::{MAX_WAIT, PlayError, Player, SentPacket, instant, script_time};
use crate::compare::{difference, segment_text};
use crate::script::{Event, Packet, TcpOption, Time};
use tcp::Flags;

impl Player {
    /// Waits for the next packet and compares it with the expected one.
    pub(super) fn expect(&mut self, event: &Event, expected: &Packet) -> Result<(), PlayError> {
        let expected_event = self.expected_text(event, expected);
        let (from, to) = self.span(event.time);
        let until = match event.time {
            Time::Any => self.now + MAX_WAIT,
            _ => (instant(to) + self.tolerance).max(self.now),
        };
        let Some(mut seen) = self.next_departure(until)? else {
            return Self::failed(event.line, expected_event, self.nothing_text(), "no packet");
        };
        self.join_bursts(until, expected.len, &mut seen)?;
        self.map_numbers(expected, &mut seen);
        let clock = self.clock(expected, &seen);
        let at = script_time(seen.at);
        let seen_text = format!("{:.6} > {}", at as f64 * 1e-6, segment_text(&seen.packet));
        if let Some(reason) = difference(expected, &seen.packet, clock) {
            return Self::failed(event.line, expected_event, seen_text, reason);
        }
        let share = (from - self.previous).saturating_mul(self.per_mille) / 1_000;
        let slack = (self.tolerance.as_micros() as i64).max(share);
        let any = event.time == Time::Any;
        if !any && (at < from - slack || at > to + slack) {
            return Self::failed(event.line, expected_event, seen_text, "time");
        }
        self.previous = self.script_time();
        Ok(())
    }

    /// Returns the next packet of the socket under test, if one leaves before `until`.
    fn next_departure(&mut self, until: Instant) -> Result<Option<SentPacket>, PlayError> {
        loop {
            while let Some(departure) = self.departures.pop_front() {
                if Some(departure.from) == self.under_test {
                    return Ok(Some(departure));
                }
            }
            match self.next_deadline() {
                Some(at) if at <= until => self.run_timers(at)?,
                _ => return Ok(None),
            }
        }
    }

    /// Appends the bursts that follow until `seen` has `len` bytes. All but the last have the same length.
    fn join_bursts(
        &mut self,
        until: Instant,
        len: u32,
        seen: &mut SentPacket,
    ) -> Result<(), PlayError> {
        let size = seen.packet.len;
        let mut last = size;
        while self.joins_bursts && size > 0 && seen.packet.len < len && last == size {
            let Some(next) = self.next_departure(until)? else {
                break;
            };
            let follows = next.packet.seq == seen.packet.seq.wrapping_add(seen.packet.len);
            if !follows || next.packet.ack != seen.packet.ack {
                self.departures.push_front(next);
                break;
            }
            last = next.packet.len;
            seen.append(&next.packet);
        }
        Ok(())
    }

    fn nothing_text(&self) -> String {
        match self.next_deadline() {
            Some(at) => format!(
                "no packet before {:.6}, when a timer is due",
                script_time(at) as f64 * 1e-6
            ),
            None => "no packet, and no timer runs".to_owned(),
        }
    }

    /// Learns the initial sequence number that the script uses for our end.
    fn map_numbers(&mut self, expected: &Packet, seen: &mut SentPacket) {
        let Some(peer) = self.sockets[seen.from].connection_mut() else {
            return;
        };
        if seen.packet.flags.contains(Flags::SYN) && peer.offset == 0 {
            peer.offset = expected.seq.wrapping_sub(seen.packet.seq);
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
            peer.clocks.push((script, actual));
        }
    }

    /// Returns the timestamp of a packet on the script's clock and the ticks that it may be off, if the script checks
    /// timestamps.
    fn clock(&self, expected: &Packet, seen: &SentPacket) -> Option<(u32, u32)> {
        if self.tick.is_zero() || expected.options.is_none() {
            return None;
        }
        let peer = self.sockets[seen.from].connection()?;
        let (script, first) = *peer.clocks.first()?;
        let (actual, _) = seen.packet.timestamps?;
        let max = self.tolerance.as_nanos() / self.tick.as_nanos();
        Some((actual.wrapping_sub(first).wrapping_add(script), max as u32))
    }
}

//! Flows whose congestion control is selected: what their selectors see, and what they say.

use std::io;

use select::{Decision, Hints, Sample};
use sidechannel::{Answer, Message};
use units::Instant;
use workload::{decision_row, takeover_after};

use super::Play;

impl Play<'_> {
    /// Returns the congestion control of a new connection of a flow, if it is selected.
    pub(super) fn choose(
        &mut self,
        now: Instant,
        flow: usize,
        connection: u32,
    ) -> io::Result<Option<Decision>> {
        let hints = self.hints(flow)?;
        let to = &self.scenario.flows[flow].to;
        Ok(self.selection.open(now, flow, connection, to, hints))
    }

    /// Shows the selectors their senders, and does what they say.
    pub(super) fn select(&mut self, now: Instant) -> io::Result<()> {
        let mut seen: Vec<Option<(Sample, Option<Hints>)>> = Vec::new();
        for number in 0..self.connections.len() {
            let flow = self.connections[number].flow;
            let selected = self.scenario.flows[flow].cca.auto().is_some();
            let look = if selected { self.look(number)? } else { None };
            seen.push(match look {
                Some(look) => Some((look.sample(now), self.hints(flow)?)),
                None => None,
            });
        }
        let decisions = self
            .selection
            .look(now, |connection| seen[connection as usize]);
        for (connection, decision) in decisions {
            self.obey(now, connection, &decision)?;
        }
        Ok(())
    }

    /// The handshake is over: shows the selector its sender before that sends anything.
    pub(super) fn greet(&mut self, number: usize) -> io::Result<()> {
        let Some(look) = self.look(number)? else {
            return Ok(());
        };
        let now = self.now()?;
        let hints = self.hints(self.connections[number].flow)?;
        let connection = number as u32;
        match self.selection.greet(connection, &look.sample(now), hints) {
            Some(decision) => self.obey(now, connection, &decision),
            None => Ok(()),
        }
    }

    fn obey(&mut self, now: Instant, connection: u32, decision: &Decision) -> io::Result<()> {
        self.device
            .tell(&Message::Decided(decision_row(connection, decision)))?;
        if decision.from == decision.to {
            return Ok(());
        }
        let how = takeover_after(decision.cause);
        self.switch_one(now, connection as usize, decision.to, how)
    }

    /// Tells the path what selectors see at the ends of slots that have passed.
    pub(super) fn tell_estimates(&mut self, now: Instant) -> io::Result<()> {
        while self.next_slot <= now {
            let begun = self.next_slot.since_start() - self.scenario.slot;
            let rows: Vec<_> = self.selection.estimates(Instant::ZERO + begun).collect();
            if !rows.is_empty() {
                self.device.tell(&Message::Estimated(rows))?;
            }
            self.next_slot += self.scenario.slot;
        }
        Ok(())
    }

    /// What the radio of the host that a flow goes to tells, if anybody asks it.
    fn hints(&mut self, flow: usize) -> io::Result<Option<Hints>> {
        let flow = &self.scenario.flows[flow];
        let to = &flow.to;
        let asked = flow.cca.auto().is_some_and(|auto| auto.hints);
        let host = self.names.iter().position(|name| name == to);
        let Some(host) = host.filter(|_| asked) else {
            return Ok(None);
        };
        match self.device.ask(&Message::Hints { host: host as u32 })? {
            Answer::Hints(hints) => Ok(hints),
            _ => Err(io::Error::other("the path does not tell of the radio")),
        }
    }
}

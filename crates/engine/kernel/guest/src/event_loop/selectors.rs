//! Selected congestion controls: the guest as an endpoint of selectors, and their estimates.

use std::io;

use cca::{SenderInfo, SwitchMode};
use kernel_protocol::{Message, Reply};
use results::DecisionRow;
use selection::{Decision, Endpoint, Hints, Selectors};
use units::Instant;

use super::EventLoop;

impl Endpoint for EventLoop<'_> {
    type Error = io::Error;

    fn view(&mut self, connection: u32) -> io::Result<Option<SenderInfo>> {
        EventLoop::view(self, connection as usize)
    }

    fn hints(&mut self, destination: &str) -> io::Result<Option<Hints>> {
        let host = self.job.hosts.iter().position(|name| name == destination);
        let Some(host) = host else {
            return Ok(None);
        };
        match self.device.request(&Message::Hints { host: host as u32 })? {
            Reply::Hints(hints) => Ok(hints),
            _ => Err(io::Error::other("the path does not answer about the radio")),
        }
    }

    fn record(&mut self, decision: DecisionRow) -> io::Result<()> {
        self.device.send(&Message::Decision(decision))
    }

    fn take_over(
        &mut self,
        now: Instant,
        connection: u32,
        cca: &'static str,
        how: SwitchMode,
    ) -> io::Result<()> {
        self.switch_one(now, connection as usize, cca, how)
    }
}

impl EventLoop<'_> {
    /// Returns the decision on the first congestion control of a connection of a flow, if it is selected.
    pub(super) fn choose(
        &mut self,
        now: Instant,
        flow: usize,
        connection: u32,
    ) -> io::Result<Option<Decision>> {
        let to = &self.job.flows[flow].to;
        self.with_selectors(|all, endpoint| all.open(now, flow, connection, to, endpoint))
    }

    /// Shows a selector the state of its sender after the handshake, before any data is sent.
    pub(super) fn establish(&mut self, connection: u32) -> io::Result<()> {
        let now = self.now()?;
        self.with_selectors(|all, endpoint| all.establish(now, connection, endpoint))
    }

    /// Shows the selectors the states of their senders, and carries out their decisions.
    pub(super) fn select(&mut self, now: Instant) -> io::Result<()> {
        self.with_selectors(|all, endpoint| all.look(now, endpoint))
    }

    fn with_selectors<T>(
        &mut self,
        work: impl FnOnce(&mut Selectors, &mut Self) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut selectors = core::mem::take(&mut self.selectors);
        let done = work(&mut selectors, self);
        self.selectors = selectors;
        done
    }

    /// Reports the estimates of the selectors in slots that have ended.
    pub(super) fn send_estimates(&mut self, now: Instant) -> io::Result<()> {
        while self.next_slot <= now {
            let begun = self.next_slot.since_start() - self.slot;
            let rows: Vec<_> = self.selectors.estimates(Instant::ZERO + begun).collect();
            if !rows.is_empty() {
                self.device.send(&Message::Estimated(rows))?;
            }
            self.next_slot += self.slot;
        }
        Ok(())
    }
}

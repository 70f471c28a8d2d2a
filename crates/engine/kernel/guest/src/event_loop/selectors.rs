//! Selectors in the guest, which read and switch its senders; their estimates are reported.

use std::io;

use cca::{SenderInfo, SwitchMode};
use kernel_protocol::{Message, Reply};
use results::DecisionRow;
use selection::{Decision, Endpoint, Hints, Selectors};
use units::Instant;

use super::EventLoop;

impl Endpoint for EventLoop<'_> {
    type Error = io::Error;

    fn sender_info(&mut self, connection: u32) -> io::Result<Option<SenderInfo>> {
        EventLoop::read_sender(self, connection as usize)
    }

    fn hints(&mut self, destination: &str) -> io::Result<Option<Hints>> {
        let host = self.job.hosts.iter().position(|name| name == destination);
        let Some(host) = host else {
            return Ok(None);
        };
        match self.device.request(&Message::Hints { host: host as u32 })? {
            Reply::Hints(hints) => Ok(hints),
            _ => Err(io::Error::other(
                "the path does not reply with hints of the radio",
            )),
        }
    }

    fn record(&mut self, decision: DecisionRow) -> io::Result<()> {
        self.device.send(&Message::Decision(decision))
    }

    fn switch_cca(
        &mut self,
        now: Instant,
        connection: u32,
        cca: &'static str,
        mode: SwitchMode,
    ) -> io::Result<()> {
        self.switch_connection(now, connection as usize, cca, mode)
    }
}

impl EventLoop<'_> {
    /// Returns the decision on the initial congestion control of a connection, if its flow has a selector.
    pub(super) fn choose(
        &mut self,
        now: Instant,
        flow: usize,
        connection: u32,
    ) -> io::Result<Option<Decision>> {
        let to = &self.job.flows[flow].to;
        self.with_selectors(|selectors, endpoint| {
            selectors.open(now, flow, connection, to, endpoint)
        })
    }

    /// Calls a selector with the state of its sender after the handshake, before any data is sent.
    pub(super) fn establish(&mut self, connection: u32) -> io::Result<()> {
        let now = self.now()?;
        self.with_selectors(|selectors, endpoint| selectors.establish(now, connection, endpoint))
    }

    /// Calls the selectors with the states of their senders, and carries out their decisions.
    pub(super) fn select(&mut self, now: Instant) -> io::Result<()> {
        self.with_selectors(|selectors, endpoint| selectors.observe_all(now, endpoint))
    }

    fn with_selectors<T>(
        &mut self,
        call: impl FnOnce(&mut Selectors, &mut Self) -> io::Result<T>,
    ) -> io::Result<T> {
        let mut selectors = core::mem::take(&mut self.selectors);
        let result = call(&mut selectors, self);
        self.selectors = selectors;
        result
    }

    /// Reports the estimates of the selectors in slots that have ended.
    pub(super) fn send_estimates(&mut self, now: Instant) -> io::Result<()> {
        while self.next_slot <= now {
            let start = Instant::ZERO + (self.next_slot.since_start() - self.slot);
            let rows: Vec<_> = self.selectors.estimates(start).collect();
            if !rows.is_empty() {
                self.device.send(&Message::Estimated(rows))?;
            }
            self.next_slot += self.slot;
        }
        Ok(())
    }
}

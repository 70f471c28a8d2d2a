//! Test endpoint: made-up senders, and a record of what selectors did to them.

use std::collections::BTreeMap;

use cca::SwitchMode;
use results::DecisionRow;
use selection::{Endpoint, Hints, SenderInfo};
use units::Instant;

/// Made-up connections.
#[derive(Default)]
pub struct MadeUp {
    /// The senders of the connections that are open.
    pub senders: BTreeMap<u32, SenderInfo>,
    /// The hints of the radio of each destination that has one.
    pub radios: BTreeMap<String, Hints>,
    /// Destinations whose radio was asked for hints.
    pub asked: Vec<String>,
    pub recorded: Vec<DecisionRow>,
    pub switches: Vec<(u32, &'static str, SwitchMode)>,
}

impl Endpoint for MadeUp {
    /// Error of a connection that does not exist.
    type Error = String;

    fn sender_info(&mut self, connection: u32) -> Result<Option<SenderInfo>, String> {
        Ok(self.senders.get(&connection).copied())
    }

    fn hints(&mut self, destination: &str) -> Result<Option<Hints>, String> {
        self.asked.push(destination.to_owned());
        Ok(self.radios.get(destination).copied())
    }

    fn record(&mut self, decision: DecisionRow) -> Result<(), String> {
        self.recorded.push(decision);
        Ok(())
    }

    fn switch_cca(
        &mut self,
        _: Instant,
        connection: u32,
        cca: &'static str,
        mode: SwitchMode,
    ) -> Result<(), String> {
        if !self.senders.contains_key(&connection) {
            return Err(format!("connection {connection} is not open"));
        }
        self.switches.push((connection, cca, mode));
        Ok(())
    }
}

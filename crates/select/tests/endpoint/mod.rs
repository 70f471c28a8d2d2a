//! Test endpoint: made-up senders, and a record of what selectors did to them.

use std::collections::BTreeMap;

use cca::Takeover;
use record::DecisionRow;
use select::{Endpoint, Hints, SenderView};
use units::{Duration, Instant, Rate};

/// Made-up connections.
#[derive(Default)]
pub struct MadeUp {
    /// The senders of the connections that are open.
    pub senders: BTreeMap<u32, SenderView>,
    /// The hints of the radio of each destination that has one.
    pub radios: BTreeMap<String, Hints>,
    /// Destinations whose radio was asked for hints.
    pub asked: Vec<String>,
    pub recorded: Vec<DecisionRow>,
    pub takeovers: Vec<(u32, &'static str, Takeover)>,
}

impl Endpoint for MadeUp {
    /// Error of a connection that does not exist.
    type Error = String;

    fn view(&mut self, connection: u32) -> Result<Option<SenderView>, String> {
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

    fn take_over(
        &mut self,
        _: Instant,
        connection: u32,
        cca: &'static str,
        how: Takeover,
    ) -> Result<(), String> {
        if !self.senders.contains_key(&connection) {
            return Err(format!("connection {connection} is not open"));
        }
        self.takeovers.push((connection, cca, how));
        Ok(())
    }
}

/// Returns a sender that delivers 1000 segments a second over a path of 50 ms, after `ms`, with this smoothed RTT.
pub fn sender(ms: u64, rtt_ms: u64) -> SenderView {
    SenderView {
        mss: 1_448,
        cwnd: rtt_ms as u32,
        inflight: rtt_ms as u32,
        srtt: Some(Duration::from_millis(rtt_ms)),
        min_rtt: Some(Duration::from_millis(50)),
        delivered: ms,
        delivery_rate: Some(Rate::from_mbps(11.6)),
        send_window: Some(1 << 20),
        ..SenderView::default()
    }
}

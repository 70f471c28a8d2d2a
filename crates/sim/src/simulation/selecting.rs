//! Congestion controls that change in flight: by the clock, and as selectors say.

use cca::Takeover;
use net::HostId;
use scenario::CcaChoice;
use select::{Decision, Hints};
use workload::{Due, End, decision_row, takeover_after};

use super::Simulation;
use crate::settings;

impl Simulation {
    /// A scheduled switch: those connections of the flow that are open get another congestion control.
    pub(super) fn switch_flow(&mut self, due: &Due) {
        let open: Vec<u32> = self.sessions.open_connections(due.flow).collect();
        for connection in open {
            self.switch(connection, &due.to, settings::takeover(due.how));
        }
    }

    fn switch(&mut self, connection: u32, to: &CcaChoice, how: Takeover) {
        let Ok(pair) = settings::cca(to) else {
            unreachable!("the congestion control of every switch was looked up at the start");
        };
        let server = self.endpoints.end(connection, End::Server);
        let context = server.switch(self.now, pair, how);
        let detail = match how {
            Takeover::Kernel => format!("{to} kernel"),
            Takeover::Context => format!("{to} context cwnd {}", context.cwnd),
        };
        self.path.recorder().switched(self.now, connection, detail);
        self.flush(connection, End::Server);
    }

    /// Shows the selectors their senders, and does what they say.
    pub(super) fn select(&mut self) {
        let (now, mss) = (self.now, self.config.mss);
        let (endpoints, path, asks) = (&self.endpoints, &self.path, self.selection.asks_radio());
        let decisions = self.selection.look(now, |connection| {
            let ends = endpoints.ends(connection);
            let hints = asks.then(|| path.hints(now, ends.hosts.1)).flatten();
            Some((settings::sample(now, mss, &ends.server.info()), hints))
        });
        for (connection, decision) in decisions {
            self.obey(connection, &decision);
        }
    }

    /// The handshake is over: shows the selector its sender before that sends anything.
    pub(super) fn greet(&mut self, connection: u32) {
        let ends = self.endpoints.ends(connection);
        let sample = settings::sample(self.now, self.config.mss, &ends.server.info());
        let hints = self.hints(ends.hosts.1);
        if let Some(decision) = self.selection.greet(connection, &sample, hints) {
            self.obey(connection, &decision);
        }
    }

    fn obey(&mut self, connection: u32, decision: &Decision) {
        let row = decision_row(connection, decision);
        self.path.recorder().decided(row);
        if decision.from != decision.to {
            let how = settings::takeover(takeover_after(decision.cause));
            self.switch(connection, &CcaChoice::plain(decision.to), how);
        }
    }

    /// What the radio of a host tells, if anybody asks it.
    pub(super) fn hints(&self, host: HostId) -> Option<Hints> {
        let asked = self.selection.asks_radio();
        asked.then(|| self.path.hints(self.now, host)).flatten()
    }
}

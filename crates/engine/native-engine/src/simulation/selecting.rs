//! Switches of the congestion control in flight: scheduled ones, and those that selectors decide.

use core::convert::Infallible;

use cca::{SenderInfo, SwitchMode, registry};
use results::{DecisionRow, Slots};
use scenario::CcaChoice;
use selection::{Decision, Endpoint, Features, Hints, Selectors};
use units::Instant;
use workload::{End, ScheduledSwitch};

use super::Simulation;
use crate::error::RequestError;
use crate::settings;

impl Endpoint for Simulation {
    type Error = Infallible;

    fn sender_info(&mut self, connection: u32) -> Result<Option<SenderInfo>, Infallible> {
        Ok(Some(self.endpoints.view(connection)))
    }

    fn hints(&mut self, destination: &str) -> Result<Option<Hints>, Infallible> {
        let flow = self.flows.iter().find(|(flow, _)| flow.to == destination);
        Ok(flow.and_then(|(_, (_, client))| self.path.hints(self.now, *client)))
    }

    fn record(&mut self, decision: DecisionRow) -> Result<(), Infallible> {
        self.path.recorder().record_decision(decision);
        Ok(())
    }

    fn switch_cca(
        &mut self,
        _: Instant,
        connection: u32,
        cca: &'static str,
        mode: SwitchMode,
    ) -> Result<(), Infallible> {
        self.switch(connection, &CcaChoice::with_defaults(cca), mode);
        Ok(())
    }
}

impl Simulation {
    /// Returns the numbers of the open connections that have a selector, in ascending order.
    pub fn selected(&self) -> Vec<u32> {
        self.selectors.open_connections()
    }

    /// Returns the CCA in use and the current estimates of a connection that has a selector and is open.
    pub fn selection(&self, connection: u32) -> Option<(&'static str, Features)> {
        let selector = self.selectors.selector(connection)?;
        Some((
            selector.current(),
            Features::of(selector.estimators().estimates()),
        ))
    }

    /// Returns the slots so far of a connection from number `first` on; none before it is requested.
    pub fn slots_from(&mut self, connection: u32, first: usize) -> Slots {
        self.path.recorder().slots_from(connection, first)
    }

    /// Has the CCA called `name` take over a connection at the next sample of its selector.
    ///
    /// # Errors
    /// [`RequestError`] if there is no such CCA, or the connection is not open or has no selector.
    pub fn request(&mut self, connection: u32, name: &str) -> Result<(), RequestError> {
        let cca = registry::lookup(name, &[]).map_err(RequestError::Cca)?;
        if self.selectors.request(connection, cca.name) {
            return Ok(());
        }
        Err(RequestError::Connection(connection))
    }

    /// Carries out a scheduled switch on the open connections of its flow.
    pub(super) fn switch_flow(&mut self, due: &ScheduledSwitch<CcaChoice>) {
        let open: Vec<u32> = self.sessions.open_connections(due.flow).collect();
        for connection in open {
            self.switch(connection, &due.to, due.mode);
        }
    }

    fn switch(&mut self, connection: u32, to: &CcaChoice, mode: SwitchMode) {
        let Ok(built) = settings::cca(to) else {
            unreachable!("the congestion control of every switch was looked up at the start");
        };
        let server = self.endpoints.end(connection, End::Server);
        let handed = server.switch(self.now, built, mode);
        let (now, to) = (self.now, to.to_string());
        let recorder = self.path.recorder();
        recorder.switched(now, connection, &to, mode, handed.cwnd);
        self.flush(connection, End::Server);
    }

    /// Returns the decision on the first congestion control of a connection of flow number `flow`, if it is selected.
    pub(super) fn choose(&mut self, flow: usize, connection: u32) -> Option<Decision> {
        let to = self.flows[flow].0.to.clone();
        self.with_selectors(|all, endpoint| all.open(endpoint.now, flow, connection, &to, endpoint))
    }

    /// Shows a selector the state of its sender after the handshake, before any data is sent.
    pub(super) fn establish(&mut self, connection: u32) {
        self.with_selectors(|all, endpoint| all.establish(endpoint.now, connection, endpoint));
    }

    /// Shows the selectors the states of their senders, and carries out their decisions.
    pub(super) fn select(&mut self) {
        self.with_selectors(|all, endpoint| all.observe_all(endpoint.now, endpoint));
    }

    fn with_selectors<T>(
        &mut self,
        work: impl FnOnce(&mut Selectors, &mut Self) -> Result<T, Infallible>,
    ) -> T {
        let mut selectors = core::mem::take(&mut self.selectors);
        let Ok(done) = work(&mut selectors, self);
        self.selectors = selectors;
        done
    }
}

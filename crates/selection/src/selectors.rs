//! Selectors: the selectors of all connections of an endpoint, and its destination caches.

use std::sync::Arc;

use cca::{Family, SenderInfo, SwitchMode, registry};
use results::{DecisionRow, EstimateRow};
use units::Instant;
use units::random::{Purpose, RngStream};

use crate::auto::{Auto, Files};
use crate::destination_cache::{ConnectionResult, DestinationCache};
use crate::features::feature_index;
use crate::policy::Policy;
use crate::sample::{Hints, SAMPLE_INTERVAL};
use crate::selector::{Cause, Decision, Selector, Start};
use crate::table_rows::{decision_row, estimate_row};

/// Endpoint: owner of the connections whose congestion controls are selected.
///
/// A simulation, the guest of the kernel engine and a program with sockets implement it. They give the state of their
/// senders and carry out switches; [`Selectors`] does the rest.
pub trait Endpoint {
    /// Error of the endpoint.
    type Error;

    /// Returns the state of the sender of a connection; `None` if it is not open.
    fn sender_info(&mut self, connection: u32) -> Result<Option<SenderInfo>, Self::Error>;

    /// Returns the hints of the radio of a destination; `None` if it has no radio or gives no hints. Called only
    /// for flows that ask for hints.
    fn hints(&mut self, destination: &str) -> Result<Option<Hints>, Self::Error>;

    /// Records a decision.
    fn record(&mut self, decision: DecisionRow) -> Result<(), Self::Error>;

    /// Switches an open connection to `cca` at `now`.
    fn switch_cca(
        &mut self,
        now: Instant,
        connection: u32,
        cca: &'static str,
        mode: SwitchMode,
    ) -> Result<(), Self::Error>;
}

/// A flow whose congestion control is selected.
#[derive(Clone, Debug)]
struct SelectedFlow {
    policy: Arc<Policy>,
    auto: Auto,
    /// Index of its memory.
    memory: usize,
}

/// A connection with a selector.
#[derive(Clone, Debug)]
struct Connection {
    number: u32,
    destination: String,
    asks_radio: bool,
    selector: Selector,
    /// State of the sender at the last sample.
    last: Option<SenderInfo>,
}

impl Connection {
    /// Passes the state of the sender to the selector, if the connection is open; returns the decision.
    fn observe<E: Endpoint>(
        &mut self,
        now: Instant,
        endpoint: &mut E,
    ) -> Result<Option<Decision>, E::Error> {
        let Some(sender) = endpoint.sender_info(self.number)? else {
            return Ok(None);
        };
        let hints = request_hints(endpoint, &self.destination, self.asks_radio)?;
        self.last = Some(sender);
        Ok(self.selector.observe(now, &sender, hints))
    }
}

/// The selectors of all connections of an endpoint.
///
/// Connections belong to flows. Each flow has a policy with settings, or a fixed congestion control. A flow knows
/// destinations from its memory file and from earlier connections of all flows.
#[derive(Clone, Debug, Default)]
pub struct Selectors {
    flows: Vec<Option<SelectedFlow>>,
    /// One memory per file, and one for flows without a file.
    memories: Vec<DestinationCache>,
    connections: Vec<Connection>,
    next_sample: Option<Instant>,
    seed: u64,
}

/// Error of a flow whose congestion control cannot be selected.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("flow {flow:?}: {reason}")]
pub struct SelectionError {
    /// Name of the flow.
    pub flow: String,
    /// Fault of its policy or memory.
    pub reason: String,
}

impl Selectors {
    /// Returns the selectors of `flows`: the name of each, and the settings if its congestion control is selected.
    /// `files` holds the texts of policies and memories by the file names in those settings.
    ///
    /// # Errors
    /// [`SelectionError`] names the flow whose policy or memory cannot be used.
    pub fn new<'a>(
        flows: impl IntoIterator<Item = (&'a str, Option<Auto>)>,
        files: &Files,
        seed: u64,
    ) -> Result<Self, SelectionError> {
        let mut selectors = Self {
            seed,
            ..Self::default()
        };
        let mut memory_files: Vec<Option<String>> = Vec::new();
        for (name, auto) in flows {
            let selection_error = |reason| SelectionError {
                flow: name.to_owned(),
                reason,
            };
            let Some(auto) = auto else {
                selectors.flows.push(None);
                continue;
            };
            let policy = auto.policy_in(files).map_err(selection_error)?;
            let present = memory_files.iter().position(|file| *file == auto.memory);
            let memory = present.unwrap_or(memory_files.len());
            if present.is_none() {
                selectors
                    .memories
                    .push(auto.memory_in(files).map_err(selection_error)?);
                memory_files.push(auto.memory.clone());
            }
            selectors.flows.push(Some(SelectedFlow {
                policy: Arc::new(policy),
                auto,
                memory,
            }));
        }
        Ok(selectors)
    }

    /// Returns these selectors for a Linux kernel: their policies use their substitutes for CCAs that Linux lacks.
    #[must_use]
    pub fn for_kernel(mut self) -> Self {
        for flow in self.flows.iter_mut().flatten() {
            flow.policy = Arc::new(Policy::clone(&flow.policy).for_kernel());
        }
        self
    }

    /// Adds a new connection of flow number `flow` to `destination`; returns the decision on its first congestion
    /// control if that is selected. The decision is not recorded yet.
    pub fn open<E: Endpoint>(
        &mut self,
        now: Instant,
        flow: usize,
        connection: u32,
        destination: &str,
        endpoint: &mut E,
    ) -> Result<Option<Decision>, E::Error> {
        let Some(SelectedFlow {
            policy,
            auto,
            memory,
        }) = self.flows[flow].clone()
        else {
            return Ok(None);
        };
        let asks_radio = auto.hints;
        let start = Start {
            at: now,
            destination: self.memories[memory].get(destination),
            hints: request_hints(endpoint, destination, asks_radio)?,
            draws: RngStream::new(self.seed, Purpose::Selection, connection),
        };
        let (selector, decision) = Selector::new(policy, auto, &start);
        self.connections.push(Connection {
            number: connection,
            destination: destination.to_owned(),
            asks_radio,
            selector,
            last: None,
        });
        self.next_sample.get_or_insert(now + SAMPLE_INTERVAL);
        Ok(Some(decision))
    }

    /// Passes the state of the sender after the handshake to the selector of a connection, before any data is sent.
    pub fn establish<E: Endpoint>(
        &mut self,
        now: Instant,
        connection: u32,
        endpoint: &mut E,
    ) -> Result<(), E::Error> {
        let Some(index) = self.position(connection) else {
            return Ok(());
        };
        match self.connections[index].observe(now, endpoint)? {
            Some(decision) => carry_out(connection, &decision, endpoint),
            None => Ok(()),
        }
    }

    /// Returns when [`Selectors::observe_all`] is due; [`Instant::NEVER`] without connections.
    pub fn next_sample(&self) -> Instant {
        self.next_sample.unwrap_or(Instant::NEVER)
    }

    /// Passes every sender to its selector, and then carries out all decisions.
    pub fn observe_all<E: Endpoint>(
        &mut self,
        now: Instant,
        endpoint: &mut E,
    ) -> Result<(), E::Error> {
        while let Some(next) = self.next_sample.as_mut().filter(|next| **next <= now) {
            *next += SAMPLE_INTERVAL;
        }
        let mut decisions = Vec::new();
        for connection in &mut self.connections {
            let decision = connection.observe(now, endpoint)?;
            decisions.extend(decision.map(|decision| (connection.number, decision)));
        }
        decisions
            .iter()
            .try_for_each(|(connection, decision)| carry_out(*connection, decision, endpoint))
    }

    /// Ends a connection. Later connections of any flow to its destination know its results.
    pub fn close(&mut self, connection: u32) {
        let Some(index) = self.position(connection) else {
            return;
        };
        let Connection {
            destination,
            selector,
            last,
            ..
        } = self.connections.swap_remove(index);
        let retransmitted = last.map_or(0.0, |last| {
            last.retransmissions as f64 / last.delivered.max(1) as f64
        });
        let estimates = selector.estimators().estimates();
        let result = ConnectionResult::new(selector.current(), estimates, retransmitted);
        for memory in &mut self.memories {
            memory.add_result(&destination, &result);
        }
        if self.connections.is_empty() {
            self.next_sample = None;
        }
    }

    /// Returns the selector of a connection; `None` if it has none, or has ended.
    pub fn selector(&self, connection: u32) -> Option<&Selector> {
        let index = self.position(connection)?;
        Some(&self.connections[index].selector)
    }

    /// Returns the numbers of the connections that are open, in ascending order.
    pub fn open_connections(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.connections.iter().map(|each| each.number).collect();
        numbers.sort_unstable();
        numbers
    }

    /// Switches a connection to `cca` at the next sample of its sender; returns false without a selector.
    pub fn request(&mut self, connection: u32, cca: &'static str) -> bool {
        let index = self.position(connection);
        if let Some(index) = index {
            self.connections[index].selector.request(cca);
        }
        index.is_some()
    }

    /// Returns a row per connection with its estimates at the end of the slot that began at `slot`.
    pub fn estimates(&self, slot: Instant) -> impl Iterator<Item = EstimateRow> {
        let connections = self.connections.iter();
        connections.map(move |each| estimate_row(slot, each.number, &each.selector))
    }

    fn position(&self, connection: u32) -> Option<usize> {
        self.connections
            .iter()
            .position(|each| each.number == connection)
    }
}

fn request_hints<E: Endpoint>(
    endpoint: &mut E,
    destination: &str,
    asks_radio: bool,
) -> Result<Option<Hints>, E::Error> {
    let hints = asks_radio.then(|| endpoint.hints(destination));
    hints.transpose().map(Option::flatten)
}

/// Records a decision, and carries out the switch if it chose another CCA.
fn carry_out<E: Endpoint>(
    connection: u32,
    decision: &Decision,
    endpoint: &mut E,
) -> Result<(), E::Error> {
    endpoint.record(decision_row(connection, decision))?;
    if decision.from == decision.to {
        return Ok(());
    }
    endpoint.switch_cca(decision.at, connection, decision.to, switch_mode(decision))
}

/// Smoothed RTT over lowest RTT, less 1, below which a connection may underuse the capacity: the queue that BBR's probes
/// leave.
const SHORT_QUEUE: f64 = 0.25;

/// Returns the mode of a switch.
fn switch_mode(decision: &Decision) -> SwitchMode {
    let queue_ratio = feature_index("queue_ratio").and_then(|index| decision.features.0[index]);
    let has_short_queue = queue_ratio.is_some_and(|ratio| ratio.value < SHORT_QUEUE);
    let family = registry::find(decision.to).map(|cca| cca.family);
    match decision.cause {
        // A connection that has hardly begun has no state to transfer. It should stay in slow start, which a cap on its
        // rate would end.
        Cause::Establishment | Cause::Agent { has_state: false } => SwitchMode::Kernel,
        // Random losses may have kept the rate far below the capacity. A CCA with a model of the path then finds the
        // capacity within some round trips if it starts afresh. From the previous rate it would take hundreds.
        Cause::Change | Cause::Agent { .. } if has_short_queue && family == Some(Family::Model) => {
            SwitchMode::Kernel
        }
        Cause::Change | Cause::Return | Cause::Agent { .. } => SwitchMode::Context,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::Features;
    use crate::{PathEstimators, estimate::Estimate};

    fn mode_of(cause: Cause, to: &'static str, queue_ratio: f64) -> SwitchMode {
        let mut features = Features::of(PathEstimators::default().estimates());
        let number = feature_index("queue_ratio").expect("a feature");
        features.0[number] = Some(Estimate::new(queue_ratio, 1.0));
        switch_mode(&Decision {
            at: Instant::ZERO,
            from: "illinois",
            to,
            cause,
            reason: String::new(),
            features,
            initial_window: None,
        })
    }

    #[test]
    fn a_model_begins_anew_where_hardly_any_queue_shows_the_capacity() {
        assert_eq!(mode_of(Cause::Change, "bbr", 0.05), SwitchMode::Kernel);
        assert_eq!(
            mode_of(Cause::Change, "bbr", 0.8),
            SwitchMode::Context,
            "a queue"
        );
        assert_eq!(mode_of(Cause::Change, "copa", 0.05), SwitchMode::Context);
        assert_eq!(mode_of(Cause::Return, "bbr", 0.05), SwitchMode::Context);
        assert_eq!(
            mode_of(Cause::Establishment, "copa", 0.0),
            SwitchMode::Kernel
        );
    }

    #[test]
    fn an_agent_changes_as_a_policy_does() {
        let agent = |has_state| Cause::Agent { has_state };
        assert_eq!(mode_of(agent(true), "bbr", 0.05), SwitchMode::Kernel);
        assert_eq!(
            mode_of(agent(true), "bbr", 0.8),
            SwitchMode::Context,
            "a queue"
        );
        assert_eq!(mode_of(agent(true), "copa", 0.05), SwitchMode::Context);
        assert_eq!(
            mode_of(agent(false), "copa", 0.8),
            SwitchMode::Kernel,
            "no data yet"
        );
    }
}

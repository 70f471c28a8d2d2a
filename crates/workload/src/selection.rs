//! The selectors of the connections of a run.

use std::sync::Arc;

use record::{DecisionRow, EstimateRow};
use scenario::{Scenario, Takeover};
use select::{
    Auto, Cause, Decision, Ending, FEATURES, Features, Hints, Memory, Policy, SAMPLE_INTERVAL,
    Sample, Selector, Start,
};
use units::random::{Purpose, Stream};
use units::{Duration, Instant};

/// A flow whose congestion control is selected.
#[derive(Clone, Debug)]
struct Selected {
    policy: Arc<Policy>,
    auto: Auto,
    /// Number of its memory.
    memory: usize,
}

/// The selector of one connection.
#[derive(Clone, Debug)]
struct Beside {
    connection: u32,
    selector: Selector,
    last: Option<Sample>,
}

impl Beside {
    fn observe(&mut self, sample: &Sample, hints: Option<Hints>) -> Option<Decision> {
        self.last = Some(*sample);
        self.selector.observe(sample, hints)
    }
}

/// All selectors of a run, and what they remember of destinations: each flow what its own file tells, and all
/// what the connections of the run have found.
#[derive(Clone, Debug)]
pub struct Selection {
    flows: Vec<Option<Selected>>,
    /// One per file, and one for flows without any.
    memories: Vec<Memory>,
    beside: Vec<Beside>,
    next: Instant,
    seed: u64,
}

/// Why flows cannot be given selectors.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("flow {flow:?}: {reason}")]
pub struct SelectionError {
    /// Name of the flow.
    pub flow: String,
    /// What is wrong with its policy or memory.
    pub reason: String,
}

impl Selection {
    /// Those of a scenario whose policies have been loaded.
    ///
    /// # Errors
    /// [`SelectionError`] names the flow.
    pub fn new(scenario: &Scenario, seed: u64) -> Result<Self, SelectionError> {
        let mut files: Vec<Option<String>> = Vec::new();
        let mut memories = Vec::new();
        let mut flows = Vec::new();
        for flow in &scenario.flows {
            let wrong = |reason| SelectionError {
                flow: flow.name.clone(),
                reason,
            };
            let Some(auto) = flow.cca.auto() else {
                flows.push(None);
                continue;
            };
            let policy = scenario.policy(&auto);
            let policy = policy.map_err(|error| wrong(error.to_string()))?;
            let known = files.iter().position(|file| *file == auto.memory);
            let memory = known.unwrap_or(files.len());
            if known.is_none() {
                let text = auto
                    .memory
                    .as_ref()
                    .and_then(|file| scenario.selection.get(file));
                let read = Memory::from_toml(text.map_or("", String::as_str));
                let named =
                    |reason| format!("{}: {reason}", auto.memory.as_deref().unwrap_or_default());
                memories.push(read.map_err(|reason| wrong(named(reason)))?);
                files.push(auto.memory.clone());
            }
            flows.push(Some(Selected {
                policy: Arc::new(policy),
                auto,
                memory,
            }));
        }
        Ok(Self {
            flows,
            memories,
            beside: Vec::new(),
            next: Instant::NEVER,
            seed,
        })
    }

    /// A connection of `flow` is set up to `destination`; answers its first congestion control if it is
    /// selected.
    pub fn open(
        &mut self,
        now: Instant,
        flow: usize,
        connection: u32,
        destination: &str,
        hints: Option<Hints>,
    ) -> Option<Decision> {
        let Selected {
            policy,
            auto,
            memory,
        } = self.flows[flow].clone()?;
        let start = Start {
            at: now,
            known: self.memories[memory].of(destination),
            hints: hints.filter(|_| auto.hints),
            draws: Stream::new(self.seed, Purpose::Selection, connection),
        };
        let (selector, decision) = Selector::new(policy, auto, &start);
        self.beside.push(Beside {
            connection,
            selector,
            last: None,
        });
        if self.next == Instant::NEVER {
            self.next = now + SAMPLE_INTERVAL;
        }
        Some(decision)
    }

    /// The connection has ended: what it has found is remembered for the next one of any flow to `destination`.
    pub fn close(&mut self, connection: u32, destination: &str) {
        let Some(index) = self.position(connection) else {
            return;
        };
        let ended = self.beside.swap_remove(index);
        let again = ended.last.map_or(0.0, |last| {
            last.retransmissions as f64 / last.delivered.max(1) as f64
        });
        let (cca, view) = (ended.selector.present(), ended.selector.watch().view());
        let ending = Ending::of(cca, view, again);
        for memory in &mut self.memories {
            memory.remember(destination, &ending);
        }
        if self.beside.is_empty() {
            self.next = Instant::NEVER;
        }
    }

    /// When samples are due.
    pub fn next(&self) -> Instant {
        self.next
    }

    /// Shows every selector its sender; answers what has been decided, by connection.
    pub fn look(
        &mut self,
        now: Instant,
        mut sample: impl FnMut(u32) -> Option<(Sample, Option<Hints>)>,
    ) -> Vec<(u32, Decision)> {
        while self.next <= now {
            self.next += SAMPLE_INTERVAL;
        }
        let mut decisions = Vec::new();
        for beside in &mut self.beside {
            let Some((sample, hints)) = sample(beside.connection) else {
                continue;
            };
            let decision = beside.observe(&sample, hints);
            decisions.extend(decision.map(|decision| (beside.connection, decision)));
        }
        decisions
    }

    /// The handshake of a connection is over, and nothing has been sent yet: shows its selector the sender.
    pub fn greet(
        &mut self,
        connection: u32,
        sample: &Sample,
        hints: Option<Hints>,
    ) -> Option<Decision> {
        let index = self.position(connection)?;
        self.beside[index].observe(sample, hints)
    }

    /// What all see at the end of the slot that began at `slot`.
    pub fn estimates(&self, slot: Instant) -> impl Iterator<Item = EstimateRow> {
        let rows = self.beside.iter();
        rows.map(move |beside| estimate_row(slot, beside.connection, &beside.selector))
    }

    /// Whether the selector of any flow asks the radio.
    pub fn asks_radio(&self) -> bool {
        self.flows.iter().flatten().any(|flow| flow.auto.hints)
    }

    fn position(&self, connection: u32) -> Option<usize> {
        self.beside
            .iter()
            .position(|beside| beside.connection == connection)
    }
}

/// Returns the kind of takeover for a decision with this cause.
pub fn takeover_after(cause: Cause) -> Takeover {
    match cause {
        // A connection that has just begun has no context worth passing on. It also has to stay in slow
        // start, which the modelled window would end.
        Cause::Establishment => Takeover::Kernel,
        Cause::Change | Cause::Return => Takeover::Context,
    }
}

/// A decision as results have it.
pub fn decision_row(connection: u32, decision: &Decision) -> DecisionRow {
    DecisionRow {
        flow: connection,
        t_ns: decision.at.as_nanos(),
        cause: decision.cause.word().to_owned(),
        from_cca: decision.from.to_owned(),
        to_cca: decision.to.to_owned(),
        reason: decision.reason.clone(),
        measures: measures(&decision.features),
    }
}

fn measures(features: &Features) -> String {
    let all: Vec<String> = FEATURES
        .iter()
        .zip(features.0)
        .map(|(feature, value)| format!("{}={value:.4}", feature.name))
        .collect();
    all.join(" ")
}

fn estimate_row(slot: Instant, connection: u32, selector: &Selector) -> EstimateRow {
    let view = selector.watch().view();
    let milliseconds = |time: Duration| {
        if time.is_zero() {
            f64::NAN
        } else {
            time.as_secs_f64() * 1e3
        }
    };
    EstimateRow {
        flow: connection,
        t_s: slot.as_secs_f64(),
        using_cca: selector.present().to_owned(),
        base_rtt_ms: milliseconds(view.base_rtt.value),
        latency: view.latency.value.to_string(),
        latency_confidence: view.latency.confidence,
        capacity_mbps: view.capacity.value.as_mbps(),
        capacity_confidence: view.capacity.confidence,
        trend: view.trend.value,
        trend_confidence: view.trend.confidence,
        movement: view.movement.value.to_string(),
        movement_confidence: view.movement.confidence,
        variability: view.variability.value,
        variability_confidence: view.variability.confidence,
        queue_segments: view.queue.value,
        queue_confidence: view.queue.confidence,
        buffer_segments: view.buffer.value,
        buffer_confidence: view.buffer.confidence,
        window_limited: u32::from(view.window_limited.value),
        window_limited_confidence: view.window_limited.confidence,
        random_loss: view.random_loss.value,
        random_loss_confidence: view.random_loss.confidence,
        phase: view.phase.value.to_string(),
        phase_confidence: view.phase.confidence,
        speed: view.speed.value.to_string(),
        speed_confidence: view.speed.confidence,
    }
}

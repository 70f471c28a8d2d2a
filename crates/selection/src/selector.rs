//! Selector: chooses the CCA of one connection, and switches it while the connection runs.

use std::sync::Arc;

use cca::SenderInfo;
use strum::IntoStaticStr;
use units::random::RngStream;
use units::{Duration, Instant};

use crate::auto::Auto;
use crate::destination_cache::DestinationEntry;
use crate::estimators::PathEstimators;
use crate::features::Features;
use crate::performance::{PerfWindow, PmSums, decline, starved_ratio};
use crate::policy::{DecisionInput, Policy, Recommendation};
use crate::sample::{Hints, Sample};

/// Cause of a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Cause {
    /// A choice for a new connection. It is made before the connection is set up or, if too little is known then, at
    /// the first RTT sample, which the handshake gives.
    Establishment,
    /// A switch of a running connection to a CCA that fits better.
    Change,
    /// A switch back to the CCA before a switch that made the measure worse.
    Return,
    /// A switch that an agent outside of the selector has requested.
    Agent {
        /// Whether a round trip of data has been acknowledged, so that there is state to transfer.
        has_state: bool,
    },
}

impl Cause {
    /// Returns the word for the cause in results.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// Decision of a selector.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// Time of the decision.
    pub at: Instant,
    /// CCA before the decision; the same as `to` if there was none or it stays.
    pub from: &'static str,
    /// CCA after the decision.
    pub to: &'static str,
    /// Cause.
    pub cause: Cause,
    /// Reason in words.
    pub reason: String,
    /// Features on which the decision was based.
    pub features: Features,
    /// Initial window of a new connection, segments; `None` for the default one.
    pub initial_window: Option<u32>,
}

impl Decision {
    /// Returns the larger of the initial window of this decision and the default one.
    pub fn initial_window_or(&self, default: u32) -> u32 {
        self.initial_window.map_or(default, |own| own.max(default))
    }
}

/// Input of a selector before the first sample.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// Time at which the connection is set up.
    pub at: Instant,
    /// Results of earlier connections to the destination.
    pub destination: Option<&'a DestinationEntry>,
    /// Hints of the radio.
    pub hints: Option<Hints>,
    /// Random draws of the policy.
    pub draws: RngStream,
}

/// Switch that has not been evaluated yet.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// CCA before the switch.
    from: &'static str,
    /// Start of the interval that evaluates the switch.
    start: Instant,
    /// Length of that interval.
    length: Duration,
    /// Whether other flows shared the bottleneck at the switch.
    had_competition: bool,
    /// Performance before the switch.
    before: PmSums,
    /// Performance in the interval.
    after: PmSums,
}

/// CCA that the latest decisions recommend in place of the current one.
#[derive(Clone, Copy, Debug)]
struct Proposal {
    cca: &'static str,
    /// Number of decisions in a row.
    count: u32,
}

/// Selector of one connection. It chooses a CCA at the start, watches the connection, switches the CCA while it runs, and
/// undoes a switch that made things worse.
#[derive(Clone, Debug)]
pub struct Selector {
    policy: Arc<Policy>,
    auto: Auto,
    estimators: PathEstimators,
    perf_window: PerfWindow,
    /// CCA in use.
    current: &'static str,
    /// Whether the policy switches running connections.
    switches_running: bool,
    /// Whether the choice for the new connection is final. It is not if too little was known before the handshake, or
    /// if the handshake gives a better measurement.
    is_chosen: bool,
    /// Whether the policy could decide before the connection was set up.
    decided_at_start: bool,
    /// Time of the next decision.
    next_decision: Instant,
    /// End of the dwell time, until which there is no switch.
    dwell_until: Instant,
    proposal: Option<Proposal>,
    /// Last switch, until it has been evaluated.
    trial: Option<Trial>,
    /// CCAs whose switch was undone, and until when they are not tried again.
    blocked: Vec<(&'static str, Instant)>,
    /// CCA that an agent has requested.
    requested: Option<&'static str>,
    draws: RngStream,
    /// Number of draws so far.
    draw_count: u64,
}

impl Selector {
    /// Creates a selector and returns its first decision.
    pub fn new(policy: Arc<Policy>, auto: Auto, start: &Start<'_>) -> (Self, Decision) {
        let mut estimators = PathEstimators::default();
        estimators.set_application(auto.requirement, auto.flow_size);
        if let Some(hints) = start.hints {
            estimators.set_hints(hints);
        }
        let min_rtt_ms = start.destination.map_or(0.0, |entry| entry.min_rtt_ms);
        if min_rtt_ms > 0.0 {
            estimators.seed_min_rtt(Duration::from_secs_f64(min_rtt_ms / 1e3));
        }
        let tuning = policy.tuning;
        let mut selector = Self {
            perf_window: PerfWindow::new(tuning.interval_before()),
            current: policy.default_cca(),
            switches_running: policy.switches_running_connections(),
            is_chosen: false,
            decided_at_start: false,
            next_decision: start.at + tuning.interval(Duration::ZERO),
            dwell_until: start.at,
            proposal: None,
            trial: None,
            blocked: Vec::new(),
            requested: None,
            draws: start.draws.clone(),
            draw_count: 0,
            policy,
            auto,
            estimators,
        };
        let (recommendation, features) = selector.recommend(None, start.destination);
        selector.decided_at_start = recommendation.is_some();
        selector.is_chosen = selector.decided_at_start && !selector.policy.needs_measurements();
        let Recommendation {
            cca, mut reason, ..
        } = recommendation.unwrap_or_else(|| selector.policy.default_recommendation());
        selector.current = cca;
        let auto = &selector.auto;
        let initial_window = selector.policy.initial_window.as_ref().and_then(|setting| {
            setting.window(auto.requirement, auto.flow_size, start.destination)
        });
        if let Some(segments) = initial_window {
            reason += &format!("; initial window {segments}");
        }
        let decision = Decision {
            initial_window,
            ..selector.use_cca(start.at, cca, Cause::Establishment, reason, features)
        };
        (selector, decision)
    }

    /// Makes `to` the CCA in use; returns the decision.
    fn use_cca(
        &mut self,
        at: Instant,
        to: &'static str,
        cause: Cause,
        reason: String,
        features: Features,
    ) -> Decision {
        Decision {
            at,
            from: core::mem::replace(&mut self.current, to),
            to,
            cause,
            reason,
            features,
            initial_window: None,
        }
    }

    /// Returns the CCA in use.
    pub fn current(&self) -> &'static str {
        self.current
    }

    /// Switches to `cca` at the next sample, whatever the policy recommends. The limits on switches do not apply, and
    /// the switch is not evaluated.
    pub fn request(&mut self, cca: &'static str) {
        self.requested = Some(cca);
    }

    /// Returns the estimators of the connection.
    pub fn estimators(&self) -> &PathEstimators {
        &self.estimators
    }

    /// Adds the state of the sender at `now`, with hints of the radio if there are any; returns the decision
    /// that follows.
    pub fn observe(
        &mut self,
        now: Instant,
        sender: &SenderInfo,
        hints: Option<Hints>,
    ) -> Option<Decision> {
        let hints = hints.filter(|_| self.auto.hints);
        self.estimators.observe(now, sender, hints);
        Sample::of(now, sender)?;
        let estimates = self.estimators.estimates();
        // While the application sends too little, or nothing gets through, samples do not depend on the CCA.
        if !sender.is_app_limited() && !estimates.in_outage {
            self.perf_window.observe(now, estimates);
        }
        if let Some(to) = self.requested.take() {
            self.is_chosen = true;
            if to != self.current {
                return Some(self.apply_request(now, to));
            }
        }
        if !self.is_chosen {
            let decision = self.choose(now);
            self.is_chosen = true;
            if decision.is_some() {
                return decision;
            }
        }
        if let Some(switch_back) = self.evaluate_switch(now, sender) {
            return Some(switch_back);
        }
        let (estimates, tuning) = (self.estimators.estimates(), self.policy.tuning);
        if estimates.in_outage {
            self.proposal = None;
            return None;
        }
        if !self.switches_running
            || now < self.next_decision
            || estimates.rounds < tuning.round_trips
        {
            return None;
        }
        self.next_decision = now + tuning.interval(estimates.srtt);
        self.decide(now)
    }

    /// Returns the recommendation of the policy, and the features that it was based on.
    fn recommend(
        &mut self,
        current_cca: Option<&'static str>,
        destination: Option<&DestinationEntry>,
    ) -> (Option<Recommendation>, Features) {
        let estimates = self.estimators.estimates();
        let features = Features::of(estimates);
        let draw = self.draws.at(self.draw_count) as f64 / u64::MAX as f64;
        self.draw_count += 1;
        let recommendation = self.policy.recommend(&DecisionInput {
            estimates,
            features: &features,
            requirement: self.auto.requirement,
            current_cca,
            is_cca_chosen: self.is_chosen,
            prefer: &self.auto.prefer,
            destination,
            draw,
        });
        (recommendation, features)
    }

    /// Makes the choice for a new connection at its first RTT sample. Nothing has been sent, so a switch costs nothing
    /// and needs neither agreement nor dwell time. A choice made before the handshake is not reported again if it
    /// stays.
    fn choose(&mut self, now: Instant) -> Option<Decision> {
        let (recommendation, features) = self.recommend(Some(self.current), None);
        let Recommendation { cca, reason, .. } = recommendation?;
        if cca == self.current && self.decided_at_start {
            return None;
        }
        Some(self.use_cca(now, cca, Cause::Establishment, reason, features))
    }

    fn apply_request(&mut self, now: Instant, to: &'static str) -> Decision {
        let has_state = self.estimators.estimates().rounds > 0;
        self.trial = None;
        let reason = "an agent has requested it".to_owned();
        self.switch(now, to, Cause::Agent { has_state }, reason)
    }

    /// Asks the policy, and switches if enough decisions in a row agree.
    fn decide(&mut self, now: Instant) -> Option<Decision> {
        self.blocked.retain(|&(_, until)| until > now);
        let (recommendation, _) = self.recommend(Some(self.current), None);
        let previous = self.proposal.take();
        let Recommendation {
            cca,
            reason,
            confidence,
        } = recommendation?;
        let tuning = self.policy.tuning;
        let is_blocked = self.blocked.iter().any(|&(blocked, _)| blocked == cca);
        if cca == self.current || is_blocked || confidence < tuning.confidence {
            return None;
        }
        let same = previous.filter(|previous| previous.cca == cca);
        let count = same.map_or(1, |previous| previous.count + 1);
        self.proposal = Some(Proposal { cca, count });
        // A second switch during the trial would leave the first one without an evaluation, and would be compared with
        // the performance under two CCAs.
        if count < tuning.agree || now < self.dwell_until || self.trial.is_some() {
            return None;
        }
        let estimates = self.estimators.estimates();
        let length = tuning.interval_after(estimates.srtt);
        self.trial = Some(Trial {
            from: self.current,
            start: now + length / 2,
            length,
            had_competition: estimates.has_competition(),
            before: self.perf_window.sums(),
            after: PmSums::default(),
        });
        Some(self.switch(now, cca, Cause::Change, reason))
    }

    /// Switches a running connection to `to`, and starts the dwell time.
    fn switch(&mut self, now: Instant, to: &'static str, cause: Cause, reason: String) -> Decision {
        let estimates = self.estimators.estimates();
        let features = Features::of(estimates);
        self.dwell_until = now + self.policy.tuning.dwell(estimates.srtt);
        self.proposal = None;
        self.use_cca(now, to, cause, reason, features)
    }

    /// Adds a sample to the trial of the last switch, and evaluates the switch at the end. The trial begins half
    /// of its length after the switch, which is left for settling. After an outage the trial starts again, as neither the outage nor the recovery is due to the
    /// CCA.
    fn evaluate_switch(&mut self, now: Instant, sender: &SenderInfo) -> Option<Decision> {
        let estimates = self.estimators.estimates();
        let trial = self.trial.as_mut()?;
        if estimates.in_outage {
            trial.start = now + trial.length / 2;
            trial.after = PmSums::default();
        }
        if now < trial.start {
            return None;
        }
        if !sender.is_app_limited() {
            trial.after.observe(estimates);
        }
        if now < trial.start + trial.length {
            return None;
        }
        let trial = self.trial.take()?;
        let tuning = self.policy.tuning;
        let is_long_enough = |sums: &PmSums| sums.time() * 4 >= tuning.interval_before();
        if !is_long_enough(&trial.before) || !is_long_enough(&trial.after) {
            return None;
        }
        let requirement = self.auto.requirement;
        // Competing flows keep the queue, so that only the share of the rate is due to the CCA.
        let has_competition = trial.had_competition || estimates.has_competition();
        let starved =
            starved_ratio(requirement, &trial.before, &trial.after).filter(|_| has_competition);
        let lost_share = decline(requirement, &trial.before, &trial.after);
        if starved.is_none() && (has_competition || lost_share <= tuning.tolerance) {
            return None;
        }
        let from = self.current;
        let reason = match starved {
            Some(ratio) => {
                let (left, floor) = (ratio * 100.0, requirement.starvation_limit() * 100.0);
                format!(
                    "{from} starves beside other flows: {left:.0} % of the rate before, floor {floor} %"
                )
            }
            None => format!("{from} has lost {:.0} % of the measure", lost_share * 100.0),
        };
        let until = now + Duration::from_secs_f64(tuning.bar);
        self.blocked.push((from, until));
        Some(self.switch(now, trial.from, Cause::Return, reason))
    }
}

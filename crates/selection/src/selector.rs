//! Selector: chooses, watches and changes the CCA of one connection.

use std::sync::Arc;

use cca::SenderInfo;
use units::random::RngStream;
use units::{Duration, Instant};

use crate::auto::Auto;
use crate::destination_cache::DestinationEntry;
use crate::estimators::PathEstimators;
use crate::features::Features;
use crate::performance::{PerfWindow, PmSums, loss, starved};
use crate::policy::{DecisionInput, Policy, Recommendation};
use crate::sample::{Hints, Sample};

/// Cause of a decision.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// A choice for a new connection. It is made before the connection is set up or, if too little is known then, at
    /// the first RTT sample, which the handshake gives.
    Establishment,
    /// A switch of a running connection to a CCA that fits better.
    Change,
    /// A return to the CCA before a change that made things worse.
    Return,
    /// A change that an agent outside of the selector has requested.
    Agent {
        /// Whether a round trip of data has been acknowledged, so that there is a context to hand over.
        begun: bool,
    },
}

impl Cause {
    /// Returns the word for the cause in results.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Establishment => "establishment",
            Self::Change => "change",
            Self::Return => "return",
            Self::Agent { .. } => "agent",
        }
    }
}

/// Decision of a selector.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// Time of the decision.
    pub at: Instant,
    /// CCA in use until then; the same as `to` if there was none or it stays.
    pub from: &'static str,
    /// CCA in use from then on.
    pub to: &'static str,
    /// Cause.
    pub cause: Cause,
    /// Reason in words.
    pub reason: String,
    /// Features on which the decision was based.
    pub features: Features,
    /// Initial window of a new connection, segments; `None` if it is that of all connections.
    pub initial_window: Option<u32>,
}

impl Decision {
    /// Returns the initial window of this connection; the larger of it and that of all connections counts.
    pub fn initial_window_beside(&self, of_all: u32) -> u32 {
        self.initial_window.map_or(of_all, |own| own.max(of_all))
    }
}

/// State before the first sample.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// Time at which the connection is set up.
    pub at: Instant,
    /// Results of earlier connections to the destination.
    pub known: Option<&'a DestinationEntry>,
    /// Hints of the radio.
    pub hints: Option<Hints>,
    /// Random draws of the policy.
    pub draws: RngStream,
}

/// Switch that has not been evaluated yet.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// CCA before the change.
    from: &'static str,
    /// Start, end and length of the interval that evaluates it.
    since: Instant,
    until: Instant,
    length: Duration,
    /// Whether other flows shared the bottleneck at the change.
    shared: bool,
    /// Measures before the change and in that interval.
    before: PmSums,
    after: PmSums,
}

/// Selector of one connection. It chooses a CCA at the start, watches the connection, switches the CCA while it runs, and
/// undoes a switch that made things worse.
#[derive(Clone, Debug)]
pub struct Selector {
    policy: Arc<Policy>,
    auto: Auto,
    watch: PathEstimators,
    outcome: PerfWindow,
    current: &'static str,
    switches_running: bool,
    /// Whether the choice for the new connection is still to be made: too little was known before the handshake, or the
    /// handshake gives a better measurement.
    open: bool,
    /// Whether the policy could decide before the connection was set up.
    answered: bool,
    /// Time of the next decision.
    next: Instant,
    /// End of the dwell time, until which there is no change.
    dwell_until: Instant,
    /// CCA that the last decisions wanted, and how many in a row did.
    wanted: (&'static str, u32),
    /// Last switch, until it has been evaluated.
    trial: Option<Trial>,
    /// CCAs whose switch was undone, and until when they are not tried again.
    blocked: Vec<(&'static str, Instant)>,
    /// CCA that an agent has requested.
    requested: Option<&'static str>,
    draws: RngStream,
    drawn: u64,
}

impl Selector {
    /// Creates a selector and returns its first decision.
    pub fn new(policy: Arc<Policy>, auto: Auto, start: &Start<'_>) -> (Self, Decision) {
        let mut watch = PathEstimators::default();
        watch.expect(auto.flow_size);
        watch.set_requirement(auto.requirement);
        if let Some(hints) = start.hints {
            watch.hint(hints);
        }
        if let Some(known) = start.known.filter(|known| known.min_rtt_ms > 0.0) {
            watch.seed_min_rtt(Duration::from_secs_f64(known.min_rtt_ms / 1e3));
        }
        let tuning = policy.tuning;
        let mut selector = Self {
            outcome: PerfWindow::new(tuning.trial_time()),
            current: policy.default_cca(),
            switches_running: policy.switches_running_connections(),
            open: true,
            answered: false,
            next: start.at + tuning.interval(Duration::ZERO),
            dwell_until: start.at,
            wanted: ("", 0),
            trial: None,
            blocked: Vec::new(),
            requested: None,
            draws: start.draws.clone(),
            drawn: 0,
            policy,
            auto,
            watch,
        };
        let (advice, features) = selector.recommend(None, start.known);
        selector.answered = advice.is_some();
        selector.open = advice.is_none() || selector.policy.needs_measurements();
        let advice = advice.unwrap_or_else(|| selector.policy.default_recommendation());
        selector.current = advice.to;
        let initial_window = selector.initial_window(start.known);
        let decision = Decision {
            at: start.at,
            from: advice.to,
            to: advice.to,
            cause: Cause::Establishment,
            reason: match initial_window {
                Some(segments) => format!("{}; initial window {segments}", advice.reason),
                None => advice.reason,
            },
            features,
            initial_window,
        };
        (selector, decision)
    }

    fn initial_window(&self, known: Option<&DestinationEntry>) -> Option<u32> {
        let window = self.policy.initial_window.as_ref()?;
        window.of(self.auto.requirement, self.auto.flow_size, known)
    }

    /// Returns the CCA in use.
    pub fn current(&self) -> &'static str {
        self.current
    }

    /// Switches to `cca` at the next sample, whatever the policy recommends. The limits on changes do not apply, and
    /// the switch is not evaluated.
    pub fn request(&mut self, cca: &'static str) {
        self.requested = Some(cca);
    }

    /// Returns the estimators of the connection.
    pub fn estimators(&self) -> &PathEstimators {
        &self.watch
    }

    /// Adds the state of the sender at `now`, with hints of the radio if there are any; returns the decision
    /// that follows.
    pub fn observe(
        &mut self,
        now: Instant,
        sender: &SenderInfo,
        hints: Option<Hints>,
    ) -> Option<Decision> {
        // Hints of the radio replace what the samples suggest.
        let hints = hints.filter(|_| self.auto.hints);
        self.watch.observe(now, sender, hints);
        Sample::of(now, sender)?;
        let view = self.watch.view();
        // While the application sends too little, or nothing gets through, samples do not depend on the CCA.
        if !sender.is_app_limited() && !view.outage {
            self.outcome.observe(now, self.watch.view());
        }
        if let Some(to) = self.requested.take() {
            self.open = false;
            if to != self.current {
                return Some(self.apply_request(now, to));
            }
        }
        if self.open {
            let decision = self.establish(now);
            self.open = false;
            if decision.is_some() {
                return decision;
            }
        }
        if let Some(back) = self.evaluate_switch(now, sender) {
            return Some(back);
        }
        let (view, tuning) = (self.watch.view(), self.policy.tuning);
        if view.outage {
            self.wanted = ("", 0);
            return None;
        }
        if !self.switches_running || now < self.next || view.rounds < tuning.round_trips {
            return None;
        }
        self.next = now + tuning.interval(view.srtt);
        self.decide(now)
    }

    /// Returns the recommendation of the policy, and the features that it was based on.
    fn recommend(
        &mut self,
        current_cca: Option<&'static str>,
        destination: Option<&DestinationEntry>,
    ) -> (Option<Recommendation>, Features) {
        let view = self.watch.view();
        let features = Features::of(view);
        let draw = self.draws.at(self.drawn) as f64 / u64::MAX as f64;
        self.drawn += 1;
        let advice = self.policy.recommend(&DecisionInput {
            view,
            features: &features,
            requirement: self.auto.requirement,
            current_cca,
            is_cca_chosen: !self.open,
            prefer: &self.auto.prefer,
            destination,
            draw,
        });
        (advice, features)
    }

    /// Makes the choice for a new connection at its first RTT sample. Nothing has been sent, so a change costs nothing
    /// and needs neither agreement nor dwell time. A choice made from memory or hints is not reported again if it
    /// stays.
    fn establish(&mut self, now: Instant) -> Option<Decision> {
        let (advice, features) = self.recommend(Some(self.current), None);
        let advice = advice.filter(|advice| advice.to != self.current || !self.answered)?;
        let from = core::mem::replace(&mut self.current, advice.to);
        Some(Decision {
            at: now,
            from,
            to: advice.to,
            cause: Cause::Establishment,
            reason: advice.reason,
            features,
            initial_window: None,
        })
    }

    fn apply_request(&mut self, now: Instant, to: &'static str) -> Decision {
        let view = self.watch.view();
        let (features, begun) = (Features::of(view), view.rounds > 0);
        self.dwell_until = now + self.policy.tuning.dwell(view.srtt);
        self.trial = None;
        self.wanted = ("", 0);
        Decision {
            at: now,
            from: core::mem::replace(&mut self.current, to),
            to,
            cause: Cause::Agent { begun },
            reason: "an agent has requested it".to_owned(),
            features,
            initial_window: None,
        }
    }

    fn decide(&mut self, now: Instant) -> Option<Decision> {
        self.blocked.retain(|&(_, until)| until > now);
        let (advice, features) = self.recommend(Some(self.current), None);
        let barred = |name| self.blocked.iter().any(|each| each.0 == name);
        let other = advice.filter(|advice| {
            advice.to != self.current
                && !barred(advice.to)
                && advice.confidence >= self.policy.tuning.confidence
        });
        let Some(advice) = other else {
            self.wanted = ("", 0);
            return None;
        };
        let so_far = if self.wanted.0 == advice.to {
            self.wanted.1
        } else {
            0
        };
        self.wanted = (advice.to, so_far + 1);
        let agreed = self.wanted.1 >= self.policy.tuning.agree;
        // A second change during the trial would leave the first one unjudged, and would be compared with measures
        // under two CCAs.
        if !agreed || now < self.dwell_until || self.trial.is_some() {
            return None;
        }
        Some(self.change(now, advice, features))
    }

    fn change(&mut self, now: Instant, advice: Recommendation, features: Features) -> Decision {
        let (tuning, srtt) = (self.policy.tuning, self.watch.view().srtt);
        let from = core::mem::replace(&mut self.current, advice.to);
        let length = tuning.judge_at(srtt);
        self.trial = Some(Trial {
            from,
            since: now + length / 2,
            until: now + length + length / 2,
            length,
            shared: self.watch.view().shared(),
            before: self.outcome.recent(),
            after: PmSums::default(),
        });
        self.dwell_until = now + tuning.dwell(srtt);
        self.wanted = ("", 0);
        Decision {
            at: now,
            from,
            to: advice.to,
            cause: Cause::Change,
            reason: advice.reason,
            features,
            initial_window: None,
        }
    }

    /// Adds a sample to the trial of the last change, and judges the change at the end. The first half of the time is
    /// left for settling. After an outage it begins anew, as neither the outage nor the recovery is due to the CCA.
    fn evaluate_switch(&mut self, now: Instant, sender: &SenderInfo) -> Option<Decision> {
        let trial = self.trial.as_mut()?;
        if self.watch.view().outage {
            trial.since = now + trial.length / 2;
            trial.until = trial.since + trial.length;
            trial.after = PmSums::default();
        }
        if now < trial.since {
            return None;
        }
        if !sender.is_app_limited() {
            trial.after.observe(self.watch.view());
        }
        if now < trial.until {
            return None;
        }
        let trial = self.trial.take()?;
        let tuning = self.policy.tuning;
        let is_long_enough = |measure: &PmSums| measure.time() * 4 >= tuning.trial_time();
        if !is_long_enough(&trial.before) || !is_long_enough(&trial.after) {
            return None;
        }
        let requirement = self.auto.requirement;
        // Beside others the queue is theirs, so that only the share of the rate is due to the CCA.
        let shared = trial.shared || self.watch.view().shared();
        let starved = starved(requirement, &trial.before, &trial.after).filter(|_| shared);
        let lost = loss(requirement, &trial.before, &trial.after);
        if starved.is_none() && (shared || lost <= tuning.tolerance) {
            return None;
        }
        let from = core::mem::replace(&mut self.current, trial.from);
        let reason = match starved {
            Some(left) => {
                let (left, floor) = (left * 100.0, requirement.floor() * 100.0);
                format!(
                    "{from} starves beside other flows: {left:.0} % of the rate before, floor {floor} %"
                )
            }
            None => format!("{from} has lost {:.0} % of the measure", lost * 100.0),
        };
        self.blocked.push((from, now + tuning.bar()));
        self.dwell_until = now + tuning.dwell(self.watch.view().srtt);
        self.wanted = ("", 0);
        Some(Decision {
            at: now,
            from,
            to: trial.from,
            cause: Cause::Return,
            reason,
            features: Features::of(self.watch.view()),
            initial_window: None,
        })
    }
}

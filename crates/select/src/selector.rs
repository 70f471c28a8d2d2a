//! The selector beside one connection.

use std::sync::Arc;

use cca::SenderView;
use units::random::Stream;
use units::{Duration, Instant};

use crate::auto::Auto;
use crate::estimators::Watch;
use crate::features::Features;
use crate::memory::Remembered;
use crate::outcome::{Measure, Outcome, loss};
use crate::policy::{Advice, Policy, Situation};
use crate::sample::{Hints, Sample};

/// Why the congestion control is what it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cause {
    /// Chosen for a new connection: before it is set up or, if nothing was known then, at its first RTT
    /// sample, which the handshake gives.
    Establishment,
    /// Changed, since another fits better.
    Change,
    /// Taken back, since the change made it worse.
    Return,
}

impl Cause {
    /// Its word in results.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Establishment => "establishment",
            Self::Change => "change",
            Self::Return => "return",
        }
    }
}

/// A choice that has been made.
#[derive(Clone, PartialEq, Debug)]
pub struct Decision {
    /// When.
    pub at: Instant,
    /// What was in use; the same as `to` if nothing was before, or it stays.
    pub from: &'static str,
    /// What is from here on.
    pub to: &'static str,
    /// What kind of choice.
    pub cause: Cause,
    /// Why.
    pub reason: String,
    /// What led to it.
    pub features: Features,
}

/// What is known before the first sample.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// When the connection is set up.
    pub at: Instant,
    /// What is known of the destination.
    pub known: Option<&'a Remembered>,
    /// What the radio tells.
    pub hints: Option<Hints>,
    /// For what the policy draws.
    pub draws: Stream,
}

/// A change that has still to prove itself.
#[derive(Clone, Copy, Debug)]
struct Trial {
    /// Whom it took over from.
    from: &'static str,
    /// When the time begins and ends over which it is judged.
    since: Instant,
    until: Instant,
    /// What came before it, and what has come in that time.
    before: Measure,
    after: Measure,
}

/// Chooses at the establishment, watches, decides, and goes back if it got worse.
#[derive(Clone, Debug)]
pub struct Selector {
    policy: Arc<Policy>,
    auto: Auto,
    watch: Watch,
    outcome: Outcome,
    present: &'static str,
    in_flight: bool,
    /// Whether the choice for the new connection is still to be made: nothing was known that the policy
    /// decides by, or not from this connection.
    open: bool,
    /// Whether something was known before the connection was set up.
    answered: bool,
    /// When the next decision is due.
    next: Instant,
    /// Before this, the one in use is left in peace.
    rest_until: Instant,
    /// What the last decisions wanted, and how many in a row.
    wanted: (&'static str, u32),
    /// The last change, until it has been judged.
    trial: Option<Trial>,
    /// Who has made it worse, and until when they are not tried again.
    barred: Vec<(&'static str, Instant)>,
    draws: Stream,
    drawn: u64,
}

impl Selector {
    /// A selector and its first decision.
    pub fn new(policy: Arc<Policy>, auto: Auto, start: &Start<'_>) -> (Self, Decision) {
        let mut watch = Watch::new();
        watch.expect(auto.flow_size);
        if let Some(hints) = start.hints {
            watch.hint(hints);
        }
        if let Some(known) = start.known.filter(|known| known.min_rtt_ms > 0.0) {
            watch.recall(Duration::from_secs_f64(known.min_rtt_ms / 1e3));
        }
        let tuning = policy.tuning;
        let mut selector = Self {
            outcome: Outcome::new(tuning.judge()),
            present: policy.default_cca(),
            in_flight: policy.changes_in_flight(),
            open: true,
            answered: false,
            next: start.at + tuning.interval(),
            rest_until: start.at,
            wanted: ("", 0),
            trial: None,
            barred: Vec::new(),
            draws: start.draws.clone(),
            drawn: 0,
            policy,
            auto,
            watch,
        };
        let (advice, features) = selector.ask(None, start.known);
        selector.answered = advice.is_some();
        selector.open = advice.is_none() || selector.policy.measures();
        let advice = advice.unwrap_or_else(|| selector.policy.unknowing());
        selector.present = advice.to;
        let decision = Decision {
            at: start.at,
            from: advice.to,
            to: advice.to,
            cause: Cause::Establishment,
            reason: advice.reason,
            features,
        };
        (selector, decision)
    }

    /// The congestion control in use.
    pub fn present(&self) -> &'static str {
        self.present
    }

    /// What the estimators see.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Takes the state of the sender at `now`, and the hints of the radio where there are any; returns the
    /// decision that follows.
    pub fn observe(
        &mut self,
        now: Instant,
        sender: &SenderView,
        hints: Option<Hints>,
    ) -> Option<Decision> {
        // Hints of the radio count as they are, whatever the samples suggest.
        let hints = hints.filter(|_| self.auto.hints);
        self.watch.observe(now, sender, hints);
        Sample::of(now, sender)?;
        // What an application does not send says nothing about the congestion control.
        if !sender.awaits_application() {
            self.outcome.observe(now, self.watch.view());
        }
        if self.open {
            let decision = self.establish(now);
            self.open = false;
            if decision.is_some() {
                return decision;
            }
        }
        if let Some(back) = self.judge(now, sender) {
            return Some(back);
        }
        if !self.in_flight || now < self.next {
            return None;
        }
        self.next = now + self.policy.tuning.interval();
        self.decide(now)
    }

    fn ask(
        &mut self,
        present: Option<&'static str>,
        known: Option<&Remembered>,
    ) -> (Option<Advice>, Features) {
        let view = self.watch.view();
        let features = Features::of(view);
        let draw = self.draws.at(self.drawn) as f64 / u64::MAX as f64;
        self.drawn += 1;
        let advice = self.policy.advise(&Situation {
            view,
            features: &features,
            requirement: self.auto.requirement,
            present,
            established: !self.open,
            prefer: &self.auto.prefer,
            known,
            draw,
        });
        (advice, features)
    }

    /// The choice for a new connection, made at its first RTT sample: nothing has been sent, so that a change
    /// costs nothing and neither agreement nor rest is asked for. What had been chosen by a memory or hints
    /// is not told again if it stays.
    fn establish(&mut self, now: Instant) -> Option<Decision> {
        let (advice, features) = self.ask(Some(self.present), None);
        let advice = advice.filter(|advice| advice.to != self.present || !self.answered)?;
        let from = core::mem::replace(&mut self.present, advice.to);
        Some(Decision {
            at: now,
            from,
            to: advice.to,
            cause: Cause::Establishment,
            reason: advice.reason,
            features,
        })
    }

    fn decide(&mut self, now: Instant) -> Option<Decision> {
        self.barred.retain(|&(_, until)| until > now);
        let (advice, features) = self.ask(Some(self.present), None);
        let barred = |name| self.barred.iter().any(|each| each.0 == name);
        let other = advice.filter(|advice| advice.to != self.present && !barred(advice.to));
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
        // A change upon a change would leave the first one unjudged, and the second one with what came before
        // from both.
        if !agreed || now < self.rest_until || self.trial.is_some() {
            return None;
        }
        Some(self.change(now, advice, features))
    }

    fn change(&mut self, now: Instant, advice: Advice, features: Features) -> Decision {
        let tuning = self.policy.tuning;
        let from = core::mem::replace(&mut self.present, advice.to);
        self.trial = Some(Trial {
            from,
            since: now + tuning.judge() / 2,
            until: now + tuning.judge() + tuning.judge() / 2,
            before: self.outcome.lately(),
            after: Measure::default(),
        });
        self.rest_until = now + tuning.dwell();
        self.wanted = ("", 0);
        Decision {
            at: now,
            from,
            to: advice.to,
            cause: Cause::Change,
            reason: advice.reason,
            features,
        }
    }

    /// Watches the last change, and looks back at it once its time is over: the first part is left to settle.
    fn judge(&mut self, now: Instant, sender: &SenderView) -> Option<Decision> {
        let trial = self.trial.as_mut().filter(|trial| now >= trial.since)?;
        if !sender.awaits_application() {
            trial.after.observe(self.watch.view());
        }
        if now < trial.until {
            return None;
        }
        let trial = self.trial.take()?;
        let tuning = self.policy.tuning;
        let told = |measure: &Measure| measure.time() * 4 >= tuning.judge();
        if !told(&trial.before) || !told(&trial.after) {
            return None;
        }
        let lost = loss(self.auto.requirement, &trial.before, &trial.after);
        if lost <= tuning.tolerance {
            return None;
        }
        let from = core::mem::replace(&mut self.present, trial.from);
        self.barred.push((from, now + tuning.bar()));
        self.rest_until = now + tuning.dwell();
        self.wanted = ("", 0);
        Some(Decision {
            at: now,
            from,
            to: trial.from,
            cause: Cause::Return,
            reason: format!("{from} has lost {:.0} % of the measure", lost * 100.0),
            features: Features::of(self.watch.view()),
        })
    }
}

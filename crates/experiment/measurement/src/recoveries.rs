//! Recoveries: the rows of a connection's loss recoveries, with the drops that led to them.

use cca::CaState;
use net::DropReason;
use results::{Meter, RecoveryRow};
use units::Instant;

/// State of a sender with regard to its loss recovery.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderState {
    pub(crate) state: CaState,
    /// Time of the first exit from slow start.
    pub(crate) slow_start_exit: Option<Instant>,
    /// Number of reductions of the window that were undone so far.
    pub(crate) undone: Option<u64>,
}

/// Number of drops for one reason, and the time of the first.
#[derive(Clone, Copy, Debug, Default)]
struct DropCount {
    count: u64,
    first: Option<Instant>,
}

impl DropCount {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.first = self.first.or(other.first);
    }

    fn first_s(&self) -> f64 {
        self.first.map_or(f64::NAN, Instant::as_secs_f64)
    }
}

/// Drops of data segments by their reason.
#[derive(Clone, Copy, Debug, Default)]
struct Drops {
    /// Time of the first drop.
    first: Option<Instant>,
    /// Highest sequence number of a dropped segment.
    highest: u64,
    overflow: DropCount,
    aqm: DropCount,
    policer: DropCount,
    random: DropCount,
    radio: DropCount,
}

impl Drops {
    fn count(&mut self, at: Instant, seq: u64, reason: DropReason) {
        let count = match reason {
            DropReason::Overflow => &mut self.overflow,
            DropReason::Aqm => &mut self.aqm,
            DropReason::Policer => &mut self.policer,
            DropReason::Loss => &mut self.random,
            DropReason::Radio => &mut self.radio,
            DropReason::Mtu | DropReason::Reset => return,
        };
        count.add(DropCount {
            count: 1,
            first: Some(at),
        });
        self.first.get_or_insert(at);
        self.highest = self.highest.max(seq);
    }

    /// Returns whether the highest dropped segment is not acknowledged.
    fn are_open(&self, acknowledged: u64) -> bool {
        self.first.is_some() && self.highest >= acknowledged
    }

    fn add(&mut self, other: &Self) {
        self.first = self.first.or(other.first);
        self.highest = self.highest.max(other.highest);
        self.overflow.add(other.overflow);
        self.aqm.add(other.aqm);
        self.policer.add(other.policer);
        self.random.add(other.random);
        self.radio.add(other.radio);
    }
}

/// Tracker of a connection's recoveries.
#[derive(Clone, Debug, Default)]
pub(crate) struct RecoveryTracker {
    /// Drops that the current recovery repairs, or the next one.
    drops: Drops,
    /// Drops of segments that were first sent during the current recovery, and that it need not repair.
    later_drops: Drops,
    /// End of the data that had been sent when the current recovery began.
    recovery_point: u64,
    /// Number of data segments that earlier recoveries count.
    segments: u64,
    /// Number of data segments that were first sent during the current recovery.
    later_segments: u64,
    /// Number of reductions undone before the current recovery.
    undone: Option<u64>,
    current: Option<RecoveryRow>,
    /// Whether the current recovery consists of loss probes so far, which do not change the sender's state.
    is_probing: bool,
}

impl RecoveryTracker {
    /// Processes the data segment at `seq`, which was sent.
    #[inline]
    pub(crate) fn on_sent(&mut self, seq: u64) {
        self.later_segments += u64::from(self.current.is_some() && seq >= self.recovery_point);
    }

    /// Processes the data segment at `seq`, which was dropped.
    pub(crate) fn on_drop(&mut self, at: Instant, seq: u64, reason: DropReason, meter: &Meter) {
        self.clear_repaired(meter);
        let is_later = self.current.is_some() && seq >= self.recovery_point;
        let drops = if is_later {
            &mut self.later_drops
        } else {
            &mut self.drops
        };
        drops.count(at, seq, reason);
    }

    /// Forgets drops that need no recovery, such as that of a spurious retransmission.
    fn clear_repaired(&mut self, meter: &Meter) {
        if self.current.is_none() && !self.drops.are_open(meter.acknowledged()) {
            self.drops = Drops::default();
        }
    }

    /// Processes a change of the sender's state; returns the row of the recovery that it ends.
    pub(crate) fn on_state(
        &mut self,
        now: Instant,
        flow: u32,
        sender: SenderState,
        meter: &Meter,
    ) -> Option<RecoveryRow> {
        if matches!(sender.state, CaState::Recovery | CaState::Loss) {
            if core::mem::take(&mut self.is_probing) {
                self.recovery_point = meter.sent_end();
                self.later_segments = 0;
            }
            self.begin(now, flow, sender, meter);
            return None;
        }
        if self.is_probing {
            return self.end_probing(now, sender.undone, meter);
        }
        self.end(now.as_secs_f64(), sender.undone, meter)
    }

    /// Returns whether the current recovery consists of loss probes so far.
    #[inline]
    pub(crate) fn is_probing(&self) -> bool {
        self.is_probing
    }

    /// Processes a loss probe.
    pub(crate) fn on_probe(&mut self, now: Instant, flow: u32, sender: SenderState, meter: &Meter) {
        let acknowledged = meter.acknowledged();
        if self.current.is_none() && self.drops.are_open(acknowledged) {
            self.begin(now, flow, sender, meter);
            self.is_probing = true;
        }
        if let Some(row) = &mut self.current {
            row.loss_probes += 1;
        }
    }

    /// Ends a recovery by loss probes if all lost segments are acknowledged; returns its row.
    pub(crate) fn end_probing(
        &mut self,
        now: Instant,
        undone: Option<u64>,
        meter: &Meter,
    ) -> Option<RecoveryRow> {
        if self.drops.are_open(meter.acknowledged()) {
            return None;
        }
        self.end(now.as_secs_f64(), undone, meter)
    }

    fn begin(&mut self, now: Instant, flow: u32, sender: SenderState, meter: &Meter) {
        self.clear_repaired(meter);
        if self.current.is_some() {
            return;
        }
        self.recovery_point = meter.sent_end();
        let start = self.drops.first.unwrap_or(now);
        let exit = sender.slow_start_exit;
        self.undone = sender.undone;
        self.current = Some(RecoveryRow {
            flow,
            t_s: now.as_secs_f64(),
            end_s: f64::NAN,
            dropped_s: f64::NAN,
            slow_start: u32::from(exit.is_none_or(|exit| start <= exit)),
            segments: 0,
            overflow: 0,
            aqm: 0,
            policer: 0,
            random: 0,
            radio: 0,
            overflow_s: f64::NAN,
            aqm_s: f64::NAN,
            policer_s: f64::NAN,
            random_s: f64::NAN,
            radio_s: f64::NAN,
            loss_probes: 0,
            timeouts: 0,
            timeout_s: f64::NAN,
            silence_s: f64::NAN,
            unreported_bytes: 0,
            undone: f64::NAN,
        });
    }

    /// Processes a time-out.
    pub(crate) fn on_timeout(&mut self, now: Instant, meter: &Meter) {
        let Some(row) = &mut self.current else {
            return;
        };
        row.timeouts += 1;
        if row.timeouts == 1 {
            row.timeout_s = now.as_secs_f64();
            let last_ack = meter.last_ack.or(meter.first_data).unwrap_or(now);
            row.silence_s = now.saturating_since(last_ack).as_secs_f64();
            row.unreported_bytes = meter.unreported_bytes();
        }
    }

    /// Ends the current recovery, if there is one, at `end_s`; NaN at the end of the run.
    pub(crate) fn end(
        &mut self,
        end_s: f64,
        undone: Option<u64>,
        meter: &Meter,
    ) -> Option<RecoveryRow> {
        let row = self.current.take()?;
        self.is_probing = false;
        let later = core::mem::take(&mut self.later_drops);
        let later_segments = core::mem::take(&mut self.later_segments);
        let mut drops = core::mem::take(&mut self.drops);
        let mut segments = meter.segments;
        // A recovery also repairs segments that were sent in it, if they are acknowledged at its end.
        if end_s.is_nan() || later.first.is_some() && meter.acknowledged() > later.highest {
            drops.add(&later);
        } else {
            self.drops = later;
            segments -= later_segments;
        }
        let previous = core::mem::replace(&mut self.segments, segments);
        let undone = undone.zip(self.undone);
        Some(RecoveryRow {
            end_s,
            dropped_s: drops.first.map_or(f64::NAN, Instant::as_secs_f64),
            segments: segments - previous,
            overflow: drops.overflow.count,
            aqm: drops.aqm.count,
            policer: drops.policer.count,
            random: drops.random.count,
            radio: drops.radio.count,
            overflow_s: drops.overflow.first_s(),
            aqm_s: drops.aqm.first_s(),
            policer_s: drops.policer.first_s(),
            random_s: drops.random.first_s(),
            radio_s: drops.radio.first_s(),
            undone: undone.map_or(f64::NAN, |(now, previous)| {
                now.saturating_sub(previous) as f64
            }),
            ..row
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Duration;

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn state(state: CaState, undone: u64) -> SenderState {
        SenderState {
            state,
            slow_start_exit: Some(at(500)),
            undone: Some(undone),
        }
    }

    /// Returns a meter of a sender that has sent `segments` of 100 bytes.
    fn meter(segments: u64) -> Meter {
        let mut meter = Meter::default();
        for n in 0..segments {
            meter.on_data_sent(at(n), n * 100, 100);
        }
        meter
    }

    /// Sends a segment of 100 bytes.
    fn send(tracker: &mut RecoveryTracker, meter: &mut Meter, ms: u64, seq: u64) {
        meter.on_data_sent(at(ms), seq, 100);
        tracker.on_sent(seq);
    }

    fn acknowledge(meter: &mut Meter, ms: u64, number: u64) {
        let ack = results::Ack {
            number,
            delivered: Some(number),
            window: 1,
            is_pure_ack: true,
        };
        meter.on_ack(at(ms), ack, None);
    }

    #[test]
    fn a_recovery_has_the_drops_that_led_to_it_and_the_segments_since_the_last_one() {
        let mut meter = meter(20);
        let mut tracker = RecoveryTracker::default();
        tracker.on_drop(at(400), 500, DropReason::Overflow, &meter);
        tracker.on_drop(at(410), 700, DropReason::Overflow, &meter);
        let none = tracker.on_state(at(600), 3, state(CaState::Recovery, 1), &meter);
        assert!(none.is_none());
        acknowledge(&mut meter, 700, 2_000);
        let row = tracker.on_state(at(700), 3, state(CaState::Open, 1), &meter);
        let row = row.expect("it has ended");
        assert_eq!((row.flow, row.overflow, row.segments), (3, 2, 20));
        let times = [(row.dropped_s, 0.4), (row.t_s, 0.6), (row.end_s, 0.7)];
        assert!(times.iter().all(|(t, wanted)| (t - wanted).abs() < 1e-9));
        assert_eq!((row.slow_start, row.undone), (1, 0.0));
    }

    /// The second segment lost was sent after the first recovery had begun, and outlives it.
    #[test]
    fn a_drop_of_what_a_recovery_does_not_repair_belongs_to_the_next_one() {
        let mut meter = meter(10);
        let mut tracker = RecoveryTracker::default();
        tracker.on_drop(at(550), 300, DropReason::Policer, &meter);
        tracker.on_state(at(600), 0, state(CaState::Recovery, 0), &meter);
        meter.on_data_sent(at(620), 1_000, 100);
        tracker.on_drop(at(620), 1_000, DropReason::Policer, &meter);
        acknowledge(&mut meter, 700, 1_000);
        let first = tracker.on_state(at(700), 0, state(CaState::Open, 0), &meter);
        tracker.on_state(at(710), 0, state(CaState::Loss, 0), &meter);
        tracker.on_timeout(at(710), &meter);
        acknowledge(&mut meter, 800, 1_100);
        let second = tracker.on_state(at(800), 0, state(CaState::Open, 1), &meter);
        let (first, second) = (first.expect("ended"), second.expect("ended"));
        assert_eq!((first.policer, second.policer), (1, 1));
        assert_eq!((first.slow_start, second.slow_start), (0, 0));
        assert_eq!((second.timeouts, second.undone), (1, 1.0));
        assert!((second.silence_s - 0.01).abs() < 1e-9);
    }

    /// Three segments are sent and dropped during a recovery, and two of them are retransmitted before it ends. They count
    /// for the recovery that repairs them, so that no recovery has fewer segments than drops.
    #[test]
    fn segments_and_their_drops_belong_to_the_same_recovery() {
        let mut meter = meter(10);
        let mut tracker = RecoveryTracker::default();
        tracker.on_drop(at(550), 300, DropReason::Overflow, &meter);
        tracker.on_state(at(600), 0, state(CaState::Recovery, 0), &meter);
        send(&mut tracker, &mut meter, 610, 300);
        for seq in [1_000, 1_100, 1_200] {
            send(&mut tracker, &mut meter, 620, seq);
            tracker.on_drop(at(630), seq, DropReason::Overflow, &meter);
        }
        send(&mut tracker, &mut meter, 680, 1_000);
        send(&mut tracker, &mut meter, 680, 1_100);
        acknowledge(&mut meter, 700, 1_000);
        let first = tracker.on_state(at(700), 0, state(CaState::Open, 0), &meter);
        tracker.on_state(at(710), 0, state(CaState::Recovery, 0), &meter);
        send(&mut tracker, &mut meter, 720, 1_200);
        acknowledge(&mut meter, 800, 1_300);
        let second = tracker.on_state(at(800), 0, state(CaState::Open, 0), &meter);
        let (first, second) = (first.expect("ended"), second.expect("ended"));
        assert_eq!((first.segments, first.overflow), (11, 1));
        assert_eq!((second.segments, second.overflow), (6, 3));
    }

    #[test]
    fn each_reason_of_a_recovery_has_the_time_of_its_first_drop() {
        let mut meter = meter(10);
        let mut tracker = RecoveryTracker::default();
        tracker.on_drop(at(550), 300, DropReason::Overflow, &meter);
        tracker.on_state(at(600), 0, state(CaState::Recovery, 0), &meter);
        for ms in [650, 660] {
            tracker.on_drop(at(ms), 300, DropReason::Loss, &meter);
        }
        acknowledge(&mut meter, 700, 1_000);
        let row = tracker.on_state(at(700), 0, state(CaState::Open, 0), &meter);
        let row = row.expect("it has ended");
        assert_eq!((row.overflow, row.random), (1, 2));
        let times = [
            (row.dropped_s, 0.55),
            (row.overflow_s, 0.55),
            (row.random_s, 0.65),
        ];
        assert!(times.iter().all(|(t, wanted)| (t - wanted).abs() < 1e-9));
        assert!(row.radio_s.is_nan());
    }

    /// The probe at 540 ms repairs the drop of 400 ms, and the window is not reduced before 560 ms.
    #[test]
    fn a_loss_that_a_probe_repairs_has_a_row_of_its_own() {
        let mut meter = meter(10);
        let mut tracker = RecoveryTracker::default();
        let open = state(CaState::Open, 0);
        tracker.on_drop(at(400), 900, DropReason::Loss, &meter);
        acknowledge(&mut meter, 450, 900);
        tracker.on_probe(at(540), 0, open, &meter);
        assert!(tracker.is_probing());
        assert!(tracker.end_probing(at(545), Some(0), &meter).is_none());
        acknowledge(&mut meter, 560, 1_000);
        let row = tracker.end_probing(at(560), Some(0), &meter);
        let row = row.expect("it has ended");
        assert!(!tracker.is_probing());
        assert_eq!((row.random, row.loss_probes, row.timeouts), (1, 1, 0));
        let times = [(row.dropped_s, 0.4), (row.t_s, 0.54), (row.end_s, 0.56)];
        assert!(times.iter().all(|(t, wanted)| (t - wanted).abs() < 1e-9));
        tracker.on_probe(at(600), 0, open, &meter);
        assert!(!tracker.is_probing(), "nothing was lost");
    }

    #[test]
    fn a_time_out_after_a_probe_goes_on_with_its_recovery() {
        let mut meter = meter(10);
        let mut tracker = RecoveryTracker::default();
        tracker.on_drop(at(400), 900, DropReason::Loss, &meter);
        tracker.on_probe(at(540), 0, state(CaState::Open, 0), &meter);
        tracker.on_drop(at(540), 900, DropReason::Loss, &meter);
        let lost = state(CaState::Loss, 0);
        assert!(tracker.on_state(at(800), 0, lost, &meter).is_none());
        tracker.on_timeout(at(800), &meter);
        acknowledge(&mut meter, 900, 1_000);
        let row = tracker.on_state(at(900), 0, state(CaState::Open, 0), &meter);
        let row = row.expect("it has ended");
        assert_eq!((row.random, row.loss_probes, row.timeouts), (2, 1, 1));
        assert!((row.t_s - 0.54).abs() < 1e-9);
    }

    /// A recovery does not repair the segments that are acknowledged before it begins.
    #[test]
    fn a_drop_that_was_repaired_before_belongs_to_no_later_recovery() {
        let mut meter = meter(10);
        let mut tracker = RecoveryTracker::default();
        tracker.on_drop(at(100), 300, DropReason::Loss, &meter);
        acknowledge(&mut meter, 200, 1_000);
        meter.on_data_sent(at(500), 1_000, 100);
        tracker.on_state(at(600), 0, state(CaState::Recovery, 0), &meter);
        tracker.on_drop(at(610), 1_000, DropReason::Overflow, &meter);
        acknowledge(&mut meter, 700, 1_100);
        let row = tracker.on_state(at(700), 0, state(CaState::Open, 0), &meter);
        let row = row.expect("it has ended");
        assert_eq!((row.random, row.overflow), (0, 1));
        assert!((row.dropped_s - 0.61).abs() < 1e-9);
    }

    #[test]
    fn a_recovery_at_the_end_of_the_run_has_no_end() {
        let meter = meter(10);
        let mut tracker = RecoveryTracker::default();
        tracker.on_state(at(600), 0, state(CaState::Recovery, 0), &meter);
        let row = tracker.end(f64::NAN, None, &meter).expect("it lasts");
        assert!(row.end_s.is_nan() && row.undone.is_nan() && row.dropped_s.is_nan());
        assert!(tracker.end(1.0, None, &meter).is_none());
    }
}

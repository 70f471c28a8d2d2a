//! Connection: the rows of one connection in the tables of slots and flows.

use cca::SenderInfo;
use units::{Bytes, Duration, Instant, Rate};

use crate::delays::DelaySum;
use crate::limits::OutageTimes;
use crate::meter::SlotCounts;
use crate::metrics::{SlotInput, pm_parts};
use crate::{FlowRow, Meter, SlotRow, Slots, Tables, Weights};

/// Identity of a connection.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Index of the connection.
    pub flow: u32,
    /// Name of the flow in the scenario.
    pub name: String,
    /// Node that receives.
    pub ue: String,
    /// Congestion control, by the kernel's name.
    pub cca: String,
    /// Payload of a full segment, bytes.
    pub mss: u32,
    /// Time of the request.
    pub requested: Instant,
}

/// The bottleneck of a connection at the end of a slot.
#[derive(Clone, Copy, Debug)]
pub struct BottleneckSlot {
    /// Start of the slot.
    pub from: Instant,
    /// Payload that the bottleneck could have carried for the connection, bytes.
    pub capacity: u64,
    /// Backlog, bytes.
    pub queue_bytes: u64,
    /// Backlog, packets.
    pub queue_packets: u64,
    /// Whether it could have carried nothing for any connection.
    pub is_outage: bool,
}

/// Counter of a sender at the end of the last slot; `None` where the engine does not report it.
#[derive(Clone, Debug)]
struct SlotCounter(Option<u64>);

impl SlotCounter {
    /// Ends a slot: returns the increase of the counter in it; NaN if it is not known at both ends.
    fn end_slot(&mut self, now: Option<u64>) -> f64 {
        let previous = core::mem::replace(&mut self.0, now);
        now.zip(previous).map_or(f64::NAN, |(now, previous)| {
            now.saturating_sub(previous) as f64
        })
    }
}

/// A slot without its PM, which needs the lowest RTT of the whole connection.
#[derive(Clone, Debug)]
struct PendingSlot {
    counts: SlotCounts,
    capacity: u64,
    oldest_age: Option<Duration>,
    row: SlotRow,
}

/// Mean of the values other than NaN.
#[derive(Clone, Default)]
struct Mean {
    sum: f64,
    count: u64,
}

impl Mean {
    fn push(&mut self, value: f64) {
        if !value.is_nan() {
            self.sum += value;
            self.count += 1;
        }
    }

    /// Returns the mean; NaN without any value.
    fn value(&self) -> f64 {
        if self.count == 0 {
            return f64::NAN;
        }
        self.sum / self.count as f64
    }
}

/// RTOs of the receiver's side and of the handshake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OtherTimeouts {
    /// RTOs for the receiving end's own data.
    pub far: u64,
    /// RTOs for SYN and SYN-ACK, at both ends.
    pub handshake: u64,
}

/// Abort of a connection by its receiver, and the payload after it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct AfterReset {
    /// Whether the receiver has aborted the connection.
    pub is_aborted: bool,
    /// RST segments of the receiver.
    pub resets: u64,
    /// Payload that has reached the receiver since, bytes.
    pub discarded: u64,
    /// Payload that a middlebox has dropped since, bytes.
    pub suppressed: u64,
}

/// Measures of one connection, which become its rows.
#[derive(Clone, Debug)]
pub struct Connection {
    identity: Identity,
    slot: Duration,
    /// Measures at the taps.
    pub meter: Meter,
    completed_at: Option<Instant>,
    /// State of the sender at the completion.
    final_info: Option<SenderInfo>,
    outages: OutageTimes,
    timeouts: SlotCounter,
    loss_probes: SlotCounter,
    pending_slots: Vec<PendingSlot>,
    /// Time-outs other than the sender's; `None` if the engine does not report them.
    pub other_timeouts: Option<OtherTimeouts>,
    /// Abort by the receiver, and the payload after it.
    pub after_reset: AfterReset,
}

impl Connection {
    /// Creates the record of a new connection; `slot` is the length of slots.
    pub fn new(identity: Identity, slot: Duration) -> Self {
        Self {
            identity,
            slot,
            meter: Meter::default(),
            completed_at: None,
            final_info: None,
            outages: OutageTimes::default(),
            timeouts: SlotCounter(Some(0)),
            loss_probes: SlotCounter(Some(0)),
            pending_slots: Vec::new(),
            other_timeouts: None,
            after_reset: AfterReset::default(),
        }
    }

    /// Returns the payload of a full segment, bytes.
    pub fn mss(&self) -> u32 {
        self.identity.mss
    }

    /// Records the last byte of a finite transfer, with the state of the sender if it is known.
    pub fn complete(&mut self, now: Instant, info: Option<SenderInfo>) {
        self.completed_at = Some(now);
        self.final_info = info;
    }

    /// Returns the time at which the last byte of a finite transfer was received.
    pub fn completed_at(&self) -> Option<Instant> {
        self.completed_at
    }

    /// Returns the times of the request and of the completion, or of `end` without one.
    pub fn lifetime(&self, end: Instant) -> (Instant, Instant) {
        (self.identity.requested, self.completed_at.unwrap_or(end))
    }

    /// Ends a slot, which gets a row once data has been sent. `info` is the state of the sender, if it is known.
    pub fn end_slot(
        &mut self,
        now: Instant,
        bottleneck: &BottleneckSlot,
        info: Option<SenderInfo>,
    ) {
        let info = info.unwrap_or_default();
        self.outages.end_slot(bottleneck.is_outage, &info);
        let timeouts = self.timeouts.end_slot(info.timeouts);
        let loss_probes = self.loss_probes.end_slot(info.loss_probes);
        if self.meter.first_data.is_none() {
            return;
        }
        let counts = self.meter.end_slot();
        let mbps = |bytes| Rate::of(Bytes::new(bytes), self.slot).as_mbps();
        let row = SlotRow {
            flow: self.identity.flow,
            t_s: bottleneck.from.as_secs_f64(),
            delivered_bytes: counts.delivered,
            goodput_mbps: mbps(counts.delivered),
            rate_mbps: mbps(counts.arrived),
            capacity_mbps: mbps(bottleneck.capacity),
            rtt_mean_ms: counts.rtt.mean_ms(),
            owd_mean_ms: counts.one_way.mean_ms(),
            retransmissions: counts.retransmissions,
            cwnd: info.cwnd,
            inflight: info.inflight,
            queue_bytes: bottleneck.queue_bytes,
            queue_packets: bottleneck.queue_packets,
            a: f64::NAN,
            b: f64::NAN,
            c: f64::NAN,
            pm_balanced: f64::NAN,
            pm_delay: f64::NAN,
            segments: counts.segments,
            duplicate_acks: counts.duplicate_acks,
            timeouts,
            loss_probes,
            rtt_increment_mean_ms: counts.increments.mean_ms(),
            rtt_increment_max_ms: counts.increments.largest_ms(),
        };
        self.pending_slots.push(PendingSlot {
            counts,
            capacity: bottleneck.capacity,
            oldest_age: self.meter.oldest_age(now),
            row,
        });
    }

    /// Returns the rows of the slots so far from number `first` on. Their PM has the lowest RTT so far.
    pub fn slots_from(&self, first: usize) -> Slots {
        let mut slots = Slots::default();
        for number in first..self.pending_slots.len() {
            slots.push(self.slot_row(&self.pending_slots[..=number]));
        }
        slots
    }

    /// Ends the run at `end`: adds the rows of the connection to `tables`. `info` is the state of the sender, if it is
    /// known.
    pub fn finish(mut self, end: Instant, info: Option<SenderInfo>, tables: &mut Tables) {
        let (mut balanced, mut delay) = (Mean::default(), Mean::default());
        let slots = core::mem::take(&mut self.pending_slots);
        for number in 0..slots.len() {
            let row = self.slot_row(&slots[..=number]);
            balanced.push(row.pm_balanced);
            delay.push(row.pm_delay);
            tables.slots.push(row);
        }
        let pm = [balanced.value(), delay.value()];
        if self.meter.first_data.is_some() {
            let last = self.final_info.or(info).unwrap_or_default();
            let (flow, duration) = (self.identity.flow, self.duration(end));
            tables.limits.push(self.outages.row(flow, duration, &last));
        }
        tables
            .flows
            .push(self.flow_row(end, &info.unwrap_or_default(), pm));
    }

    /// Returns the time from the first data byte to the end of the flow or of the run, which is `end`.
    fn duration(&self, end: Instant) -> Duration {
        let last = self.completed_at.unwrap_or(end);
        let first = self.meter.first_data;
        first.map_or(Duration::ZERO, |first| last.saturating_since(first))
    }

    /// Returns the row of the last one of `slots`, with PM and its parts.
    ///
    /// They are computed over the slots up to it that last the lowest RTT. Within an RTT data come in bursts, which use
    /// only a part of the capacity of each slot.
    fn slot_row(&self, slots: &[PendingSlot]) -> SlotRow {
        let lowest = self.meter.rtt.lowest();
        let rtt_ns = lowest.unwrap_or_default().as_nanos();
        let count = rtt_ns.div_ceil(self.slot.as_nanos()).max(1) as usize;
        let window = &slots[slots.len().saturating_sub(count)..];
        let total = |of: fn(&PendingSlot) -> u64| window.iter().map(of).sum::<u64>();
        let rtts = window.iter().map(|slot| slot.counts.rtt);
        let rtt = rtts.fold(DelaySum::default(), DelaySum::merge);
        let PendingSlot {
            oldest_age, row, ..
        } = &slots[slots.len() - 1];
        let parts = pm_parts(&SlotInput {
            slot: self.slot * window.len() as u64,
            delivered: total(|slot| slot.counts.delivered),
            capacity: total(|slot| slot.capacity),
            lowest_rtt: lowest,
            mean_rtt: (rtt.count > 0).then(|| rtt.sum / rtt.count),
            oldest_age: *oldest_age,
            retransmitted: total(|slot| slot.counts.retransmissions) * u64::from(self.identity.mss),
        });
        let [a, b, c] = parts;
        SlotRow {
            a,
            b,
            c,
            pm_balanced: Weights::BALANCED.pm(parts),
            pm_delay: Weights::DELAY.pm(parts),
            ..row.clone()
        }
    }

    /// Returns the row of the connection; `pm` has the means of PM, balanced and delay.
    fn flow_row(mut self, end: Instant, info: &SenderInfo, pm: [f64; 2]) -> FlowRow {
        let duration = self.duration(end);
        let Identity {
            flow,
            name,
            ue,
            cca,
            requested,
            ..
        } = self.identity;
        let meter = &mut self.meter;
        let first = meter.first_data;
        let (rtt_mean_ms, rtt_min_ms) = (meter.rtt.mean_ms(), meter.rtt.lowest_ms());
        let count = |count: Option<u64>| count.map_or(f64::NAN, |count| count as f64);
        let seconds = |time: Option<Duration>| time.map_or(f64::NAN, Duration::as_secs_f64);
        let exit = info.slow_start_exit.zip(first);
        FlowRow {
            flow,
            name,
            ue,
            cca,
            start_s: requested.as_secs_f64(),
            first_data_s: first.map_or(f64::NAN, Instant::as_secs_f64),
            duration_s: duration.as_secs_f64(),
            completion_s: seconds(self.completed_at.map(|at| at.saturating_since(requested))),
            bytes: meter.delivered,
            goodput_mbps: Rate::of(Bytes::new(meter.delivered), duration).as_mbps(),
            rtt_mean_ms,
            rtt_p95_ms: meter.rtt.percentile_ms(95),
            rtt_min_ms,
            owd_mean_ms: meter.one_way.mean_ms(),
            owd_p95_ms: meter.one_way.percentile_ms(95),
            owd_min_ms: meter.one_way.lowest_ms(),
            induced_delay_ms: rtt_mean_ms - rtt_min_ms,
            srtt_mean_ms: meter.srtt.mean_ms(),
            segments: meter.segments,
            retransmissions: meter.retransmissions,
            timeouts: count(info.timeouts),
            loss_probes: count(info.loss_probes),
            recoveries: count(info.fast_recoveries),
            undone: count(info.undone),
            slow_start_exit_s: seconds(exit.map(|((at, _), first)| at.saturating_since(first))),
            slow_start_exit_cwnd: exit.map_or(f64::NAN, |((_, cwnd), _)| f64::from(cwnd)),
            pm_balanced: pm[0],
            pm_delay: pm[1],
            duplicate_acks: meter.duplicate_acks,
            slow_start_bytes: count(meter.sent_before_exit()),
            rtt_increment_mean_ms: meter.increments.mean_ms(),
            rtt_increment_max_ms: meter.increments.largest_ms(),
            application_limited_s: seconds(info.application_limited),
            receive_window_limited_s: seconds(info.receive_window_limited),
            acked_early_bytes: meter.early_acks.bytes,
            acked_early_ends: meter.early_acks.ends,
            send_buffer_limited_s: seconds(info.send_buffer_limited),
            resets: self.after_reset.resets,
            discarded_bytes: self.after_reset.discarded,
            spared_bytes: self.after_reset.suppressed,
            far_timeouts: count(self.other_timeouts.map(|other| other.far)),
            handshake_timeouts: count(self.other_timeouts.map(|other| other.handshake)),
            spurious_retransmissions: count(info.duplicates_reported),
            rtt_max_ms: meter.rtt.percentile_ms(100),
            first_byte_s: seconds(
                meter
                    .first_delivery
                    .map(|at| at.saturating_since(requested)),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Ack;

    const SLOT: Duration = Duration::from_millis(100);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Duration::from_millis(ms)
    }

    fn connection() -> Connection {
        let identity = Identity {
            flow: 0,
            name: "a".to_owned(),
            ue: "phone".to_owned(),
            cca: "reno".to_owned(),
            mss: 100,
            requested: at(0),
        };
        Connection::new(identity, SLOT)
    }

    fn end_slot(connection: &mut Connection, ms: u64, view: Option<SenderInfo>) {
        let bottleneck = BottleneckSlot {
            from: at(ms - 100),
            capacity: 1_000,
            queue_bytes: 0,
            queue_packets: 0,
            is_outage: false,
        };
        connection.end_slot(at(ms), &bottleneck, view);
    }

    fn round_trip(connection: &mut Connection, ms: u64, rtt: u64, seq: u64) {
        connection.meter.on_data_sent(at(ms), seq, 100);
        let ack = Ack {
            number: seq + 100,
            delivered: Some(seq + 100),
            window: 1,
            is_pure_ack: true,
        };
        connection.meter.on_ack(at(ms + rtt), ack, None);
    }

    fn view(timeouts: Option<u64>) -> Option<SenderInfo> {
        Some(SenderInfo {
            timeouts,
            ..SenderInfo::default()
        })
    }

    #[test]
    fn bursts_within_a_round_trip_are_no_unused_capacity() {
        let pm = |rtt: u64, burst_every: u64| {
            let mut connection = connection();
            for slot in 0..40 {
                let begin = slot * 100;
                round_trip(&mut connection, begin, rtt, begin);
                if slot % burst_every == burst_every - 1 {
                    let bytes = 1_000 * burst_every;
                    connection.meter.on_delivery(at(begin), bytes);
                }
                end_slot(&mut connection, begin + 100, None);
            }
            let mut tables = Tables::default();
            connection.finish(at(4_000), None, &mut tables);
            let late = &tables.slots.a[8..];
            late.iter().sum::<f64>() / late.len() as f64
        };
        // Whatever fills the link over an RTT of 400 ms uses it, in one burst or in four.
        assert!((pm(400, 4) - 1.0).abs() < 1e-9);
        assert!((pm(400, 1) - 1.0).abs() < 1e-9);
        // At an RTT of a slot, three of four slots were empty.
        assert!((pm(80, 4) - 0.25).abs() < 1e-9);
    }

    #[test]
    fn pm_of_early_slots_takes_the_lowest_rtt_of_the_whole_connection() {
        let mut connection = connection();
        round_trip(&mut connection, 0, 80, 0);
        end_slot(&mut connection, 100, None);
        round_trip(&mut connection, 100, 40, 100);
        end_slot(&mut connection, 200, None);
        let mut tables = Tables::default();
        connection.finish(at(200), None, &mut tables);
        assert_eq!(tables.slots.b, [0.5, 1.0]);
        assert_eq!(tables.flows.rtt_min_ms, [40.0]);
        let mean = tables.slots.pm_delay.iter().sum::<f64>() / 2.0;
        assert!((tables.flows.pm_delay[0] - mean).abs() < 1e-12);
    }

    #[test]
    fn pm_of_a_slot_so_far_takes_the_lowest_rtt_so_far() {
        let mut connection = connection();
        round_trip(&mut connection, 0, 80, 0);
        end_slot(&mut connection, 100, None);
        assert_eq!(connection.slots_from(0).b, [1.0]);
        round_trip(&mut connection, 100, 40, 100);
        end_slot(&mut connection, 200, None);
        assert_eq!(connection.slots_from(0).b, [0.5, 1.0]);
        let later = connection.slots_from(1);
        assert_eq!((&later.t_s[..], &later.b[..]), (&[0.1][..], &[1.0][..]));
        assert!(connection.slots_from(2).is_empty());
    }

    #[test]
    fn counters_of_the_sender_are_split_by_slot_where_both_ends_are_known() {
        let mut connection = connection();
        // Time-outs of the handshake belong to no slot.
        end_slot(&mut connection, 100, view(Some(1)));
        round_trip(&mut connection, 100, 40, 0);
        for (ms, timeouts) in [(200, Some(1)), (300, Some(3)), (400, None), (500, Some(9))] {
            end_slot(&mut connection, ms, view(timeouts));
        }
        let mut tables = Tables::default();
        connection.finish(at(500), view(Some(9)), &mut tables);
        let timeouts = &tables.slots.timeouts;
        assert_eq!(timeouts[..2], [0.0, 2.0]);
        assert!(timeouts[2].is_nan() && timeouts[3].is_nan());
        assert!(
            tables
                .slots
                .loss_probes
                .iter()
                .all(|probes| probes.is_nan())
        );
        assert_eq!(tables.flows.timeouts, [9.0]);
    }

    #[test]
    fn a_connection_without_data_has_no_slots() {
        let mut connection = connection();
        end_slot(&mut connection, 100, None);
        let mut tables = Tables::default();
        connection.finish(at(100), None, &mut tables);
        assert!(tables.slots.is_empty());
        assert!(tables.flows.pm_balanced[0].is_nan() && tables.flows.rtt_mean_ms[0].is_nan());
    }
}

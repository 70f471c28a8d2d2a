//! Interval: counts of the segments that passed in one direction in 100 ms.

use crate::tables::IntervalRow;

use super::rtt::Sample;

/// Length of an interval, ns.
pub(super) const LENGTH_NS: u64 = 100_000_000;

/// Mean of samples.
#[derive(Default)]
struct RunningMean {
    sum_ns: u64,
    count: u64,
}

impl RunningMean {
    fn add(&mut self, rtt_ns: u64) {
        self.sum_ns = self.sum_ns.saturating_add(rtt_ns);
        self.count += 1;
    }

    fn ms(&self) -> f64 {
        if self.count == 0 {
            f64::NAN
        } else {
            self.sum_ns as f64 / self.count as f64 / 1e6
        }
    }
}

/// Counts of the current interval.
#[derive(Default)]
pub(super) struct Interval {
    /// Index of the interval since the start of the connection.
    index: u64,
    is_used: bool,
    pub(super) bytes: u64,
    pub(super) retransmitted: u64,
    pub(super) acked: u64,
    in_flight_max: u64,
    window_min: Option<u64>,
    rtt: RunningMean,
    rtt_max_ns: Option<u64>,
    rtt_min_ns: Option<u64>,
    near: RunningMean,
    /// Silences of the sender that ended in the interval: those in which the path held data, and those in which the sender
    /// had all ACKs and sent nothing, ns.
    pub(super) held_ns: u64,
    pub(super) paused_ns: u64,
    /// Whether nothing was in flight, or the window was full, at some moment.
    pub(super) is_limited: bool,
}

impl Interval {
    /// Goes to the interval at `since_ns` after the start of the connection; returns the row of the previous one.
    pub(super) fn advance_to(
        &mut self,
        since_ns: u64,
        connection: u32,
        is_uplink: bool,
    ) -> Option<IntervalRow> {
        let index = since_ns / LENGTH_NS;
        if index == self.index {
            return None;
        }
        let row = self.row(connection, is_uplink);
        *self = Self {
            index,
            ..Self::default()
        };
        row
    }

    /// Returns the row of the current interval, if anything passed.
    pub(super) fn row(&self, connection: u32, is_uplink: bool) -> Option<IntervalRow> {
        self.is_used.then(|| IntervalRow {
            connection,
            up: u32::from(is_uplink),
            t_s: (self.index * LENGTH_NS) as f64 / 1e9,
            bytes: self.bytes,
            retransmitted_bytes: self.retransmitted,
            acked_bytes: self.acked,
            in_flight_max: self.in_flight_max,
            window_min: self.window_min.map_or(f64::NAN, |window| window as f64),
            rtt_mean_ms: self.rtt.ms(),
            rtt_max_ms: self.rtt_max_ns.map_or(f64::NAN, |ns| ns as f64 / 1e6),
            rtt_min_ms: self.rtt_min_ns.map_or(f64::NAN, |ns| ns as f64 / 1e6),
            near_rtt_mean_ms: self.near.ms(),
            held_s: self.held_ns as f64 / 1e9,
            paused_s: self.paused_ns as f64 / 1e9,
            is_limited: u32::from(self.is_limited),
        })
    }

    pub(super) fn add_in_flight(&mut self, bytes: u64) {
        self.is_used = true;
        self.in_flight_max = self.in_flight_max.max(bytes);
    }

    pub(super) fn add_window(&mut self, bytes: u64) {
        self.is_used = true;
        self.window_min = Some(self.window_min.map_or(bytes, |min| min.min(bytes)));
    }

    pub(super) fn add_rtt(&mut self, sample: Sample) {
        let rtt_ns = sample.rtt_ns;
        self.is_used = true;
        self.rtt.add(rtt_ns);
        self.rtt_min_ns = Some(self.rtt_min_ns.map_or(rtt_ns, |min| min.min(rtt_ns)));
        self.rtt_max_ns = self.rtt_max_ns.max(Some(rtt_ns));
    }

    pub(super) fn add_near_rtt(&mut self, sample: Sample) {
        self.is_used = true;
        self.near.add(sample.rtt_ns);
    }
}

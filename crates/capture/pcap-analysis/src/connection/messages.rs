//! Messages: data that an application writes at once, up to a segment that is not full.
//!
//! A sender with more data would have filled that segment. Messages at regular times are those of an application that
//! does not wait for the other side.

use std::collections::VecDeque;

/// Maximum number of stored messages: the latest ones.
const MAX_MESSAGES: usize = 512;

/// A message with the times of its first and its last segment.
#[derive(Clone, Copy)]
struct Message {
    first_ns: u64,
    last_ns: u64,
    bytes: u64,
}

/// Messages of one direction.
#[derive(Default)]
pub(super) struct Messages {
    open: Option<Message>,
    latest: VecDeque<Message>,
    pub(super) count: u32,
}

/// Sizes and times of the latest messages.
#[derive(Debug, PartialEq)]
pub(super) struct Summary {
    /// Mean payload.
    pub(super) bytes: f64,
    /// Payload per time without pauses, bytes/s.
    pub(super) rate: f64,
    /// Median time from the start of one to that of the next, ns.
    pub(super) interval_ns: f64,
    /// Range of these times from the 10th to the 90th percentile, over the median.
    pub(super) interval_range: f64,
    /// Median time from the first to the last segment, ns.
    pub(super) span_ns: f64,
}

impl Messages {
    /// Processes a segment with new data.
    pub(super) fn on_new_data(&mut self, at_ns: u64, len: u32, is_full: bool) {
        let message = self.open.get_or_insert(Message {
            first_ns: at_ns,
            last_ns: at_ns,
            bytes: 0,
        });
        message.last_ns = at_ns;
        message.bytes += u64::from(len);
        if is_full {
            return;
        }
        if self.latest.len() == MAX_MESSAGES {
            self.latest.pop_front();
        }
        self.latest.extend(self.open.take());
        self.count += 1;
    }

    /// Returns the bytes per second of the latest messages at a usual interval.
    ///
    /// Messages that wait for losses come as one, which stands for as many intervals as its size allows. Other
    /// intervals that are longer are pauses.
    fn rate(&self, interval_ns: f64) -> f64 {
        let mut sizes: Vec<u64> = self.latest.iter().map(|message| message.bytes).collect();
        sizes.sort_unstable();
        let usual = sizes[sizes.len() / 2].max(1) as f64;
        let pairs = self.latest.iter().zip(self.latest.iter().skip(1));
        let (sum, intervals) = pairs.fold((0.0, 0.0), |(sum, intervals), (one, next)| {
            let most = (one.bytes as f64 / usual).round().max(1.0);
            let passed = next.first_ns.saturating_sub(one.first_ns) as f64 / interval_ns.max(1.0);
            (
                sum + one.bytes as f64,
                intervals + passed.round().clamp(1.0, most),
            )
        });
        1e9 * sum / (intervals * interval_ns.max(1.0))
    }

    /// Returns the summary of three messages or more.
    pub(super) fn summary(&self) -> Option<Summary> {
        let pairs = self.latest.iter().zip(self.latest.iter().skip(1));
        let mut intervals: Vec<u64> = pairs
            .map(|(one, next)| next.first_ns.saturating_sub(one.first_ns))
            .collect();
        let mut spans: Vec<u64> = self
            .latest
            .iter()
            .map(|message| message.last_ns - message.first_ns)
            .collect();
        intervals.sort_unstable();
        spans.sort_unstable();
        let at =
            |sorted: &[u64], part: f64| sorted[(part * (sorted.len() - 1) as f64) as usize] as f64;
        if intervals.len() < 2 {
            return None;
        }
        let interval_ns = at(&intervals, 0.5);
        let sum: u64 = self.latest.iter().map(|message| message.bytes).sum();
        Some(Summary {
            bytes: sum as f64 / self.latest.len() as f64,
            rate: self.rate(interval_ns),
            interval_ns,
            interval_range: (at(&intervals, 0.9) - at(&intervals, 0.1)) / interval_ns.max(1.0),
            span_ns: at(&spans, 0.5),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn a_segment_that_is_not_full_ends_a_message() {
        let mut messages = Messages::default();
        for number in 0..1_000 {
            let at_ns = number * 50 * MS;
            messages.on_new_data(at_ns, 1_448, true);
            messages.on_new_data(at_ns + MS, 1_448, true);
            messages.on_new_data(at_ns + 2 * MS, 100, false);
        }
        assert_eq!(messages.count, 1_000);
        let expected = Summary {
            bytes: 2_996.0,
            rate: 2_996.0 / 0.05,
            interval_ns: 50e6,
            interval_range: 0.0,
            span_ns: 2e6,
        };
        assert_eq!(messages.summary(), Some(expected));
    }

    #[test]
    fn the_rate_of_messages_has_those_that_came_as_one_and_no_pauses() {
        let mut messages = Messages::default();
        for number in 0..300_u64 {
            // Each tenth one waits for the next one, and a pause follows the first half.
            let at_ns = (number * 50 + 20_000 * u64::from(number >= 150)) * MS;
            messages.on_new_data(at_ns, 1_000, number % 10 == 9);
        }
        let rate = messages.summary().map_or(0.0, |summary| summary.rate);
        assert!((rate / 20_000.0 - 1.0).abs() < 0.02, "{rate}");
    }

    #[test]
    fn a_bulk_transfer_has_no_messages() {
        let mut messages = Messages::default();
        for number in 0..1_000 {
            messages.on_new_data(number * MS, 1_448, true);
        }
        assert_eq!((messages.count, messages.summary()), (0, None));
    }
}

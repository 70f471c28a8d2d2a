//! Trains: data sent in much less time than they take to arrive, whose gaps show the rate of the narrowest link.
//!
//! See Dovrolis, Ramanathan and Moore, "Packet-dispersion techniques and a capacity-estimation methodology" (2004). ACKs
//! and data that arrive at once, as behind an uplink with grants, count as one.

/// Maximum time in which a train was sent, as a part of the time in which it arrives.
const SENT_PARTS: u64 = 2;
/// Minimum gaps of a train, and maximum number of its stored arrivals.
const MIN_GAPS: usize = 3;
const MAX_ARRIVALS: usize = 256;
/// Part of the longest gap within which arrivals are at once.
const AT_ONCE_PARTS: u64 = 4;
/// Minimum gap that ends a train: this long, and so many times the mean gap of the train. Delayed ACKs come later.
const MIN_PAUSE_NS: u64 = 20_000_000;
const PAUSE_RATIO: u64 = 4;
/// Maximum number of stored trains: the latest ones.
const MAX_TRAINS: usize = 1 << 10;

/// Segment that arrived at the capture, or was acknowledged there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) sent_ns: u64,
    pub(super) at_ns: u64,
    pub(super) bytes: u64,
}

/// Rate of a train, bytes/s, with its bytes as weight.
#[derive(Clone, Copy)]
struct Train {
    rate: f64,
    bytes: u64,
}

/// Rates of the trains of one direction.
#[derive(Default)]
pub(super) struct Trains {
    arrivals: Vec<Arrival>,
    /// Error of the times at which data were sent, ns: a tick of the sender's clock.
    error_ns: u64,
    trains: Vec<Train>,
    next: usize,
}

/// Percentiles of the rates of trains, weighted by their bytes, bytes/s.
#[derive(Debug)]
pub(super) struct TrainRates {
    pub(super) count: usize,
    pub(super) p10: f64,
    pub(super) median: f64,
    pub(super) p90: f64,
}

impl Trains {
    /// Adds an arrival. `error_ns` is the error of the times at which data were sent.
    pub(super) fn on_arrival(&mut self, arrival: Arrival, error_ns: u64) {
        self.error_ns = error_ns;
        if let (Some(first), Some(last)) = (self.arrivals.first(), self.arrivals.last()) {
            let sent_ns = arrival.sent_ns.saturating_sub(first.sent_ns);
            let span_ns = last.at_ns - first.at_ns;
            let gap_ns = arrival.at_ns.saturating_sub(last.at_ns);
            let gaps = (self.arrivals.len() as u64 - 1).max(1);
            let is_behind = gap_ns > MIN_PAUSE_NS && gap_ns > PAUSE_RATIO * span_ns / gaps;
            // Within a few ticks, the times at which data were sent show nothing.
            let arrived_ns = (span_ns + gap_ns).max(2 * SENT_PARTS * error_ns);
            let is_train = SENT_PARTS * sent_ns <= arrived_ns;
            let is_full = self.arrivals.len() == MAX_ARRIVALS;
            if is_behind || !is_train && self.arrivals.len() > 1 || is_full {
                self.end();
            }
        }
        self.arrivals.push(arrival);
    }

    /// Ends the current train: what follows belongs to none, as behind a loss.
    pub(super) fn end(&mut self) {
        let mut arrivals = core::mem::take(&mut self.arrivals);
        let sent = arrivals
            .first()
            .zip(arrivals.last())
            .filter(|(first, last)| {
                let sent_ns = last.sent_ns.saturating_sub(first.sent_ns) + self.error_ns;
                SENT_PARTS * sent_ns <= last.at_ns - first.at_ns
            });
        if let Some(train) = sent.and_then(|_| train_of(&arrivals)) {
            if self.trains.len() < MAX_TRAINS {
                self.trains.push(train);
            } else {
                self.trains[self.next] = train;
                self.next = (self.next + 1) % MAX_TRAINS;
            }
        }
        arrivals.clear();
        self.arrivals = arrivals;
    }

    /// Returns the rates of the trains that have ended; `None` without any.
    pub(super) fn rates(&self) -> Option<TrainRates> {
        let mut trains = self.trains.clone();
        trains.sort_unstable_by(|one, other| one.rate.total_cmp(&other.rate));
        let total: u64 = trains.iter().map(|train| train.bytes).sum();
        let at = |part: f64| {
            let mut sum = 0;
            let mut rates = trains.iter().map(|train| {
                sum += train.bytes;
                (sum, train.rate)
            });
            let (_, rate) = rates.find(|(sum, _)| *sum as f64 >= part * total as f64)?;
            Some(rate)
        };
        Some(TrainRates {
            count: trains.len(),
            p10: at(0.1)?,
            median: at(0.5)?,
            p90: at(0.9)?,
        })
    }
}

/// Returns the rate of a train by its arrivals at different times; `None` if they are too few.
fn train_of(arrivals: &[Arrival]) -> Option<Train> {
    let gaps = arrivals
        .windows(2)
        .map(|pair| pair[1].at_ns - pair[0].at_ns);
    let at_once_ns = gaps.max()? / AT_ONCE_PARTS;
    let mut ends: Vec<(u64, u64)> = Vec::new();
    for arrival in arrivals {
        match ends.last_mut() {
            Some((at_ns, bytes)) if arrival.at_ns - *at_ns <= at_once_ns => {
                *at_ns = arrival.at_ns;
                *bytes += arrival.bytes;
            }
            _ => ends.push((arrival.at_ns, arrival.bytes)),
        }
    }
    let (first, last) = (ends.first()?, ends.last()?);
    if ends.len() <= MIN_GAPS {
        return None;
    }
    let bytes: u64 = ends[1..].iter().map(|(_, bytes)| bytes).sum();
    Some(Train {
        rate: bytes as f64 * 1e9 / (last.0 - first.0) as f64,
        bytes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Bursts of segments, sent at once every 100 ms, that arrive at these times within 100 ms, ms.
    fn bursts(arrivals_ms: &[u64]) -> Trains {
        let mut trains = Trains::default();
        for burst in 0..20 {
            for at_ms in arrivals_ms {
                let arrival = Arrival {
                    sent_ns: burst * 100 * MS,
                    at_ns: (burst * 100 + at_ms) * MS,
                    bytes: 1_500,
                };
                trains.on_arrival(arrival, 0);
            }
        }
        trains.end();
        trains
    }

    fn median(trains: &Trains) -> Option<u64> {
        trains.rates().map(|rates| rates.median as u64)
    }

    #[test]
    fn the_gaps_of_a_burst_are_those_of_the_narrowest_link() {
        let trains = bursts(&[30, 31, 32, 33, 34, 35]);
        assert_eq!(median(&trains), Some(1_500_000));
        assert_eq!(trains.rates().map(|rates| rates.count), Some(20));
    }

    #[test]
    fn a_delayed_ack_is_no_gap_of_the_link() {
        assert_eq!(median(&bursts(&[30, 31, 32, 33, 34, 74])), Some(1_500_000));
    }

    #[test]
    fn acks_that_come_at_once_do_not_exceed_the_rate() {
        let trains = bursts(&[10, 10, 10, 20, 20, 20, 30, 30, 30, 40, 40, 40]);
        assert_eq!(median(&trains), Some(450_000));
    }

    #[test]
    fn a_burst_within_a_tick_of_the_senders_clock_is_a_train_if_it_arrives_over_several_ticks() {
        let rate = |gap_ns: u64| {
            let mut trains = Trains::default();
            for number in 0..20 {
                let arrival = Arrival {
                    sent_ns: 0,
                    at_ns: number * gap_ns,
                    bytes: 1_500,
                };
                trains.on_arrival(arrival, MS);
            }
            trains.end();
            median(&trains)
        };
        assert_eq!(rate(MS / 2), Some(3_000_000));
        assert_eq!(rate(MS / 20), None, "it may have been paced at that rate");
    }

    #[test]
    fn what_is_paced_at_the_rate_of_its_arrivals_is_no_train() {
        let mut trains = Trains::default();
        for number in 0..1_000 {
            let arrival = Arrival {
                sent_ns: number * MS,
                at_ns: (number + 30) * MS,
                bytes: 1_500,
            };
            trains.on_arrival(arrival, 0);
        }
        trains.end();
        assert_eq!(median(&trains), None);
    }
}

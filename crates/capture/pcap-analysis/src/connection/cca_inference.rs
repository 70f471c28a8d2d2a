//! CCA inference: changes of a sender's flight at a loss, from which its CCA is inferred.

/// Maximum number of stored recoveries, and of stored dips.
const MAX_RECOVERIES: usize = 64;
/// Flights of fewer segments show rounding rather than a rule.
const MIN_SEGMENTS: u64 = 10;
/// Number of recoveries that show nothing of a CCA that keeps its flight, and minimum number of later ones that do: in
/// slow start, the window of a sender with a full send buffer grows to twice its flight, which one reduction by half, or
/// two by 0.7, leave as it is.
const FIRST_RECOVERIES: usize = 2;
const MIN_KEPT: usize = 2;
/// Segments in flight during a probe of the RTT by BBR (draft-cardwell-ccwg-bbr: BBRMinPipeCwnd is 4).
const PROBE_SEGMENTS: u64 = 5;

/// Phase of a sender with regard to a recovery. Flights are in bytes.
#[derive(Default)]
enum Phase {
    #[default]
    Open,
    /// In recovery until `end` is acknowledged; `before` is the flight at its start.
    Recovery { end: u64, before: u64 },
    /// In the RTT after a recovery; `after` is the largest flight in it.
    After {
        until_ns: u64,
        before: u64,
        after: u64,
    },
}

/// Flights around the recoveries of one sender, and its dips to a few segments.
#[derive(Default)]
pub(super) struct Reductions {
    phase: Phase,
    /// Flight after over flight before each recovery.
    ratios: Vec<f64>,
    /// Whether the flight is a few segments.
    in_dip: bool,
    dips_ns: Vec<u64>,
    /// Largest flight since the last dip, bytes.
    peak: u64,
}

impl Reductions {
    /// Processes a retransmission; `outstanding` bytes were between the cumulative ACK and `highest`.
    pub(super) fn on_retransmission(&mut self, by_time_out: bool, outstanding: u64, highest: u64) {
        if by_time_out {
            self.phase = Phase::Open;
        } else if matches!(self.phase, Phase::Open) {
            self.phase = Phase::Recovery {
                end: highest,
                before: outstanding,
            };
        }
    }

    /// Processes an ACK up to `acked`; `mss` is the longest segment so far, bytes.
    pub(super) fn on_ack(&mut self, at_ns: u64, acked: u64, rtt_ns: u64, mss: u64) {
        match self.phase {
            Phase::Recovery { end, before } if acked >= end => {
                self.phase = Phase::After {
                    until_ns: at_ns + rtt_ns,
                    before,
                    after: 0,
                };
            }
            Phase::After {
                until_ns,
                before,
                after,
            } if at_ns >= until_ns => {
                if before >= MIN_SEGMENTS * mss && after > 0 && self.ratios.len() < MAX_RECOVERIES {
                    self.ratios.push(after as f64 / before as f64);
                }
                self.phase = Phase::Open;
            }
            _ => {}
        }
    }

    /// Processes a segment of new data, with the bytes in flight behind it.
    pub(super) fn on_new_data(&mut self, at_ns: u64, in_flight: u64, mss: u64) {
        if let Phase::After { after, .. } = &mut self.phase {
            *after = (*after).max(in_flight);
        }
        self.peak = self.peak.max(in_flight);
        let is_low = in_flight <= PROBE_SEGMENTS * mss;
        // The end of a recovery frees a full send buffer at once, whichever the CCA.
        let is_open = matches!(self.phase, Phase::Open);
        if is_low && is_open && !self.in_dip && self.peak >= 4 * PROBE_SEGMENTS * mss {
            self.peak = 0;
            if self.dips_ns.len() < MAX_RECOVERIES {
                self.dips_ns.push(at_ns);
            }
        }
        self.in_dip = is_low;
    }

    /// Returns the median ratio of the flight after to that before a recovery.
    pub(super) fn median_ratio(&self) -> Option<f64> {
        let mut sorted = self.ratios.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }

    /// Returns the number of recoveries measured.
    pub(super) fn count(&self) -> usize {
        self.ratios.len()
    }

    /// Returns the share of the ratios that keep the flight; 0 if too few show it.
    fn kept_share(&self) -> f64 {
        match self.ratios.get(FIRST_RECOVERIES..) {
            Some(later) if later.len() >= MIN_KEPT => share(later, 0.88, 1.5),
            _ => 0.0,
        }
    }

    /// Returns the congestion control that the sender is likely to have, and the confidence.
    ///
    /// NewReno keeps half of its flight (RFC 5681 §3.1), CUBIC 0.7 (RFC 9438 §4.6), BBR all of it, and BBR drops to
    /// four segments about every ten seconds.
    pub(super) fn infer_cca(&self) -> (&'static str, f64) {
        let spaced = self
            .dips_ns
            .windows(2)
            .filter(|pair| (4.5..13.0).contains(&((pair[1] - pair[0]) as f64 / 1e9)))
            .count();
        let has_probes = spaced >= 1 && spaced + 1 >= self.dips_ns.len();
        let Some(median) = self.median_ratio() else {
            return if has_probes && spaced >= 2 {
                ("bbr", 0.7)
            } else {
                ("unknown", 0.0)
            };
        };
        let sample_confidence = (self.ratios.len() as f64 / 5.0).min(1.0);
        let fits = [
            ("reno", share(&self.ratios, 0.42, 0.60)),
            ("cubic", share(&self.ratios, 0.62, 0.80)),
            ("bbr", self.kept_share()),
        ];
        if has_probes && median > 0.8 {
            return ("bbr", 0.5 + 0.4 * sample_confidence);
        }
        let best = fits.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        match best {
            Some((name, fit)) if fit >= 0.6 && self.ratios.len() >= 2 => {
                let rule_confidence = if name == "bbr" { 0.6 } else { 0.9 };
                (name, fit * sample_confidence * rule_confidence)
            }
            _ => ("unknown", 0.0),
        }
    }
}

/// Returns the share of the ratios from `low` to `high`.
fn share(ratios: &[f64], low: f64, high: f64) -> f64 {
    let within = ratios.iter().filter(|r| (low..high).contains(*r));
    within.count() as f64 / ratios.len().max(1) as f64
}

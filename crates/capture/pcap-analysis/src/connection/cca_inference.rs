//! CCA inference: changes of a sender's flight at a loss, from which its CCA is inferred.

/// Maximum number of stored recoveries.
const KEPT: usize = 64;
/// Flights of fewer segments show rounding rather than a rule.
const MIN_SEGMENTS: u64 = 10;
/// Segments in flight during a probe of the RTT by BBR (draft-cardwell-ccwg-bbr: BBRMinPipeCwnd is 4).
const PROBE_SEGMENTS: u64 = 5;

enum Phase {
    Open,
    /// In recovery until this number is acknowledged; the flight before it.
    Recovery(u64, u64),
    /// One RTT after it: until when, flight before, most in flight since.
    After(u64, u64, u64),
}

/// Flights around the recoveries of one sender, and its dips to a few segments.
pub(super) struct Reductions {
    phase: Phase,
    ratios: Vec<f64>,
    /// Whether the flight is at its least now.
    in_dip: bool,
    dips_ns: Vec<u64>,
    /// Maximum in flight since the last dip.
    peak: u64,
}

impl Default for Reductions {
    fn default() -> Self {
        Self {
            phase: Phase::Open,
            ratios: Vec::new(),
            in_dip: false,
            dips_ns: Vec::new(),
            peak: 0,
        }
    }
}

impl Reductions {
    /// Notes that a segment passed again; `outstanding` bytes were between the cumulative ACK and `highest`.
    pub(super) fn repaired(&mut self, by_time_out: bool, outstanding: u64, highest: u64) {
        if by_time_out {
            self.phase = Phase::Open;
        } else if matches!(self.phase, Phase::Open) {
            self.phase = Phase::Recovery(highest, outstanding);
        }
    }

    /// Notes an ACK.
    pub(super) fn acked(&mut self, at_ns: u64, acked: u64, rtt_ns: u64, segment: u64) {
        match self.phase {
            Phase::Recovery(end, before) if acked >= end => {
                self.phase = Phase::After(at_ns + rtt_ns, before, 0);
            }
            Phase::After(until, before, after) if at_ns >= until => {
                if before >= MIN_SEGMENTS * segment && after > 0 && self.ratios.len() < KEPT {
                    self.ratios.push(after as f64 / before as f64);
                }
                self.phase = Phase::Open;
            }
            _ => {}
        }
    }

    /// Notes a segment of new data, and the bytes in flight behind it.
    pub(super) fn sent(&mut self, at_ns: u64, in_flight: u64, segment: u64) {
        if let Phase::After(_, _, max) = &mut self.phase {
            *max = (*max).max(in_flight);
        }
        self.peak = self.peak.max(in_flight);
        let low = in_flight <= PROBE_SEGMENTS * segment;
        if low && !self.in_dip && self.peak >= 4 * PROBE_SEGMENTS * segment {
            self.peak = 0;
            if self.dips_ns.len() < KEPT {
                self.dips_ns.push(at_ns);
            }
        }
        self.in_dip = low;
    }

    /// Returns the median ratio of the flight after to that before a recovery.
    pub(super) fn median(&self) -> Option<f64> {
        let mut sorted = self.ratios.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.get(sorted.len() / 2).copied()
    }

    /// Returns the number of recoveries measured.
    pub(super) fn count(&self) -> usize {
        self.ratios.len()
    }

    /// Returns the share of the ratios that are from `low` to `high`.
    fn share(&self, low: f64, high: f64) -> f64 {
        let within = self.ratios.iter().filter(|r| (low..high).contains(*r));
        within.count() as f64 / self.ratios.len().max(1) as f64
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
        let probes = spaced >= 1 && spaced + 1 >= self.dips_ns.len();
        let Some(median) = self.median() else {
            return if probes && spaced >= 2 {
                ("bbr", 0.7)
            } else {
                ("unknown", 0.0)
            };
        };
        let enough = (self.ratios.len() as f64 / 5.0).min(1.0);
        let fits = [
            ("reno", self.share(0.42, 0.60)),
            ("cubic", self.share(0.62, 0.80)),
            ("bbr", self.share(0.88, 1.5)),
        ];
        if probes && median > 0.8 {
            return ("bbr", 0.5 + 0.4 * enough);
        }
        let best = fits.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        match best {
            Some((name, share)) if share >= 0.6 && self.ratios.len() >= 2 => {
                let sure = share * enough * if name == "bbr" { 0.6 } else { 0.9 };
                (name, sure)
            }
            _ => ("unknown", 0.0),
        }
    }
}

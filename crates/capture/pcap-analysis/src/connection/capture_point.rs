//! Capture point: the position of a capture on the path, from the RTTs of both its sides.

/// Maximum share of the path's RTT between a capture and an end for the capture to count as taken at that end.
const MAX_END_SHARE: f64 = 0.1;
/// Half of the shares that count as neither end.
const HALF_MIDDLE: f64 = 0.5 - MAX_END_SHARE;
/// RTTs below this are within one machine, ns.
const LOCAL_NS: u64 = 300_000;

/// Returns the place of a capture and the confidence. `near_ns` is the lowest RTT between capture and sender, `far_ns`
/// that between capture and receiver, `samples` the lower number of their samples.
pub(super) fn infer(
    near_ns: Option<u64>,
    far_ns: Option<u64>,
    samples: u64,
) -> (&'static str, f64) {
    let (Some(near), Some(far)) = (near_ns, far_ns) else {
        return ("unknown", 0.0);
    };
    let share = near as f64 / (near + far).max(1) as f64;
    // Free choices: the confidence with few samples, and below, that at the border between two places.
    let sample_confidence = 0.6 + 0.4 * (samples.min(10) as f64 / 10.0);
    let (name, distance) = if share <= MAX_END_SHARE || near < LOCAL_NS && far > 2 * LOCAL_NS {
        ("sender", (MAX_END_SHARE - share) / MAX_END_SHARE)
    } else if share >= 1.0 - MAX_END_SHARE || far < LOCAL_NS && near > 2 * LOCAL_NS {
        ("receiver", (share - (1.0 - MAX_END_SHARE)) / MAX_END_SHARE)
    } else {
        (
            "between",
            (share - MAX_END_SHARE).min(1.0 - MAX_END_SHARE - share) / HALF_MIDDLE,
        )
    };
    (
        name,
        (0.5 + 0.5 * distance.clamp(0.0, 1.0)) * sample_confidence,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_side_with_the_short_rtt_is_that_of_the_capture() {
        let place = |near, far| infer(Some(near), Some(far), 20).0;
        assert_eq!(place(MS / 10, 50 * MS), "sender");
        assert_eq!(place(50 * MS, MS / 10), "receiver");
        assert_eq!(place(20 * MS, 30 * MS), "between");
        assert_eq!(infer(None, Some(MS), 0), ("unknown", 0.0));
    }

    #[test]
    fn few_samples_are_less_sure() {
        let many = infer(Some(1), Some(50 * MS), 20).1;
        let few = infer(Some(1), Some(50 * MS), 1).1;
        assert!(few < many && many > 0.9, "{few} {many}");
    }
}

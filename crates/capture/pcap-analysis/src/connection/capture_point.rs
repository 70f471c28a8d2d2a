//! Capture point: the position of a capture on the path, from the RTTs of both its sides.

/// Maximum share of the path's RTT at which the capture counts as taken at an end.
const AT_END: f64 = 0.1;
/// RTT that is as short as within one machine, ns.
const LOCAL_NS: u64 = 300_000;

/// Returns the place of a capture and the confidence. `near_ns` and `far_ns` are the lowest RTTs between the capture
/// and sender and receiver, `samples` their numbers.
pub(super) fn infer(
    near_ns: Option<u64>,
    far_ns: Option<u64>,
    samples: (u64, u64),
) -> (&'static str, f64) {
    let (Some(near), Some(far)) = (near_ns, far_ns) else {
        return ("unknown", 0.0);
    };
    let share = near as f64 / (near + far).max(1) as f64;
    let few = samples.0.min(samples.1).min(10) as f64 / 10.0;
    let enough = 0.6 + 0.4 * few;
    let (name, distance) = if share <= AT_END || near < LOCAL_NS && far > 2 * LOCAL_NS {
        ("sender", (AT_END - share) / AT_END)
    } else if share >= 1.0 - AT_END || far < LOCAL_NS && near > 2 * LOCAL_NS {
        ("receiver", (share - (1.0 - AT_END)) / AT_END)
    } else {
        ("between", (share - AT_END).min(1.0 - AT_END - share) / 0.4)
    };
    let sure = (0.5 + 0.5 * distance.clamp(0.0, 1.0)) * enough;
    (name, sure)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_side_with_the_short_rtt_is_that_of_the_capture() {
        let place = |near, far| infer(Some(near), Some(far), (20, 20)).0;
        assert_eq!(place(MS / 10, 50 * MS), "sender");
        assert_eq!(place(50 * MS, MS / 10), "receiver");
        assert_eq!(place(20 * MS, 30 * MS), "between");
        assert_eq!(infer(None, Some(MS), (0, 20)), ("unknown", 0.0));
    }

    #[test]
    fn few_samples_are_less_sure() {
        let many = infer(Some(1), Some(50 * MS), (20, 20)).1;
        let few = infer(Some(1), Some(50 * MS), (1, 20)).1;
        assert!(few < many && many > 0.9, "{few} {many}");
    }
}

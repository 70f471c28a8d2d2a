//! Capture point: the position of a capture on the path, from the RTTs of both its sides.

/// Maximum share of the path's RTT between a capture and an end for the capture to count as taken at that end.
const MAX_END_SHARE: f64 = 0.1;
/// Half of the shares that count as neither end.
const HALF_MIDDLE: f64 = 0.5 - MAX_END_SHARE;
/// RTTs below this are within one machine, ns.
const LOCAL_NS: u64 = 300_000;
/// Median RTTs above this, between ends within one machine, are those of a queue, ns.
const QUEUE_NS: u64 = 3_000_000;

/// RTTs between a capture and an end of the path, ns.
#[derive(Clone, Copy)]
pub(super) struct SideRtt {
    pub(super) lowest_ns: u64,
    pub(super) median_ns: u64,
}

/// Returns the place of a capture and the confidence. `near` has the RTTs between capture and sender, `far` those between
/// capture and receiver, `samples` is the lower number of their samples.
pub(super) fn infer(
    near: Option<SideRtt>,
    far: Option<SideRtt>,
    samples: u64,
) -> (&'static str, f64) {
    let (Some(near), Some(far)) = (near, far) else {
        return ("unknown", 0.0);
    };
    // Between the namespaces of a machine only a queue takes time: the capture is at the end without it.
    let is_local = near.lowest_ns.max(far.lowest_ns) < LOCAL_NS;
    let has_queue = near.median_ns.max(far.median_ns) > QUEUE_NS;
    let [near, far] = [near, far].map(|side| {
        if is_local && has_queue {
            side.median_ns
        } else {
            side.lowest_ns
        }
    });
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

    fn place(near: SideRtt, far: SideRtt) -> &'static str {
        infer(Some(near), Some(far), 20).0
    }

    fn empty(rtt_ns: u64) -> SideRtt {
        queued(rtt_ns, rtt_ns)
    }

    fn queued(lowest_ns: u64, median_ns: u64) -> SideRtt {
        SideRtt {
            lowest_ns,
            median_ns,
        }
    }

    #[test]
    fn the_side_with_the_short_rtt_is_that_of_the_capture() {
        assert_eq!(place(empty(MS / 10), empty(50 * MS)), "sender");
        assert_eq!(place(empty(50 * MS), empty(MS / 10)), "receiver");
        assert_eq!(place(empty(20 * MS), empty(30 * MS)), "between");
        assert_eq!(infer(None, Some(empty(MS)), 0), ("unknown", 0.0));
    }

    #[test]
    fn within_a_machine_the_side_without_the_queue_is_that_of_the_capture() {
        for lowest in [2_000, 20_000, 200_000] {
            let (local, behind_queue) = (
                queued(lowest, 2 * lowest),
                queued(5_000, 20 * lowest.max(MS)),
            );
            assert_eq!(place(local, behind_queue), "sender");
            assert_eq!(place(behind_queue, local), "receiver");
        }
        assert_eq!(place(empty(MS / 20), empty(MS / 10)), "between");
        assert_eq!(
            place(queued(20 * MS, 30 * MS), queued(30 * MS, 900 * MS)),
            "between"
        );
    }

    #[test]
    fn few_samples_are_less_sure() {
        let [near, far] = [empty(1), empty(50 * MS)].map(Some);
        let many = infer(near, far, 20).1;
        let few = infer(near, far, 1).1;
        assert!(few < many && many > 0.9, "{few} {many}");
    }
}

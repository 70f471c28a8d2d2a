//! Queue disciplines that many flows share.

use crate::library::{run, scenario};

/// Mean of what the link makes a packet wait, over the flows, ms.
fn standing_ms(queue: &str, flows: u32) -> f64 {
    let queue = format!("path.queue={queue}");
    let count = format!("flows.0.count={flows}");
    let changes = [
        "duration=60s",
        "path.rtt=40ms",
        "path.down.rate=1Mbit/s",
        "path.buffer=10000packets",
        &queue,
        &count,
    ];
    let rows = run(&scenario("steady-20-68", &changes), 1).flows;
    rows.rtt_mean_ms.iter().sum::<f64>() / rows.rtt_mean_ms.len() as f64 - 40.0
}

/// Of many flows on a slow link each has less than a packet in its queue, and all of them wait long: CoDel looks at the
/// backlog of the link, as in Linux (`fq_codel_dequeue`), and drops. Separate queues then are no longer than one for all.
#[test]
fn many_flows_do_not_make_each_other_wait() {
    for (flows, most) in [(10, 100.0), (50, 500.0)] {
        let (fair, one) = (standing_ms("fq-codel", flows), standing_ms("codel", flows));
        assert!(
            fair < most && fair < 1.1 * one,
            "{flows} flows: {fair} {one} ms"
        );
    }
}

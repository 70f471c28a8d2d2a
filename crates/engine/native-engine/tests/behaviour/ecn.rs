//! ECN: marks in place of drops, on complete paths.

use results::Tables;

use crate::library::{first, run, scenario};

fn marked(queue: &str, flow: &[&str]) -> Tables {
    let queue = format!("path.queue={queue}");
    let mut overrides = vec!["duration=30s", "path.buffer=5bdp", &queue];
    overrides.extend(flow);
    run(&scenario("steady-20-68", &overrides), 1)
}

/// RFC 8257 §3.1 and §3.3, Alizadeh et al. 2010 §3.2: DCTCP keeps the queue near the threshold K, and
/// loses nothing. 80 kB are 32 ms at 20 Mbit/s.
#[test]
fn dctcp_keeps_the_queue_near_the_threshold() {
    let tables = marked(
        "{kind=\"threshold\",ecn_threshold=\"80kB\"}",
        &["flows.0.cca=dctcp"],
    );
    let steady = tables.slots.t_s.iter().zip(&tables.slots.rtt_mean_ms);
    let rtts: Vec<f64> = steady
        .filter(|(t, _)| **t >= 10.0)
        .map(|(_, rtt)| *rtt)
        .collect();
    let mean = rtts.iter().sum::<f64>() / rtts.len() as f64;
    let queueing = mean - 68.0;
    assert!((16.0..40.0).contains(&queueing), "{queueing} ms for 32 ms");
    let row = first(&tables.flows);
    assert_eq!(row.retransmissions, 0);
    assert!(row.goodput_mbps > 18.5, "{}", row.goodput_mbps);
}

/// RFC 3168, RFC 8289 §3: with ECN CoDel marks where it would drop, and nothing has to be sent again.
#[test]
fn codel_marks_rather_than_drops() {
    for (ecn, negotiates) in [("true", "tcp.ecn=true"), ("false", "tcp.ecn=false")] {
        let queue = format!("{{kind=\"codel\",ecn={ecn}}}");
        let tables = marked(&queue, &["flows.0.cca=reno", negotiates]);
        let row = first(&tables.flows);
        assert_eq!(row.retransmissions == 0, ecn == "true", "ecn {ecn}");
        assert!(row.goodput_mbps > 15.0, "{}", row.goodput_mbps);
    }
}

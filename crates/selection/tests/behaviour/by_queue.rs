//! Policy that chooses by the queue, and made-up senders with one.

use selection::SenderInfo;
use units::{Duration, Instant, Rate};

const RULES: &str = r#"
name = "by-queue"
description = "Vegas where a queue stands, else Illinois."
[tuning]
TUNING
[[method.rules.rules]]
requirements = ["goodput", "balanced", "delay"]
when = [{ feature = "queue_ratio", at_least = 0.5 }]
choose = ["vegas"]
because = "a queue stands"
[[method.rules.rules]]
requirements = ["goodput", "balanced", "delay"]
choose = ["illinois"]
because = "no queue stands"
"#;

/// Returns the file of the policy with these lines of tuning.
pub fn rules(tuning: &str) -> String {
    RULES.replace("TUNING", tuning)
}

/// Returns the time `ms` after the start.
pub fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Returns a sender that delivers 1000 segments a second over a path of 50 ms, after `ms`, with this smoothed RTT.
pub fn sender(ms: u64, rtt_ms: u64) -> SenderInfo {
    SenderInfo {
        mss: 1_448,
        cwnd: rtt_ms as u32,
        inflight: rtt_ms as u32,
        srtt: Some(Duration::from_millis(rtt_ms)),
        min_rtt: Some(Duration::from_millis(50)),
        delivered: ms,
        delivery_rate: Some(Rate::from_mbps(11.6)),
        send_window: Some(1 << 20),
        ..SenderInfo::default()
    }
}

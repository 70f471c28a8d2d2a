//! Each congestion control on a steady link: 20 Mbit/s, 68 ms, one BDP of buffer.

use cca::cca_by_name;
use tcp::TcpConfig;
use units::{Duration, Instant};

use crate::pipe::Pipe;

struct Outcome {
    goodput_mbps: f64,
    mean_rtt_ms: f64,
    timeouts: Option<u64>,
}

fn run(name: &str) -> Outcome {
    let cca = || cca_by_name(name).expect("a CCA of ours");
    let mut pipe = Pipe::new(TcpConfig::default(), cca(), cca(), u64::MAX / 2);
    pipe.run(Duration::from_secs(60));
    // An echoed timestamp is that of the segment that moved the window: its age is the RTT.
    let rtts: Vec<f64> = pipe
        .acks
        .iter()
        .filter(|(at, _)| *at > Instant::from_nanos(1_000_000_000))
        .filter_map(|(at, ack)| {
            let echo = ack.timestamps?.1.wrapping_sub(77);
            Some(at.as_secs_f64() * 1e3 - f64::from(echo))
        })
        .collect();
    let view = pipe.server.view();
    println!("{name}: {view:?}");
    Outcome {
        goodput_mbps: pipe.client.received() as f64 * 8.0 / 60e6,
        mean_rtt_ms: rtts.iter().sum::<f64>() / rtts.len() as f64,
        timeouts: view.timeouts,
    }
}

#[test]
fn every_congestion_control_uses_over_ninety_percent_of_a_steady_link() {
    for name in ["reno", "cubic", "bbr"] {
        let outcome = run(name);
        let payload_share = 1448.0 / 1500.0;
        println!(
            "{name}: {} Mbit/s, RTT {} ms",
            outcome.goodput_mbps, outcome.mean_rtt_ms
        );
        assert!(outcome.goodput_mbps > 0.9 * 20.0 * payload_share, "{name}");
        assert_eq!(outcome.timeouts, Some(0), "{name}");
    }
}

/// Compares mean RTTs: BBR leaves a short queue, loss-based CCAs one of half the buffer or more.
#[test]
fn bbr_keeps_a_shorter_queue_than_loss_based_ccas() {
    let base = 68.0;
    let [reno, cubic, bbr] = ["reno", "cubic", "bbr"].map(|name| run(name).mean_rtt_ms / base);
    assert!(bbr < 1.5, "bbr {bbr}");
    assert!((1.3..1.7).contains(&reno), "reno {reno}");
    assert!((1.6..2.0).contains(&cubic), "cubic {cubic}");
}

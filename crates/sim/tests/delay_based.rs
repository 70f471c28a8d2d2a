//! Congestion controls that go by delay, on whole paths.

mod library;

use library::{first, run, scenario};

#[test]
fn explore() {
    for cca in tcp::cca::registry::CCAS {
        let o = format!("flows.0.cca={}", cca.name);
        let row = first(&run(&scenario("steady-20-68", &["duration=30s", &o]), 1).flows);
        eprintln!(
            "{:8} {:.2} Mbit/s rtt {:.1} p95 {:.1} owd {:.1} retr {} exit {:.2} {:.0}",
            cca.name,
            row.goodput_mbps,
            row.rtt_mean_ms,
            row.rtt_p95_ms,
            row.owd_mean_ms,
            row.retransmissions,
            row.slow_start_exit_s,
            row.slow_start_exit_cwnd
        );
    }
    for cca in tcp::cca::registry::CCAS {
        let o = format!("flows=[{{cca='cubic'}},{{cca='{}'}}]", cca.name);
        let t = run(&scenario("steady-20-68", &["duration=60s", &o]), 1);
        eprintln!(
            "{:8} shares {:.2} with cubic {:.2}",
            cca.name,
            t.flows.row(1).goodput_mbps,
            t.flows.row(0).goodput_mbps
        );
    }
    for method in [
        "standard",
        "hystart",
        "hystart++",
        "bbr",
        "linux-3.19",
        "linux-4.8",
    ] {
        for jitter in ["", "path.jitter={ mean = '3ms', sd = '3ms' }"] {
            for detections in ["1", "3"] {
                let o = format!(
                    "flows.0.parameters={{slow_start='{method}',hystart_detections={detections}}}"
                );
                let mut v = vec!["duration=20s", &o];
                if !jitter.is_empty() {
                    v.push(jitter);
                }
                let row = first(&run(&scenario("steady-20-68", &v), 1).flows);
                eprintln!(
                    "{method:10} {jitter:20} {detections} exit {:.2} {:.0} retr {} goodput {:.2}",
                    row.slow_start_exit_s,
                    row.slow_start_exit_cwnd,
                    row.retransmissions,
                    row.goodput_mbps
                );
            }
        }
    }
}

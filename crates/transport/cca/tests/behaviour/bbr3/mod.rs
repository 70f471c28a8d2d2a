//! BBRv3 compared with draft-ietf-ccwg-bbr-06: the example test cases of its appendix A, then single rules.

mod changes;
mod loss;
mod probe_bw;
mod probe_rtt;
mod startup;

use cca::bbr3::{Bbr3, Bbr3Config};
use units::Duration;

use crate::path::{MSS, Path};

const RTT: Duration = Duration::from_millis(40);

fn path(mbps: f64) -> Path<Bbr3> {
    Path::new(Bbr3::new(Default::default()), mbps, RTT, 1)
}

/// Returns a path whose BBRv3 never enters ProbeRTT.
fn path_without_probe_rtt(mbps: f64, rtt_ms: u64) -> Path<Bbr3> {
    let config = Bbr3Config {
        probe_rtt_interval: Duration::from_secs(3600),
        ..Bbr3Config::default()
    };
    Path::new(Bbr3::new(config), mbps, Duration::from_millis(rtt_ms), 3)
}

/// Runs until `state` has been left and entered again.
fn run_into(path: &mut Path<Bbr3>, state: &str) {
    path.run_while_not(30, |p| p.mode() != state);
    path.run_while_not(30, |p| p.mode() == state);
}

fn found(path: &Path<Bbr3>) -> f64 {
    path.cca.max_bandwidth(MSS).as_mbps()
}

/// Runs until `seconds` and returns the goodput, Mbit/s.
fn goodput_until(path: &mut Path<Bbr3>, seconds: f64) -> f64 {
    let (from, before) = (path.w.now.as_secs_f64(), path.w.delivered);
    path.run_until(seconds);
    let bits = (path.w.delivered - before) as f64 * f64::from(MSS) * 8.0;
    bits / (path.w.now.as_secs_f64() - from) / 1e6
}

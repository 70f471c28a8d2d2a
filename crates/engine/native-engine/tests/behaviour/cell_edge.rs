//! Phones at the edge of a cell, where the power of the uplink is short.

use scenario::Scenario;

use crate::library::{first, run};

/// Speed of light over 4π, in metres times Hz.
const FRIIS: f64 = 299_792_458.0 / (4.0 * std::f64::consts::PI);

/// Goodput of CUBIC on a carrier at 1800 MHz with 33 dBm on each MHz, at a path loss, in Mbit/s.
fn goodput_mbps(width_mhz: f64, loss_db: f64, changes: &[&str]) -> f64 {
    let metres = FRIIS / 1.8e9 * 10f64.powf(loss_db / 20.0);
    let dbm = 33.0 + 10.0 * width_mhz.log10();
    let text = format!(
        "duration = '10s'\npath.rtt = '4ms'\npath.wired = [{{ rate = '1Gbit/s' }}]\n[radio]\nfrequency = '1800MHz'\n\
         bandwidth = '{width_mhz}MHz'\ncells = [{{ power = '{dbm}dBm', height = '1.5m' }}]\n\
         ues = [{{ position = {{ x = '{metres}m' }} }}]\n"
    );
    let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
    let scenario = Scenario::from_toml(&text, "edge", &changes).expect("a valid scenario");
    first(&run(&scenario, 1).flows).goodput_mbps
}

/// Acknowledgements pass on the few blocks that the power carries (TS 36.213 clause 5.1, TS 36.321 clause 5.4.6): with all
/// 50 blocks, no transmission arrived at 140 dB.
#[test]
fn a_download_at_the_edge_gets_its_acknowledgements_through() {
    assert!(goodput_mbps(10.0, 140.0, &[]) > 1.0);
    let upload = ["flows.0.from=phone", "flows.0.to=server"];
    assert!(goodput_mbps(10.0, 135.0, &upload) > 0.15);
}

/// With the same power on each MHz, a wider carrier carries at least as much.
#[test]
fn a_wider_carrier_is_no_worse_at_the_edge() {
    let (narrow, wide) = (
        goodput_mbps(1.4, 140.0, &[]),
        goodput_mbps(20.0, 140.0, &[]),
    );
    assert!(wide >= narrow && narrow > 0.3, "{narrow} {wide}");
}

/// At 110 dB, 0.6 of the path loss calls for -14 dBm on each block, far from what the phone has.
#[test]
fn alpha_is_the_share_of_the_path_loss_that_power_makes_up_for() {
    let upload = ["flows.0.from=phone", "flows.0.to=server"];
    let with = |alpha: &str| goodput_mbps(10.0, 110.0, &[&upload[..], &[alpha][..]].concat());
    let (full, fractional) = (with("radio.uplink.alpha=1"), with("radio.uplink.alpha=0.6"));
    assert!(fractional < 0.5 * full, "{fractional} {full}");
}

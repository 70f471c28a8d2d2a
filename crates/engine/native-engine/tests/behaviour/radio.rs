//! TCP over the radio: what must happen, and what must not depend on the congestion control. Every run is
//! verified by the checker.

use results::{Tables, Ttis};
use scenario::Scenario;

use crate::library::{first, run};

fn over_radio(text: &str, changes: &[&str]) -> Scenario {
    let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
    Scenario::from_toml(text, "test", &changes).expect("a valid scenario")
}

/// A phone that moves away from its mast at 60 km/h.
const FORWARD: &str = r#"
    duration = "20s"
    path.rtt = "68ms"
    [radio]
    log = true
    fading = { profile = "EVA", speed = "60km/h" }
    downlink.outer_loop = { target = 0.1 }
    ues = [{ sinr = [{ at = "0s", sinr = "20dB" }, { at = "20s", sinr = "8dB" }] }]
"#;

/// Three cells in a row, a phone that drives past them, and two others that stand and take UDP.
const ROAD: &str = r#"
    duration = "40s"
    path.rtt = "40ms"
    [radio]
    log = true
    band = 1
    bandwidth = "10MHz"
    fading = { profile = "EVA", speed = "120km/h" }
    handover = { trigger = { kind = "a3", hysteresis = "2dB", time_to_trigger = "128ms" } }
    propagation = { model = "tr36814-macro", shadowing = { deviation = "4dB" } }
    cells = [{ x = "0m" }, { x = "600m" }, { x = "1200m" }]
    [[radio.ues]]
    name = "phone"
    position = { x = "100m", y = "30m" }
    velocity = { x = "30m/s" }
    [[radio.ues]]
    name = "standing"
    count = 2
    position = { x = "500m", y = "50m" }
    cross_traffic = [{ rate = "2Mbit/s" }]
"#;

fn with(text: &str, cca: &str, changes: &[&str], seed: u64) -> Tables {
    let cca = format!("flows.0.cca={cca}");
    let mut all = vec![cca.as_str()];
    all.extend(changes);
    run(&over_radio(text, &all), seed)
}

/// Every congestion control fills a good part of what the radio can carry, and nothing is above what it
/// can.
#[test]
fn congestion_controls_use_the_cell() {
    for cca in ["reno", "cubic", "bbr", "westwood", "illinois"] {
        let tables = with(FORWARD, cca, &[], 3);
        let row = first(&tables.flows);
        let capacity = &tables.slots.capacity_mbps;
        let mean = capacity.iter().sum::<f64>() / capacity.len() as f64;
        println!(
            "{cca}: {:.1} of {mean:.1} Mbit/s, RTT {:.0} ms, {} repeated",
            row.goodput_mbps, row.rtt_mean_ms, row.retransmissions
        );
        assert!(
            row.goodput_mbps > 0.4 * mean,
            "{cca}: {} of {mean}",
            row.goodput_mbps
        );
        assert!(
            row.goodput_mbps < 1.06 * mean,
            "{cca}: {} of {mean}",
            row.goodput_mbps
        );
    }
}

/// TTIs with what the channel says of them: time, UE, SINR, CQI.
fn channel(radio: &Ttis) -> Vec<(u64, u32, u64, u32)> {
    let mut all = Vec::new();
    for row in 0..radio.len() {
        if radio.uplink[row] == 0 {
            let sinr = radio.sinr_db[row].to_bits();
            all.push((radio.t_ns[row], radio.ue[row], sinr, radio.cqi[row]));
        }
    }
    all
}

/// With one seed the channel is the same whatever is sent: where nobody interferes, and where all others
/// do all the time.
#[test]
fn the_channel_does_not_depend_on_the_congestion_control() {
    for (text, changes) in [
        (FORWARD, &["duration=10s"][..]),
        (
            ROAD,
            &["duration=10s", "radio.propagation.interference=none"],
        ),
        (ROAD, &["duration=10s", "radio.propagation.load=full"]),
    ] {
        let cubic = channel(&with(text, "cubic", changes, 5).radio);
        let bbr = channel(&with(text, "bbr", changes, 5).radio);
        assert!(cubic.len() >= 10_000, "{}", cubic.len());
        assert_eq!(cubic, bbr);
        let other = channel(&with(text, "cubic", changes, 6).radio);
        assert_ne!(cubic, other);
    }
}

#[test]
fn the_same_seed_gives_the_same_log() {
    let [once, twice] = [0, 1].map(|_| with(ROAD, "cubic", &["duration=10s"], 5));
    assert_eq!(once.radio.queue_bytes, twice.radio.queue_bytes);
    assert_eq!(once.slots.goodput_mbps, twice.slots.goodput_mbps);
}

/// A drive past three cells hands over, keeps the connection, and records it.
#[test]
fn a_drive_hands_over_and_goes_on() {
    let tables = with(ROAD, "cubic", &[], 2);
    let row = first(&tables.flows);
    let count = |kind: &str| {
        tables
            .events
            .kind
            .iter()
            .filter(|result| *result == kind)
            .count()
    };
    println!(
        "{:.1} Mbit/s, {} handovers, {} failures, {} timeouts",
        row.goodput_mbps,
        count("handover"),
        count("radio-link-failure"),
        row.timeouts
    );
    assert!(count("handover") >= 2);
    assert!(row.goodput_mbps > 2.0);
    let cells: std::collections::BTreeSet<u32> = tables.radio.cell.iter().copied().collect();
    assert!(cells.len() >= 3, "{cells:?}");
}

/// The radio notifies middleboxes of its handovers: the transfer goes on, and no byte is acknowledged early.
#[test]
fn middleboxes_are_told_of_handovers() {
    for kind in ["as", "mtcp-plus", "freeze"] {
        let middlebox = format!("path.middleboxes=[{{ kind = '{kind}' }}]");
        let tables = with(ROAD, "cubic", &["duration=15s", &middlebox], 2);
        let row = first(&tables.flows);
        println!(
            "{kind}: {:.1} Mbit/s, {} time-outs",
            row.goodput_mbps, row.timeouts
        );
        let handovers = |result: &&String| *result == "handover";
        assert!(tables.events.kind.iter().filter(handovers).count() >= 1);
        assert!(row.goodput_mbps > 2.0, "{kind}: {}", row.goodput_mbps);
        assert_eq!(row.acked_early_bytes, 0, "{kind}");
    }
}

/// Two phones with a congestion control each share the cell; each is shown what the other leaves.
#[test]
fn two_phones_share_a_cell() {
    let text = r#"
        duration = "20s"
        path.rtt = "40ms"
        radio.ues = [{ name = "phone", sinr = "20dB" }, { name = "tablet", sinr = "20dB" }]
        flows = [{ cca = "cubic" }, { cca = "bbr", to = "tablet" }]
    "#;
    let tables = run(&over_radio(text, &[]), 1);
    let [phone, tablet] = [tables.flows.row(0), tables.flows.row(1)];
    println!(
        "{:.1} and {:.1} Mbit/s",
        phone.goodput_mbps, tablet.goodput_mbps
    );
    assert!(phone.goodput_mbps + tablet.goodput_mbps > 60.0);
    assert!(phone.goodput_mbps > 25.0 && tablet.goodput_mbps > 25.0);
}

/// Data from the phone: what it is granted is what limits it.
#[test]
fn an_upload_is_limited_by_the_uplink() {
    let text = r#"
        duration = "20s"
        radio.uplink.sinr = "5dB"
        flows = [{ from = "phone", to = "server" }]
    "#;
    let tables = run(&over_radio(text, &[]), 1);
    let row = first(&tables.flows);
    println!(
        "{:.1} Mbit/s up, RTT {:.0} ms",
        row.goodput_mbps, row.rtt_mean_ms
    );
    assert!(
        (12.0..25.0).contains(&row.goodput_mbps),
        "{}",
        row.goodput_mbps
    );
}

/// RLC in unacknowledged mode, DRX, sub-bands, TDD: nothing of it breaks an invariant.
#[test]
#[ignore = "slow, make test-all"]
fn no_radio_breaks_an_invariant() {
    let variants = [
        &["radio.rlc.mode=um", "radio.harq.transmissions=1"][..],
        &["radio.drx.on_duration=10ms"],
        &[
            "radio.downlink.cqi=subband",
            "radio.downlink.subband_rate=weakest",
        ],
        &[
            "radio.downlink.scheduler=round-robin",
            "radio.bandwidth=1.4MHz",
        ],
        &["radio.uplink.access=configured", "radio.rlc.buffer=100kB"],
        &[
            "radio.technology=nr",
            "radio.bandwidth=100MHz",
            "radio.band=78",
            "radio.tdd=DDDSU",
        ],
    ];
    for (changes, cca) in variants.into_iter().zip(["cubic", "bbr"].iter().cycle()) {
        let row = first(&with(FORWARD, cca, changes, 4).flows);
        println!(
            "{changes:?} {cca}: {:.2} Mbit/s, RTT {:.0} ms",
            row.goodput_mbps, row.rtt_mean_ms
        );
        assert!(
            row.goodput_mbps > 0.2,
            "{changes:?} {cca}: {}",
            row.goodput_mbps
        );
    }
}

/// A narrow millimetre-wave carrier whose phone is behind an obstacle for a while: a control region there carries one
/// message.
const BLOCKED: &str = r#"
    duration = "5s"
    path.rtt = "16ms"
    [radio]
    log = true
    technology = "nr"
    band = 257
    bandwidth = "50MHz"
    subcarrier_spacing = "120kHz"
    tdd = "DDDSU"
    rlc.buffer = "4MB"
    [[radio.ues]]
    sinr = [{ at = "0s", sinr = "18dB" }, { at = "1s", sinr = "18dB" }, { at = "1.1s", sinr = "-4dB" }, { at = "4s", sinr = "-4dB" }]
"#;

/// TS 38.213 clause 10.1: assignments do not take all control regions, so that acknowledgements reach the sender.
#[test]
fn acknowledgements_pass_while_a_blocked_downlink_is_full() {
    let tables = with(BLOCKED, "reno", &[], 1);
    let radio = &tables.radio;
    let mut blocks = [[0_u32; 6]; 2];
    for row in 0..radio.len() {
        if radio.tbs_bytes[row] > 0 {
            let second = (radio.t_ns[row] / 1_000_000_000) as usize;
            blocks[radio.uplink[row] as usize][second] += 1;
        }
    }
    // The downlink is full, and the uplink gets the grants of a carrier with room for them: 300 a second.
    assert!(
        blocks[0][2..5].iter().all(|blocks| *blocks > 5_500),
        "{blocks:?}"
    );
    assert!(
        blocks[1][2..5].iter().all(|blocks| *blocks > 250),
        "{blocks:?}"
    );
    assert_eq!(first(&tables.flows).timeouts, 0.0);
}

/// Blocks by the reports of sub-bands carry more than the report of the whole carrier promises. The capacity that the
/// checker compares with counts that, whoever schedules and whoever shares the cell.
#[test]
fn goodput_keeps_to_the_capacity_with_reports_of_sub_bands() {
    let two = "radio.ues=[{ name = 'phone', sinr = '12dB' }, { name = 'car', sinr = '6dB', cross_traffic = [{ rate = '5Mbit/s' }] }]";
    for scheduler in ["proportional-fair", "round-robin", "max-rate"] {
        for rate in ["mean", "weakest"] {
            let changes = [
                "duration=5s".to_owned(),
                "radio.downlink.cqi=subband".to_owned(),
                format!("radio.downlink.subband_rate={rate}"),
                format!("radio.downlink.scheduler={scheduler}"),
                two.to_owned(),
            ];
            let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
            let tables = with(FORWARD, "bbr", &changes, 3);
            let slots = &tables.slots;
            let [goodput, capacity] = [&slots.goodput_mbps, &slots.capacity_mbps]
                .map(|rates| rates.iter().sum::<f64>() / rates.len() as f64);
            assert!(goodput < 1.02 * capacity, "{goodput} of {capacity}");
        }
    }
}

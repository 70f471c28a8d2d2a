//! Queue disciplines before the radio, in both directions. Every run is verified by the checker.

use results::Tables;
use scenario::Scenario;

use crate::library::{first, run};

/// A download and a thin flow to a phone, whose SINR falls to a sixth of the rate and rises again.
const FADING: &str = r#"
    duration = "20s"
    path.rtt = "40ms"
    [radio]
    log = true
    bandwidth = "10MHz"
    fading = { profile = "EVA", speed = "30km/h" }
    rlc = { buffer = "1500packets", uplink_buffer = "1500packets" }
    ues = [{ sinr = [{ at = "0s", sinr = "20dB" }, { at = "10s", sinr = "5dB" }, { at = "20s", sinr = "20dB" }] }]
    [[flows]]
    name = "bulk"
    cca = "cubic"
    [[flows]]
    name = "thin"
    cca = "cubic"
    workload = { kind = "request-response", request = "100B", response = "200B", think = "0ms", gap = "100ms" }
"#;

fn tables(changes: &[&str], seed: u64) -> Tables {
    let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
    let scenario = Scenario::from_toml(FADING, "test", &changes).expect("a valid scenario");
    run(&scenario, seed)
}

/// Returns goodput and mean RTT of the download, and the RTT of the thin flow.
fn outcome(tables: &Tables) -> (f64, f64, f64) {
    let (bulk, thin) = (tables.flows.row(0), tables.flows.row(1));
    println!(
        "{:.1} Mbit/s at {:.0} ms, {} retransmissions; thin flow {:.0} ms",
        bulk.goodput_mbps, bulk.rtt_mean_ms, bulk.retransmissions, thin.rtt_mean_ms
    );
    (bulk.goodput_mbps, bulk.rtt_mean_ms, thin.rtt_mean_ms)
}

/// A discipline keeps the queue short, and fair queueing keeps a thin flow out of it. The download loses little.
#[test]
fn disciplines_shorten_the_queue_of_a_cell() {
    let (goodput, rtt, thin) = outcome(&tables(&[], 1));
    assert!(rtt > 300.0 && thin > 300.0, "{rtt}, {thin}");
    for discipline in ["codel", "fq-codel", "pie"] {
        let queue = format!("path.queue={discipline}");
        let (kept, shorter, thinner) = outcome(&tables(&[&queue], 1));
        assert!(kept > 0.8 * goodput, "{discipline}: {kept} of {goodput}");
        assert!(shorter < 0.4 * rtt, "{discipline}: {shorter} of {rtt}");
        assert!(thinner < 0.4 * thin, "{discipline}: {thinner} of {thin}");
        if discipline == "fq-codel" {
            assert!(thinner < 65.0, "{thinner}");
        }
    }
}

/// The queue of a phone that sends: buffer status reports include the queue, so that grants do not become small. A
/// target of 5 ms would be below the time from a request to the grant, which no drop shortens.
#[test]
fn disciplines_shorten_the_queue_of_a_phone() {
    let upload = [
        "flows.0.from=phone",
        "flows.0.to=server",
        "radio.uplink.sinr=8dB",
    ];
    let (goodput, rtt, _) = outcome(&tables(&upload, 1));
    assert!(rtt > 300.0, "{rtt}");
    for discipline in ["codel", "fq-codel"] {
        let queue = format!("path.queue={{ kind = '{discipline}', target = '20ms' }}");
        let changes = [&upload[..], &[queue.as_str()]].concat();
        let (kept, shorter, _) = outcome(&tables(&changes, 1));
        assert!(kept > 0.85 * goodput, "{discipline}: {kept} of {goodput}");
        assert!(shorter < 0.5 * rtt, "{discipline}: {shorter} of {rtt}");
    }
}

/// A discipline that never drops and never reorders changes little: it adds one transport block to the RLC buffer.
#[test]
fn a_discipline_that_does_nothing_leaves_the_transfer_as_it_is() {
    for rlc in ["am", "um"] {
        let rlc = format!("radio.rlc.mode={rlc}");
        let plain = first(&tables(&[&rlc], 2).flows);
        let threshold = first(&tables(&[&rlc, "path.queue=threshold"], 2).flows);
        let ratio = |one: f64, other: f64| (one / other - 1.0).abs();
        println!("{} and {}", plain.goodput_mbps, threshold.goodput_mbps);
        assert!(ratio(threshold.goodput_mbps, plain.goodput_mbps) < 0.03);
        assert!(ratio(threshold.rtt_mean_ms, plain.rtt_mean_ms) < 0.1);
    }
}

/// Handovers, small buffers and blocks of many packets: packets are conserved, and transfers go on.
#[test]
fn no_radio_with_a_discipline_breaks_an_invariant() {
    let road = [
        "radio.band=1",
        "radio.handover.trigger={ kind = 'a3', hysteresis = '2dB', time_to_trigger = '128ms' }",
        "radio.propagation={ model = 'tr36814-macro', shadowing = { deviation = '4dB' } }",
        "radio.cells=[{ x = '0m' }, { x = '500m' }]",
        "radio.ues=[{ name = 'phone', position = { x = '100m', y = '30m' }, velocity = { x = '30m/s' }, \
         cross_traffic = [{ rate = '2Mbit/s' }] }]",
    ];
    let variants = [
        &road[..],
        &["radio.rlc.buffer=4packets", "radio.rlc.uplink_buffer=6kB"],
        &["radio.rlc.mode=um", "radio.drx.on_duration=10ms"],
        &[
            "radio.technology=nr",
            "radio.bandwidth=100MHz",
            "radio.band=78",
            "radio.tdd=DDDSU",
            "radio.rlc.buffer=4MB",
        ],
    ];
    for changes in variants {
        for discipline in ["fq-codel", "pie"] {
            let queue = format!("path.queue={discipline}");
            let (goodput, ..) = outcome(&tables(&[changes, &[queue.as_str()]].concat(), 3));
            assert!(goodput > 1.0, "{changes:?} {discipline}: {goodput}");
        }
    }
}

#[test]
fn a_middlebox_that_needs_drop_tail_rejects_other_disciplines() {
    let rejection = |changes: &[&str]| {
        let changes: Vec<String> = changes.iter().map(ToString::to_string).collect();
        let result = Scenario::from_toml(FADING, "test", &changes);
        result
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    let tracker = "path.middleboxes=[{ kind = 'reset-tracker' }]";
    assert_eq!(rejection(&[tracker]), "");
    let error = rejection(&[tracker, "path.queue=codel"]);
    assert!(
        error.contains("path.queue") && error.contains("allowed: droptail"),
        "{error}"
    );
    assert!(
        rejection(&["path.queue={ kind = 'codel', target = '0ms' }"]).contains("path.queue.target")
    );
}

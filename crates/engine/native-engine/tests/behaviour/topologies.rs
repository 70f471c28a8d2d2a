//! A topology, and what must happen on it. Every run is verified by the checker.

use crate::library::{first, run, scenario};

/// No invariant of the path is broken. A rise, a fall and an outage have tests of their own below, which run them whole.
#[test]
fn no_run_breaks_an_invariant() {
    for name in ["steady-5-18", "steady-20-68", "steady-100-68", "drive"] {
        for cca in ["reno", "cubic", "bbr"] {
            let changes = [format!("flows.0.cca={cca}"), "duration=12s".to_owned()];
            let changes: Vec<&str> = changes.iter().map(String::as_str).collect();
            let row = first(&run(&scenario(name, &changes), 3).flows);
            assert!(row.goodput_mbps > 1.0, "{name} {cca}: {}", row.goodput_mbps);
        }
    }
}

/// The checker also walks paths with everything on them: queues that drop early, jitter that reorders,
/// bursts of loss, traffic of others, more hops, a second phone.
#[test]
fn no_run_over_a_difficult_path_breaks_an_invariant() {
    for queue in ["droptail", "codel", "fq-codel", "pie", "red"] {
        let queue = format!("path.queue={queue}");
        let changes = [
            queue.as_str(),
            "duration=20s",
            "path.loss={ kind = 'gilbert-elliott', to_bad = 0.001, to_good = 0.2 }",
            "path.uplink_loss=0.01",
            "path.jitter={ mean = '3ms', sd = '2ms', reorder = true }",
            "path.cross_traffic=[{ rate = '4Mbit/s', on = '1s', off = '500ms' }]",
            "path.wired=[{ name = 'core', rate = '200Mbit/s' }, { name = 'edge', delay = '5ms' }]",
            "links=[{ from = 'gateway', to = 'tablet', rate = '5Mbit/s' }]",
            "flows=[{ cca = 'cubic', count = 2 }, { cca = 'bbr', to = 'tablet', start = '2s' }, \
             { from = 'phone', to = 'server', cca = 'reno' }]",
        ];
        let tables = run(&scenario("steady-20-68", &changes), 5);
        assert_eq!(tables.flows.len(), 4, "{queue}");
        for row in (0..4).map(|index| tables.flows.row(index)) {
            assert!(
                row.bytes > 100_000,
                "{queue}: {} delivered {}",
                row.name,
                row.bytes
            );
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_tables_and_another_seed_others() {
    let drive = scenario("drive", &["duration=10s", "samples=every-ack"]);
    let [a, b, c] = [7, 7, 8].map(|seed| run(&drive, seed));
    assert_eq!(
        format!("{:?}", (&a.flows, &a.slots, &a.samples)),
        format!("{:?}", (&b.flows, &b.slots, &b.samples))
    );
    assert_ne!(format!("{:?}", a.flows), format!("{:?}", c.flows));
}

/// The capacity that slots show is that of the channel, whoever uses it.
#[test]
fn another_congestion_control_meets_the_same_channel() {
    let capacity = |cca: &str| {
        let cca = format!("flows.0.cca={cca}");
        run(&scenario("drive", &["duration=20s", &cca]), 2).slots
    };
    let (cubic, bbr) = (capacity("cubic"), capacity("bbr"));
    assert_eq!(cubic.t_s, bbr.t_s);
    assert_eq!(cubic.capacity_mbps, bbr.capacity_mbps);
}

/// The capacity of a flow is that of the narrowest part of its way, be it the access link, a hop or a policer: what bounds
/// its goodput bounds its capacity, too.
#[test]
fn the_narrowest_part_of_the_way_is_the_capacity() {
    let hop = r#"path.wired=[{ name = "wan" }, { name = "shaper", rate = "4Mbit/s" }]"#;
    let policer = r#"path.policer={ rate = "4Mbit/s", burst = "100kB" }"#;
    let up = r#"flows=[{ from = "phone", to = "server" }]"#;
    let trace = r#"path.wired=[{ rate = { steps = [{ at = "0s", rate = "4Mbit/s" }, { at = "2s", rate = "1Mbit/s" }] } }]"#;
    let mean = |changes: &[&str], from: f64| {
        let path = [
            "duration=5s",
            "path.down.rate=40Mbit/s",
            "path.up.rate=20Mbit/s",
        ];
        let tables = run(&scenario("steady-20-68", &[&path[..], changes].concat()), 1);
        let slots = &tables.slots;
        let late: Vec<_> = (0..slots.len()).filter(|&i| slots.t_s[i] >= from).collect();
        let mean = |of: &[f64]| late.iter().map(|&i| of[i]).sum::<f64>() / late.len() as f64;
        let used = mean(&slots.goodput_mbps) / mean(&slots.capacity_mbps);
        (mean(&slots.capacity_mbps) * 1500.0 / 1448.0, used)
    };
    for (changes, from, wanted) in [
        (&[][..], 1.0, 40.0),
        (&[hop], 1.0, 4.0),
        (&[policer], 1.0, 4.0),
        (&[trace], 2.5, 1.0),
        // Policers and the slow direction of the access link are on the way to the phone.
        (&[policer, up], 1.0, 20.0),
        (&[hop, up], 1.0, 4.0),
    ] {
        let (capacity, used) = mean(changes, from);
        assert!(
            (capacity / wanted - 1.0).abs() < 0.04,
            "{changes:?}: {capacity}"
        );
        assert!(
            (0.3..1.05).contains(&used),
            "{changes:?}: {used} of it used"
        );
    }
}

/// Two flows share a slow hop before a fast link: each may have what the other one leaves.
#[test]
fn what_others_carry_on_a_narrow_hop_is_no_capacity_left() {
    let tables = run(
        &scenario(
            "fairness",
            &[
                "duration=5s",
                "flows.1.start=0s",
                "path.down.rate=40Mbit/s",
                r#"path.wired=[{ rate = "4Mbit/s" }]"#,
            ],
        ),
        1,
    );
    let slots = &tables.slots;
    let late = (0..slots.len()).filter(|&i| slots.t_s[i] >= 2.0);
    let (mut capacity, mut goodput, mut count) = ([0.0; 2], [0.0; 2], 0.0);
    for i in late {
        let flow = slots.flow[i] as usize;
        capacity[flow] += slots.capacity_mbps[i];
        goodput[flow] += slots.goodput_mbps[i];
        count += 0.5;
    }
    let whole = 4.0 * 1448.0 / 1500.0;
    for flow in [0, 1] {
        let left = whole - goodput[1 - flow] / count;
        assert!(
            (capacity[flow] / count - left).abs() < 0.15 * whole,
            "{capacity:?} {goodput:?}"
        );
    }
}

/// Two seconds of outage cost no more than the back-off of the time-out explains: the flow is back
/// within the longest RTO that fits.
#[test]
fn an_outage_of_two_seconds_is_over_soon_after() {
    for cca in ["reno", "cubic", "bbr"] {
        let changes = format!("flows.0.cca={cca}");
        let tables = run(&scenario("outage", &[&changes]), 1);
        let slots = &tables.slots;
        let resumed = (0..slots.len())
            .find(|&i| slots.t_s[i] >= 22.0 && slots.delivered_bytes[i] > 0)
            .map(|i| slots.t_s[i]);
        let resumed = resumed.expect("it goes on");
        println!("{cca}: back at {resumed}");
        assert!(resumed < 24.5, "{cca}: back at {resumed}");
        let row = first(&tables.flows);
        assert!(row.timeouts <= 5.0, "{cca}: {} time-outs", row.timeouts);
    }
}

#[test]
fn a_sudden_rise_is_found_and_a_sudden_fall_is_survived() {
    for (name, after) in [("rise", 40.0), ("fall", 10.0)] {
        for cca in ["cubic", "bbr"] {
            let tables = run(&scenario(name, &[&format!("flows.0.cca={cca}")]), 1);
            let slots = &tables.slots;
            let late: Vec<f64> = (0..slots.len())
                .filter(|&i| slots.t_s[i] > 45.0)
                .map(|i| slots.goodput_mbps[i])
                .collect();
            let mean = late.iter().sum::<f64>() / late.len() as f64;
            println!("{name} {cca}: {mean}");
            assert!(mean > 0.6 * after, "{name} {cca}: {mean}");
        }
    }
}

/// A sequence of short flows during a long one: each has its completion time.
#[test]
fn short_flows_complete_one_after_another() {
    let changes = [
        "duration=20s",
        "flows=[{ name = 'long', cca = 'cubic' }, { name = 'short', cca = 'bbr', workload = \
         { kind = 'sequence', size = '100kB', count = 5, gap = '100ms', jitter = 0, first = '500ms' } }]",
    ];
    let flows = run(&scenario("steady-20-18", &changes), 1).flows;
    assert_eq!(flows.len(), 6);
    let mut last_end = 0.5;
    for index in 1..6 {
        let row = flows.row(index);
        assert_eq!((row.name.as_str(), row.bytes), ("short", 100_000));
        assert!(row.completion_s > 0.05 && row.completion_s < 5.0, "{row:?}");
        assert!(row.start_s >= last_end - 1e-9, "{row:?}");
        last_end = row.start_s + row.completion_s + 0.1;
    }
    assert!(flows.row(0).completion_s.is_nan());
}

#[test]
fn an_on_off_source_stays_at_its_rate() {
    let changes = [
        "duration=20s",
        "flows=[{ cca = 'cubic', workload = { kind = 'on-off', on = '1s', off = '1s', jitter = 0, rate = \
         '5Mbit/s' } }]",
    ];
    let row = first(&run(&scenario("steady-20-18", &changes), 1).flows);
    assert!(
        (row.goodput_mbps - 2.5).abs() < 0.15,
        "{}",
        row.goodput_mbps
    );
}

/// Random loss on a link that is wide enough: NewReno follows the square-root law of Mathis et al.
/// (C = √1.5, since Linux counts segments, not ACKs).
#[test]
fn newreno_follows_the_square_root_law_over_the_whole_stack() {
    for p in [1e-3, 1e-2] {
        let loss = format!("path.loss={p}");
        let changes = [
            "flows.0.cca=reno",
            "path.down.rate=1Gbit/s",
            "path.up.rate=1Gbit/s",
            "path.buffer=5bdp",
            "path.rtt=40ms",
            "duration=120s",
            loss.as_str(),
        ];
        let result: f64 = (1..=2)
            .map(|seed| first(&run(&scenario("steady-20-68", &changes), seed).flows).goodput_mbps)
            .sum::<f64>()
            / 2.0;
        let law = 1448.0 * 8.0 / 0.0402 * f64::sqrt(1.5 / p) / 1e6;
        println!("p {p}: {result} Mbit/s, law {law}");
        assert!(
            (result / law - 1.0).abs() < 0.25,
            "p {p}: {result} for {law}"
        );
    }
}

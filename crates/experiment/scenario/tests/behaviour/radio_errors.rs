//! Errors in the section radio, as users see them.

use scenario::Scenario;

/// Whether the error of each text has the line given with it.
#[track_caller]
fn complaints(cases: &[(&str, &str)]) {
    for (text, complained) in cases {
        let error = Scenario::from_toml(text, "bad.toml", &[]).expect_err(text);
        assert_eq!(
            error.to_string(),
            format!("bad.toml:{complained}"),
            "{text}"
        );
    }
}

#[test]
fn the_access_link_is_the_radio_s_or_the_path_s() {
    for field in [
        "down = '20Mbit/s'",
        "up = '20Mbit/s'",
        "buffer = '2bdp'",
        "uplink_buffer = '2bdp'",
        "loss = 0.1",
        "uplink_loss = 0.1",
        "jitter = {}",
        "cross_traffic = [{}]",
    ] {
        let name = field.split(' ').next().unwrap();
        let complained = format!(
            "3: path.{name}: the access link is the radio's; leave this out, or the section radio"
        );
        complaints(&[(&format!("[radio]\n[path]\n{field}"), &complained)]);
    }
    let kept = "[radio]\n[path]\nrtt = '68ms'\nmtu = '1428B'\nqueue = 'codel'\nuplink_queue = 'pie'\n[[path.wired]]\nloss = 1e-4";
    Scenario::from_toml(kept, "good.toml", &[]).unwrap();
}

#[test]
fn a_carrier_is_one_that_3gpp_has() {
    complaints(&[
        (
            "[radio]\nband = 6",
            "2: radio.band: 6 is not a band of LTE in FDD that is known here; allowed: 1, 2, 3, 4, 5, 7, 8, 9, \
             10, 11, 12, 13, 14, 17, 18, 19, 20, 21, 22, 24, 25, 26, 27, 28, 30, 65, 66, 70, 71, 74, or \
             radio.frequency instead",
        ),
        (
            "[radio]\nband = 7\nfrequency = '2.65GHz'",
            "3: radio.frequency: is given beside band; allowed: one of the two",
        ),
        (
            "[radio]\nfrequency = '2650Hz'",
            "2: radio.frequency: 2650Hz is out of range; allowed: 410MHz to 6GHz",
        ),
        (
            "[radio]\nfrequency = 2650",
            "2: radio.frequency: \"2650\" is not a frequency such as \"2.65GHz\" (units: Hz, kHz, MHz, GHz)",
        ),
        (
            "[radio]\nbandwidth = '7MHz'",
            "2: radio.bandwidth: 7MHz is out of range; allowed: 1.4MHz, 3MHz, 5MHz, 10MHz, 15MHz, 20MHz",
        ),
        (
            "[radio]\nprbs = 99",
            "2: radio.prbs: 99 is out of range; allowed: 6, 15, 25, 50, 75, 100",
        ),
        (
            "[radio]\nprbs = 100\nbandwidth = '20MHz'",
            "2: radio.prbs: is given beside bandwidth; allowed: one of the two",
        ),
        (
            "[radio]\nband = 13",
            "1: radio.bandwidth: 20MHz is out of range; allowed: up to the 10MHz of band 13",
        ),
        (
            "[radio]\ntechnology = 'nr'\nfrequency = '10GHz'",
            "3: radio.frequency: 10GHz is out of range; allowed: 410MHz to 7.125GHz, 24.25GHz to 52.6GHz",
        ),
        (
            "[radio]\ntechnology = 'nr'\nfrequency = '3.5GHz'\nbandwidth = '100MHz'\nsubcarrier_spacing = '15kHz'",
            "4: radio.bandwidth: 100MHz is out of range; allowed: 5MHz, 10MHz, 15MHz, 20MHz, 25MHz, 30MHz, \
             35MHz, 40MHz, 45MHz, 50MHz with 15kHz in FR1",
        ),
        (
            "[radio]\ntechnology = 'nr'\nfrequency = '28GHz'\nsubcarrier_spacing = '30kHz'",
            "4: radio.subcarrier_spacing: 30kHz is out of range; allowed: 60kHz, 120kHz in FR2",
        ),
    ]);
}

#[test]
fn a_field_of_one_technology_is_rejected_on_the_other() {
    let lte = "this is only for technology \"nr\"; leave it out";
    let nr = "this is only for technology \"lte\"; leave it out";
    for (field, shown) in [
        ("subcarrier_spacing = '30kHz'", "30kHz"),
        ("tdd = 'DDDSU'", "DDDSU"),
        ("modulation = '64qam-low-rate'", "64qam-low-rate"),
    ] {
        let name = field.split(' ').next().unwrap();
        let complained = format!("2: radio.{name}: {shown} is set, but {lte}");
        complaints(&[(&format!("[radio]\n{field}"), &complained)]);
    }
    for (field, shown) in [("prbs = 50", "50"), ("transmit = 'diversity'", "diversity")] {
        let name = field.split(' ').next().unwrap();
        let complained = format!("3: radio.{name}: {shown} is set, but {nr}");
        complaints(&[(&format!("[radio]\ntechnology = 'nr'\n{field}"), &complained)]);
    }
}

#[test]
fn duplex_and_antennas_must_fit() {
    complaints(&[
        (
            "[radio]\ntechnology = 'nr'\nband = 78",
            "1: radio.tdd: is missing, but band 78 is TDD; allowed: a pattern such as \"DDDSU\"",
        ),
        (
            "[radio]\ntechnology = 'nr'\ntdd = 'DDDSU'",
            "3: radio.tdd: DDDSU is set, but this is only for TDD bands, and band 7 is FDD; leave it out",
        ),
        (
            "[radio]\ntechnology = 'nr'\ntdd = 'DDDD'",
            "3: radio.tdd: \"DDDD\" is not a TDD pattern; allowed: one letter per slot, D (downlink), U \
             (uplink) or S (special), with a D and a U at least, such as \"DDDSU\"",
        ),
        (
            "[radio]\nspecial_slot = '10:2:3'",
            "2: radio.special_slot: \"10:2:3\" is not a special slot; allowed: its downlink, guard and uplink \
             symbols, 14 together, such as \"10:2:2\"",
        ),
        (
            "[radio]\nspecial_slot = '6:4:4'",
            "2: radio.special_slot: 6:4:4 is set, but this is only for a tdd pattern with an S; leave it out",
        ),
        (
            "[radio]\nlayers = 3",
            "2: radio.layers: 3 is out of range; allowed: 1 to 2",
        ),
        (
            "[radio]\nlayers = 2",
            "1: radio.receive_antennas: 1 is out of range; allowed: as many as there are layers, 2, up to 8",
        ),
        (
            "[radio]\nlayers = 2\nreceive_antennas = 2\ntransmit = 'diversity'",
            "4: radio.transmit: diversity is set, but this is only for one layer; leave it out",
        ),
    ]);
}

#[test]
fn times_of_the_radio_are_whole_ttis_or_those_of_the_standard() {
    complaints(&[
        (
            "[radio.downlink]\ncqi_period = '1500us'",
            "2: radio.downlink.cqi_period: 1500us is out of range; allowed: multiples of the TTI, 1ms, from \
             1ms on",
        ),
        (
            "[radio]\ntechnology = 'nr'\n[radio.drx]\ninactivity = '1250us'",
            "4: radio.drx.inactivity: 1250us is out of range; allowed: multiples of the TTI, 500us",
        ),
        (
            "[radio.harq]\nround_trip = '2ms'",
            "2: radio.harq.round_trip: 2ms is out of range; allowed: times from decoding on, 4ms",
        ),
        (
            "[radio.drx]\nshort_cycle = '30ms'",
            "2: radio.drx.short_cycle: 30ms is out of range; allowed: times of which the long cycle, 320ms, \
             is a multiple",
        ),
        (
            "[radio.uplink]\nperiodic_bsr = '7ms'",
            "2: radio.uplink.periodic_bsr: 7ms is out of range; allowed: 5ms, 10ms, 16ms, 20ms, 32ms, 40ms, \
             64ms, 80ms, 128ms, 160ms, 320ms, 640ms, 1280ms, 2560ms",
        ),
        (
            "[radio.uplink]\nretx_bsr = '10ms'",
            "2: radio.uplink.retx_bsr: 10ms is out of range; allowed: 320ms, 640ms, 1280ms, 2560ms, 5120ms, \
             10240ms",
        ),
        (
            "[radio.uplink]\nsr_period = '7ms'",
            "2: radio.uplink.sr_period: 7ms is out of range; allowed: 1ms, 2ms, 5ms, 10ms, 20ms, 40ms, 80ms",
        ),
        (
            "[radio.uplink]\np0 = '30dBm'",
            "2: radio.uplink.p0: 30dBm is out of range; allowed: -202dBm to 24dBm",
        ),
        (
            "[radio.uplink]\nalpha = 0.3",
            "2: radio.uplink.alpha: 0.3 is out of range; allowed: 0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1",
        ),
        (
            "[radio.uplink.headroom]\nperiodic = '40ms'",
            "2: radio.uplink.headroom.periodic: 40ms is out of range; allowed: 10ms, 20ms, 50ms, 100ms, 200ms, \
             500ms, 1s",
        ),
        (
            "[radio.uplink.headroom]\nprohibit = '5ms'",
            "2: radio.uplink.headroom.prohibit: 5ms is out of range; allowed: 0s, 10ms, 20ms, 50ms, 100ms, \
             200ms, 500ms, 1s",
        ),
        (
            "[radio.uplink.headroom]\npath_loss_change = '2dB'",
            "2: radio.uplink.headroom.path_loss_change: 2dB is out of range; allowed: 1dB, 3dB, 6dB",
        ),
        (
            "[radio.uplink]\nperiodic_bsr = 'never'",
            "2: radio.uplink.periodic_bsr: \"never\" is not a timer; allowed: \"infinity\", a time such as \
             \"10ms\"",
        ),
    ]);
    let nr = "[radio]\ntechnology = 'nr'\n[radio.uplink]\nretx_bsr = '10ms'\nsr_period = '2500us'";
    Scenario::from_toml(nr, "good.toml", &[]).unwrap();
}

#[test]
fn what_a_mode_does_not_have_is_rejected() {
    complaints(&[
        (
            "[radio.rlc]\nmode = 'um'\npoll_pdus = 4",
            "3: radio.rlc.poll_pdus: 4 is set, but this is only for mode \"am\"; leave it out",
        ),
        (
            "[radio.rlc]\nsn_bits = 5",
            "2: radio.rlc.sn_bits: 5 is out of range; allowed: 10, 16",
        ),
        (
            "radio.technology = 'nr'\n[radio.rlc]\nsn_bits = 16",
            "3: radio.rlc.sn_bits: 16 is out of range; allowed: 12, 18",
        ),
        (
            "radio.technology = 'nr'\n[radio.rlc]\nmode = 'um'\nsn_bits = 10",
            "4: radio.rlc.sn_bits: 10 is out of range; allowed: 6, 12",
        ),
        (
            "[radio.rlc]\nbuffer = '1bdp'",
            "2: radio.rlc.buffer: 1bdp is out of range; allowed: packets (\"750packets\") or bytes (\"1MB\"), \
             a packet of the MTU, 1500B, at least",
        ),
        (
            "[radio.uplink]\naccess = 'configured'\nheadroom.periodic = '100ms'",
            "3: radio.uplink.headroom: {\"periodic\":\"100ms\",\"prohibit\":\"0s\",\"path_loss_change\":\"3dB\"} is \
             set, but this is only for access \"granted\"; leave it out",
        ),
        (
            "[radio.uplink]\naccess = 'configured'\nenhanced = true",
            "3: radio.uplink.enhanced: true is set, but this is only for access \"granted\"; leave it out",
        ),
        (
            "[radio.downlink]\nsubband_rate = 'weakest'",
            "2: radio.downlink.subband_rate: weakest is set, but this is only for cqi \"subband\"; leave it \
             out",
        ),
        (
            "[radio.handover]",
            "1: radio.handover: there are not two cells to hand over between; leave it out",
        ),
        (
            "[radio.propagation]\nload = 'actual'",
            "2: radio.propagation.load: \"actual\" is set, but this is only for UEs that have a place, and \
             none has; leave it out",
        ),
    ]);
}

#[test]
fn the_movement_of_fading_is_said_once_and_with_its_unit() {
    complaints(&[
        (
            "[radio.fading]\nprofile = 'EVA70'",
            "2: radio.fading.profile: \"EVA70\" is not a choice here; allowed: flat, EPA, EVA, ETU, HST",
        ),
        (
            "[radio.fading]\nspeed = 60",
            "2: radio.fading.speed: \"60\" is not a speed such as \"60km/h\" (units: m/s, km/h)",
        ),
        (
            "[radio.fading]\nprofile = 'EPA'",
            "1: radio.fading.speed: is missing; allowed: speed, such as \"60km/h\", or doppler, such as \"70Hz\"",
        ),
        (
            "[radio.fading]\nspeed = '60km/h'\ndoppler = '70Hz'",
            "3: radio.fading.doppler: is given beside speed; allowed: one of the two",
        ),
        (
            "[radio.fading]\nprofile = 'HST'",
            "1: radio.fading.speed: is missing; allowed: the speed of the train, such as \"300km/h\"",
        ),
        (
            "[radio.fading]\nprofile = 'HST'\ndoppler = '750Hz'",
            "3: radio.fading.doppler: 750Hz is set, but this is only for UEs that are not on a train; leave it \
             out",
        ),
        (
            "[[radio.ues]]\nfading = { speed = '1000m/s' }",
            "2: radio.ues.0.fading.speed: 1000m/s is out of range; allowed: 0m/s to 300m/s",
        ),
        (
            "[radio.fading]\nspeed = '60km/h'\ntracking = 'slow'",
            "3: radio.fading.tracking: \"slow\" is not a way of tracking; allowed: \"ideal\", \"fixed\", a \
             period such as \"100ms\"",
        ),
    ]);
}

#[test]
fn a_ue_receives_one_thing() {
    complaints(&[
        (
            "[[radio.ues]]\nsinr = '20dB'\nposition = {}",
            "3: radio.ues.0.position: is given beside sinr; allowed: one of sinr, position, waypoints, sumo",
        ),
        (
            "[[radio.ues]]\nvelocity = { x = '30m/s' }",
            "2: radio.ues.0.velocity: is given without position; allowed: both or position alone",
        ),
        (
            "[[radio.ues]]\nposition = { x = '600m' }",
            "1: radio.cells: the list is empty; allowed: one cell or more, as \"phone\" has a place",
        ),
        (
            "[[radio.ues]]\nsinr = 20",
            "2: radio.ues.0.sinr: 20 is not a ratio such as \"20dB\", a list of points (at, sinr), or a table \
             with trace or phone_log",
        ),
        (
            "[[radio.ues]]\nsinr = []",
            "2: radio.ues.0.sinr: the list is empty; allowed: one point or more",
        ),
        (
            "[[radio.ues]]\nsinr = [{ at = '1s', sinr = '20dB' }]",
            "2: radio.ues.0.sinr.0.at: 1s is out of range; allowed: 0s for the first point",
        ),
        (
            "[[radio.ues]]\nsinr = [{ at = '0s', sinr = '20dB' },\n{ at = '0s', sinr = '5dB' }]",
            "3: radio.ues.0.sinr.1.at: 0s is out of range; allowed: times after the point before, 0s",
        ),
        (
            "[[radio.ues]]\nsinr = { trace = 'a.csv', offset = '1s' }",
            "2: radio.ues.0.sinr: give exactly one of trace, phone_log (with an optional offset)",
        ),
        (
            "[[radio.ues]]\nsumo = { vehicle = 'car7' }",
            "2: radio.ues.0.sumo: give exactly one of fcd, ns2, the name of a file",
        ),
        (
            "[[radio.ues]]\nwaypoints = [\n{ at = '2s', x = '0m', y = '0m' },\n{ at = '1s', x = '0m', y = '0m' }]",
            "4: radio.ues.0.waypoints.1.at: 1s is out of range; allowed: times after the point before, 2s",
        ),
    ]);
}

#[test]
fn nodes_have_names_of_their_own() {
    complaints(&[
        (
            "[[radio.ues]]\n[[radio.ues]]\nname = 'phone'",
            "3: radio.ues.1.name: \"phone\" is already the value of radio.ues.0.name",
        ),
        (
            "[[radio.ues]]\n[[radio.ues]]\nname = 'car'\ncount = 2\n[[radio.ues]]\nname = 'car-2'",
            "6: radio.ues.2.name: \"car-2\" is already the value of radio.ues.1.name",
        ),
        (
            "[[radio.ues]]\n[[radio.ues]]\nname = 'server'",
            "3: radio.ues.1.name: \"server\" is out of range; allowed: the name of a new node",
        ),
        (
            "[[radio.ues]]\n[[radio.ues]]\nname = 'node'\ncount = 2\n[[path.wired]]\n[[path.wired]]",
            "3: radio.ues.1.name: \"node-1\" is a node of the path; choose another name",
        ),
        (
            "[[radio.ues]]\n[[radio.ues]]\nname = 'access'",
            "3: radio.ues.1.name: \"access\" is the name of the phone's link; choose another",
        ),
        (
            "[[radio.ues]]\n[[radio.ues]]\nname = 'car'\n[[path.wired]]\nname = 'car'",
            "5: path.wired.0.name: \"car\" is the name of an access link; choose another",
        ),
        (
            "[[radio.ues]]\ncount = 3",
            "1: radio.ues: no UE is the node \"phone\", at which the path ends; allowed: one with that name and a count of 1",
        ),
        (
            "[radio]\n[[flows]]\nto = 'car'",
            "3: flows.0.to: \"car\" is not a node; allowed: gateway, phone, server",
        ),
        (
            "[[radio.ues]]\n[[radio.ues]]\nname = 'car'\ncount = 2\n[[flows]]\nto = 'car'",
            "6: flows.0.to: \"car\" is not a node; allowed: car-1, car-2, gateway, phone, server",
        ),
        (
            "[[radio.cells]]\nname = 'a'\n[[radio.cells]]\nname = 'a'",
            "4: radio.cells.1.name: \"a\" is already the value of radio.cells.0.name",
        ),
        (
            "[[radio.cells]]\n[[radio.ues]]\n[[radio.ues]]\nsumo = { fcd = 'a', vehicle = '*' }\n[[radio.ues]]\n\
             sumo = { fcd = 'a', vehicle = '*' }",
            "6: radio.ues.2.sumo.vehicle: \"*\" stands in radio.ues.1 for the same file",
        ),
    ]);
}

#[test]
fn cells_and_triggers_are_checked_against_the_standards() {
    complaints(&[
        (
            "[[radio.cells]]\npower = '46dB'",
            "2: radio.cells.0.power: \"46dB\" is not a power such as \"46dBm\" (unit: dBm)",
        ),
        (
            "[[radio.cells]]\nantenna = { kind = 'sector', tilt = '5deg' }",
            "2: radio.cells.0.antenna.tilt: is given without vertical_width; allowed: both or none",
        ),
        (
            "[[radio.cells]]\n[radio.propagation]\nlos = 'probable'\n[[radio.ues]]\nposition = {}",
            "3: radio.propagation.los: probable is set, but this is only for the models \
             \"tr36814-sighted\", \"tr38901-uma\" and \"tr38901-rma\"; leave it out",
        ),
        (
            "[[radio.cells]]\n[[radio.cells]]\n[radio.handover]\ntrigger = { kind = 'a3', hysteresis = '3.3dB' }",
            "4: radio.handover.trigger.hysteresis: 3.3dB is out of range; allowed: 0dB to 15dB in steps of \
             0.5dB",
        ),
        (
            "[[radio.cells]]\n[[radio.cells]]\n[radio.handover.trigger]\nkind = 'a2-a4'\ntime_to_trigger = '50ms'",
            "5: radio.handover.trigger.time_to_trigger: 50ms is out of range; allowed: 0s, 40ms, 64ms, 80ms, \
             100ms, 128ms, 160ms, 256ms, 320ms, 480ms, 512ms, 640ms, 1024ms, 1280ms, 2560ms, 5120ms",
        ),
        (
            "[radio.link_failure]\nin_sync = '-9dB'",
            "2: radio.link_failure.in_sync: -9dB is out of range; allowed: out_of_sync, -8dB, or more",
        ),
    ]);
}

/// A flow can end at all nodes of a UE, at one of its ends.
#[test]
fn all_nodes_of_a_ue_are_one_end_of_a_flow() {
    let machines =
        "[radio]\n[[radio.ues]]\n[[radio.ues]]\nname = 'machine'\ncount = 2\n[[flows]]\n";
    complaints(&[
        (
            &format!("{machines}from = 'car-*'\nto = 'server'"),
            "7: flows.0.from: \"car-*\" is not a node; allowed: gateway, machine-1, machine-2, phone, server",
        ),
        (
            &format!("{machines}from = 'machine-*'\nto = 'machine-*'"),
            "8: flows.0.to: \"machine-*\" is many nodes, as from is; allowed: one node",
        ),
    ]);
    let one =
        Scenario::from_toml(&format!("{machines}to = 'machine-*'"), "good.toml", &[]).unwrap();
    assert_eq!(one.expand_flows().flows.len(), 2);
}

//! The section radio: its defaults, what follows from it, overrides, and what is printed.

use proptest::prelude::*;
use scenario::radio::{
    Access, Antenna, Frequency, PathLoss, Profile, SignalSource, Sinr, Speed, Timer, Train, Trigger,
};
use scenario::{Buffer, Radio, Scenario};
use units::{Decibel, Duration};

#[track_caller]
fn with(text: &str, overrides: &[&str]) -> Scenario {
    let overrides: Vec<String> = overrides.iter().map(|o| (*o).to_owned()).collect();
    Scenario::from_toml(text, "test.toml", &overrides).unwrap_or_else(|e| panic!("{e}"))
}

#[track_caller]
fn radio(text: &str, overrides: &[&str]) -> Radio {
    with(text, overrides).radio.expect("there is a radio")
}

/// 1000 m at 60 km/h between two cells, with cars around.
const DRIVE: &str = "
[radio.fading]
speed = '60km/h'
[[radio.cells]]
antenna = { kind = 'sector', azimuth = '30deg' }
[[radio.cells]]
x = '1km'
[radio.handover]
[[radio.ues]]
position = { x = '100m' }
velocity = { x = '60km/h' }
[[radio.ues]]
name = 'car'
count = 2
sinr = '10dB'
cross_traffic = [{ rate = '2500kbit/s', packet = '1400B', stop = '20s' }]
[[radio.ues]]
name = 'm3'
sumo = { fcd = 'm3.fcd.xml', vehicle = '*' }
";

#[test]
fn an_empty_section_is_a_phone_at_20_db_in_a_cell_of_20_mhz_in_band_7() {
    let radio = radio("[radio]", &[]);
    assert_eq!(radio, Radio::default());
    assert_eq!(radio.carrier(), Some(Frequency::from_hertz(2655e6)));
    assert_eq!(radio.width(), Some(Frequency::from_hertz(20e6)));
    assert_eq!(radio.tti(), Duration::from_millis(1));
    assert_eq!(radio.nodes().collect::<Vec<_>>(), ["phone"]);
    assert_eq!(
        radio.ues[0].signal_source(),
        SignalSource::Sinr(&Sinr::Constant(Decibel::new(20.0)))
    );
    let named = self::radio("[[radio.ues]]\n[[radio.ues]]", &[]);
    assert_eq!(named.nodes().collect::<Vec<_>>(), ["phone", "ue-2"]);
    assert_eq!(named.ues[1].signal_source(), radio.ues[0].signal_source());
}

#[test]
fn slots_of_nr_set_its_times() {
    let nr = "[radio]\ntechnology = 'nr'\nband = 258\ntdd = 'DDDSU'\nbandwidth = '100MHz'";
    let radio = radio(&format!("{nr}\nsubcarrier_spacing = '120kHz'"), &[]);
    assert_eq!(radio.tti(), Duration::from_micros(125));
    assert_eq!(radio.harq_round_trip(), Duration::from_millis(1));
    assert_eq!(radio.harq_processes(), 16);
    assert_eq!(radio.decoding(), Duration::from_micros(500));
}

#[test]
fn resource_blocks_stand_for_a_width() {
    for (prbs, mhz) in [(6, 1.4), (50, 10.0), (100, 20.0)] {
        let radio = radio(&format!("[radio]\nprbs = {prbs}"), &[]);
        assert_eq!(radio.width(), Some(Frequency::from_hertz(mhz * 1e6)));
    }
}

#[test]
fn a_train_has_the_track_of_ts_36_101_unless_it_has_its_own() {
    let fading = |text: &str| radio(text, &[]).fading.expect("there is fading");
    let hst = fading("[radio.fading]\nprofile = 'HST'\nspeed = '300km/h'");
    assert_eq!(hst.profile, Profile::Hst);
    assert_eq!(hst.track(), Some(Train::default()));
    let eva = fading("[radio.fading]\nspeed = '300km/h'\n[radio.fading.train]\nspacing = '1km'");
    assert_eq!(eva.track().map(|train| train.spacing.metres()), Some(1e3));
    assert_eq!(fading("[radio.fading]\ndoppler = '70Hz'").track(), None);
}

#[test]
fn ues_are_nodes_that_flows_and_links_name() {
    let scenario = with(
        &format!(
            "{DRIVE}\n[[flows]]\nto = 'car-2'\n[[flows]]\nfrom = 'm3-car7'\nto = 'server'\n[[flows]]\nto = \
             'laptop'\n[[links]]\nfrom = 'phone'\nto = 'laptop'"
        ),
        &[],
    );
    let radio = scenario.radio.expect("there is a radio");
    assert_eq!(
        radio.nodes().collect::<Vec<_>>(),
        ["phone", "car-1", "car-2"]
    );
    assert!(radio.may_be_vehicle("m3-car7") && !radio.may_be_vehicle("m3-"));
    assert!(!radio.may_be_vehicle("car-3"));
}

#[test]
fn an_override_makes_a_radio_where_there_is_none() {
    let rlc = radio("", &["radio.rlc.buffer=100packets"]).rlc;
    assert_eq!(rlc.buffer, Buffer::Packets(100));
    let ues = radio("", &["radio.ues.1.count=3", "radio.ues.0.sinr=5dB"]).ues;
    assert_eq!((ues[0].name.as_str(), ues[1].count), ("phone", 3));
    assert_eq!(ues[0].sinr, Some(Sinr::Constant(Decibel::new(5.0))));
    assert_eq!(with("", &["path.rtt=68ms"]).radio, None);
}

#[test]
fn one_alternative_replaces_the_other() {
    let carrier = radio("[radio]\nband = 3\nprbs = 50", &["radio.frequency=800MHz"]);
    assert_eq!(carrier.band, None);
    let width = radio("[radio]\nprbs = 50", &["radio.bandwidth=5MHz"]);
    assert_eq!((width.prbs, width.width()), (None, width.bandwidth));
    let fading = radio(DRIVE, &["radio.fading.doppler=70Hz"]).fading.unwrap();
    assert_eq!(fading.speed, None);
    let ue = &radio(DRIVE, &["radio.ues.0.sinr=3dB"]).ues[0];
    assert_eq!((ue.position, ue.velocity), (None, None));
    let log = radio(
        DRIVE,
        &[
            "radio.ues.1.sinr.trace=a.csv",
            "radio.ues.1.sinr.phone_log=b.csv",
            "radio.ues.1.sinr.offset=30s",
        ],
    );
    assert!(matches!(&log.ues[1].sinr, Some(Sinr::PhoneLog(log)) if log.phone_log == "b.csv"));
    let moved = radio(DRIVE, &["radio.ues.2.sumo.ns2=m3.tcl"]).ues;
    assert_eq!(moved[2].sumo.as_ref().unwrap().fcd, None);
}

#[test]
fn a_word_grows_parameters() {
    let radio = radio(
        DRIVE,
        &[
            "radio.propagation.model=log-distance",
            "radio.propagation.model.exponent=3",
            "radio.cells.1.antenna=sector",
            "radio.cells.1.antenna.azimuth=210deg",
            "radio.handover.trigger.kind=a2-a4",
            "radio.handover.trigger.serving=20",
        ],
    );
    assert!(matches!(radio.propagation.model, PathLoss::LogDistance(log) if log.exponent == 3.0));
    assert!(matches!(&radio.cells[1].antenna, Antenna::Sector(s) if s.azimuth.degrees() == 210.0));
    let handover = radio.handover.unwrap();
    assert!(matches!(handover.trigger, Trigger::A2A4(a2_a4) if a2_a4.serving == 20));
}

#[test]
fn what_is_random_about_a_radio_is_told() {
    let none = "[variation]\nstart_jitter = '0s'";
    assert_eq!(
        with(&format!("{none}\n[radio]"), &[]).randomness(),
        ["block errors"]
    );
    let all = [
        "radio.propagation.model=tr38901-uma",
        "radio.propagation.los=probable",
        "radio.propagation.shadowing={}",
    ];
    assert_eq!(
        with(&format!("{none}\n{DRIVE}"), &all).randomness(),
        ["fading", "shadowing", "line of sight", "block errors"]
    );
}

/// Results that were stored before remain those of the same scenario.
#[test]
fn a_scenario_without_radio_has_the_hash_that_it_had_without_the_section() {
    assert_eq!(with("", &[]).hash(), "77fdf454a98b26bb");
    assert!(!with("", &[]).to_json().contains("radio"));
    assert!(with("", &[]).to_toml().contains("\n# radio =\n"));
}

/// One field of the section and values for it.
fn assignment() -> impl Strategy<Value = String> {
    let field = |name: &'static str| move |value: String| format!("radio.{name}={value}");
    let ratio = (-30.0..30.0_f64).prop_map(|db| format!("{db}dB"));
    let time = (1_u64..1_000_000).prop_map(|ns| format!("{ns}us"));
    let subframes = (1_u64..200).prop_map(|ms| format!("{ms}ms"));
    let metres = (-1e4..1e4_f64).prop_map(|m| format!("{m}m"));
    let speed = prop_oneof![
        (0.0..80.0_f64).prop_map(|speed| format!("{speed}m/s")),
        (0_u32..300).prop_map(|speed| format!("{speed}km/h")),
    ];
    let hertz = (1.0..9e3_f64).prop_map(|hz| format!("{hz}Hz"));
    let carrier = (500.0..5e3_f64).prop_map(|mhz| format!("{mhz}MHz"));
    let word = |name: &'static str, words: &[&'static str]| {
        prop::sample::select(words.to_vec()).prop_map(move |word| format!("radio.{name}={word}"))
    };
    prop_oneof![
        carrier.prop_map(field("frequency")),
        word("band", &["1", "3", "7", "20", "28", "66"]),
        word("prbs", &["6", "15", "25", "50", "75", "100"]),
        word("bandwidth", &["1.4MHz", "3MHz", "5MHz", "10MHz", "20MHz"]),
        word("modulation", &["64qam", "256qam"]),
        word("downlink.cqi", &["wideband", "subband"]),
        word("uplink.protocol", &["standard", "kim2016"]),
        word("uplink.periodic_bsr", &["infinity", "5ms", "2560ms"]),
        word("fading.profile", &["flat", "EPA", "EVA", "ETU"]),
        word("fading.tracking", &["ideal", "fixed", "100ms"]),
        word("fading.estimation", &["ideal", "lte", "lte-slot", "500us"]),
        word(
            "propagation.model",
            &["friis", "cost231-hata", "tr38901-rma"]
        ),
        word("handover.trigger", &["a3", "a2-a4"]),
        word("cells.0.antenna", &["omni", "sector"]),
        subframes.clone().prop_map(field("downlink.cqi_period")),
        subframes.prop_map(field("drx.inactivity")),
        time.clone().prop_map(field("rlc.reordering")),
        time.clone().prop_map(field("handover.x2_delay")),
        time.prop_map(field("propagation.update_period")),
        ratio.clone().prop_map(field("uplink.sinr")),
        ratio.clone().prop_map(field("ues.1.sinr")),
        ratio.prop_map(|db| format!(
            "radio.ues.1.sinr=[{{ at = '0s', sinr = '{db}' }}, {{ at = '9s', sinr = '0dB' }}]"
        )),
        metres.clone().prop_map(field("cells.1.y")),
        metres.clone().prop_map(field("ues.0.position.x")),
        metres
            .prop_map(|m| format!("radio.ues.0.waypoints=[{{ at = '3s', x = '{m}', y = '1km' }}]")),
        speed.clone().prop_map(field("fading.speed")),
        speed.prop_map(field("ues.1.fading.speed")),
        hertz.prop_map(field("fading.doppler")),
        Just("radio.downlink.outer_loop={}".to_owned()),
        Just("radio.propagation.shadowing={}".to_owned()),
    ]
}

proptest! {
    #[test]
    fn any_radio_is_printed_and_read_back(assignments in prop::collection::vec(assignment(), 0..10)) {
        let scenario = Scenario::from_toml(DRIVE, "random.toml", &assignments)
            .map_err(|e| TestCaseError::fail(e.to_string()))?;
        let printed = scenario.to_toml();
        let again = Scenario::from_toml(&printed, "printed", &[])
            .map_err(|e| TestCaseError::fail(format!("{e}\n{printed}")))?;
        prop_assert_eq!(&again, &scenario);
        prop_assert_eq!(again.hash(), scenario.hash());
        let from_json: Scenario = serde_json::from_str(&scenario.to_json()).unwrap();
        prop_assert_eq!(&from_json, &scenario);
    }
}

#[test]
fn every_field_of_a_radio_is_explained_where_it_is_first_printed() {
    let every = [
        "radio.drx={}",
        "radio.downlink.outer_loop={}",
        "radio.propagation.shadowing={}",
        "radio.propagation.model=tr38901-rma",
        "radio.fading.train={}",
    ];
    let printed = with(DRIVE, &every).to_toml();
    let lines: Vec<&str> = printed.lines().collect();
    for field in [
        "technology = \"lte\"",
        "# band =",
        "special_slot = \"10:2:2\"",
        "scheduler = \"proportional-fair\"",
        "target = 0.1",
        "# processes =",
        "mode = \"am\"",
        "periodic_bsr = \"10ms\"",
        "on_duration = \"10ms\"",
        "speed = \"60km/h\"",
        "spacing = \"300m\"",
        "street_width = \"20m\"",
        "deviation = \"8dB\"",
        "azimuth = \"30deg\"",
        "name = \"phone\"",
        "hysteresis = \"3dB\"",
        "t310 = \"1s\"",
    ] {
        let at = lines.iter().position(|line| *line == field);
        let at = at.unwrap_or_else(|| panic!("{field} is missing in\n{printed}"));
        assert!(lines[at - 1].starts_with("# "), "{field} is not explained");
    }
}

#[test]
fn words_and_texts_mean_what_they_say() {
    let uplink = radio("[radio.uplink]\nperiodic_bsr = 'infinity'", &[]).uplink;
    assert_eq!(uplink.periodic_bsr, Timer::Infinity);
    let uplink = radio("[radio.uplink]\naccess = 'configured'", &[]).uplink;
    assert_eq!(uplink.access, Access::Configured);
    let fading = radio("[radio.fading]\nspeed = '36km/h'", &[])
        .fading
        .unwrap();
    let speed = fading.speed.map(Speed::metres_per_second);
    assert!((speed.unwrap() - 10.0).abs() < 1e-12);
}

#[test]
fn prescheduling_is_turned_off_and_on_again() {
    let off = with("[radio.uplink]\nprescheduling = \"off\"", &[]);
    let uplink = |scenario: &Scenario| scenario.radio.clone().unwrap().uplink;
    assert_eq!(uplink(&off).prescheduling, None);
    assert_eq!(
        with("", &["radio.uplink.prescheduling=off"]).radio,
        off.radio
    );
    let printed = off.to_toml();
    assert!(printed.contains("prescheduling = \"off\""), "{printed}");
    assert_eq!(with(&printed, &[]), off);
    let on = with(&printed, &["radio.uplink.prescheduling.grant=64B"]);
    assert_eq!(uplink(&on).prescheduling.unwrap().grant.get(), 64);
    let error = Scenario::from_toml("[radio.uplink]\nprescheduling = \"no\"", "bad.toml", &[]);
    assert_eq!(
        error.unwrap_err().to_string(),
        "bad.toml:2: radio.uplink.prescheduling: \"no\" is not a table or \"off\""
    );
}

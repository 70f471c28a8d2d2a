//! Settings on the command line: line-ups of congestion controls, and quantities.

use scenario::{CcaMix, Scenario};
use units::{
    Angle, Bytes, Decibel, Duration, Frequency, Gain, Length, Power, Quantity, Rate, Speed,
};

fn sources(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

#[test]
fn lineups() {
    let sources = sources(&[
        "cubic:beta=0.8,bbr,newreno",
        "auto:policy=rules,requirement=delay@50ms,hints=true",
        "cubic+bbr,3*vegas",
        "flow-1=cubic,flow-2=copa",
        "all",
        "split-host:cca=bbr,buffer=1MB/cubic",
    ]);
    fuzz::fuzz("lineups", &sources, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        for lineup in CcaMix::list(&text, &[], None).into_iter().flatten() {
            let mut scenario = Scenario::default();
            lineup.apply(&mut scenario);
            let _ = scenario.check_middleboxes();
        }
    });
}

/// Reads a quantity; what is read is written so that it is read again.
fn read<Q: Quantity + PartialEq + std::fmt::Debug>(text: &str) {
    if let Ok(quantity) = Q::read(text) {
        let written = quantity.write();
        assert_eq!(
            Q::read(&written).as_ref(),
            Ok(&quantity),
            "{text:?} {written}"
        );
    }
}

#[test]
fn quantities() {
    let sources = sources(&[
        "68ms", "1.5 s", "20Mbit/s", "2MiB", "1e3kbps", "2.65GHz", "60km/h", "600m", "30deg",
        "46dBm", "15dBi", "-3.5dB",
    ]);
    fuzz::fuzz("quantities", &sources, |bytes| {
        let text = String::from_utf8_lossy(bytes);
        read::<Duration>(&text);
        read::<Rate>(&text);
        read::<Bytes>(&text);
        read::<Frequency>(&text);
        read::<Speed>(&text);
        read::<Length>(&text);
        read::<Angle>(&text);
        read::<Power>(&text);
        read::<Gain>(&text);
        read::<Decibel>(&text);
    });
}

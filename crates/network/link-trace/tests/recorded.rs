//! Statistics of real recordings, if they are at hand.

mod recordings;

use link_trace::Trace;
use recordings::recordings;
use units::Duration;

fn read(name: &str, text: &str) -> Trace {
    link_trace::read(text, name).unwrap()
}

#[test]
fn mahimahi_recordings_have_their_known_figures() {
    let Some(files) = recordings("mahimahi") else {
        return;
    };
    let statistics = |wanted: &str| {
        let (name, text) = files.iter().find(|(name, _)| name == wanted).unwrap();
        read(name, text).statistics(Duration::from_secs(1))
    };
    let drive = statistics("ATT-LTE-driving.down");
    assert_eq!(drive.duration.as_millis() / 1_000, 786);
    assert!(
        (drive.mean.as_mbps() - 5.2).abs() < 0.05,
        "{}",
        drive.mean.as_mbps()
    );
    let gap = statistics("ATT-LTE-driving.up").longest_gap;
    assert_eq!(gap.as_millis() / 1_000, 78);
    let short = statistics("TMobile-LTE-short.down");
    assert_eq!(short.duration, Duration::from_millis(139_986));
    assert!(
        (short.mean.as_mbps() - 16.7).abs() < 0.05,
        "{}",
        short.mean.as_mbps()
    );
}

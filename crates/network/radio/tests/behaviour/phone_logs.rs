//! Real phone logs, if they are at hand.

#[path = "../../../link-trace/tests/recordings/mod.rs"]
mod recordings;

use radio::channel::{FadedSinr, PhoneLog};
use recordings::recordings;
use units::{Duration, Instant};

fn logs() -> Option<Vec<(String, String)>> {
    recordings("5gdataset")
}

const GAP: Duration = Duration::from_secs(5);

/// Every log is read. Those that stayed on LTE and 5G give a trace of their whole length; the others name the line
/// and the network without SNR.
#[test]
fn every_log_is_a_trace_or_says_where_it_is_not() {
    let Some(files) = logs() else { return };
    let (mut traces, mut rejected) = (0, 0);
    for (name, text) in &files {
        let log = PhoneLog::read(name, text).unwrap();
        let samples = log.samples();
        let last = samples[samples.len() - 1].at;
        match log.sinr_trace(Duration::ZERO, None, GAP) {
            Ok(trace) => {
                traces += 1;
                assert_eq!(Instant::ZERO + trace.length(), last, "{name}");
                let middle = &samples[samples.len() / 2];
                assert_eq!(trace.mean_db(middle.at), middle.snr_db.unwrap(), "{name}");
                let link = FadedSinr::unfaded(trace);
                let mut out = [0.0; 25];
                link.sinr_db(middle.at, &mut out);
                assert_eq!(out, [middle.snr_db.unwrap() as f32; 25]);
            }
            Err(error) => {
                rejected += 1;
                let text = error.to_string();
                assert!(text.contains("no SNR") && text.contains("HS"), "{text}");
            }
        }
    }
    assert_eq!((traces, rejected), (7, 4));
}

/// Between neighbouring CQIs the phone's mean SNR rises.
#[test]
fn the_reported_cqi_rises_with_the_snr() {
    let Some(files) = logs() else { return };
    let mut by_cqi = [(0.0, 0_u32); 16];
    let mut changes = 0;
    for (name, text) in &files {
        let log = PhoneLog::read(name, text).unwrap();
        let pairs = log.samples().windows(2);
        changes += pairs.filter(|pair| pair[0].cell != pair[1].cell).count();
        for sample in log.samples() {
            if let (Some(snr), Some(cqi)) = (sample.snr_db, sample.cqi) {
                let (sum, count) = &mut by_cqi[usize::from(cqi)];
                *sum += snr;
                *count += 1;
            }
        }
    }
    let known: Vec<f64> = by_cqi
        .iter()
        .filter(|(_, count)| *count >= 300)
        .map(|(sum, count)| sum / f64::from(*count))
        .collect();
    assert!(known.len() >= 5, "{by_cqi:?}");
    let rises = known.windows(2).filter(|pair| pair[1] > pair[0]).count();
    assert!(rises + 1 >= known.len() - 1, "{known:?}");
    assert!(changes > 50, "{changes}");
}

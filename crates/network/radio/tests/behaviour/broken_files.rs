//! Broken files: every reader answers with a result, whatever the file holds.

use proptest::prelude::*;
use radio::channel::mobility::{read_fcd, read_ns2};
use radio::channel::{PhoneLog, SinrTrace};
use units::Duration;

const FCD: &str = r#"<fcd-export><timestep time="0"><vehicle id="a" x="1" y="2"/></timestep>
<timestep time="1"><vehicle id="a" x="3" y="2"/></timestep></fcd-export>"#;

const NS2: &str = "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$ns_ at 1 \"$node_(0) setdest 5 5 1\"\n";

const LOG: &str = "Timestamp,Speed,RAWCELLID,NetworkMode,RSRP,RSRQ,SNR,CQI
2019.12.31_23.59.58,0,11,5G,-99,-15,6.0,12
2019.12.31_23.59.59,0,11,5G,-99,-15,6.0,12
";

const TRACE: &str = "0,1\n1,2\n2,-3.5\n";

/// Returns `text` with `insert` in place of `removed` characters from `from` on.
fn changed(text: &str, from: usize, removed: usize, insert: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let from = from % characters.len();
    let to = (from + removed).min(characters.len());
    characters.splice(from..to, insert.chars());
    characters.into_iter().collect()
}

proptest! {
    #[test]
    fn readers_answer_every_text(
        from in 0_usize..400,
        removed in 0_usize..12,
        insert in r#"[-0-9.,"<>&/= a-z\n€]{0,6}"#,
    ) {
        let longest = Duration::from_secs(5);
        if let Err(error) = read_fcd("f", &changed(FCD, from, removed, &insert), &[], 1.5) {
            prop_assert!(error.to_string().starts_with("f:"));
        }
        if let Err(error) = read_ns2("f", &changed(NS2, from, removed, &insert), &[], 1.5) {
            prop_assert!(error.to_string().starts_with("f:"));
        }
        if let Err(error) = SinrTrace::read("f", &changed(TRACE, from, removed, &insert), longest) {
            prop_assert!(error.to_string().starts_with("f:"));
        }
        let trace = PhoneLog::read("f", &changed(LOG, from, removed, &insert))
            .and_then(|log| log.sinr_trace(Duration::ZERO, None, longest));
        if let Err(error) = trace {
            prop_assert!(error.to_string().starts_with("f:"));
        }
    }
}

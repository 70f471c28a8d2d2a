//! Files of the radio: phone logs, traces of the SINR, and movements of SUMO and ns-2.

use radio::channel::mobility::{read_fcd, read_ns2};
use radio::channel::{PhoneLog, SinrTrace};
use units::Duration;

const FCD: &str = r#"<fcd-export><timestep time="0"><vehicle id="a" x="1" y="2"/></timestep>
<timestep time="1.50"><vehicle id="a" x="3" y="2" speed="13.9"/><vehicle id="b" x="-3" y="2e3"/></timestep></fcd-export>"#;

const NS2: &str = "$node_(0) set X_ 1\n$node_(0) set Y_ 2\n$node_(0) set Z_ 0\n$ns_ at 1 \"$node_(0) setdest 5 5 1\"\n\
    $ns_ at 2.5 \"$node_(0) setdest 50.5 5 10\"\n";

const LOG: &str = "Timestamp,Speed,RAWCELLID,NetworkMode,RSRP,RSRQ,SNR,CQI
2019.12.31_23.59.58,0,11,5G,-99,-15,6.0,12
2019.12.31_23.59.59,0,11,5G,-99,-15,-,12
2020.01.01_00.00.04,3,12,4G,-99,-15,-2.5,12
";

const TRACE: &str = "time,sinr\n0,1\n1,2\n2.25,-3.5\n90,7\n";

const MAX_GAP: Duration = Duration::from_secs(5);

fn sources(texts: &[&str]) -> Vec<Vec<u8>> {
    texts.iter().map(|text| text.as_bytes().to_vec()).collect()
}

#[test]
fn movements() {
    fuzz::fuzz("movements", &sources(&[FCD, NS2]), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let _ = read_fcd("f", &text, &[], 1.5);
        let _ = read_ns2("f", &text, &[], 1.5);
    });
}

#[test]
fn sinr_traces() {
    fuzz::fuzz("sinr-traces", &sources(&[TRACE, LOG]), |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let _ = SinrTrace::read("f", &text, MAX_GAP);
        if let Ok(log) = PhoneLog::read("f", &text) {
            let _ = log.sinr_trace(Duration::ZERO, None, MAX_GAP);
        }
    });
}

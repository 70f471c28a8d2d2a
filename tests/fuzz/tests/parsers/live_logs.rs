//! Logs of live runs, replayed to the end.

use std::collections::BTreeMap;
use std::path::PathBuf;

use live::{LogHeader, LoggedChange, LoggedScenario, replay_from};
use packet::{addressing, wire};

use crate::made_up::download;

/// Returns a log of a download between the server and the phone, with an end or without.
fn log(packets: u32, end: bool) -> Vec<u8> {
    let logged = |rate| LoggedScenario {
        scenario: format!("[path]\nrtt = \"20ms\"\n[path.down]\nrate = \"{rate}Mbps\"\n"),
        directory: PathBuf::from("."),
        files: BTreeMap::new(),
    };
    let names = ["cubic", "6.18"].map(str::to_owned);
    let header = LogHeader::new(logged(10), names, 1);
    let mut bytes = serde_json::to_vec(&header).expect("it is JSON");
    bytes.push(b'\n');
    let mut last = 0_u64;
    for (at, packet) in download(packets) {
        let parsed = wire::parse(&packet).expect("it is TCP");
        let host = addressing::host_of(parsed.source.ip()).unwrap_or(0);
        last = at;
        bytes.extend(last.to_le_bytes());
        bytes.extend(host.to_le_bytes());
        bytes.extend((packet.len() as u32).to_le_bytes());
        bytes.extend(&packet[..packet.len().min(128)]);
    }
    // Another rate, and an interruption of 1 ms.
    let change = LoggedChange {
        fields: vec!["path.down.rate=5Mbps".to_owned()],
        scenario: logged(5),
    };
    let changed = serde_json::to_vec(&change).expect("it is JSON");
    for (record, content) in [(1, changed), (2, 1_000_000_u64.to_le_bytes().to_vec())] {
        bytes.extend(last.to_le_bytes());
        bytes.extend((u32::MAX - record).to_le_bytes());
        bytes.extend((content.len() as u32).to_le_bytes());
        bytes.extend(content);
    }
    if end {
        bytes.extend(last.to_le_bytes());
        bytes.extend(u32::MAX.to_le_bytes());
        bytes.extend(24_u32.to_le_bytes());
        bytes.extend([0; 24]);
    }
    bytes
}

#[test]
fn live_logs() {
    fuzz::fuzz("live_logs", &[log(10, true), log(20, false)], |bytes| {
        let _ = replay_from(bytes, "log".to_owned());
    });
}

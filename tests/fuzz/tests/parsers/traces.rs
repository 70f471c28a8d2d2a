//! Traces in all formats, packed or not: read, described, and written again.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use link_trace::{Direction, ReadOptions, Trace, TraceFormat, read, write_csv, write_mahimahi};
use units::{Bytes, Duration, Instant};

/// Lines of the longest trace that a mutant is written as: more only takes longer.
const MAX_LINES: u64 = 100_000;

const TEXTS: &[&str] = &[
    "time,Mbit/s\n0,5\n0.5,7.25\n1.5,0\n2,12\n",
    "\"time_ms\";\"rate (MB/s)\"\n0;0,5\n500;1,5\n1500;0\n",
    "Time\tRate [kbit/s]\n2024-05-01T10:00:00Z\t1000\n2024-05-01T10:00:02+01:00\t3000\n",
    "# time_ms,kbit/s\n0,1000\n100,3000\n200,0\n",
    "0.5 4\n1.0 2\n",
    "timestamp,up_mbps,down_mbps\n1453121790686,1,8\n1453121791186,0,8\n",
    "3\n3\n7\n12\n12\n30\n",
    "3,Mbits/sec\n500,Kbits/sec\n0,bits/sec\n",
    "12.6,9,0,102,13,3,7.37,2100\n3.4,9,0,102,13,3,6.51,2100\n0,11,0,107,16,3,8.5,2100\n",
    "Timestamp,Longitude,DL_bitrate,UL_bitrate\n2019.12.14_10.16.30,-8.4,1500,20\n2019.12.14_10.16.31,-8.4,-,30\n\
     2019.12.14_10.16.35,-8.4,0,30\n",
];

/// Ways to read a text: as it says itself, and with options.
fn readings() -> [ReadOptions; 6] {
    let plain = ReadOptions::default();
    let format = |format| ReadOptions {
        format: Some(format),
        ..ReadOptions::default()
    };
    [
        plain.clone(),
        plain,
        format(TraceFormat::Mahimahi),
        format(TraceFormat::PhoneLog),
        format(TraceFormat::NyuMets),
        ReadOptions {
            column: Some("1,2".to_owned()),
            unit: Some("ms,kbit/s".to_owned()),
            direction: Some(Direction::Uplink),
            ..ReadOptions::default()
        },
    ]
}

/// Does with a trace what the commands and a run do.
fn use_all(trace: &Trace) {
    let statistics = trace.statistics(Duration::from_secs(1));
    assert!(statistics.percentiles.is_sorted());
    assert!(statistics.longest_gap <= statistics.duration * 2);
    let _ = trace.rate_series(Duration::from_millis(10));
    let offset = Duration::from_millis(700);
    let _ = trace.next_outage(Instant::ZERO, Duration::from_millis(100), offset);
    if let Trace::Steps(steps) = trace {
        let (mut at, mut hint) = (Instant::ZERO, 0);
        for _ in 0..20 {
            let done = steps.finish(at, Bytes::new(1_500), &mut hint);
            assert!(done > at || done == Instant::NEVER);
            at = done;
            if at == Instant::NEVER {
                break;
            }
        }
    }
    // Opportunities are written as a line for each second, of which 32 bits of milliseconds have four million.
    if statistics.duration <= Duration::from_secs(MAX_LINES) {
        let mut csv = String::new();
        write_csv(trace, &mut csv).expect("a string takes any text");
    }
    if trace.mahimahi_lines() <= MAX_LINES {
        let mut mahimahi = String::new();
        let _ = write_mahimahi(trace, &mut mahimahi);
    }
}

fn parse(bytes: &[u8], reading: &ReadOptions) {
    let Ok(text) = link_trace::text_of(bytes) else {
        return;
    };
    if let Ok(recording) = read(&text, "mutant", reading, Direction::Downlink) {
        let _ = recording.to_string();
        use_all(&recording.trace);
    }
}

#[test]
fn traces() {
    let sources: Vec<_> = TEXTS.iter().map(|text| text.as_bytes().to_vec()).collect();
    let readings = readings();
    fuzz::fuzz("traces", &sources, |bytes| {
        // Each mutant in one of the ways, which its last byte and its length choose.
        let last = bytes.last().map_or(0, |&byte| usize::from(byte));
        parse(bytes, &readings[(bytes.len() + last) % readings.len()]);
    });
}

#[test]
fn packed_traces() {
    let packed = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    };
    let sources: Vec<_> = TEXTS.iter().map(|text| packed(text)).collect();
    fuzz::fuzz("packed-traces", &sources, |bytes| {
        parse(bytes, &ReadOptions::default());
    });
}

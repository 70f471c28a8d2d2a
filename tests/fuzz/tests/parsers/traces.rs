//! Traces in the engine's own formats, packed or not: read, described, and written again.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use link_trace::{Trace, read, write_csv, write_mahimahi};
use units::{Bytes, Duration, Instant};

/// Lines of the longest trace that a mutant is written as: more only takes longer.
const MAX_LINES: u64 = 100_000;

const TEXTS: &[&str] = &[
    "3\n3\n7\n12\n12\n30\n",
    "# saturated\n0\n0\n1\n",
    "celltcp trace\n1000000000 5000000\n500000000 0\n\n250000000 12000000\n",
];

/// Does with a trace what the commands and a run do.
fn use_all(trace: &Trace) {
    let statistics = trace.statistics(Duration::from_secs(1));
    assert!(statistics.percentiles.is_sorted());
    assert!(statistics.longest_gap <= statistics.duration * 2);
    let _ = trace.rate_series(Duration::from_millis(10));
    let offset = Duration::from_millis(700);
    let _ = trace.next_outage(
        Instant::ZERO,
        Instant::NEVER,
        Duration::from_millis(100),
        offset,
    );
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

fn parse(bytes: &[u8]) {
    let Ok(text) = link_trace::text_of(bytes) else {
        return;
    };
    if let Ok(trace) = read(&text, "mutant") {
        use_all(&trace);
    }
}

#[test]
fn traces() {
    let sources: Vec<_> = TEXTS.iter().map(|text| text.as_bytes().to_vec()).collect();
    fuzz::fuzz("traces", &sources, parse);
}

#[test]
fn packed_traces() {
    let packed = |text: &str| {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(text.as_bytes()).expect("memory takes it");
        encoder.finish().expect("memory takes it")
    };
    let sources: Vec<_> = TEXTS.iter().map(|text| packed(text)).collect();
    fuzz::fuzz("packed-traces", &sources, parse);
}

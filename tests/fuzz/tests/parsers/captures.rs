//! Captures: pcap and pcapng, packed or not, analysed to the end.

use std::io::{Cursor, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use pcap_analysis::{Analysis, input};

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use crate::made_up::{download, ethernet, pcap, pcapng};

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory takes it");
    encoder.finish().expect("memory takes it")
}

#[test]
fn captures() {
    let packets = download(20);
    let framed: Vec<_> = packets
        .iter()
        .map(|(at, bytes)| (*at, ethernet(bytes)))
        .collect();
    let plain = pcap(&packets, 101, false, false);
    let sources = [
        pcap(&packets, 101, true, true),
        pcap(&framed, 1, true, false),
        pcapng(&framed, 1, 6, false),
        pcapng(&framed, 1, 9, true),
        pcapng(&packets, 101, 0x80 | 20, false),
        packed(&plain),
        compress_to_vec(plain.as_slice(), CompressionLevel::Fastest),
        plain,
    ];
    fuzz::fuzz("captures", &sources, |bytes| {
        let bytes = Box::new(Cursor::new(bytes.to_vec()));
        let Ok(stream) = input::decompress::decompress(bytes) else {
            return;
        };
        let mut analysis = Analysis::new(stream, true);
        while analysis.advance(64) {}
        let _ = (analysis.summary(), analysis.take_tables());
    });
}

//! Captures as bytes: byte orders, clocks, link layers, packing, and files that are broken in any way.

use std::io::Cursor;

use pcap_analysis::tables::Tables;
use pcap_analysis::{Analysis, Summary};
use proptest::prelude::*;

use crate::made_up::{download, ethernet, pcap, pcapng};

fn analysed(bytes: Vec<u8>) -> (Summary, Tables) {
    let mut analysis = Analysis::new(Box::new(Cursor::new(bytes)), true);
    while analysis.advance(7) {}
    (analysis.summary(), analysis.take_tables())
}

#[test]
fn a_download_is_one_connection_whatever_the_format() {
    let packets = download(50);
    let framed: Vec<_> = packets
        .iter()
        .map(|(at, bytes)| (*at, ethernet(bytes)))
        .collect();
    let files = [
        pcap(&packets, 101, false, false),
        pcap(&packets, 101, true, true),
        pcap(&framed, 1, true, false),
        pcapng(&framed, 1, 6, false),
        pcapng(&framed, 1, 9, true),
        pcapng(&packets, 101, 0x80 | 20, false),
    ];
    let (_, expected) = analysed(files[0].clone());
    assert_eq!(expected.connections.len(), 1);
    assert_eq!(expected.connections.bytes_down, [50_000]);
    for file in files {
        let (summary, tables) = analysed(file);
        assert_eq!(summary.error, None);
        assert_eq!(summary.segments, packets.len() as u64);
        assert_eq!(
            tables.connections.bytes_down,
            expected.connections.bytes_down
        );
        assert_eq!(tables.connections.handshake, ["whole"]);
        let rtt = tables.connections.rtt_min_ms[0];
        assert!(
            (rtt - expected.connections.rtt_min_ms[0]).abs() < 0.01,
            "{rtt}"
        );
    }
}

#[test]
fn a_broken_file_gives_what_was_readable_and_the_place() {
    let packets = download(50);
    let whole = pcap(&packets, 101, false, false);
    let record = 16 + packets[20].1.len();
    let start: usize = 24
        + packets[..20]
            .iter()
            .map(|(_, bytes)| 16 + bytes.len())
            .sum::<usize>();
    let (summary, tables) = analysed(whole[..start + record - 1].to_vec());
    let broken = summary.error.expect("it is cut");
    assert_eq!(broken.offset, start as u64);
    assert_eq!(
        broken.to_string(),
        format!("broken at byte {start}: it ends within a record")
    );
    assert_eq!(summary.packets, 20);
    assert_eq!(tables.connections.len(), 1);
}

#[test]
fn a_record_that_claims_to_be_endless_ends_the_capture() {
    let packets = download(5);
    let mut file = pcap(&packets, 101, false, false);
    file[24 + 8..24 + 12].copy_from_slice(&u32::MAX.to_le_bytes());
    let broken = analysed(file).0.error.expect("no such record");
    assert_eq!(broken.offset, 24);
}

#[test]
fn what_is_no_capture_is_rejected_with_a_reason() {
    let reason = |bytes: &[u8]| analysed(bytes.to_vec()).0.error.expect("no capture").reason;
    assert_eq!(reason(b""), "it is empty");
    assert_eq!(
        reason(b"this is no capture, but a line of text."),
        "it begins neither as pcap nor as pcapng"
    );
}

#[test]
fn a_clock_that_is_set_back_is_counted_and_harms_nothing_after_it() {
    let mut packets = download(50);
    for (at, _) in &mut packets[40..] {
        *at -= 5_000_000_000;
    }
    let (summary, tables) = analysed(pcap(&packets, 101, false, true));
    assert_eq!(summary.time_reversals, 1);
    assert_eq!(tables.connections.bytes_down, [50_000]);
    assert!(tables.connections.duration_s[0] < 5.0);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Any bytes of a capture may be wrong: nothing panics, and reading ends.
    #[test]
    fn mutated_captures_are_read_to_some_end(
        kind in 0..4_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        cut in any::<prop::sample::Index>(),
    ) {
        let packets = download(30);
        let framed: Vec<_> = packets.iter().map(|(at, bytes)| (*at, ethernet(bytes))).collect();
        let mut file = match kind {
            0 => pcap(&packets, 101, false, true),
            1 => pcap(&framed, 1, true, false),
            2 => pcapng(&framed, 1, 6, false),
            _ => pcapng(&packets, 101, 9, true),
        };
        for (place, value) in &changes {
            let at = place.index(file.len());
            file[at] = *value;
        }
        if kind % 2 == 0 {
            file.truncate(cut.index(file.len()) + 1);
        }
        // The shortest record is its header.
        let most = file.len() as u64 / 16;
        let (summary, tables) = analysed(file);
        prop_assert!(summary.packets <= most);
        prop_assert!(tables.connections.len() as u64 <= summary.segments);
    }

    /// Packets behind headers of any link type may be anything.
    #[test]
    fn any_packets_are_dissected_without_panic(
        link_type in prop::sample::select(vec![0, 1, 9, 12, 101, 108, 113, 228, 229, 276, 147]),
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 1..20),
    ) {
        let packets: Vec<_> = packets.into_iter().enumerate().map(|(n, bytes)| (n as u64, bytes)).collect();
        let (summary, _) = analysed(pcap(&packets, link_type, false, true));
        prop_assert_eq!(summary.packets, packets.len() as u64);
    }
}

#[test]
fn a_time_after_the_year_2106_ends_the_capture_and_no_sum_of_times_overflows() {
    let mut packets = download(20);
    let last = packets.last().expect("packets").0;
    let later = u64::from(u32::MAX) * 1_000_000_000 - last;
    for (at, _) in packets.iter_mut().skip(20) {
        *at += later;
    }
    let (summary, _) = analysed(pcapng(&packets, 101, 9, false));
    assert_eq!(summary.error, None);
    assert_eq!(summary.packets, packets.len() as u64);
    for (at, _) in packets.iter_mut().skip(30) {
        *at = u64::MAX;
    }
    let (summary, _) = analysed(pcapng(&packets, 101, 9, false));
    assert_eq!(summary.packets, 30);
    let broken = summary.error.expect("the time is too late").to_string();
    assert!(
        broken.ends_with("the time of a record is not between 1970 and 2106"),
        "{broken}"
    );
}

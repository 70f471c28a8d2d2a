//! Capture files: writes the pcap format (draft-ietf-opsawg-pcap).

use std::io::{self, Write};

use units::Instant;

const NANOS_PER_SECOND: u64 = 1_000_000_000;
/// Magic number of a file whose times are in seconds and nanoseconds.
const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
/// Version of the format: the major part in the lower 16 bits of the word, the minor part, 4, in the upper ones.
const VERSION: u32 = 2 | 4 << 16;
/// Link type LINKTYPE_RAW: packets begin with their IP header.
const RAW_IP: u32 = 101;

/// Writer of a little-endian pcap file with nanoseconds. Packets begin with their IP header.
pub struct Writer<W: Write> {
    out: W,
    snaplen: u32,
}

impl<W: Write> Writer<W> {
    /// Writes the header of a file that stores `snaplen` bytes of each packet.
    pub fn new(mut out: W, snaplen: u32) -> io::Result<Self> {
        let reserved = 0;
        write_words(
            &mut out,
            [
                MAGIC_NANOSECONDS,
                VERSION,
                reserved,
                reserved,
                snaplen,
                RAW_IP,
            ],
        )?;
        Ok(Self { out, snaplen })
    }

    /// Returns the number of bytes that the file stores of each packet.
    pub fn snaplen(&self) -> u32 {
        self.snaplen
    }

    /// Appends a packet of `total` bytes, of which `bytes` are stored.
    pub fn write(&mut self, at: Instant, total: u32, bytes: &[u8]) -> io::Result<()> {
        let seconds = (at.as_nanos() / NANOS_PER_SECOND) as u32;
        let nanoseconds = (at.as_nanos() % NANOS_PER_SECOND) as u32;
        let record = [seconds, nanoseconds, bytes.len() as u32, total];
        write_words(&mut self.out, record)?;
        self.out.write_all(bytes)
    }

    /// Flushes the output and returns it.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

fn write_words<const N: usize>(out: &mut impl Write, words: [u32; N]) -> io::Result<()> {
    out.write_all(words.map(u32::to_le_bytes).as_flattened())
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_parser::{LegacyPcapSlice, PcapBlockOwned, parse_pcap_header};
    use proptest::prelude::*;

    const SNAPLEN: u32 = 96;

    /// Time, length and stored bytes of a packet.
    type Record = (Instant, u32, Vec<u8>);

    fn written(records: &[Record]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), SNAPLEN).unwrap();
        for (at, total, bytes) in records {
            writer.write(*at, *total, bytes).unwrap();
        }
        writer.finish().unwrap()
    }

    fn records() -> impl Strategy<Value = Vec<Record>> {
        let bytes = prop::collection::vec(any::<u8>(), 0..=SNAPLEN as usize);
        let times = 0..u64::from(u32::MAX) * NANOS_PER_SECOND;
        let record = (times, bytes, 0_u32..70_000).prop_map(|(at, bytes, more)| {
            let total = bytes.len() as u32 + more;
            (Instant::from_nanos(at), total, bytes)
        });
        prop::collection::vec(record, 0..20)
    }

    proptest! {
        #[test]
        fn a_parser_of_others_reads_what_is_written(records in records()) {
            let file = written(&records);
            let (_, header) = parse_pcap_header(&file).unwrap();
            prop_assert!(header.is_nanosecond_precision() && !header.is_bigendian());
            prop_assert_eq!((header.version_major, header.version_minor), (2, 4));
            prop_assert_eq!((header.snaplen, header.network.0), (SNAPLEN, 101));
            let read: Vec<Record> = LegacyPcapSlice::from_slice(&file)
                .unwrap()
                .filter_map(|block| match block.unwrap() {
                    PcapBlockOwned::Legacy(block) => Some(block),
                    _ => None,
                })
                .map(|block| {
                    let at = u64::from(block.ts_sec) * NANOS_PER_SECOND + u64::from(block.ts_usec);
                    (Instant::from_nanos(at), block.origlen, block.data.to_vec())
                })
                .collect();
            prop_assert_eq!(read, records);
        }
    }
}

//! Capture files: writes and reads the pcap format (draft-ietf-opsawg-pcap).
//!
//! The crate `pcap-file` knows the layout. Records pass through it in their raw form, because its checked form refuses
//! packets longer than the snapshot length of the file, although such packets are only cut.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use pcap_file::pcap::{PcapHeader, PcapReader, PcapWriter, RawPcapPacket};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use units::Instant;

const NANOS_PER_SECOND: u64 = 1_000_000_000;

/// One packet of a capture.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// Time of the packet: of the run if this crate wrote the file, of the Unix epoch if others did.
    pub at: Instant,
    /// Length of the whole packet, of which `bytes` may hold only the beginning.
    pub total: u32,
    /// Bytes of the packet from its IP header on, at most the snapshot length of the file.
    pub bytes: Vec<u8>,
}

/// Writer of a pcap file: little-endian, with nanoseconds, each packet from its IP header on.
pub struct Writer<W: Write>(PcapWriter<W>);

impl<W: Write> Writer<W> {
    /// Writes the header of a file that keeps `snaplen` bytes of each packet.
    ///
    /// # Errors
    /// Returns the error of `out`.
    pub fn new(out: W, snaplen: u32) -> io::Result<Self> {
        let header = PcapHeader {
            snaplen,
            datalink: DataLink::RAW,
            ts_resolution: TsResolution::NanoSecond,
            endianness: Endianness::Little,
            ..PcapHeader::default()
        };
        PcapWriter::with_header(out, header)
            .map(Self)
            .map_err(into_io)
    }

    /// Returns the number of bytes that the file keeps of each packet.
    pub fn snaplen(&self) -> u32 {
        self.0.snaplen()
    }

    /// Appends a packet of `total` bytes, of which `bytes` are kept.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn write(&mut self, at: Instant, total: u32, bytes: &[u8]) -> io::Result<()> {
        let record = RawPcapPacket {
            ts_sec: (at.as_nanos() / NANOS_PER_SECOND) as u32,
            ts_frac: (at.as_nanos() % NANOS_PER_SECOND) as u32,
            incl_len: bytes.len() as u32,
            orig_len: total,
            data: Cow::Borrowed(bytes),
        };
        self.0.write_raw_packet(&record).map_err(into_io)?;
        Ok(())
    }

    /// Flushes the output and returns it.
    ///
    /// # Errors
    /// Returns the error of the output.
    pub fn finish(self) -> io::Result<W> {
        let mut out = self.0.into_writer();
        out.flush()?;
        Ok(out)
    }
}

/// Reader of a pcap file, of either byte order and resolution, whose packets begin with their IP header: an iterator
/// over its records.
pub struct Reader<R: Read> {
    file: PcapReader<R>,
    failed: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the header of the file.
    ///
    /// # Errors
    /// If `input` fails, is no pcap file, or holds packets of another link type than raw IP.
    pub fn new(input: R) -> io::Result<Self> {
        let file = PcapReader::new(input).map_err(into_io)?;
        match file.header().datalink {
            DataLink::RAW | DataLink::IPV4 => Ok(Self {
                file,
                failed: false,
            }),
            other => Err(invalid(format!(
                "link type {} is not read, only raw IP (101) and IPv4 (228)",
                u32::from(other)
            ))),
        }
    }

    fn record(&mut self) -> Option<io::Result<Record>> {
        let unit = match self.file.header().ts_resolution {
            TsResolution::MicroSecond => 1_000,
            TsResolution::NanoSecond => 1,
        };
        let raw = self.file.next_raw_packet()?.map_err(into_io);
        Some(raw.map(|raw| {
            let nanoseconds =
                u64::from(raw.ts_sec) * NANOS_PER_SECOND + u64::from(raw.ts_frac) * unit;
            Record {
                at: Instant::from_nanos(nanoseconds),
                total: raw.orig_len,
                bytes: raw.data.into_owned(),
            }
        }))
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = io::Result<Record>;

    /// Returns the next record, and nothing after the first error.
    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let record = self.record()?;
        self.failed = record.is_err();
        Some(record)
    }
}

fn into_io(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            invalid("it ends within a header or a packet".into())
        }
        PcapError::IoError(error) => error,
        other => invalid(other.to_string()),
    }
}

fn invalid(message: String) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        format!("not a readable pcap file: {message}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SNAPLEN: u32 = 96;

    fn written(records: &[Record]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new(), SNAPLEN).unwrap();
        for record in records {
            writer
                .write(record.at, record.total, &record.bytes)
                .unwrap();
        }
        writer.finish().unwrap()
    }

    fn records() -> impl Strategy<Value = Vec<Record>> {
        let bytes = prop::collection::vec(any::<u8>(), 0..=SNAPLEN as usize);
        let times = 0..u64::from(u32::MAX) * NANOS_PER_SECOND;
        let record = (times, bytes, 0_u32..70_000).prop_map(|(at, bytes, more)| Record {
            at: Instant::from_nanos(at),
            total: bytes.len() as u32 + more,
            bytes,
        });
        prop::collection::vec(record, 0..20)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(records in records()) {
            let file = written(&records);
            let read: io::Result<Vec<_>> = Reader::new(&file[..]).unwrap().collect();
            prop_assert_eq!(read.unwrap(), records);
        }

        #[test]
        fn any_bytes_are_read_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut file = written(&[]);
            file.extend(&bytes);
            let _ = Reader::new(&file[..]).unwrap().count();
            let _ = Reader::new(&bytes[..]).map(Iterator::count);
        }
    }

    /// The header that tcpdump writes on a big-endian machine, with microseconds.
    #[test]
    fn microseconds_and_the_other_byte_order_are_read() {
        let words = [0xa1b2_c3d4_u32, 0x0002_0004, 0, 0, 65_535, 101, 7, 8, 1, 40];
        let mut file: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        file.push(0x45);
        let read: Vec<Record> = Reader::new(&file[..])
            .unwrap()
            .map(Result::unwrap)
            .collect();
        let expected = Record {
            at: Instant::from_nanos(7_000_008_000),
            total: 40,
            bytes: vec![0x45],
        };
        assert_eq!(read, [expected]);
    }

    #[test]
    fn other_files_are_refused_with_a_reason() {
        let refusal = |file: &[u8]| Reader::new(file).err().unwrap().to_string();
        assert!(refusal(b"this is no capture, but text").contains("magic number"));
        let mut ethernet = written(&[]);
        ethernet[20] = 1;
        assert_eq!(
            refusal(&ethernet),
            "not a readable pcap file: link type 1 is not read, only raw IP (101) and IPv4 (228)"
        );
    }

    #[test]
    fn a_cut_file_fails_once() {
        let record = Record {
            at: Instant::ZERO,
            total: 40,
            bytes: vec![0; 40],
        };
        let file = written(&[record]);
        let read: Vec<_> = Reader::new(&file[..file.len() - 1]).unwrap().collect();
        assert_eq!(read.len(), 1);
        assert_eq!(
            read[0].as_ref().unwrap_err().to_string(),
            "not a readable pcap file: it ends within a header or a packet"
        );
    }
}

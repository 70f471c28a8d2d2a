//! Reader of the records of a pcap (draft-ietf-opsawg-pcap) or pcapng file (draft-ietf-opsawg-pcapng).
//!
//! The crate `pcap-parser` parses the formats. This module adds the clock and the link type of each interface, and the
//! place of an error.

use std::io::Read;
use std::sync::{Arc, Mutex, PoisonError};

use pcap_parser::pcapng::Block;
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{PcapBlockOwned, PcapError, PcapHeader, create_reader};

use super::decompress::Bytes;

/// Initial size of the buffer for records.
const INITIAL_BUFFER: usize = 1 << 20;
/// Longest record that is read, bytes. Wireshark writes packets of up to 256 KiB; blocks of secrets can be longer.
const MAX_RECORD: usize = 1 << 24;
const NANOS_PER_SECOND: u128 = 1_000_000_000;
/// Latest time of a record, the last second that a pcap file can hold, ns since 1970. Sums of a few such times fit.
pub(crate) const MAX_TIME_NS: u64 = (u32::MAX as u64 + 1) * NANOS_PER_SECOND as u64 - 1;

/// One record of a capture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Record<'a> {
    /// Time since the Unix epoch, ns.
    pub at_ns: u64,
    /// Link type, a number of the registry of tcpdump.org.
    pub link_type: i32,
    /// Length of the packet on the wire, from the record.
    pub wire_len: u32,
    /// Captured bytes of the packet.
    pub bytes: &'a [u8],
}

/// Error of a capture: what cannot be read, and where.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("broken at byte {offset}: {reason}")]
pub struct CaptureError {
    /// Bytes of the decompressed capture before the error.
    pub offset: u64,
    /// What cannot be read.
    pub reason: String,
}

/// Link type and clock of an interface.
#[derive(Clone, Copy)]
struct Interface {
    link_type: i32,
    /// Units of the clock per second.
    units: u64,
    /// Seconds that are added to each time.
    offset_s: i64,
    snaplen: u32,
}

impl Interface {
    /// Returns the interface of a pcap file.
    fn legacy(header: &PcapHeader) -> Self {
        let nanoseconds = header.is_nanosecond_precision();
        Self {
            // The upper bits hold the length of the frame check sequence.
            link_type: header.network.0 & 0x0fff_ffff,
            units: if nanoseconds {
                1_000_000_000
            } else {
                1_000_000
            },
            offset_s: 0,
            snaplen: header.snaplen,
        }
    }

    /// Returns the time of `count` units of the clock, ns.
    fn time_ns(&self, count: u64) -> Result<u64, &'static str> {
        let per_second = NANOS_PER_SECOND as u64;
        let whole = per_second
            .is_multiple_of(self.units)
            .then_some(per_second / self.units);
        let ns = match whole.and_then(|ns| count.checked_mul(ns)) {
            Some(ns) => u128::from(ns),
            None => u128::from(count) * NANOS_PER_SECOND / u128::from(self.units),
        };
        let offset = i128::from(self.offset_s) * NANOS_PER_SECOND as i128;
        u64::try_from(ns as i128 + offset)
            .ok()
            .filter(|ns| *ns <= MAX_TIME_NS)
            .ok_or("the time of a record is not between 1970 and 2106")
    }
}

/// Returns the units per second of `if_tsresol`: a power of ten or, with the highest bit, of two.
fn units_per_second(value: u8) -> Option<u64> {
    let exponent = u32::from(value & 0x7f);
    let base: u64 = if value & 0x80 == 0 { 10 } else { 2 };
    base.checked_pow(exponent)
}

/// Reader of the records of a capture, one after the other.
pub struct Records {
    reader: Box<dyn PcapReaderIterator + Send>,
    interfaces: Vec<Option<Interface>>,
    failure: Failure,
    buffer_size: usize,
}

/// Error message of the source.
type Failure = Arc<Mutex<Option<String>>>;

/// Source that fills a buffer completely, and stores its error message.
struct FullReader {
    input: Bytes,
    failure: Failure,
}

impl Read for FullReader {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let mut filled = 0;
        while filled < out.len() {
            match self.input.read(&mut out[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                // Records before the error belong to the capture; the error returns with the next call.
                Err(_) if filled > 0 => break,
                Err(error) => {
                    let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                    *failure = Some(error.to_string());
                    return Err(error);
                }
            }
        }
        Ok(filled)
    }
}

impl Records {
    /// Begins to read a capture.
    ///
    /// # Errors
    /// If it begins neither as pcap nor as pcapng.
    pub fn new(input: Bytes) -> Result<Self, CaptureError> {
        let failure = Failure::default();
        let reader_of_input = FullReader {
            input,
            failure: Arc::clone(&failure),
        };
        let reader =
            create_reader(INITIAL_BUFFER, reader_of_input).map_err(|error| CaptureError {
                offset: 0,
                reason: match error {
                    PcapError::Eof => "it is empty".to_owned(),
                    PcapError::ReadError => error_text(&failure),
                    PcapError::Incomplete(_) => "it ends within its header".to_owned(),
                    _ => "it begins neither as pcap nor as pcapng".to_owned(),
                },
            })?;
        Ok(Self {
            reader,
            interfaces: Vec::new(),
            failure,
            buffer_size: INITIAL_BUFFER,
        })
    }

    /// Returns how many bytes of the decompressed capture have been read.
    pub fn offset(&self) -> u64 {
        self.reader.consumed() as u64
    }

    /// Calls `on_record` with the next record; returns false at the end.
    ///
    /// # Errors
    /// If the capture is broken there: the rest of it cannot be read.
    pub fn next(&mut self, mut on_record: impl FnMut(Record<'_>)) -> Result<bool, CaptureError> {
        loop {
            let offset = self.reader.consumed() as u64;
            let broken = |reason: &str| CaptureError {
                offset,
                reason: reason.to_owned(),
            };
            let mut too_small = match self.reader.next() {
                Ok((len, block)) => {
                    let record = read_block(block, &mut self.interfaces);
                    let record = record.map_err(|reason| broken(&reason))?;
                    let is_packet = record.is_some();
                    if let Some(record) = record {
                        on_record(record);
                    }
                    self.reader.consume_noshift(len);
                    if is_packet {
                        return Ok(true);
                    }
                    continue;
                }
                Err(PcapError::Eof) => return Ok(false),
                Err(PcapError::Incomplete(_)) => false,
                Err(PcapError::BufferTooSmall) => true,
                Err(PcapError::UnexpectedEof) => return Err(broken("it ends within a record")),
                Err(PcapError::ReadError) => return Err(broken(&error_text(&self.failure))),
                Err(_) => return Err(broken("malformed record")),
            };
            if !too_small {
                let previous = self.reader.data().len();
                if self.reader.refill().is_err() {
                    return Err(broken(&error_text(&self.failure)));
                }
                too_small = self.reader.data().len() == previous && !self.reader.reader_exhausted();
            }
            if too_small {
                if self.buffer_size >= MAX_RECORD {
                    return Err(broken("a record says that it is longer than 16 MiB"));
                }
                self.buffer_size *= 2;
                self.reader.grow(self.buffer_size);
                if self.reader.refill().is_err() {
                    return Err(broken(&error_text(&self.failure)));
                }
            }
        }
    }
}

fn error_text(failure: &Failure) -> String {
    let failure = failure.lock().unwrap_or_else(PoisonError::into_inner);
    failure
        .clone()
        .unwrap_or_else(|| "it cannot be read".to_owned())
}

/// Returns the record in a block, or stores the interface that it describes.
fn read_block<'a>(
    block: PcapBlockOwned<'a>,
    interfaces: &mut Vec<Option<Interface>>,
) -> Result<Option<Record<'a>>, String> {
    match block {
        PcapBlockOwned::LegacyHeader(header) => {
            interfaces.push(Some(Interface::legacy(&header)));
            Ok(None)
        }
        PcapBlockOwned::Legacy(record) => {
            let interface = interfaces.first().copied().flatten();
            let interface = interface.ok_or("a record stands before the header")?;
            let seconds = u64::from(record.ts_sec) * interface.units;
            let count = seconds + u64::from(record.ts_usec);
            Ok(Some(Record {
                at_ns: interface.time_ns(count)?,
                link_type: interface.link_type,
                wire_len: record.origlen,
                bytes: record.data,
            }))
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => {
            interfaces.clear();
            Ok(None)
        }
        PcapBlockOwned::NG(Block::InterfaceDescription(description)) => {
            interfaces.push(
                units_per_second(description.if_tsresol).map(|units| Interface {
                    link_type: description.linktype.0,
                    units,
                    offset_s: description.if_tsoffset,
                    snaplen: description.snaplen,
                }),
            );
            Ok(None)
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(block)) => {
            let interface = interfaces
                .get(block.if_id as usize)
                .copied()
                .flatten()
                .ok_or_else(|| format!("no usable interface {} is described", block.if_id))?;
            let captured = (block.caplen as usize).min(block.data.len());
            Ok(Some(Record {
                at_ns: interface
                    .time_ns(u64::from(block.ts_high) << 32 | u64::from(block.ts_low))?,
                link_type: interface.link_type,
                wire_len: block.origlen,
                bytes: &block.data[..captured],
            }))
        }
        PcapBlockOwned::NG(Block::SimplePacket(block)) => {
            let interface = interfaces.first().copied().flatten();
            let interface = interface.ok_or("a packet stands before its interface")?;
            let snaplen = match interface.snaplen {
                0 => usize::MAX,
                limit => limit as usize,
            };
            let captured = block.data.len().min(block.origlen as usize).min(snaplen);
            Ok(Some(Record {
                // Such packets have no time.
                at_ns: 0,
                link_type: interface.link_type,
                wire_len: block.origlen,
                bytes: &block.data[..captured],
            }))
        }
        PcapBlockOwned::NG(_) => Ok(None),
    }
}

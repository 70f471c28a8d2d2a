//! Analysis: one pass over a capture, in pieces, from bytes to tables.

use crate::connections::Tracker;
use crate::input::decode::{Packet, dissect};
use crate::input::decompress::Bytes;
use crate::input::pcap_reader::{CaptureError, LATEST_NS, Records};
use crate::input::skipped::Skipped;
use crate::tables::Tables;

/// Counts of a capture as a whole, with what had to be repaired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Records read.
    pub packets: u64,
    /// TCP segments among them.
    pub segments: u64,
    /// Other protocols.
    pub others: u64,
    /// Fragments of IP packets, which are left out.
    pub fragments: u64,
    /// Records that end within the headers.
    pub cut: u64,
    /// Records of a link type that is not read, and the first such type.
    pub unread: u64,
    /// The first link type that is not read.
    pub link_type: Option<i32>,
    /// Packets whose record or IP header had an impossible length.
    pub wrong_lengths: u64,
    /// Packets with a time before that of the packet before.
    pub time_reversals: u64,
    /// Connections whose ports had belonged to another one.
    pub reused: u64,
    /// Connections that were ended early because there were too many at a time.
    pub crowded_out: u64,
    /// Bytes of the decompressed capture that were read.
    pub bytes: u64,
    /// Time of the first and of the last packet since the Unix epoch, ns.
    pub times_ns: Option<(u64, u64)>,
    /// Fault at which reading ended.
    pub broken: Option<CaptureError>,
}

/// Packets of several queues of a network card are written up to this time after each other, ns; where time goes back
/// further, the clock was set.
const REORDERING_NS: u64 = 1_000_000_000;

/// Analysis of a capture.
pub struct Analysis {
    records: Option<Records>,
    tracker: Tracker,
    tables: Tables,
    summary: Summary,
    segments: bool,
    /// Offset added to times since the clock was set back.
    clock_offset_ns: u64,
}

impl Analysis {
    /// Begins with a capture; `segments` asks for a row per segment. A capture that cannot be read at all has a
    /// [`Summary`] that says so.
    pub fn new(input: Bytes, segments: bool) -> Self {
        let mut summary = Summary::default();
        let records = Records::new(input)
            .map_err(|broken| summary.broken = Some(broken))
            .ok();
        Self {
            records,
            tracker: Tracker::default(),
            tables: Tables::default(),
            summary,
            segments,
            clock_offset_ns: 0,
        }
    }

    /// Reads up to `packets` records; returns whether the capture goes on.
    pub fn advance(&mut self, packets: u64) -> bool {
        for _ in 0..packets {
            let Some(records) = &mut self.records else {
                return false;
            };
            let mut result = None;
            let next = records.next(|record| result = Some((record.at_ns, dissect(&record))));
            self.summary.bytes = records.offset();
            match (next, result) {
                (Ok(true), Some((at_ns, dissected))) => self.take(at_ns, dissected),
                (Err(broken), _) => {
                    self.summary.broken = Some(broken);
                    self.end();
                }
                _ => self.end(),
            }
        }
        self.records.is_some()
    }

    /// Returns the rows since the last call. A connection has its row after its end.
    pub fn take_tables(&mut self) -> Tables {
        core::mem::take(&mut self.tables)
    }

    /// Returns the counts so far.
    pub fn summary(&self) -> Summary {
        Summary {
            reused: self.tracker.reused,
            crowded_out: self.tracker.evicted,
            ..self.summary.clone()
        }
    }

    fn take(&mut self, at_ns: u64, dissected: Result<Packet, Skipped>) {
        let summary = &mut self.summary;
        summary.packets += 1;
        let (first, last) = summary.times_ns.unwrap_or((at_ns, at_ns));
        let at_ns = (at_ns + self.clock_offset_ns).min(LATEST_NS);
        let at_ns = if at_ns < last {
            summary.time_reversals += 1;
            if last - at_ns > REORDERING_NS {
                self.clock_offset_ns += last - at_ns;
            }
            last
        } else {
            at_ns
        };
        summary.times_ns = Some((first, at_ns));
        match dissected {
            Ok(packet) => {
                summary.segments += 1;
                summary.wrong_lengths += u64::from(packet.wrong_length);
                let packet = Packet { at_ns, ..packet };
                self.tracker.take(&packet, self.segments, &mut self.tables);
            }
            Err(Skipped::NotTcp) => summary.others += 1,
            Err(Skipped::Fragment) => summary.fragments += 1,
            Err(Skipped::Cut) => summary.cut += 1,
            Err(Skipped::LinkType(link_type)) => {
                summary.unread += 1;
                summary.link_type.get_or_insert(link_type);
            }
        }
    }

    fn end(&mut self) {
        self.records = None;
        self.tracker.finish(&mut self.tables);
    }
}

//! Analysis: one pass over a capture, in pieces, from bytes to tables.

use rustc_hash::FxHashMap;

use crate::clock;
use crate::connections::ConnectionTracker;
use crate::fragments::Fragments;
use crate::input::decode::{Packet, dissect};
use crate::input::decompress::Bytes;
use crate::input::pcap_reader::{CaptureError, Records};
use crate::input::skipped::Skipped;
use crate::order::Order;
use crate::tables::Tables;

/// Counts of a capture as a whole, with what had to be repaired.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Records read.
    pub packets: u64,
    /// TCP segments among them.
    pub segments: u64,
    /// Records of other protocols.
    pub other_protocols: u64,
    /// Number of skipped records by reason.
    skipped: FxHashMap<Skipped, u64>,
    /// IP fragments at an offset above 0 whose first fragment is missing.
    pub lone_fragments: u64,
    /// IP fragments at an offset above 0 that were added to their first fragment.
    pub joined_fragments: u64,
    /// Records that end within the headers.
    pub truncated: u64,
    /// Records of a link type that is not read.
    pub unread: u64,
    /// The first link type that is not read.
    pub link_type: Option<i32>,
    /// Packets whose record or IP header had an impossible length.
    pub wrong_lengths: u64,
    /// Segments with a time before that of the segment before.
    pub time_reversals: u64,
    /// Number of times that the capturing clock was set.
    pub clock_steps: u64,
    /// Connections whose addresses and ports had belonged to an earlier one.
    pub reused: u64,
    /// Connections that were ended early because there were too many at a time.
    pub evicted: u64,
    /// Bytes of the decompressed capture that were read.
    pub bytes: u64,
    /// Time of the first and of the last packet since the Unix epoch, ns.
    pub times_ns: Option<(u64, u64)>,
    /// Error at which reading ended.
    pub error: Option<CaptureError>,
}

impl Summary {
    /// Returns the reasons for which records were skipped, with the number of records, the most frequent first.
    pub fn skipped(&self) -> Vec<(String, u64)> {
        let kinds = self.skipped.iter();
        let mut kinds: Vec<_> = kinds
            .map(|(kind, count)| (kind.to_string(), *count))
            .collect();
        kinds.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        kinds
    }
}

/// Analysis of a capture.
pub struct Analysis {
    records: Option<Records>,
    pass: Pass,
}

/// State of the analysis between two records: connections, tables and counts.
struct Pass {
    tracker: ConnectionTracker,
    tables: Tables,
    summary: Summary,
    /// Whether the table of segments is filled.
    has_segment_rows: bool,
    fragments: Fragments,
    order: Order,
    /// Time of the last analysed segment, on the clock without steps.
    last_ns: Option<u64>,
    /// Sum of the steps by which the clock was set forward.
    forward_ns: u64,
}

impl Analysis {
    /// Begins with a capture. Without `has_segment_rows` the table of segments stays empty. If the capture cannot be read
    /// at all, the [`Summary`] has the error.
    pub fn new(input: Bytes, has_segment_rows: bool) -> Self {
        let mut summary = Summary::default();
        let records = Records::new(input)
            .map_err(|error| summary.error = Some(error))
            .ok();
        let pass = Pass {
            tracker: ConnectionTracker::default(),
            tables: Tables::default(),
            summary,
            has_segment_rows,
            fragments: Fragments::default(),
            order: Order::default(),
            last_ns: None,
            forward_ns: 0,
        };
        Self { records, pass }
    }

    /// Reads up to `packets` records; returns whether the capture goes on.
    pub fn advance(&mut self, packets: u64) -> bool {
        let Some(records) = &mut self.records else {
            return false;
        };
        let pass = &mut self.pass;
        let mut next = Ok(true);
        for _ in 0..packets {
            next = records.next(|record| pass.on_record(record.at_ns, &mut dissect(&record)));
            if next != Ok(true) {
                break;
            }
        }
        pass.summary.bytes = records.offset();
        if next != Ok(true) {
            pass.summary.error = next.err();
            pass.end();
            self.records = None;
        }
        self.records.is_some()
    }

    /// Returns the rows since the last call. A connection has its row after its end.
    pub fn take_tables(&mut self) -> Tables {
        core::mem::take(&mut self.pass.tables)
    }

    /// Returns the counts so far.
    pub fn summary(&self) -> Summary {
        let pass = &self.pass;
        Summary {
            reused: pass.tracker.reused,
            evicted: pass.tracker.evicted,
            lone_fragments: pass.fragments.lone,
            joined_fragments: pass.fragments.joined,
            time_reversals: pass.order.time_reversals,
            clock_steps: pass.summary.clock_steps + pass.order.backward_steps,
            ..pass.summary.clone()
        }
    }
}

impl Pass {
    fn on_record(&mut self, at_ns: u64, dissected: &mut Result<Packet, Skipped>) {
        let summary = &mut self.summary;
        summary.packets += 1;
        match dissected {
            Ok(packet) => {
                summary.segments += 1;
                summary.wrong_lengths += u64::from(packet.has_wrong_length);
                self.fragments.complete(packet);
                let at_ns = self.order.push(packet);
                self.extend_times(at_ns);
                if self.order.is_full() {
                    self.analyse_first();
                }
                return;
            }
            Err(Skipped::Fragment(fragment)) => {
                self.fragments.add(*fragment, &mut self.order.waiting);
            }
            Err(Skipped::Truncated) => summary.truncated += 1,
            Err(kind) => {
                if let Skipped::LinkType(link_type) = *kind {
                    summary.unread += 1;
                    summary.link_type.get_or_insert(link_type);
                } else {
                    summary.other_protocols += 1;
                }
                *summary.skipped.entry(*kind).or_default() += 1;
            }
        }
        self.extend_times(self.order.corrected_ns(at_ns));
    }

    /// Extends the first and the last time of the capture to a record.
    fn extend_times(&mut self, at_ns: u64) {
        let at_ns = at_ns.saturating_sub(self.forward_ns);
        let (first, last) = self.summary.times_ns.unwrap_or((at_ns, at_ns));
        self.summary.times_ns = Some((first.min(at_ns), last.max(at_ns)));
    }

    /// Analyses the first of the waiting segments.
    fn analyse_first(&mut self) {
        if let Some(last_ns) = self.last_ns
            && let Some(step) =
                clock::step_ns(last_ns, &self.order.waiting, self.forward_ns, &self.tracker)
        {
            self.forward_ns += step;
            self.summary.clock_steps += 1;
            if let Some((_, last)) = &mut self.summary.times_ns {
                *last = last.saturating_sub(step);
            }
        }
        let Some(packet) = self.order.waiting.front_mut() else {
            return;
        };
        let at_ns = packet.at_ns.saturating_sub(self.forward_ns);
        // A segment can be later than all those that waited.
        packet.at_ns = at_ns.max(self.last_ns.unwrap_or(0));
        self.last_ns = Some(packet.at_ns);
        let waiting = &self.order.waiting;
        self.tracker
            .on_packet(waiting, self.has_segment_rows, &mut self.tables);
        self.order.waiting.pop_front();
    }

    fn end(&mut self) {
        while !self.order.waiting.is_empty() {
            self.analyse_first();
        }
        self.tracker.finish(&mut self.tables);
    }
}

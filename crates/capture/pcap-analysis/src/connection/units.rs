//! Units of work: responses of the server, and frames of a stream.
//!
//! A response begins with the first data of the client after all data of the server were acknowledged. Requests that
//! overlap count as one. A frame is new payload up to a segment that is not full.

use std::collections::VecDeque;

use crate::tables::UnitRow;

use super::delayed_ack::ATO_MIN_NS;
use super::direction::SegmentKind;

/// Maximum number of stored units without their ACK.
const MAX_OPEN: usize = 1 << 12;
/// Size from which a frame goes on as another part: behind a loss, data of many frames come as one. Bytes.
const MAX_PART: u64 = 1 << 14;
/// Number of frames from which each has parts of that size: bulk transfers have no frames.
const MIN_FRAMES: u32 = 10;
/// Number of parts before that after which their size doubles.
const PARTS_PER_SIZE: u32 = 128;
/// Maximum number of times that it does.
const MAX_DOUBLINGS: u32 = 32;
/// Part of the RTT from which a time without data of a response is a round trip.
const PER_ROUND_TRIP: u64 = 2;

/// A unit of work; times in ns, 0 before they are known.
#[derive(Clone, Copy, Default)]
pub(super) struct Unit {
    is_response: bool,
    /// Whether more data of the same frame follow.
    is_part: bool,
    /// Whether its request came soon after the response before it, so that its ACK may wait for the next request.
    is_turn: bool,
    /// First packet of the request, or of the frame.
    start_ns: u64,
    /// Last packet of the request.
    requested_ns: u64,
    first_ns: u64,
    last_ns: u64,
    acked_ns: u64,
    /// Start and end of its data.
    begin: u64,
    end: u64,
    requests: u32,
    request_bytes: u64,
    retransmissions: u32,
    /// Times without data of a response, for more of its window.
    round_trips: u32,
    round_trips_ns: u64,
    /// Time in which nothing of a response was in flight.
    paused_ns: u64,
}

/// A segment of the side whose units are followed.
pub(super) struct UnitData {
    pub(super) at_ns: u64,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) kind: SegmentKind,
    pub(super) is_full: bool,
    /// Time beyond an RTT since all data were acknowledged, ns; 0 while some are in flight.
    pub(super) paused_ns: u64,
    /// Lowest RTT of the path, ns.
    pub(super) rtt_ns: u64,
}

/// Units of work of one side.
#[derive(Default)]
pub(super) struct Units {
    response: Option<Unit>,
    frame: Option<Unit>,
    /// End of the data so far.
    end: u64,
    frames: u32,
    parts: u32,
    /// Time of the last ACK.
    acked_ns: u64,
    /// Frames without their ACK.
    open: VecDeque<Unit>,
    done: Vec<Unit>,
}

impl Units {
    /// Processes new payload of the other side. `is_all_acked`: all data of this side are acknowledged.
    pub(super) fn on_request(&mut self, at_ns: u64, len: u32, is_all_acked: bool) {
        if let Some(response) = &mut self.response
            && (!response.has_begun() || !is_all_acked)
        {
            response.requests += u32::from(response.has_begun());
            response.is_turn |= response.has_begun();
            response.requested_ns = at_ns;
            response.request_bytes += u64::from(len);
            return;
        }
        let before_ns = self.response.as_ref().map(|response| response.acked_ns);
        self.done.extend(self.response.replace(Unit {
            is_response: true,
            is_turn: before_ns.is_some_and(|before_ns| at_ns < before_ns + ATO_MIN_NS),
            start_ns: at_ns,
            requested_ns: at_ns,
            requests: 1,
            request_bytes: u64::from(len),
            ..Unit::default()
        }));
    }

    /// Processes payload of this side.
    pub(super) fn on_data(&mut self, data: &UnitData) {
        if data.kind != SegmentKind::New {
            let open = self.open.iter_mut().chain(&mut self.frame);
            for unit in open.chain(&mut self.response) {
                let is_part = data.start < unit.end && unit.begin < data.end;
                if is_part && unit.acked_ns == 0 {
                    unit.last_ns = data.at_ns;
                    unit.retransmissions += u32::from(data.kind == SegmentKind::Retransmission);
                }
            }
            return;
        }
        // Data before the first ones that passed were lost before the capture.
        let begin = if self.end == 0 { data.start } else { self.end };
        self.end = self.end.max(data.end);
        if let Some(response) = &mut self.response {
            if !response.has_begun() {
                (response.first_ns, response.begin) = (data.at_ns, begin);
            } else if data.paused_ns > 0 {
                response.paused_ns += data.paused_ns;
            } else if response.retransmissions == 0 {
                let since_ns = data.at_ns.saturating_sub(response.last_ns);
                if PER_ROUND_TRIP * since_ns >= data.rtt_ns.max(1) {
                    response.round_trips += 1;
                    response.round_trips_ns += since_ns;
                }
            }
            response.extend(data.at_ns, data.end);
        }
        let frame = self.frame.get_or_insert(Unit {
            start_ns: data.at_ns,
            first_ns: data.at_ns,
            begin,
            ..Unit::default()
        });
        frame.extend(data.at_ns, data.end);
        let is_part = data.is_full;
        let doublings = if self.frames < MIN_FRAMES {
            self.parts / PARTS_PER_SIZE
        } else {
            0
        };
        if !is_part
            || frame.end.saturating_sub(frame.begin) >= MAX_PART << doublings.min(MAX_DOUBLINGS)
        {
            frame.is_part = is_part;
            self.frames += u32::from(!is_part);
            self.parts += u32::from(is_part);
            if self.open.len() == MAX_OPEN {
                self.done.extend(self.open.pop_front());
            }
            self.open.extend(self.frame.take());
        }
    }

    /// Returns whether the host that asks does so soon after the response before: its ACKs may wait for that.
    pub(super) fn are_turns(&self) -> bool {
        self.response.is_some_and(|response| response.is_turn)
    }

    /// Processes an ACK of all data before `ack`; `at_ns` is its time without what the receiver may have delayed it.
    ///
    /// What it acknowledges came behind the ACK before it.
    pub(super) fn on_ack(&mut self, ack: u64, at_ns: u64, arrived_ns: impl Fn(u64, u64) -> u64) {
        let previous_ns = core::mem::replace(&mut self.acked_ns, at_ns);
        let acked_ns = |unit: &Unit| arrived_ns(unit.last_ns, unit.end).max(previous_ns);
        if let Some(response) = &mut self.response
            && response.acked_ns == 0
            && response.has_begun()
            && ack >= response.end
        {
            response.acked_ns = acked_ns(response);
        }
        while let Some(frame) = self.open.front_mut()
            && ack >= frame.end
        {
            frame.acked_ns = acked_ns(frame);
            self.done.extend(self.open.pop_front());
        }
    }

    /// Ends the units at the end of the connection.
    pub(super) fn finish(&mut self) {
        self.done.extend(self.open.drain(..));
        self.done.extend(self.response.take());
    }

    /// Returns the rows of the units that have ended since the last call.
    pub(super) fn rows(
        &mut self,
        connection: u32,
        is_uplink: bool,
        begin_ns: u64,
    ) -> impl Iterator<Item = UnitRow> {
        let since = move |at_ns: u64| match at_ns {
            0 => f64::NAN,
            _ => at_ns.saturating_sub(begin_ns) as f64 / 1e9,
        };
        self.done.drain(..).map(move |unit| UnitRow {
            connection,
            up: u32::from(is_uplink),
            is_part: u32::from(unit.is_part),
            unit: if unit.is_response {
                "response"
            } else {
                "frame_delay"
            }
            .to_owned(),
            start_s: since(unit.start_ns),
            requested_s: since(unit.requested_ns),
            first_s: since(unit.first_ns),
            last_s: since(unit.last_ns),
            acked_s: since(unit.acked_ns),
            requests: unit.requests,
            request_bytes: unit.request_bytes,
            bytes: unit.end.saturating_sub(unit.begin),
            retransmissions: unit.retransmissions,
            round_trips: unit.round_trips,
            round_trips_s: unit.round_trips_ns as f64 / 1e9,
            paused_s: unit.paused_ns as f64 / 1e9,
        })
    }
}

impl Unit {
    fn has_begun(&self) -> bool {
        self.first_ns > 0
    }

    fn extend(&mut self, at_ns: u64, end: u64) {
        self.last_ns = at_ns;
        self.acked_ns = 0;
        self.end = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn segment(at_ms: u64, start: u64, kind: SegmentKind) -> UnitData {
        UnitData {
            at_ns: at_ms * MS,
            start,
            end: start + 1_448,
            kind,
            is_full: true,
            paused_ns: 0,
            rtt_ns: 60 * MS,
        }
    }

    #[test]
    fn a_response_ends_with_the_repair_of_its_last_loss() {
        let mut units = Units::default();
        units.on_request(10 * MS, 500, true);
        units.on_data(&segment(80, 0, SegmentKind::New));
        units.on_data(&segment(81, 2_896, SegmentKind::New));
        units.on_data(&segment(150, 1_448, SegmentKind::OutOfOrder));
        units.on_ack(4_344, 160 * MS, |last_ns, _| last_ns + MS);
        units.on_request(200 * MS, 500, true);
        let rows: Vec<UnitRow> = units.rows(0, false, 0).collect();
        assert_eq!(rows.len(), 1);
        assert_eq!(
            (rows[0].start_s, rows[0].first_s, rows[0].last_s),
            (0.010, 0.080, 0.150)
        );
        assert_eq!((rows[0].request_bytes, rows[0].bytes), (500, 4_344));
        assert_eq!(rows[0].round_trips, 0);
    }

    #[test]
    fn a_window_smaller_than_the_response_takes_further_round_trips() {
        let mut units = Units::default();
        units.on_request(10 * MS, 500, true);
        for (at_ms, start) in [
            (70, 0),
            (71, 1_448),
            (130, 2_896),
            (131, 4_344),
            (190, 5_792),
        ] {
            units.on_data(&segment(at_ms, start, SegmentKind::New));
        }
        units.finish();
        let rows: Vec<UnitRow> = units.rows(0, false, 0).collect();
        assert_eq!((rows[0].round_trips, rows[0].round_trips_s), (2, 0.118));
        assert!(rows[0].acked_s.is_nan());
    }

    #[test]
    fn requests_before_the_end_of_a_response_overlap_with_it() {
        let mut units = Units::default();
        units.on_request(10 * MS, 500, true);
        units.on_data(&segment(70, 0, SegmentKind::New));
        units.on_request(75 * MS, 500, false);
        units.finish();
        let rows: Vec<UnitRow> = units.rows(0, false, 0).collect();
        assert_eq!(
            (rows.len(), rows[0].requests, rows[0].request_bytes),
            (1, 2, 1_000)
        );
    }

    #[test]
    fn a_segment_that_is_not_full_ends_a_frame() {
        let mut units = Units::default();
        for number in 0..3 {
            units.on_data(&UnitData {
                is_full: number == 2,
                ..segment(33 * number, 1_448 * number, SegmentKind::New)
            });
        }
        units.on_ack(1_448, 60 * MS, |last_ns, _| last_ns + 60 * MS);
        let rows: Vec<UnitRow> = units.rows(0, false, 0).collect();
        assert_eq!((rows.len(), rows[0].acked_s), (1, 0.060));
    }

    #[test]
    fn a_frame_is_acknowledged_behind_the_data_before_it() {
        let mut units = Units::default();
        for number in 0..2 {
            units.on_data(&UnitData {
                is_full: false,
                ..segment(number, 1_448 * number, SegmentKind::New)
            });
        }
        let dated = |last_ns: u64, _| last_ns + 60 * MS;
        units.on_ack(1_448, 90 * MS, |_, _| 90 * MS);
        units.on_ack(2_896, 130 * MS, dated);
        let rows: Vec<UnitRow> = units.rows(0, false, 0).collect();
        assert_eq!((rows[0].acked_s, rows[1].acked_s), (0.090, 0.090));
    }

    #[test]
    fn frames_that_come_as_one_have_parts_which_are_few_in_bulk_transfers() {
        let parts = |frames: u64, segments: u64| {
            let mut units = Units::default();
            for number in 0..segments {
                units.on_data(&UnitData {
                    is_full: number >= frames,
                    ..segment(number, 1_448 * number, SegmentKind::New)
                });
            }
            units.finish();
            units
                .rows(0, false, 0)
                .filter(|row| row.is_part == 1)
                .count()
        };
        // Twelve segments are a part.
        assert_eq!((parts(0, 600), parts(1, 600), parts(20, 600)), (50, 49, 48));
        assert!(parts(0, 700_000) < 128 * 10);
        assert!(parts(20, 700_000) > 50_000);
    }
}

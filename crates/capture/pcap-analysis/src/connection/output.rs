//! Output: rows of a connection and of its segments in the tables.

use tcp::Flags;

use crate::input::decode::Packet;
use crate::tables::{ConnectionRow, SegmentRow};

use super::capture_point::SideRtt;
use super::direction::{Direction, SegmentKind};
use super::limits::LimitShares;
use super::loss::Kind;
use super::rtt::Rtts;
use super::trains::{TrainRates, Trains};
use super::{Connection, capture_point, messages};
use crate::sequence;

/// Number of samples by ACKs with which those by timestamp echoes are not needed.
const MIN_ACK_SAMPLES: u64 = 10;

impl Connection {
    pub(super) fn row(&self) -> ConnectionRow {
        let [up, down] = &self.directions;
        let main = usize::from(down.counts.bytes >= up.counts.bytes);
        let (sender, receiver) = (&self.directions[main], &self.directions[1 - main]);
        let none = Rtts::default();
        let [far, near] = if sender.counts.is_captured_late() || receiver.counts.is_captured_late()
        {
            [[&none; 2]; 2]
        } else {
            // The sender acknowledges data of the receiver, but that is little.
            [
                [&sender.answers, &receiver.near],
                [&receiver.answers, &sender.near],
            ]
        };
        let far_min = min_rtt(far[0], far[1]);
        let near_min = min_rtt(near[0], near[1]);
        let far = preferred_rtts(far[0], far[1]);
        let near = preferred_rtts(near[0], near[1]);
        let side = |lowest_ns: Option<u64>, rtts: &Rtts| {
            lowest_ns.map(|lowest_ns| SideRtt {
                lowest_ns,
                median_ns: rtts.percentile_ns(0.5).unwrap_or(0.0) as u64,
            })
        };
        let (place, place_confidence) = capture_point::infer(
            side(near_min, near),
            side(far_min, far),
            near.count().min(far.count()),
        );
        let download_ns = sender.payload_ns.map(|(first, last)| last - first);
        let download_s = download_ns.map_or(f64::NAN, |ns| ns as f64 / 1e9);
        let (cca, cca_confidence) = match place {
            // Away from the sender, the flight at the capture is not that of the sender.
            "receiver" | "between" => ("unknown", 0.0),
            _ => sender.reductions.infer_cca(),
        };
        let limits = sender.limits.shares().filter(|_| place == "sender");
        let limit = |of: fn(&LimitShares) -> f64| limits.as_ref().map_or(f64::NAN, of);
        let total = |what: fn(&Direction) -> u64| what(up) + what(down);
        let seconds = |ns: u64| ns as f64 / 1e9;
        let stalled = total(|direction| direction.stalls.total_ns);
        let closed = total(|direction| direction.total_closed_ns());
        let kind = |kind: Kind| self.losses_by_kind[kind as usize];
        let losses = [Kind::Congestion, Kind::Random, Kind::Outage, Kind::Tail];
        let scale = |direction: &Direction| direction.scale.map_or(f64::NAN, f64::from);
        let mss = |direction: &Direction| direction.mss.map_or(f64::NAN, f64::from);
        let ms = |ns: Option<f64>| ns.map_or(f64::NAN, |ns| ns / 1e6);
        let integer_ms = |ns: Option<u64>| ms(ns.map(|ns| ns as f64));
        let share = |part: u64, of: u64| {
            if of == 0 {
                f64::NAN
            } else {
                part as f64 / of as f64
            }
        };
        let reset = self.reset_origin.first();
        let messages = sender.messages.summary();
        let message = |of: fn(&messages::Summary) -> f64| messages.as_ref().map_or(f64::NAN, of);
        let [acked_trains, data_trains] =
            [&sender.acked_trains, &sender.data_trains].map(Trains::rates);
        let mbps = |rates: &Option<TrainRates>, of: fn(&TrainRates) -> f64| {
            rates.as_ref().map_or(f64::NAN, |rates| 8e-6 * of(rates))
        };
        let [waits_up, waits_down] = self.turns.waits();
        let both = |what: fn(&Direction) -> bool| what(up) && what(down);
        ConnectionRow {
            connection: self.number,
            client: self.ends.client.to_string(),
            server: self.ends.server.to_string(),
            start_ns: self.begin_ns,
            duration_s: seconds(self.last_ns - self.begin_ns),
            handshake: self.handshake.name().to_owned(),
            syns: self.handshake.syns,
            mss_up: mss(up),
            mss_down: mss(down),
            scale_client: scale(up),
            scale_server: scale(down),
            sack: u32::from(
                both(|direction| direction.offers_sack) || up.used_sack || down.used_sack,
            ),
            timestamps: u32::from(
                total(|direction| direction.near.count()) > 0
                    || both(|direction| direction.has_timestamps),
            ),
            ecn: u32::from(both(|direction| direction.offers_ecn)),
            marked_packets: total(|direction| direction.counts.marked),
            congestion_echoes: total(|direction| direction.counts.congestion_echoes),
            packets_up: up.counts.packets,
            packets_down: down.counts.packets,
            bytes_up: up.counts.bytes,
            bytes_down: down.counts.bytes,
            segments_up: up.counts.segments,
            segments_down: down.counts.segments,
            retransmissions_up: up.counts.retransmissions,
            retransmissions_down: down.counts.retransmissions,
            retransmitted_bytes_up: up.counts.retransmitted_bytes,
            retransmitted_bytes_down: down.counts.retransmitted_bytes,
            out_of_order_up: up.counts.out_of_order,
            out_of_order_down: down.counts.out_of_order,
            duplicate_acks_up: up.counts.duplicate_acks,
            duplicate_acks_down: down.counts.duplicate_acks,
            acks_up: up.counts.acks,
            acks_down: down.counts.acks,
            zero_windows_up: up.counts.zero_windows,
            zero_windows_down: down.counts.zero_windows,
            keep_alives: total(|direction| direction.counts.keep_alives),
            resets_up: up.counts.resets,
            resets_down: down.counts.resets,
            ending: self.ending().to_owned(),
            direction: if main == 0 { "up" } else { "down" }.to_owned(),
            download_s,
            throughput_mbps: match download_ns {
                Some(ns) if ns > 0 => sender.counts.bytes as f64 * 8e3 / ns as f64,
                _ => f64::NAN,
            },
            goodput_peak_mbps: match sender.peak.bytes_per_s() {
                0 => f64::NAN,
                bytes => bytes as f64 * 8e-6,
            },
            far_rtt_samples: far.count(),
            far_rtt_min_ms: integer_ms(far_min),
            far_rtt_mean_ms: ms(far.mean_ns()),
            far_rtt_p50_ms: ms(far.percentile_ns(0.5)),
            far_rtt_p95_ms: ms(far.percentile_ns(0.95)),
            far_rtt_max_ms: integer_ms(far.max_ns()),
            near_rtt_samples: near.count(),
            near_rtt_min_ms: integer_ms(near_min),
            near_rtt_p50_ms: ms(near.percentile_ns(0.5)),
            near_rtt_p95_ms: ms(near.percentile_ns(0.95)),
            late_up_p50_ms: integer_ms(up.lateness.median_ns()),
            late_down_p50_ms: integer_ms(down.lateness.median_ns()),
            rtt_min_ms: integer_ms(far_min.zip(near_min).map(|(far, near)| far + near)),
            in_flight_max: sender.in_flight_max,
            in_flight_mean: if sender.busy_ns == 0 {
                0.0
            } else {
                sender.flight_area / sender.busy_ns as f64
            },
            window_min: receiver.window_min.map_or(f64::NAN, |window| window as f64),
            window_max: receiver
                .window_min
                .map_or(f64::NAN, |_| receiver.window_max as f64),
            window_limited: receiver.window_min.map_or(f64::NAN, |_| {
                share(sender.window_limited_ns, sender.busy_ns)
            }),
            limit_idle: limit(|shares| shares.idle),
            limit_receive_window: limit(|shares| shares.receive_window),
            limit_recovery: limit(|shares| shares.recovery),
            limit_wait: limit(|shares| shares.wait),
            limit_network: limit(|shares| shares.network),
            idle_s: seconds(self.idle_ns),
            application_limited: share(
                sender.empty_ns.min(download_ns.unwrap_or(0)),
                download_ns.unwrap_or(0),
            ),
            stalled_s: seconds(stalled),
            handshake_wait_s: self
                .handshake
                .wait()
                .map_or(0.0, |(first, last)| seconds(last - first)),
            delayed_acks: up.delayed_acks.waits + down.delayed_acks.waits,
            delayed_acks_up: up.delayed_acks.waits,
            delayed_ack_s: seconds(up.delayed_acks.total_ns + down.delayed_acks.total_ns),
            turns_up: waits_up.turns,
            turns_down: waits_down.turns,
            turns_up_s: seconds(waits_up.turns_ns),
            turns_down_s: seconds(waits_down.turns_ns),
            pauses_up_s: seconds(waits_up.pauses_ns),
            pauses_down_s: seconds(waits_down.pauses_ns),
            far_trains: acked_trains.as_ref().map_or(0, |rates| rates.count as u32),
            far_train_mbps: mbps(&acked_trains, |rates| rates.median),
            far_train_low_mbps: mbps(&acked_trains, |rates| rates.p10),
            far_train_high_mbps: mbps(&acked_trains, |rates| rates.p90),
            near_trains: data_trains.as_ref().map_or(0, |rates| rates.count as u32),
            near_train_mbps: mbps(&data_trains, |rates| rates.median),
            near_train_low_mbps: mbps(&data_trains, |rates| rates.p10),
            near_train_high_mbps: mbps(&data_trains, |rates| rates.p90),
            messages: sender.messages.count,
            message_bytes: message(|summary| summary.bytes),
            message_mbps: message(|summary| 8e-6 * summary.rate),
            message_interval_ms: message(|summary| summary.interval_ns / 1e6),
            message_interval_range: message(|summary| summary.interval_range),
            message_span_ms: message(|summary| summary.span_ns / 1e6),
            unanswered_s: seconds(self.unanswered_ns),
            unanswered_retransmissions: up.counts.unanswered.max(down.counts.unanswered),
            longest_idle_s: seconds(self.pause.longest_ns),
            answers_after_idle: self.pause.answers,
            reset_ttl: reset.map_or(f64::NAN, |reset| f64::from(reset.ttl)),
            reset_usual_ttl: reset
                .and_then(|reset| reset.usual_ttl)
                .map_or(f64::NAN, f64::from),
            reset_after_ms: integer_ms(reset.and_then(|reset| reset.after_ns)),
            sack_outside: up.counts.sack_outside + down.counts.sack_outside,
            segment_max: sender.longest_segment,
            segment_acked_max: sender.flight.longest_acked,
            oversize_retransmissions: sender.counts.oversize_retransmissions,
            zero_window_s: seconds(closed),
            harm_s: seconds(self.waits.total_ns()),
            losses: losses.into_iter().map(kind).sum(),
            losses_congestion: kind(Kind::Congestion),
            losses_random: kind(Kind::Random),
            losses_outage: kind(Kind::Outage),
            losses_tail: kind(Kind::Tail),
            spurious: kind(Kind::Spurious),
            reordered: kind(Kind::Reordering),
            timeouts: total(|direction| direction.counts.timeouts),
            place: place.to_owned(),
            place_confidence,
            cca: cca.to_owned(),
            cca_confidence,
            reductions: sender.reductions.count() as u32,
            reduction: sender.reductions.median_ratio().unwrap_or(f64::NAN),
            is_one_way: u32::from(up.counts.packets == 0 || down.counts.packets == 0),
            is_tunnelled: u32::from(self.is_tunnelled),
            missed_bytes: missed_bytes(up, down) + missed_bytes(down, up),
            wrong_lengths: self.wrong_lengths,
            captured_twice: self.captured_twice,
            captured_late: total(|direction| direction.counts.captured_late),
            is_reused: u32::from(self.is_reused),
        }
    }

    /// Returns the row of a segment that has just passed.
    pub(super) fn segment_row(
        &self,
        side: usize,
        packet: &Packet,
        kind: SegmentKind,
    ) -> SegmentRow {
        let segment = &packet.segment;
        let relative = |direction: &Direction, wire: u32| {
            let number = sequence::near(direction.flight.highest, wire);
            direction
                .base
                .map_or(f64::NAN, |base| number as f64 - base as f64)
        };
        let (from, to) = (&self.directions[side], &self.directions[1 - side]);
        let acks = segment.flags.contains(Flags::ACK);
        let syn = u32::from(segment.flags.contains(Flags::SYN));
        let blocks = segment.sack.as_slice();
        let edge = |index: usize, right: bool| {
            let block = blocks.get(index);
            block.map_or(f64::NAN, |(left, end)| {
                relative(to, if right { *end } else { *left })
            })
        };
        SegmentRow {
            connection: self.number,
            t_s: packet.at_ns.saturating_sub(self.begin_ns) as f64 / 1e9,
            up: u32::from(side == 0),
            seq: relative(from, segment.seq.wrapping_add(syn)),
            ack: if acks {
                relative(to, segment.ack)
            } else {
                f64::NAN
            },
            len: segment.len,
            flags: u32::from(segment.flags.bits()),
            window: from.window.map_or(f64::NAN, |window| window as f64),
            kind: kind.name().to_owned(),
            in_flight: from.flight.bytes(),
            sack_1_left: edge(0, false),
            sack_1_right: edge(0, true),
            sack_2_left: edge(1, false),
            sack_2_right: edge(1, true),
            sack_3_left: edge(2, false),
            sack_3_right: edge(2, true),
        }
    }

    fn ending(&self) -> &'static str {
        let fins = self
            .directions
            .iter()
            .filter(|direction| direction.has_fin)
            .count();
        match (self.reset_by, fins) {
            (_, 2) => "closed",
            (Some(0), _) => "reset by client",
            (Some(_), _) => "reset by server",
            (None, 1) => "half-closed",
            (None, _) => "open",
        }
    }
}

/// Returns the payload of `direction` that was acknowledged and not captured, without a FIN that was not captured.
fn missed_bytes(direction: &Direction, other: &Direction) -> u64 {
    let is_fin = other.has_fin && !direction.has_fin && direction.last_missed == 1;
    direction.counts.missed - u64::from(is_fin).min(direction.counts.missed)
}

/// Returns the samples by ACKs, or those by timestamp echoes if they are more and ACKs are few.
fn preferred_rtts<'a>(answers: &'a Rtts, echoes: &'a Rtts) -> &'a Rtts {
    if answers.count() >= MIN_ACK_SAMPLES || answers.count() >= echoes.count() {
        answers
    } else {
        echoes
    }
}

/// Returns the lowest RTT of both kinds of samples, ns.
pub(super) fn min_rtt(answers: &Rtts, echoes: &Rtts) -> Option<u64> {
    let both = answers.min_ns().into_iter().chain(echoes.min_ns());
    both.min()
}

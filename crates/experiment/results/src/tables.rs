//! Tables of a run. A new column is one line here, a new table one entry.
//!
//! Campaigns number the runs in a further column `run`; `flow` is the number of the connection in its run.

use std::borrow::Cow;

use crate::tables;

tables! {
    /// One row per run.
    runs: Runs of RunRow, Required {
        seed: u64 = "seed of the run",
        scenario: String = "name of the scenario",
        scenario_hash: String = "hash of the scenario with all its defaults",
        engine: String = "what ran TCP: native or kernel",
        kernel_version: String = "version of the Linux kernel; empty for the native engine",
        version: String = "version of celltcp",
        memory_pressures: u32 = "times that the kernel's TCP ran short of memory, which falsifies a run; 0 for the native engine",
        policy: String = "policies by which auto selects, joined by plus signs; empty without one",
        duration_s: f64 = "length of the run, s",
        trace_offset_s: f64 = "where in its traces the run began, s",
        start_jitter_s: f64 = "how much later than written the flows started, s",
    }

    /// One row per connection.
    flows: Flows of FlowRow, Required {
        flow: u32 = "number of the connection",
        name: String = "name of the flow in the scenario",
        ue: String = "node that receives",
        cca: String = "congestion control, by the kernel's name",
        start_s: f64 = "when the connection was requested, s",
        first_data_s: f64 = "when the first data byte was sent, s",
        duration_s: f64 = "from the first data byte sent to the end of the flow or the run, s",
        completion_s: f64 = "from the request of the connection to the last byte received, s; NaN for a flow without end",
        bytes: u64 = "payload delivered in order to the application, bytes",
        goodput_mbps: f64 = "bytes over duration_s, Mbit/s",
        rtt_mean_ms: f64 = "mean of the RTT samples at the server's tap, one per ACK that newly covers data, ms",
        rtt_p95_ms: f64 = "95th percentile of the RTT samples, nearest rank, ms",
        rtt_min_ms: f64 = "lowest RTT sample, ms",
        owd_mean_ms: f64 = "mean one-way delay of data packets from tap to tap, ms",
        owd_p95_ms: f64 = "95th percentile of the one-way delay, ms",
        owd_min_ms: f64 = "lowest one-way delay, ms",
        induced_delay_ms: f64 = "rtt_mean_ms - rtt_min_ms",
        srtt_mean_ms: f64 = "mean of TCP's own smoothed RTT over ACKs, ms",
        segments: u64 = "data segments sent, retransmissions included",
        retransmissions: u64 = "data segments sent again",
        timeouts: f64 = "retransmission time-outs; NaN if the engine does not report it",
        loss_probes: f64 = "tail loss probes; NaN if the engine does not report it",
        recoveries: f64 = "fast recoveries; NaN if the engine does not report it",
        undone: f64 = "reductions of the window that were taken back; NaN if the engine does not report it",
        slow_start_exit_s: f64 = "from the first data byte to the first exit from slow start, s; NaN if it was never left",
        slow_start_exit_cwnd: f64 = "window at that exit, segments",
        pm_balanced: f64 = "mean over slots of PM with weights 1, 1, 1",
        pm_delay: f64 = "mean over slots of PM with weights 1, 10, 1",
        duplicate_acks: u64 = "duplicate ACKs (RFC 5681 section 2) at the server's tap",
        slow_start_bytes: f64 = "payload sent until the first exit from slow start, retransmissions included, bytes; NaN if it was never left",
        rtt_increment_mean_ms: f64 = "mean positive difference between successive RTT samples, ms; NaN without one",
        rtt_increment_max_ms: f64 = "largest difference between successive RTT samples, ms; NaN without a positive one",
        application_limited_s: f64 = "time in which the application had nothing to send, s; NaN if the engine does not report it",
        receive_window_limited_s: f64 = "time in which the offered window held data back, s; NaN if the engine does not report it",
        acked_early_bytes: u64 = "payload that was acknowledged to the sender before it had reached the receiver, bytes",
        acked_early_ends: u64 = "times that all payload sent was acknowledged and some of it had not reached the receiver",
        send_buffer_limited_s: f64 = "time in which the application waited for room in the send buffer, and nothing was left to send, s; NaN if the engine does not report it",
        resets: u64 = "RST segments of the receiver",
        discarded_bytes: u64 = "payload that reached the receiver after it had given the connection up, bytes",
        spared_bytes: u64 = "payload that a reset tracker kept from the receiver, bytes",
        far_timeouts: f64 = "retransmission time-outs of the receiving end; NaN if the engine does not report it",
        handshake_timeouts: f64 = "time-outs of SYN and SYN-ACK at both ends; NaN if the engine does not report it",
        spurious_retransmissions: f64 = "segments that the receiver got twice, as its D-SACKs reported; NaN if the engine does not report it",
        first_byte_s: f64 = "from the request of the connection to the first byte delivered to the application, s; NaN without one",
        rtt_max_ms: f64 = "highest RTT sample, ms",
    }

    /// One row per connection that has sent data: what limited its sender, and for how long.
    limits: Limits of LimitRow, Required {
        flow: u32 = "number of the connection",
        idle_s: f64 = "application: all that it had written was acknowledged, s",
        in_flight_s: f64 = "application: all that it had written was sent, or Nagle's algorithm kept the rest, s; NaN if the engine does not report it",
        send_buffer_s: f64 = "send buffer: it was full, and all it held was sent (TCP_CHRONO_SNDBUF_LIMITED, and where Linux takes a congestion window with room for the limit), s; NaN if the engine does not report it",
        receive_window_s: f64 = "receive window (TCP_CHRONO_RWND_LIMITED), s; NaN if the engine does not report it",
        startup_s: f64 = "window or pacing in slow start; of a CCA that owns its window, such as BBR, until its first exit, s; NaN if the engine does not report it",
        congestion_window_s: f64 = "congestion window outside slow start, s; NaN if the engine does not report it",
        pacing_s: f64 = "pacing outside slow start, while the window has room, s; NaN if the engine does not report it",
        recovery_s: f64 = "loss recovery, with or without a time-out; of a CCA that owns its window, if losses fill it, s; NaN if the engine does not report it",
        timeout_s: f64 = "a time-out that came, since the last ACK before it, s; NaN if the engine does not report it",
        outage_s: f64 = "slots in which the link had no capacity or lost all, and the sender had data to send or on its way, s; NaN if the engine does not report it",
    }

    /// One row per loss recovery of a sender: loss probe that repaired a loss, fast recovery, time-out, or several of these
    /// in succession.
    recoveries: Recoveries of RecoveryRow, Optional {
        flow: u32 = "number of the connection",
        t_s: f64 = "start: loss probe, fast recovery or time-out, s",
        end_s: f64 = "end: all that was sent before the start is acknowledged, or the start is undone, s; NaN if the run or the connection ended first",
        dropped_s: f64 = "when the first of the segments was dropped, s; NaN without one",
        slow_start: u32 = "1 if dropped_s, or without it the start, was before the first exit from slow start",
        segments: u64 = "data segments sent until the end of this recovery, without those that earlier ones count, nor those first sent in it that it does not repair",
        overflow: u64 = "how many of them a full queue dropped",
        aqm: u64 = "how many of them a queue discipline dropped",
        policer: u64 = "how many of them a policer dropped",
        random: u64 = "how many of them were lost at random or in a blackout",
        radio: u64 = "how many of them the radio lost",
        overflow_s: f64 = "when a full queue dropped the first of them, s; NaN if none did",
        aqm_s: f64 = "when a queue discipline dropped the first of them, s; NaN if none did",
        policer_s: f64 = "when a policer dropped the first of them, s; NaN if none did",
        random_s: f64 = "when the first of them was lost at random or in a blackout, s; NaN if none was",
        radio_s: f64 = "when the radio lost the first of them, s; NaN if it lost none",
        loss_probes: u64 = "tail loss probes; 0 if the engine does not report their times",
        timeouts: u64 = "retransmission time-outs",
        timeout_s: f64 = "when the first of them expired, s; NaN without one",
        silence_s: f64 = "time since the last ACK then, s; NaN without one",
        unreported_bytes: u64 = "payload then that had reached the receiver in order and no ACK had reported, bytes",
        undone: f64 = "reductions of the window that were taken back; NaN if the engine does not report it",
    }

    /// One row per time of a slot's length or more in which nothing could pass on the way of a connection, whatever the
    /// traffic, from its request until its end.
    outages: Outages of OutageRow, Optional {
        flow: u32 = "number of the connection",
        t_s: f64 = "start, s",
        duration_s: f64 = "length, s",
        direction: String = "data: that of the data; ack: that of their ACKs",
        cause: String = "capacity: a link without capacity; loss: a link that lost all it sent",
    }

    /// One row per dropped packet of a handshake, and per dropped packet with payload of the receiving end, such as a
    /// request.
    far_losses: FarLosses of FarLossRow, Optional {
        flow: u32 = "number of the connection",
        t_s: f64 = "when it was dropped, s",
        kind: Cow<'static, str> = "handshake: a SYN or SYN-ACK; data: payload of the receiving end",
        cause: Cow<'static, str> = "overflow or aqm (of a queue), policer, loss (random, or in a blackout), radio or mtu",
    }

    /// One row per connection and time slot in which it was alive.
    slots: Slots of SlotRow, Required {
        flow: u32 = "number of the connection",
        t_s: f64 = "start of the slot, s",
        delivered_bytes: u64 = "payload delivered in order to the application, bytes",
        goodput_mbps: f64 = "delivered_bytes over the slot, Mbit/s",
        rate_mbps: f64 = "data packets that arrived, at the IP layer, Mbit/s",
        capacity_mbps: f64 = "what the bottleneck could have carried for this flow (Kt), payload, Mbit/s; 0 in outages",
        rtt_mean_ms: f64 = "mean of the RTT samples in the slot, ms; NaN without one",
        owd_mean_ms: f64 = "mean one-way delay of data packets that arrived in the slot, ms; NaN without one",
        retransmissions: u64 = "data segments sent again in the slot",
        cwnd: u32 = "congestion window at the end of the slot, segments",
        inflight: u32 = "segments in flight at the end of the slot",
        queue_bytes: u64 = "backlog of the bottleneck at the end of the slot, bytes",
        queue_packets: u64 = "backlog of the bottleneck at the end of the slot, packets",
        a: f64 = "A of PM: share of the capacity used; NaN where undefined",
        b: f64 = "B of PM: lowest RTT over mean RTT; NaN where undefined",
        c: f64 = "C of PM: share of the BDP not retransmitted; NaN where undefined",
        pm_balanced: f64 = "PM with weights 1, 1, 1; NaN where undefined",
        pm_delay: f64 = "PM with weights 1, 10, 1; NaN where undefined",
        segments: u64 = "data segments sent in the slot, retransmissions included",
        duplicate_acks: u64 = "duplicate ACKs (RFC 5681) that reached the sender in the slot",
        timeouts: f64 = "retransmission time-outs in the slot; NaN if the engine does not report it",
        loss_probes: f64 = "tail loss probes in the slot; NaN if the engine does not report it",
        rtt_increment_mean_ms: f64 = "mean positive difference between successive RTT samples, the second in the slot, ms; NaN without one",
        rtt_increment_max_ms: f64 = "largest difference between successive RTT samples, the second in the slot, ms; NaN without a positive one",
    }

    /// One row per sample of a connection's state: per ACK or per interval.
    samples: Samples of SampleRow, Required {
        flow: u32 = "number of the connection",
        t_ns: u64 = "time, ns",
        cwnd: u32 = "congestion window, segments",
        ssthresh: u32 = "slow-start threshold, segments; 2147483647 before the first reduction",
        inflight: u32 = "segments in flight",
        srtt_us: u64 = "smoothed RTT, us",
        delivery_rate_bps: u64 = "latest delivery-rate sample, payload, bit/s",
        pacing_rate_bps: u64 = "pacing rate, bit/s",
        state: u32 = "loss recovery: 0 open, 1 disorder, 2 cwr, 3 recovery, 4 loss",
        queue_bytes: u64 = "backlog of the bottleneck, bytes",
        capacity_bps: u64 = "capacity of the bottleneck over the last slot, IP layer, bit/s",
        mode: Cow<'static, str> = "mode of the congestion control, such as slow_start or probe_rtt; empty if the engine does not report it",
    }

    /// One row per time slot, connection and leg of a middlebox that splits it.
    legs: Legs of LegRow, Optional {
        flow: u32 = "number of the connection",
        t_s: f64 = "start of the slot, s",
        node: String = "node of the middlebox",
        towards: String = "node at the end of the leg",
        cwnd: u32 = "congestion window of the middlebox on the leg at the end of the slot, segments",
        inflight: u32 = "segments of the middlebox in flight on the leg at the end of the slot",
        srtt_ms: f64 = "smoothed RTT of the leg, ms; NaN before the first sample",
        retransmissions: u64 = "data segments that the middlebox has sent again on the leg so far",
        timeouts: u64 = "retransmission time-outs of the middlebox on the leg so far",
        buffered_bytes: u64 = "payload in the middlebox that the end of the leg has not acknowledged, bytes",
    }

    /// One row per event of a connection.
    events: Events of EventRow, Required {
        flow: u32 = "number of the connection",
        t_ns: u64 = "time, ns",
        kind: String = "name of the event, such as open, split or stall_s",
        detail: String = "its value, or details in words",
    }

    /// One row per transport block of each UE that a flow ends at, and one per downlink TTI without any.
    radio: Ttis of TtiRow, Optional {
        t_ns: u64 = "start of the TTI, ns",
        ue: u32 = "number of the UE in the scenario, the phone or its first one being 0",
        cell: u32 = "number of the serving cell in the scenario, from 0",
        uplink: u32 = "0 to the UE, 1 from it",
        sinr_db: f64 = "SINR of the downlink: that of a flat channel with as much information, dB",
        cqi: u32 = "CQI that the scheduler has; 0 for none",
        mcs: u32 = "modulation and coding scheme of the block; without one, of what could have been sent",
        tbs_bytes: u32 = "transport block size, bytes; 0 without a block",
        payload_bytes: u32 = "bytes of packets in the block, the rest being headers, reports and padding",
        attempt: u32 = "how often the block has been sent, this time included; 0 without a block",
        bler: f64 = "block error rate after this attempt; NaN without a block",
        decoded: u32 = "1 if this attempt was decoded",
        prbs: u32 = "resource blocks",
        wasted: u32 = "1 if the UE could have been served and nothing waited for it",
        queue_bytes: u64 = "what waits for its first transmission, bytes",
        queue_packets: u32 = "what waits for its first transmission, packets",
    }

    /// One row per TTI and cell, where the scenario asks for it (radio.control_log).
    control: ControlTtis of ControlRow, Optional {
        t_ns: u64 = "start of the TTI, ns",
        cell: u32 = "number of the cell in the scenario, from 0",
        elements: u32 = "control channel elements of the PDCCH",
        taken: u32 = "elements that carry messages",
        blocked: u32 = "messages that found no place",
        reports: u32 = "buffer status reports that UEs have sent",
        requests: u32 = "scheduling requests and random accesses that UEs have sent",
        grants: u32 = "grants that UEs were given",
    }

    /// One row per packet that a base station has received, where the scenario asks for it (radio.control_log).
    uplink: Uplinks of UplinkRow, Optional {
        flow: u32 = "number of the connection",
        ue: u32 = "number of the UE in the scenario, the phone or its first one being 0",
        t_ns: u64 = "when the last byte was with the base station, ns",
        bytes: u32 = "size at the IP layer, bytes",
        delay_ms: f64 = "since the UE had it, ms",
    }

    /// One row per data segment of a run with a capture, in the order of sending.
    fates: Fates of FateRow, Optional {
        flow: u32 = "number of the connection",
        seq: u64 = "number of its first byte; where the numbers of a connection begin has no meaning",
        len: u32 = "payload, bytes",
        sent_ns: u64 = "when it was sent, ns",
        ended_ns: u64 = "when it was received or dropped, ns; 2^64 - 1 while under way",
        reported: u64 = "end of the highest byte that the receiver had reported to the sender when this was sent",
        fate: String = "received, overflow or aqm (of a queue), policer, loss (random, or in a blackout), radio, mtu, reset (of a reset connection), or under way at the end",
    }

    /// One row per decision of a selector.
    decisions: Decisions of DecisionRow, Optional {
        flow: u32 = "number of the connection",
        t_ns: u64 = "time, ns",
        cause: String = "establishment, change, return where a change made it worse, or agent where one outside asked for it",
        from_cca: String = "congestion control before",
        to_cca: String = "congestion control after",
        reason: String = "reason in words",
        measures: String = "the features that led to it, as name=value",
    }

    /// One row per slot and connection with a selector: what its estimators see at the end of the slot.
    estimates: Estimates of EstimateRow, Optional {
        flow: u32 = "number of the connection",
        t_s: f64 = "start of the slot, s",
        using_cca: String = "congestion control in use at the end of the slot",
        base_rtt_ms: f64 = "lowest RTT, ms; NaN before the first sample",
        latency: String = "class of the base latency: low or 4g",
        latency_confidence: f64 = "from 0 to 1",
        capacity_mbps: f64 = "capacity of the path, payload, Mbit/s",
        capacity_confidence: f64 = "from 0 to 1",
        trend: f64 = "relative change of the capacity, 1/s",
        trend_confidence: f64 = "from 0 to 1",
        movement: String = "forward, static or backward",
        movement_confidence: f64 = "from 0 to 1",
        variability: f64 = "standard deviation of the capacity over its mean, the trend left out",
        variability_confidence: f64 = "from 0 to 1",
        queue_segments: f64 = "what waits at the bottleneck, segments",
        queue_confidence: f64 = "from 0 to 1",
        buffer_segments: f64 = "room of its buffer, segments; 0 while it has never been full",
        buffer_confidence: f64 = "from 0 to 1",
        window_limited: u32 = "1 if the receive window limits",
        window_limited_confidence: f64 = "from 0 to 1",
        random_loss: f64 = "share of segments lost while the queue was short",
        random_loss_confidence: f64 = "from 0 to 1",
        phase: String = "start-up, sustainer, constrained or scaling",
        phase_confidence: f64 = "from 0 to 1",
        speed: String = "class of the speed: 60, 120 or 300 km/h",
        speed_confidence: f64 = "from 0 to 1",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_tables_is_in_the_order_of_their_columns() {
        let mut tables = Tables::default();
        tables.events.push(EventRow {
            flow: 3,
            t_ns: 7,
            kind: "open".to_owned(),
            detail: "cubic".to_owned(),
        });
        let names: Vec<_> = Tables::ALL.iter().map(|table| table.name).collect();
        let of_columns: Vec<_> = tables
            .clone()
            .into_columns()
            .map(|(table, columns)| {
                assert_eq!(columns.len(), table.columns.len(), "{}", table.name);
                table.name
            })
            .collect();
        assert_eq!(names, of_columns);
        let (_, columns) = tables
            .into_columns()
            .find(|(table, _)| table.name == "events")
            .expect("a table of events");
        assert_eq!(columns[1], crate::Column::U64(vec![7]));
    }

    #[test]
    fn a_table_has_the_meaning_of_its_rows() {
        assert_eq!(Tables::ALL[0].meaning, "One row per run.");
        assert_eq!(Tables::ALL[0].columns[0].meaning, "seed of the run");
    }
}

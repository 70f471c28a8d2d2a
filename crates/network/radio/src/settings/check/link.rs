//! Checks of downlink, HARQ, RLC and DRX.

use config::{
    Buffer, FieldContext, FieldError, Quantity, changed_fields, check_choice, check_number,
    check_positive, invalid_value, reject_if_set,
};
use units::Bytes;

use super::super::{
    Cqi, Downlink, Drx, Harq, Radio, Rlc, RlcMode, Scheduler, SubbandRate, Technology,
};
use super::{check_decibels, check_ttis};

pub(super) fn check(radio: &Radio, mtu: Bytes) -> Result<(), FieldError> {
    check_downlink(radio, &radio.downlink).in_table("downlink")?;
    check_harq(radio, &radio.harq).in_table("harq")?;
    check_rlc(&radio.rlc, radio.technology, mtu).in_table("rlc")?;
    radio
        .drx
        .as_ref()
        .map_or(Ok(()), |settings| check_drx(radio, settings))
        .in_table("drx")
}

fn check_downlink(radio: &Radio, downlink: &Downlink) -> Result<(), FieldError> {
    let tti = radio.tti();
    check_positive("time_constant", downlink.time_constant)?;
    reject_if_set(
        "time_constant",
        downlink.scheduler != Scheduler::ProportionalFair
            && downlink.time_constant != Downlink::default().time_constant,
        downlink.time_constant,
        "scheduler \"proportional-fair\"",
    )?;
    reject_if_set(
        "subband_rate",
        downlink.cqi == Cqi::Wideband && downlink.subband_rate == SubbandRate::Weakest,
        "weakest",
        "cqi \"subband\"",
    )?;
    check_ttis("cqi_period", downlink.cqi_period, tti, 1)?;
    check_ttis("cqi_delay", downlink.cqi_delay, tti, 0)?;
    check_decibels("margin", downlink.margin, -20.0, 20.0)?;
    if let Some(period) = downlink.channel_period {
        check_ttis("channel_period", period, tti, 1)?;
    }
    if let Some(errors) = &downlink.control_errors {
        check_number("control_errors.dtx_to_ack", errors.dtx_to_ack, 0.0, 1.0)?;
        check_number("control_errors.ack_to_nack", errors.ack_to_nack, 0.0, 1.0)?;
        check_number("control_errors.nack_to_ack", errors.nack_to_ack, 0.0, 1.0)?;
    }
    let Some(outer) = &downlink.outer_loop else {
        return Ok(());
    };
    check_number("outer_loop.target", outer.target, 0.001, 0.9)?;
    check_decibels("outer_loop.step", outer.step, 0.01, 10.0)?;
    check_decibels("outer_loop.limit", outer.limit, 0.0, 50.0)
}

fn check_harq(radio: &Radio, harq: &Harq) -> Result<(), FieldError> {
    let tti = radio.tti();
    check_number("transmissions", harq.transmissions, 1, 28)?;
    if let Some(processes) = harq.processes {
        check_number("processes", processes, 1, radio.max_harq_processes())?;
    }
    let round_trip = radio.harq_round_trip();
    check_ttis("round_trip", round_trip, tti, 1)?;
    let decoding = radio.decoding();
    check_ttis("decoding", decoding, tti, 1)?;
    if decoding > round_trip && harq.decoding.is_none() {
        let allowed = format!("times from decoding on, {decoding}");
        return invalid_value("round_trip", round_trip, allowed);
    }
    if decoding > round_trip {
        let allowed = format!("times up to the round trip, {round_trip}");
        return invalid_value("decoding", decoding, allowed);
    }
    Ok(())
}

fn check_rlc(rlc: &Rlc, technology: Technology, mtu: Bytes) -> Result<(), FieldError> {
    check_buffer("buffer", rlc.buffer, mtu)?;
    check_buffer("uplink_buffer", rlc.uplink_buffer, mtu)?;
    let widths: &[u32] = match (technology, rlc.mode) {
        (Technology::Lte, RlcMode::Am) => &[10, 16],
        (Technology::Lte, RlcMode::Um) => &[5, 10],
        (Technology::Nr, RlcMode::Am) => &[12, 18],
        (Technology::Nr, RlcMode::Um) => &[6, 12],
    };
    if let Some(bits) = rlc.sn_bits {
        check_choice("sn_bits", bits, widths)?;
    }
    check_choice(
        "length_indicator_bits",
        rlc.length_indicator_bits,
        &[11, 15],
    )?;
    if rlc.mode == RlcMode::Um {
        return reject_am_settings(rlc);
    }
    check_positive("poll_retransmit", rlc.poll_retransmit)?;
    if let Some(bytes) = rlc.poll_bytes {
        check_positive("poll_bytes", bytes)?;
    }
    check_number("max_retransmissions", rlc.max_retransmissions, 1, 32)
}

/// Rejects settings of acknowledgements in mode "um".
fn reject_am_settings(rlc: &Rlc) -> Result<(), FieldError> {
    const ACKNOWLEDGED: [&str; 6] = [
        "status_prohibit",
        "status",
        "poll_retransmit",
        "poll_pdus",
        "poll_bytes",
        "max_retransmissions",
    ];
    let set = changed_fields(rlc).into_iter();
    set.filter(|(name, _)| ACKNOWLEDGED.contains(&name.as_str()))
        .try_for_each(|(name, value)| reject_if_set(name, true, value, "mode \"am\""))
}

fn check_buffer(field: &str, buffer: Buffer, mtu: Bytes) -> Result<(), FieldError> {
    let fits = match buffer {
        Buffer::Bdp(_) | Buffer::Time(_) => false,
        Buffer::Packets(packets) => packets > 0,
        Buffer::Bytes(bytes) => bytes >= mtu,
    };
    if fits {
        return Ok(());
    }
    let allowed = format!(
        "packets (\"750packets\") or bytes (\"1MB\"), a packet of the MTU, {}, at least",
        mtu.write()
    );
    invalid_value(field, buffer.write(), allowed)
}

fn check_drx(radio: &Radio, drx: &Drx) -> Result<(), FieldError> {
    let tti = radio.tti();
    check_ttis("on_duration", drx.on_duration, tti, 1)?;
    check_ttis("inactivity", drx.inactivity, tti, 0)?;
    check_ttis("retransmission", drx.retransmission, tti, 0)?;
    check_ttis("long_cycle", drx.long_cycle, tti, 1)?;
    check_ttis("offset", drx.offset, tti, 0)?;
    let cycle = drx.long_cycle;
    if drx.on_duration > cycle {
        let allowed = format!("times up to the long cycle, {cycle}");
        return invalid_value("on_duration", drx.on_duration, allowed);
    }
    if drx.offset >= cycle {
        let allowed = format!("times below the long cycle, {cycle}");
        return invalid_value("offset", drx.offset, allowed);
    }
    let Some(short) = drx.short_cycle else {
        let (cycles, default) = (drx.short_cycles, Drx::default().short_cycles);
        return reject_if_set("short_cycles", cycles != default, cycles, "a short_cycle");
    };
    check_ttis("short_cycle", short, tti, 1)?;
    if short >= cycle || !cycle.as_nanos().is_multiple_of(short.as_nanos()) {
        let allowed = format!("times of which the long cycle, {cycle}, is a multiple");
        return invalid_value("short_cycle", short, allowed);
    }
    check_number("short_cycles", drx.short_cycles, 1, 16)
}

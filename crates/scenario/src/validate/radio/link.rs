//! Downlink, HARQ, RLC and DRX.

use units::Bytes;

use super::{changed, decibels, only_for, positive, ttis, wrong};
use crate::model::Buffer;
use crate::model::radio::{
    Cqi, Downlink, Drx, Harq, Radio, Rlc, RlcMode, Scheduler, SubbandRate, Technology,
};
use crate::validate::{Wrong, number};
use config::Quantity;

pub(super) fn check(radio: &Radio, mtu: Bytes) -> Result<(), Wrong> {
    downlink(radio, &radio.downlink)?;
    harq(radio, &radio.harq)?;
    rlc(&radio.rlc, mtu)?;
    radio
        .drx
        .as_ref()
        .map_or(Ok(()), |settings| drx(radio, settings))
}

fn downlink(radio: &Radio, downlink: &Downlink) -> Result<(), Wrong> {
    let field = |name: &str| format!("radio.downlink.{name}");
    let tti = radio.tti();
    positive(field("time_constant"), downlink.time_constant)?;
    only_for(
        field("time_constant"),
        downlink.scheduler != Scheduler::ProportionalFair
            && downlink.time_constant != Downlink::default().time_constant,
        downlink.time_constant,
        "scheduler \"proportional-fair\"",
    )?;
    only_for(
        field("subband_rate"),
        downlink.cqi == Cqi::Wideband && downlink.subband_rate == SubbandRate::Weakest,
        "weakest",
        "cqi \"subband\"",
    )?;
    ttis(field("cqi_period"), downlink.cqi_period, tti, 1)?;
    ttis(field("cqi_delay"), downlink.cqi_delay, tti, 0)?;
    decibels(field("margin"), downlink.margin, -20.0, 20.0)?;
    if let Some(period) = downlink.channel_period {
        ttis(field("channel_period"), period, tti, 1)?;
    }
    let Some(outer) = &downlink.outer_loop else {
        return Ok(());
    };
    number(field("outer_loop.target"), outer.target, 0.001, 0.9)?;
    decibels(field("outer_loop.step"), outer.step, 0.01, 10.0)?;
    decibels(field("outer_loop.limit"), outer.limit, 0.0, 50.0)
}

fn harq(radio: &Radio, harq: &Harq) -> Result<(), Wrong> {
    let tti = radio.tti();
    if !(1..=28).contains(&harq.transmissions) {
        return wrong("radio.harq.transmissions", harq.transmissions, "1 to 28");
    }
    let most = match radio.technology {
        Technology::Lte => 8,
        Technology::Nr => 16,
    };
    if let Some(processes) = harq.processes.filter(|count| !(1..=most).contains(count)) {
        return wrong("radio.harq.processes", processes, format!("1 to {most}"));
    }
    let round_trip = radio.harq_round_trip();
    ttis("radio.harq.round_trip", round_trip, tti, 1)?;
    let decoding = radio.decoding();
    ttis("radio.harq.decoding", decoding, tti, 1)?;
    if decoding > round_trip && harq.decoding.is_none() {
        let allowed = format!("times from decoding on, {decoding}");
        return wrong("radio.harq.round_trip", round_trip, allowed);
    }
    if decoding > round_trip {
        let allowed = format!("times up to the round trip, {round_trip}");
        return wrong("radio.harq.decoding", decoding, allowed);
    }
    Ok(())
}

fn rlc(rlc: &Rlc, mtu: Bytes) -> Result<(), Wrong> {
    let field = |name: &str| format!("radio.rlc.{name}");
    buffer(field("buffer"), rlc.buffer, mtu)?;
    buffer(field("uplink_buffer"), rlc.uplink_buffer, mtu)?;
    let widths: &[u32] = match rlc.mode {
        RlcMode::Am => &[10, 16],
        RlcMode::Um => &[5, 10],
    };
    if let Some(bits) = rlc.sn_bits {
        super::one_of(field("sn_bits"), bits, widths)?;
    }
    super::one_of(
        field("length_indicator_bits"),
        rlc.length_indicator_bits,
        &[11, 15],
    )?;
    if rlc.mode == RlcMode::Um {
        return without_acknowledgement(rlc);
    }
    positive(field("poll_retransmit"), rlc.poll_retransmit)?;
    if let Some(bytes) = rlc.poll_bytes {
        positive(field("poll_bytes"), bytes)?;
    }
    if !(1..=32).contains(&rlc.max_retransmissions) {
        let allowed = "1 to 32";
        return wrong(
            field("max_retransmissions"),
            rlc.max_retransmissions,
            allowed,
        );
    }
    Ok(())
}

/// What mode "um" does not have.
fn without_acknowledgement(rlc: &Rlc) -> Result<(), Wrong> {
    const ACKNOWLEDGED: [&str; 6] = [
        "status_prohibit",
        "status",
        "poll_retransmit",
        "poll_pdus",
        "poll_bytes",
        "max_retransmissions",
    ];
    let set = changed(rlc).into_iter();
    set.filter(|(name, _)| ACKNOWLEDGED.contains(&name.as_str()))
        .try_for_each(|(name, value)| {
            only_for(format!("radio.rlc.{name}"), true, value, "mode \"am\"")
        })
}

fn buffer(field: String, buffer: Buffer, mtu: Bytes) -> Result<(), Wrong> {
    let fits = match buffer {
        Buffer::Bdp(_) => false,
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
    wrong(field, buffer.write(), allowed)
}

fn drx(radio: &Radio, drx: &Drx) -> Result<(), Wrong> {
    let field = |name: &str| format!("radio.drx.{name}");
    let tti = radio.tti();
    ttis(field("on_duration"), drx.on_duration, tti, 1)?;
    ttis(field("inactivity"), drx.inactivity, tti, 0)?;
    ttis(field("retransmission"), drx.retransmission, tti, 0)?;
    ttis(field("long_cycle"), drx.long_cycle, tti, 1)?;
    ttis(field("offset"), drx.offset, tti, 0)?;
    let cycle = drx.long_cycle;
    if drx.on_duration > cycle {
        let allowed = format!("times up to the long cycle, {cycle}");
        return wrong(field("on_duration"), drx.on_duration, allowed);
    }
    if drx.offset >= cycle {
        let allowed = format!("times below the long cycle, {cycle}");
        return wrong(field("offset"), drx.offset, allowed);
    }
    let Some(short) = drx.short_cycle else {
        let (count, plain) = (drx.short_cycles, Drx::default().short_cycles);
        return only_for(
            field("short_cycles"),
            count != plain,
            count,
            "a short_cycle",
        );
    };
    ttis(field("short_cycle"), short, tti, 1)?;
    if short >= cycle || !cycle.as_nanos().is_multiple_of(short.as_nanos()) {
        let allowed = format!("times of which the long cycle, {cycle}, is a multiple");
        return wrong(field("short_cycle"), short, allowed);
    }
    if !(1..=16).contains(&drx.short_cycles) {
        return wrong(field("short_cycles"), drx.short_cycles, "1 to 16");
    }
    Ok(())
}

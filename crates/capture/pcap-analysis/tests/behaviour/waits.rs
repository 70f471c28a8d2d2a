//! Waits: connections that die, closed windows and their probes, and waits that overlap.

use pcap_analysis::tables::LossRow;
use tcp::{Flags, Segment};

use crate::connections::{at_server, only, tables};
use crate::made_up::{ISN, MSS, Script};

fn losses(script: &Script) -> Vec<LossRow> {
    let losses = tables(&script.packets).losses;
    (0..losses.len()).map(|row| losses.row(row)).collect()
}

/// A client that is gone after segment 19, and time-outs that double.
fn gone(time_outs: u32) -> Script {
    let mut script = at_server(20);
    script.data(200.0, 20).data(201.0, 21);
    for number in 0..time_outs {
        script.data(200.0 + 250.0 * f64::from((2 << number) - 1), 20);
    }
    script
}

#[test]
fn a_connection_that_dies_waited_to_its_end() {
    let script = gone(6);
    let row = only(&script.packets);
    // From 200 ms to 15.95 s, beyond the 200 ms that count as no silence.
    assert!((row.harm_s - 15.55).abs() < 0.01, "{}", row.harm_s);
    assert_eq!(row.stalled_s, row.harm_s);
    assert_eq!(row.losses_outage, 6);
    assert_eq!((row.losses_tail, row.timeouts), (0, 6));
}

#[test]
fn a_reset_ends_what_a_connection_waits_for() {
    for up in [true, false] {
        let mut script = gone(3);
        let reset = Segment {
            seq: ISN[usize::from(!up)].wrapping_add(1),
            flags: Flags::RST,
            ..Segment::default()
        };
        script.segment(9_200.0, up, reset);
        script.segment(60_000.0, up, reset);
        let row = only(&script.packets);
        assert!((row.harm_s - 8.8).abs() < 0.01, "{}", row.harm_s);
        assert!(losses(&script).iter().all(|loss| loss.kind == "outage"));
    }
}

#[test]
fn a_capture_that_stops_within_an_rtt_shows_no_wait() {
    let mut script = at_server(20);
    script.data(200.0, 20).data(201.0, 21);
    assert_eq!(only(&script.packets).harm_s, 0.0);
}

/// A closed window, probed with one byte that the receiver rejects, or takes with the last probe.
fn probed(takes: bool) -> Script {
    let mut script = at_server(20);
    let ack = |bytes: u32, window: u16| Segment {
        seq: ISN[0].wrapping_add(1),
        ack: ISN[1].wrapping_add(1 + 20 * MSS + bytes),
        flags: Flags::ACK,
        window,
        ..Segment::default()
    };
    let data = |offset: u32, len: u32| Segment {
        seq: ISN[1].wrapping_add(1 + 20 * MSS + offset),
        ack: ISN[0].wrapping_add(1),
        len,
        flags: Flags::ACK,
        window: 500,
        ..Segment::default()
    };
    script.segment(200.0, true, ack(0, 0));
    for ms in [500.0, 1_100.0, 2_300.0] {
        script.segment(ms, false, data(0, 1));
        script.segment(ms + 40.0, true, ack(0, 0));
    }
    script.segment(4_700.0, false, data(0, 1));
    let taken = u32::from(takes);
    script.segment(4_740.0, true, ack(taken, 500));
    script.segment(4_741.0, false, data(taken, MSS));
    script.segment(4_781.0, true, ack(taken + MSS, 500));
    script
}

#[test]
fn a_byte_that_a_closed_window_rejects_is_a_probe() {
    for takes in [false, true] {
        let row = only(&probed(takes).packets);
        assert_eq!((row.zero_windows_up, row.keep_alives), (1, 4));
        assert_eq!(row.bytes_down, 21_000 + u64::from(takes));
        assert_eq!((row.retransmissions_down, row.missed_bytes), (0, 0));
        assert!((row.zero_window_s - 4.54).abs() < 0.001);
        assert!((row.harm_s - 4.54).abs() < 0.001, "{}", row.harm_s);
        assert_eq!(row.losses + row.spurious, 0);
    }
}

#[test]
fn no_connection_waits_longer_than_it_lasts() {
    let mut script = at_server(20);
    let mut up = Segment {
        seq: ISN[0].wrapping_add(1),
        ack: ISN[1].wrapping_add(1 + 20 * MSS),
        len: 300,
        flags: Flags::ACK,
        window: 0,
        ..Segment::default()
    };
    script.data(200.0, 20).segment(200.5, true, up);
    for ms in [700.0, 1_700.0, 3_700.0] {
        script.data(ms, 20).segment(ms + 1.0, true, up);
    }
    up.seq = up.seq.wrapping_add(300);
    up.len = 0;
    up.window = 500;
    script.segment(4_000.0, true, up);
    let row = only(&script.packets);
    assert!(row.stalled_s + row.zero_window_s > row.duration_s);
    assert!(row.harm_s < row.duration_s, "{}", row.harm_s);
}

#[test]
fn a_fin_that_passes_again_after_its_ack_is_counted() {
    let mut script = at_server(20);
    let fin = Segment {
        seq: ISN[1].wrapping_add(1 + 20 * MSS),
        ack: ISN[0].wrapping_add(1),
        flags: Flags::FIN | Flags::ACK,
        window: 500,
        ..Segment::default()
    };
    let ack = Segment {
        seq: ISN[0].wrapping_add(1),
        ack: ISN[1].wrapping_add(2 + 20 * MSS),
        flags: Flags::ACK,
        window: 500,
        ..Segment::default()
    };
    script.segment(200.0, false, fin).segment(240.0, true, ack);
    script.segment(420.0, false, fin).segment(460.0, true, ack);
    let row = only(&script.packets);
    assert_eq!((row.retransmissions_down, row.keep_alives), (1, 0));
    assert_eq!((row.spurious, row.losses), (1, 0));
}

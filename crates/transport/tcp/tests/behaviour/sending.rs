//! Tests of how data is cut into segments: the push flag, records, small windows, short segments, probes with new data.

use tcp::{Connection, Flags, Segment, SendFlags, State, Tcp, TcpConfig, Tso};

use crate::alone::{OWN, ack, at, closed, exact, opened, pass, request, sent};

const MSS: u32 = 1_460;

fn open() -> Connection {
    opened(exact(), "reno", &request())
}

/// Removes and returns the segments that are ready: their payloads, and whether they have the push flag.
fn pieces(socket: &mut Connection) -> Vec<(u32, bool)> {
    sent(socket)
        .iter()
        .map(|each| (each.len, each.flags.contains(Flags::PSH)))
        .collect()
}

/// RFC 9293 §3.9.1.2, Linux `tcp_push`: the end of a write is pushed, unless the application says that more follows. A
/// burst of several segments is pushed as well (`__tcp_transmit_skb`).
#[test]
fn the_end_of_a_write_is_pushed() {
    let mut socket = open();
    socket.set_nagle(at(100), false);
    socket.write(at(100), 100);
    assert_eq!(pieces(&mut socket), [(100, true)]);
    socket.write_with_flags(at(100), u64::from(MSS), SendFlags::More);
    assert_eq!(pieces(&mut socket), [(MSS, false)]);
    socket.write_with_flags(at(100), 100, SendFlags::More);
    assert_eq!(pieces(&mut socket), [], "it waits for more");
    socket.write(at(100), 50);
    assert_eq!(pieces(&mut socket), [(150, true)]);
    socket.write_with_flags(at(100), u64::from(2 * MSS), SendFlags::More);
    assert_eq!(pieces(&mut socket), [(MSS, false), (MSS, true)]);
}

/// Linux `tcp_write_timer`: what waits for more data leaves after a time-out, and is pushed.
#[test]
fn announced_data_that_does_not_come_is_not_waited_for() {
    let mut socket = open();
    socket.write_with_flags(at(100), 100, SendFlags::More);
    assert_eq!(sent(&mut socket), []);
    let late = pass(&mut socket, at(1_000));
    assert!(late[0].0 >= at(300), "200 ms, or an RTO");
    assert_eq!((late[0].1.len, late[0].1.seq), (100, OWN + 1));
    assert!(late[0].1.flags.contains(Flags::PSH));
}

/// `MSG_EOR`: what follows a record does not join its last segment. Other writes that wait join each other.
#[test]
fn records_do_not_join() {
    for (ending, expected) in [
        (SendFlags::Record, vec![(100, true), (100, true)]),
        (SendFlags::Message, vec![(200, true)]),
    ] {
        let mut socket = open();
        socket.set_nagle(at(100), false);
        socket.write(at(100), u64::from(10 * MSS));
        assert_eq!(sent(&mut socket).len(), 10);
        socket.write_with_flags(at(100), 100, ending);
        socket.write(at(100), 100);
        assert_eq!(pieces(&mut socket), [], "the window is full");
        socket.on_segment(at(120), &ack(10 * MSS));
        assert_eq!(pieces(&mut socket), expected, "{ending:?}");
    }
}

/// Linux `tcp_bound_to_half_wnd`: a segment takes at most half of the largest window that was offered, so that there are
/// two of them; of a window of 536 bytes or less it may take all.
#[test]
fn a_segment_takes_half_of_a_small_window() {
    for (window, len) in [
        (65_535, MSS),
        (2_921, MSS),
        (2_000, 1_000),
        (1_072, 536),
        (538, 269),
        (536, 536),
        (300, 300),
    ] {
        let mut socket = closed(exact(), "reno");
        socket.listen();
        socket.on_segment(
            at(0),
            &Segment {
                window,
                ..request()
            },
        );
        socket.on_segment(at(20), &Segment { window, ..ack(0) });
        sent(&mut socket);
        socket.write(at(100), 20_000);
        let all = sent(&mut socket);
        assert_eq!(all[0].len, len, "{window}");
        let bytes: u32 = all.iter().map(|each| each.len).sum();
        assert!(bytes <= window.into(), "{window}: {bytes}");
        assert_eq!(socket.view().mss, len);
    }
}

/// Linux `TCP_MIN_SND_MSS`: 48 bytes with the options are the least full segment, however little the peer announces
/// and however small its window is (`tcp_mtu_to_mss`, `tcp_bound_to_half_wnd`). Timestamps take 12 of them.
#[test]
fn a_full_segment_has_48_bytes_with_its_options() {
    for (mss, window, bare, stamped) in [
        (100, 65_535, 100, 88),
        (48, 65_535, 48, 36),
        (20, 65_535, 48, 36),
        (1_460, 49, 49, 49),
        (1_460, 40, 48, 40),
        (1_460, 30, 48, 36),
    ] {
        for (timestamps, payload) in [(None, bare), (Some((700, 0)), stamped)] {
            let request = Segment {
                mss: Some(mss),
                timestamps,
                window,
                ..request()
            };
            let mut socket = closed(exact(), "reno");
            socket.listen();
            socket.on_segment(at(0), &request);
            let last = Segment {
                window,
                timestamps: timestamps.map(|_| (720, 0)),
                ..ack(0)
            };
            socket.on_segment(at(20), &last);
            let result = socket.view().mss;
            assert_eq!(result, payload, "{mss}, {window}, {timestamps:?}");
        }
    }
}

/// Linux `forced_push`: data is also pushed after each half of the largest window that was offered.
#[test]
fn a_long_write_is_pushed_on_the_way() {
    let settings = Tcp {
        tso: Tso::Segments(1),
        ..Tcp::default()
    };
    let config = TcpConfig {
        settings,
        ..exact()
    };
    let window = 10 * MSS as u16;
    let mut socket = closed(config, "reno");
    socket.listen();
    socket.on_segment(
        at(0),
        &Segment {
            window,
            ..request()
        },
    );
    socket.on_segment(at(20), &Segment { window, ..ack(0) });
    sent(&mut socket);
    socket.write(at(100), u64::from(10 * MSS));
    let pushed: Vec<usize> = pieces(&mut socket)
        .iter()
        .enumerate()
        .filter(|(_, (_, pushed))| *pushed)
        .map(|(n, _)| n)
        .collect();
    assert_eq!(pushed, [5, 9]);
}

/// RFC 9293 §3.7.4 with Minshall's modification: full segments leave although a short one is outstanding, the rest
/// waits for its acknowledgement.
#[test]
fn only_the_short_end_of_a_write_waits() {
    let mut socket = open();
    socket.write(at(100), 100);
    assert_eq!(pieces(&mut socket), [(100, true)]);
    socket.write(at(101), u64::from(2 * MSS + 50));
    assert_eq!(pieces(&mut socket), [(MSS, false), (MSS, true)]);
    socket.on_segment(at(120), &ack(100));
    assert_eq!(pieces(&mut socket), [(50, true)]);
}

/// RFC 8985 §7.3: a probe is new data if there is some, also beyond the congestion window. A full segment does not make
/// later short ones wait.
#[test]
fn a_probe_with_new_data_is_no_short_segment() {
    let mut socket = open();
    socket.write(at(100), u64::from(12 * MSS));
    assert_eq!(sent(&mut socket).len(), 10);
    let probe = pass(&mut socket, at(150));
    assert_eq!(probe.len(), 1);
    // Twice the RTT and two milliseconds.
    assert_eq!(probe[0].0, at(142));
    assert_eq!((probe[0].1.seq, probe[0].1.len), (OWN + 1 + 10 * MSS, MSS));
    assert_eq!(socket.view().loss_probes, Some(1));
    socket.on_segment(at(151), &ack(10 * MSS));
    assert_eq!(sent(&mut socket).len(), 1, "the twelfth");
    socket.write(at(152), 100);
    assert_eq!(pieces(&mut socket), [(100, true)]);
}

/// RFC 9293 §3.8.6.1: a closed window is probed with a number that the peer has, after time-outs that double; the
/// probes do not count as data.
#[test]
fn a_closed_window_is_probed() {
    let mut socket = open();
    socket.write(at(100), 1_000);
    sent(&mut socket);
    let shut = Segment {
        window: 0,
        ..ack(1_000)
    };
    socket.on_segment(at(120), &shut);
    assert_eq!(socket.write(at(130), 500), 500);
    let probes = pass(&mut socket, at(3_500));
    let times: Vec<u64> = probes
        .iter()
        .map(|(at, _)| at.since_start().as_millis())
        .collect();
    assert_eq!(times, [350, 790, 1_670, 3_430], "220 ms, doubled");
    for (_, probe) in &probes {
        assert_eq!((probe.seq, probe.len), (OWN + 1_000, 0));
    }
    let info = socket.info(at(3_500));
    assert_eq!(info.probes, 4);
    // Linux `tcp_chrono`: 20 ms until the first ACK, and from the second write on.
    assert_eq!(info.window_limited.as_millis(), 3_370);
    assert_eq!(info.busy.as_millis(), 3_390);
    assert_eq!(info.buffer_limited.as_millis(), 0);
    assert_eq!(socket.view().retransmissions, 0);
    socket.on_segment(at(3_600), &ack(1_000));
    assert_eq!(pieces(&mut socket), [(500, true)]);
    assert_eq!(socket.info(at(3_600)).probes, 0);
}

/// Linux `tcp_probe_timer` with `tcp_retries2` of 15: an end that answers no probe of its closed window times out at
/// the sixteenth. Answers let the connection last.
#[test]
fn a_silent_end_with_a_closed_window_is_given_up() {
    let shut = Segment {
        window: 0,
        ..ack(1_000)
    };
    for answers in [false, true] {
        let mut socket = open();
        socket.write(at(100), 1_000);
        sent(&mut socket);
        socket.on_segment(at(120), &shut);
        socket.write(at(130), 500);
        let mut probes = 0;
        while probes < 20 && socket.deadline() < at(4_000_000) {
            let now = socket.deadline();
            socket.on_deadline(now);
            let sent = sent(&mut socket).len();
            probes += sent;
            if answers && sent > 0 {
                socket.on_segment(now, &shut);
            }
        }
        let expected = if answers {
            (20, State::Established)
        } else {
            (15, State::Closed)
        };
        assert_eq!((probes, socket.state()), expected);
    }
}

/// Returns a connection whose peer has offered no window yet.
fn never_open() -> Connection {
    let mut socket = closed(exact(), "reno");
    socket.listen();
    for (ms, opening) in [(0, request()), (20, ack(0))] {
        let shut = Segment {
            window: 0,
            ..opening
        };
        socket.on_segment(at(ms), &shut);
    }
    sent(&mut socket);
    socket
}

/// RFC 9293 §3.8.6.1: an end that has never offered a window gets probes only, until it offers one.
#[test]
fn a_window_that_was_never_open_is_probed() {
    let mut socket = never_open();
    assert_eq!(socket.write(at(100), 1_000), 1_000);
    assert_eq!(pieces(&mut socket), [], "there is no window");
    let probes = pass(&mut socket, at(900));
    let seen: Vec<_> = probes
        .iter()
        .map(|(at, probe)| (at.since_start().as_millis(), probe.seq, probe.len))
        .collect();
    assert_eq!(seen, [(320, OWN, 0), (760, OWN, 0)]);
    socket.on_segment(at(910), &ack(0));
    assert_eq!(pieces(&mut socket), [(1_000, true)]);
}

/// RFC 9293 §3.8.6.2.1: a segment is divided where no window has ever had room for a whole one, one at a time.
#[test]
fn a_window_below_a_segment_is_filled() {
    let mut socket = never_open();
    socket.write(at(100), 2_500);
    let offer = |bytes: u32| Segment {
        window: 1_000,
        ..ack(bytes)
    };
    for (ms, acked, expected) in [(110, 0, 1_000), (130, 1_000, 1_000), (150, 2_000, 500)] {
        socket.on_segment(at(ms), &offer(acked));
        let all = sent(&mut socket);
        assert_eq!(all.len(), 1, "{acked}");
        assert_eq!((all[0].seq, all[0].len), (OWN + 1 + acked, expected));
    }
}

/// Linux `tcp_update_skb_after_send`: a connection is paced after ten segments with data. Probes of a closed window are
/// none.
#[test]
fn ten_segments_leave_unpaced_also_after_probes() {
    let settings = Tcp {
        pacing: true,
        ..Tcp::default()
    };
    for probed in [false, true] {
        let config = TcpConfig {
            settings: settings.clone(),
            ..exact()
        };
        let mut socket = opened(config, "reno", &request());
        let shut = Segment {
            window: 0,
            ..ack(0)
        };
        socket.on_segment(at(30), &shut);
        socket.write(at(100), u64::from(20 * MSS));
        if probed {
            assert_eq!(pass(&mut socket, at(300_000)).len(), 10);
        }
        let open = Segment {
            window: 65_000,
            ..ack(0)
        };
        socket.on_segment(at(300_001), &open);
        assert_eq!(sent(&mut socket).len(), 10, "{probed}");
    }
}

/// Linux `__tcp_transmit_skb` (`data_segs_out`): repetitions of data count, a FIN alone and its repetition as a probe do
/// not. So two repetitions after eight segments with data leave at once, and the first of two after nine.
#[test]
fn repeated_data_counts_before_the_pacing_and_a_fin_does_not() {
    let settings = Tcp {
        pacing: true,
        ..Tcp::default()
    };
    for (segments, closes, expected) in [
        (8, false, &[0, 2][..]),
        (8, true, &[0, 2]),
        (9, false, &[0]),
    ] {
        let config = TcpConfig {
            settings: settings.clone(),
            ..exact()
        };
        let mut socket = opened(config, "reno", &request());
        socket.write(at(100), u64::from(segments * MSS));
        assert_eq!(sent(&mut socket).len() as u32, segments);
        if closes {
            socket.close(at(101));
            assert_eq!(sent(&mut socket)[0].flags, Flags::ACK | Flags::FIN);
            let probe = pass(&mut socket, at(150));
            assert_eq!(probe.len(), 1);
            assert!(probe[0].1.flags.contains(Flags::FIN));
        }
        let mut report = ack(0);
        for (from, to) in [(3, segments), (1, 2)] {
            report.sack.push(OWN + 1 + from * MSS, OWN + 1 + to * MSS);
        }
        socket.on_segment(at(if closes { 151 } else { 120 }), &report);
        let repeated: Vec<u32> = sent(&mut socket)
            .iter()
            .map(|each| (each.seq - OWN - 1) / MSS)
            .collect();
        assert_eq!(repeated, expected);
    }
}

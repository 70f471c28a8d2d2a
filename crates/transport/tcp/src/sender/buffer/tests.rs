//! Tests of the send buffer: its limit, its buffers, and the application that waits.

use units::Bytes;
use units::Duration;
use units::random::{Purpose, RngStream};

use super::*;
use crate::config::TcpConfig;
use crate::sender::test_sender::{ACK, FIRST, MSS};
use crate::sender::{AckInput, Outgoing};
use crate::settings::{Tcp, Tso};
use cca::{CongestionState, cca_by_name};

const RTT: Duration = Duration::from_millis(50);
/// Segments of a buffer while the peer offers much.
const FULL: u64 = 45;
/// Segments that the device takes during a write, in three bursts.
const DEVICE: u64 = 6;

fn start() -> Instant {
    Instant::ZERO + RTT
}

/// Returns a sender whose connection has just been opened, to an end that offers `window` bytes.
fn opened(name: &str, config: TcpConfig, window: u64) -> Sender {
    let draws = RngStream::new(1, Purpose::CongestionControl, 0);
    let own = config.initial_window(draws);
    let built = cca_by_name(name).expect("a CCA of ours");
    let mut sender = Sender::new(config, CongestionState::new(own, built), FIRST);
    sender.establish(start(), Some(RTT), window, false);
    sender
}

fn sent(sender: &mut Sender) -> Vec<Outgoing> {
    core::iter::from_fn(|| sender.poll()).collect()
}

/// Acknowledges the first `segments` at a round trip and `ms` after the start.
fn ack(sender: &mut Sender, ms: u64, segments: u64) {
    let input = AckInput {
        ack: FIRST + segments * MSS,
        ..ACK
    };
    sender.on_ack(start() + RTT + Duration::from_millis(ms), &input);
}

/// Linux `tcp_sndbuf_expand`: for every segment of the window the next power of two above it with its headers, and a
/// header of a buffer; all that twice, three times for BBR.
#[test]
fn the_limit_follows_the_window() {
    let of = |name, mss| {
        let config = TcpConfig {
            mss,
            ..TcpConfig::default()
        };
        opened(name, config, 1 << 20).buffer.sndbuf
    };
    assert_eq!(of("reno", 1_448), 2 * 10 * (2_048 + 256));
    assert_eq!(of("bbr", 1_448), 3 * 10 * (2_048 + 256));
    assert_eq!(of("reno", 8_948), 2 * 10 * (16_384 + 256));
    let mut sender = opened("reno", TcpConfig::default(), 1 << 20);
    sender.congestion.window.cwnd = 100;
    sender.expand_buffer();
    assert_eq!(sender.buffer.sndbuf, 2 * 100 * 2_304);
    sender.congestion.window.cwnd = 20;
    sender.reordering.degree = 50;
    sender.expand_buffer();
    assert_eq!(sender.buffer.sndbuf, 2 * 100 * 2_304, "it never falls");
    sender.reordering.degree = 150;
    sender.expand_buffer();
    assert_eq!(sender.buffer.sndbuf, 2 * 151 * 2_304);
    sender.congestion.window.cwnd = 100_000;
    sender.expand_buffer();
    assert_eq!(sender.buffer.sndbuf, 4 << 20, "the most that a host allows");
}

#[test]
fn a_host_may_allow_less_than_the_first_limit() {
    let config = TcpConfig::from(Tcp {
        send_buffer_max: Bytes::new(8_192),
        ..Tcp::default()
    });
    let mut sender = opened("reno", config, 1 << 20);
    assert_eq!(sender.buffer.sndbuf, 8_192);
    // A buffer that was begun is filled: what the device takes at once is replaced.
    assert_eq!(
        sender.write(start(), 1 << 20, SendFlags::Message),
        (DEVICE + FULL) * MSS
    );
}

/// Linux `tcp_sendmsg_locked`: memory is asked for at each new buffer. While the first buffer is being sent, the rest
/// of it takes more data. The device takes three bursts at once (`tcp_small_queue_check`), the others after the write.
#[test]
fn the_last_buffer_is_filled_to_its_end() {
    let mut sender = opened("reno", TcpConfig::default(), 1 << 20);
    assert_eq!(
        sender.write(start(), 1 << 20, SendFlags::Message),
        (DEVICE + FULL) * MSS
    );
    assert!(sender.nospace());
    let out = sent(&mut sender);
    assert_eq!(out.len(), 10);
    let pushed: Vec<_> = out.iter().map(|segment| segment.push).collect();
    assert_eq!(
        pushed,
        [[false, true]; 5].concat(),
        "two segments at a time"
    );
    // Five bursts and the buffer that waits.
    assert_eq!(sender.wmem_queued(), (DEVICE + FULL) * MSS + 6 * 832);
    // The buffer that waits has lost what was sent after the write.
    assert_eq!(
        sender.write(start(), 1 << 20, SendFlags::Message),
        (10 - DEVICE) * MSS
    );
}

/// Linux `tcp_xmit_size_goal`: a buffer is at most half of the largest window offered, in whole segments.
#[test]
fn a_small_window_makes_small_buffers() {
    let goal = |window| opened("reno", TcpConfig::default(), window).xmit_size_goal();
    assert_eq!(goal(1 << 20), FULL * MSS);
    assert_eq!(goal(64_240), 22 * MSS);
    assert_eq!(goal(2_000), MSS);
    let config = TcpConfig::from(Tcp {
        tso: Tso::Segments(2),
        ..Tcp::default()
    });
    assert_eq!(opened("reno", config, 1 << 20).xmit_size_goal(), 2 * MSS);
}

/// Linux `sk_stream_write_space`: the writer is woken when the free part is half of the taken one. The buffer grows
/// first, as long as the window is not filled.
#[test]
fn a_writer_is_woken_when_a_third_is_free() {
    let mut sender = opened("reno", TcpConfig::default(), 1 << 20);
    sender.write(start(), 1 << 20, SendFlags::Message);
    // In slow start every ACK is answered by twice as many segments, until the buffer is nearly drained.
    let mut acked = 0;
    while sender.nospace() {
        acked += 1;
        ack(&mut sender, acked, acked);
        let (kept, limit) = (sender.wmem_queued(), sender.buffer.sndbuf);
        let free = limit.saturating_sub(kept);
        assert_eq!(sender.nospace(), free < kept / 2, "{kept} of {limit}");
    }
    let (kept, limit) = (sender.wmem_queued(), sender.buffer.sndbuf);
    assert!(acked > 1 && limit > 46_080 && kept <= limit * 2 / 3);
    assert!(sender.write(start() + RTT * 2, 1 << 20, SendFlags::Message) > 0);
    assert!(sender.nospace());
}

/// Nothing is left of the limit, or less than half of what is taken: the writer waits on.
#[test]
fn half_of_the_taken_memory_must_be_free() {
    for (limit, waits) in [(3_000, true), (6_467, true), (6_468, false)] {
        let mut sender = opened("reno", TcpConfig::default(), 1 << 20);
        sender.write(start(), 2 * MSS, SendFlags::Message);
        // One burst of two segments: 3664 bytes. Or two of one: 4432.
        let kept = sender.wmem_queued();
        assert_eq!(kept, 2 * MSS + 832);
        sender.congestion.window.cwnd = 1;
        sender.buffer.sndbuf = limit * kept / 4_312;
        sender.buffer.nospace = true;
        sender.check_space(start());
        assert_eq!(sender.nospace(), waits, "{limit}");
    }
}

#[test]
fn the_buffer_does_not_grow_while_the_window_is_filled() {
    let mut sender = opened("reno", TcpConfig::default(), 1 << 20);
    sender.write(start(), 1 << 20, SendFlags::Message);
    sender.reordering.degree = 100;
    sender.check_space(start());
    assert_eq!(sender.buffer.sndbuf, 46_080);
    sender.congestion.window.cwnd = 11;
    sender.check_space(start());
    assert_eq!(sender.buffer.sndbuf, 2 * 101 * 2_304);
    sender.buffer.nospace = false;
    sender.reordering.degree = 200;
    sender.check_space(start());
    assert_eq!(sender.buffer.sndbuf, 2 * 101 * 2_304, "nobody waits");
}

/// RFC 896 with Minshall's modification, Linux `tcp_nagle_check`: one short segment is outstanding at most, and
/// the end of the stream waits for nothing.
#[test]
fn a_second_short_segment_waits_for_the_first() {
    let mut sender = opened("reno", TcpConfig::default(), 1 << 20);
    assert_eq!(sender.write(start(), 100, SendFlags::Message), 100);
    assert_eq!(sender.write(start(), 100, SendFlags::Message), 100);
    let lens = |out: Vec<Outgoing>| -> Vec<_> { out.iter().map(|s| (s.len, s.fin)).collect() };
    assert_eq!(lens(sent(&mut sender)), [(100, false)]);
    sender.write(start(), MSS, SendFlags::Message);
    assert_eq!(
        lens(sent(&mut sender)),
        [(1_448, false)],
        "a full one leaves"
    );
    sender.write(start(), 3 * MSS, SendFlags::Message);
    assert_eq!(lens(sent(&mut sender)), [(1_448, false); 3]);
    sender.finish(start());
    assert_eq!(lens(sent(&mut sender)), [(100, true)]);
}

/// Linux `tcp_send_fin`: the last segment takes the FIN along, also a full one.
#[test]
fn the_fin_joins_unsent_data() {
    let mut sender = opened("reno", TcpConfig::default(), 1 << 20);
    sender.congestion.window.cwnd = 2;
    sender.write(start(), 4 * MSS, SendFlags::Message);
    sender.finish(start());
    assert_eq!(sent(&mut sender).len(), 2);
    ack(&mut sender, 0, 2);
    let out = sent(&mut sender);
    let ends: Vec<_> = out.iter().map(|s| (s.len, s.fin)).collect();
    assert_eq!(ends, [(1_448, false), (1_448, true)]);
    assert!(sender.seq.fin_sent());
}

/// Linux `tcp_mss_split_point`: a window that ends within a segment is filled, if there was room for a whole one
/// before and no short segment is outstanding.
#[test]
fn the_end_of_the_window_splits_a_segment() {
    let config = TcpConfig::from(Tcp {
        tso: Tso::Segments(5),
        ..Tcp::default()
    });
    let mut sender = opened("reno", config.clone(), 5 * MSS + 500);
    sender.write(start(), 1 << 20, SendFlags::Message);
    let lens: Vec<_> = sent(&mut sender).iter().map(|s| s.len).collect();
    assert_eq!(lens, [1_448, 1_448, 1_448, 1_448, 1_448, 500]);
    let mut sender = opened("reno", config, 5 * MSS + 500);
    sender.write(start(), 100, SendFlags::Message);
    assert_eq!(sent(&mut sender).len(), 1, "nothing is outstanding");
    sender.write(start(), 6 * MSS, SendFlags::Message);
    let lens: Vec<_> = sent(&mut sender).iter().map(|s| s.len).collect();
    assert_eq!(lens, [1_448; 5], "only whole segments");
}

#[test]
fn buffers_are_joined_only_for_a_longer_burst() {
    let mut buffer = SendBuffer::new(100, 1 << 20);
    assert_eq!(buffer.grow_head(110), None);
    for (at, push) in [(100, false), (145, true)] {
        assert_eq!(buffer.room(100, 45), 0);
        buffer.begin_skb(at);
        buffer.append(45, true);
        if push {
            buffer.mark_push();
        }
    }
    assert!(!buffer.head_is_last());
    assert_eq!(buffer.room(100, 50), 5);
    assert_eq!(buffer.grow_head(110), Some((145, false)));
    assert_eq!(buffer.grow_head(145), Some((145, false)));
    assert_eq!(buffer.grow_head(150), Some((150, false)));
    assert_eq!(buffer.room(100, 45), 5, "part of it went to the first");
    buffer.remove_sent(149);
    assert!(!buffer.head_is_last());
    buffer.remove_sent(150);
    assert!(buffer.head_is_last());
    assert_eq!(buffer.room(160, 45), 15);
    assert_eq!(buffer.grow_head(1_000), Some((190, true)));
    buffer.append(1, false);
    assert_eq!(buffer.grow_head(1_000), Some((191, true)));
    buffer.append(1, true);
    assert_eq!(buffer.grow_head(1_000), Some((192, false)));
}

#[test]
fn a_whole_buffer_joins_with_its_push_flag() {
    let mut buffer = SendBuffer::new(0, 1 << 20);
    for at in [0, 10] {
        buffer.begin_skb(at);
        buffer.append(10, true);
    }
    buffer.mark_push();
    assert_eq!(buffer.grow_head(20), Some((20, true)));
    assert!(buffer.head_is_last());
    assert_eq!(buffer.pushed_seq, 20);
}

/// Linux `forced_push`: after half of the largest window the data is pushed while the application writes.
#[test]
fn half_a_window_of_data_is_pushed() {
    let mut sender = opened("reno", TcpConfig::default(), 1 << 20);
    sender.congestion.window.cwnd = 1_000;
    sender.expand_buffer();
    sender.write(start(), 3 << 20, SendFlags::Message);
    let marked = sender.buffer.pushed_seq - FIRST;
    assert!(marked > 1 << 19, "{marked}");
}

/// Linux `tcp_small_queue_check`: an application that finds room writes no more than the limit and one buffer, however
/// wide the window is. Without a bound on what the device takes, each burst would make room for the next one.
#[test]
fn a_wide_window_does_not_widen_the_buffer() {
    let config = TcpConfig::from(Tcp {
        send_buffer_max: Bytes::new(92_000),
        ..Tcp::default()
    });
    let mut sender = opened("reno", config, 1 << 20);
    sender.congestion.window.cwnd = 500;
    sender.expand_buffer();
    let taken = sender.write(start(), 1 << 20, SendFlags::Message);
    assert!(taken <= 92_000 + (FULL + DEVICE) * MSS, "{taken}");
    assert!(sender.nospace());
}

/// Linux `tcp_mss_split_point`: the last burst takes along what the window has room for, also if that is short.
#[test]
fn the_rest_of_the_window_leaves_with_the_last_burst() {
    let mss = 8_948;
    let config = TcpConfig {
        mss: mss as u32,
        ..TcpConfig::default()
    };
    let mut sender = opened("reno", config, 7 * mss + 84);
    sender.write(start(), 487_000, SendFlags::Message);
    let lens: Vec<u32> = sent(&mut sender).iter().map(|out| out.len).collect();
    assert_eq!(lens, [8_948, 8_948, 8_948, 8_948, 8_948, 8_948, 8_948, 84]);
}

/// Linux `tcp_stream_memory_free`: with `tcp_notsent_lowat`, an application waits once so much is unsent, a whole buffer of
/// data further at most, and goes on below half of it.
#[test]
fn an_application_waits_where_enough_is_unsent() {
    let lowat = 20_000;
    let settings = Tcp {
        notsent_lowat: Some(Bytes::new(lowat)),
        ..Tcp::default()
    };
    let mut sender = opened("reno", TcpConfig::from(settings), 1 << 20);
    sender.buffer.sndbuf = 1 << 22;
    sender.write(start(), 1 << 20, SendFlags::Message);
    assert!(sender.nospace());
    let unsent = |sender: &Sender| sender.seq.unsent();
    assert!(
        (lowat..lowat + 65_536).contains(&unsent(&sender)),
        "{}",
        unsent(&sender)
    );
    let mut acked = 0;
    while sender.nospace() {
        assert!(
            2 * unsent(&sender) + 20 * MSS >= lowat,
            "{}",
            unsent(&sender)
        );
        acked += 1;
        ack(&mut sender, 0, acked);
        sent(&mut sender);
    }
    assert!(2 * unsent(&sender) < lowat, "{}", unsent(&sender));
    assert!(sender.write(start(), 1 << 20, SendFlags::Message) > 0);
}

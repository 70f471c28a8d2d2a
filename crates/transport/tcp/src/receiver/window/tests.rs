//! Tests of the window and of the memory behind it.

use units::Bytes;

use super::*;
use crate::settings::Tcp;

/// Returns the configuration of a host with full segments of `mss` bytes, whose window is at most `cap` bytes.
fn configured(mss: u32, cap: Option<u64>) -> TcpConfig {
    let settings = Tcp {
        receive_window_max: cap.map(Bytes::new),
        ..Tcp::default()
    };
    TcpConfig {
        mss,
        ..settings.into()
    }
}

fn ms(n: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(n)
}

/// Returns a window for segments of `mss` bytes with timestamps, after the SYN.
fn fresh(mss: u32, scale: u8, cap: Option<u64>) -> WindowTuning {
    let config = configured(mss, cap);
    let window = first_window(&config, config.mss, false);
    WindowTuning::new(&config, 1_000, scale, true, window)
}

/// Returns a window that knows the size of the peer's segments.
fn tuning() -> WindowTuning {
    let mut window = fresh(1_448, 7, None);
    window.measure_rcv_mss(1_448, false);
    window
}

/// Adjacent segments share a header, 18 of them, unless their memory is not in pages.
#[test]
fn adjacent_segments_share_headers() {
    let window = tuning();
    let of = |segments: u64| window.truesize_of(segments * 1_448);
    assert_eq!(window.truesize_of(0), 0);
    assert_eq!(of(1), 2_176);
    assert_eq!(of(2), 2 * 2_176 - 256);
    assert_eq!(of(18), 18 * 2_176 - 17 * 256);
    assert_eq!(of(19), 19 * 2_176 - 17 * 256);
    assert_eq!(window.truesize_of(1_448 + 100), 2_176 + 832 - 256);
    let mut large = fresh(8_948, 7, None);
    large.measure_rcv_mss(8_948, false);
    assert_eq!(large.truesize_of(3 * 8_948), 3 * 16_640);
}

/// Linux `tcp_select_initial_window`: whole segments of half of the buffer.
#[test]
fn the_first_window_is_whole_segments() {
    let config = TcpConfig::default();
    assert_eq!(first_window(&config, config.mss, false), 44 * 1_460);
    assert_eq!(first_window(&config, config.mss, true), 45 * 1_448);
    let with = |mss, cap| first_window(&configured(mss, cap), mss, false);
    assert_eq!(with(8_948, None), 7 * 8_960);
    assert_eq!(with(1_448, Some(10_000)), 6 * 1_460);
    assert_eq!(with(1_448, Some(1_000)), 1_000);
}

/// Linux `tcp_select_initial_window`, whose space is half of `tcp_rmem[1]`, at most half of `tcp_rmem[2]`.
#[test]
fn the_first_window_follows_the_buffer_at_the_start() {
    let with = |initial: Option<u64>, max: u64| {
        let settings = Tcp {
            receive_buffer_initial: initial.map(Bytes::new),
            receive_buffer_max: Bytes::new(max),
            ..Tcp::default()
        };
        first_window(&settings.into(), 1_448, false)
    };
    for (initial, max, segments) in [
        (None, 6 << 20, 44),
        (Some(128 << 10), 6 << 20, 44),
        (Some(1 << 20), 6 << 20, 359),
        (Some(32 << 10), 6 << 20, 11),
        (None, 64 << 10, 22),
    ] {
        assert_eq!(with(initial, max), segments * 1_460, "{initial:?} of {max}");
    }
}

/// A first buffer larger than the largest one, or beside a cap of the window, is refused.
#[test]
fn a_buffer_at_the_start_has_its_range() {
    let checked = |initial: u64, cap: Option<u64>| {
        let settings = Tcp {
            receive_buffer_initial: Some(Bytes::new(initial)),
            receive_window_max: cap.map(Bytes::new),
            ..Tcp::default()
        };
        settings.check(Bytes::new(1_500)).is_ok()
    };
    assert!(checked(4 << 10, None) && checked(6 << 20, None));
    assert!(!checked((4 << 10) - 1, None) && !checked((6 << 20) + 1, None));
    assert!(!checked(1 << 20, Some(100_000)));
}

/// Linux `tcp_init_buffer_space`: room for a segment is kept back, and the first round trip expects ten.
#[test]
fn a_new_window_keeps_a_segment_back() {
    let window = fresh(1_448, 7, None);
    assert_eq!(
        (window.window_clamp, window.rcv_ssthresh),
        (65_536 - 1_448, 64_088)
    );
    assert_eq!((window.rcvq_space, window.rcv_mss), (14_480, 536));
    let capped = fresh(1_448, 7, Some(20_000));
    assert_eq!(
        (capped.window_clamp, capped.rcv_ssthresh),
        (20_000, 13 * 1_460)
    );
    assert_eq!(fresh(1_448, 0, None).window_clamp, 64_088);
    let huge = fresh(60_000, 7, None);
    assert_eq!(huge.window_clamp, 65_536, "no room to keep back");
}

/// Linux `tcp_measure_rcv_mss`: the share of payload is learnt from a segment of more than 536 bytes; below it stays a
/// half.
#[test]
fn the_share_of_payload_is_measured() {
    let ratio = |mss: u32| {
        let mut window = fresh(mss, 7, None);
        for _ in 0..3 {
            window.measure_rcv_mss(mss.into(), false);
        }
        (window.rcv_mss, window.scaling_ratio, window.window_clamp)
    };
    assert_eq!(ratio(1_448), (1_448, 170, 87_040));
    assert_eq!(ratio(3_948), (3_948, 119, 60_928));
    assert_eq!(ratio(8_948), (8_948, 137, 70_144));
    assert_eq!(ratio(524), (524, 128, 65_536 - 524));
    let mut capped = fresh(1_448, 7, Some(50_000));
    capped.measure_rcv_mss(1_448, false);
    assert_eq!(capped.window_clamp, 50_000);
}

/// A smaller segment ends a message, unless a second one of the same size shows that segments are that small.
#[test]
fn small_segments_end_messages() {
    let mut window = tuning();
    assert!(!window.measure_rcv_mss(1_448, false));
    assert!(window.measure_rcv_mss(1_448, true));
    assert!(window.measure_rcv_mss(900, false));
    assert!(window.measure_rcv_mss(800, false));
    assert_eq!(window.rcv_mss, 1_448);
    assert!(!window.measure_rcv_mss(800, false));
    assert_eq!(window.rcv_mss, 800);
    let mut window = tuning();
    for _ in 0..3 {
        assert!(window.measure_rcv_mss(300, true), "pushed ones say nothing");
        assert!(window.measure_rcv_mss(50, false), "nor tiny ones");
    }
    assert_eq!(window.rcv_mss, 1_448);
    assert!(window.measure_rcv_mss(300, false));
    assert!(!window.measure_rcv_mss(300, false));
    assert_eq!(window.rcv_mss, 300);
}

/// Linux `tcp_recvmsg_locked` and `tcp_rcv_space_adjust`: the first buffer of a burst has 18 segments. The others are
/// not read yet when the round trip is measured, and are taken off what was read in it.
#[test]
fn a_burst_at_the_end_of_a_round_trip_does_not_belong_to_it() {
    let after = |segments: u64| {
        let mut w = tuning();
        w.start(ms(0));
        w.rcv_rtt_measure_ts(ms(50), Some(0), 1_448, false);
        let read_to = 1_000 + 100 * 1_448;
        w.after_read(ms(50), read_to, segments * 1_448, 0, 0);
        w.rcvq_space / 1_448
    };
    assert_eq!(after(1), 100);
    assert_eq!(after(18), 100);
    assert_eq!(after(28), 100 - 2 * 10);
}

/// Linux `tcp_rcvbuf_grow`: twice the bytes of a round trip, and twice their growth again.
#[test]
fn the_window_grows_ahead_of_a_sender_that_doubles() {
    let mut w = tuning();
    w.start(ms(0));
    w.rcv_rtt_measure_ts(ms(50), Some(0), 1_448, false);
    assert_eq!(w.rcv_rtt, Duration::from_millis(50));
    w.rcv_space_adjust(ms(49), 1_000 + 28_960, 0, 0);
    assert_eq!(w.rcvq_space, 14_480, "a round trip has not passed");
    w.rcv_space_adjust(ms(50), 1_000 + 30_960, 2_000, 0);
    // 2 · 28 960 + 2 · 57 920 · (28 960 − 14 480) / 14 480
    let wanted = 57_920 + 2 * 57_920;
    assert_eq!(w.rcvbuf, (wanted << 8) / 170);
    assert_eq!(w.window_clamp, (w.rcvbuf * 170) >> 8);
    assert_eq!(w.rcvq_space, 28_960);
    w.rcv_space_adjust(ms(60), 1_000 + 90_000, 0, 0);
    assert_eq!(w.rcvq_space, 28_960, "since the last one");
    w.grow_for_ofo(200_000);
    assert_eq!(w.rcvbuf, ((57_920_u64 + 200_000) << 8) / 170);
    w.grow_for_ofo(100 << 20);
    assert_eq!(w.rcvbuf, 6 << 20);
}

/// Linux `tcp_rcvbuf_low_rtt`: below a millisecond the share of the RTT replaces the growth.
#[test]
fn a_short_rtt_makes_the_buffer_grow_less() {
    let mut w = tuning();
    w.rcv_rtt = Duration::from_micros(250);
    w.rcvq_space = 100_000;
    w.rcvbuf_grow(200_000, 0);
    assert_eq!(w.rcvbuf, (500_000 << 8) / 170);
}

#[test]
fn the_threshold_grows_by_two_segments_as_long_as_there_is_room() {
    let mut w = tuning();
    let before = w.rcv_ssthresh;
    assert!(w.grow_window(1_448, 0));
    assert_eq!(w.rcv_ssthresh, before + 2 * 1_448);
    assert!(w.grow_window(5_000, 0));
    assert_eq!(w.rcv_ssthresh, before + 2 * 1_448 + 2 * 5_000);
    assert!(!w.grow_window(1_448, 60_000), "data takes the rest");
    // A packet of 1500 bytes takes 2176: the first buffer holds 170/256 of 128 KiB.
    while w.grow_window(1_448, 0) {}
    assert_eq!(w.rcv_ssthresh, 87_040);
}

/// Linux `__tcp_grow_window`: segments that waste memory grow a small window, and not a large one.
#[test]
fn wasteful_segments_grow_the_window_gently() {
    let mut w = tuning();
    // 300 bytes in memory that is good for 680: two halvings make it a fair share.
    assert!(w.grow_window(300, 0));
    assert_eq!(w.rcv_ssthresh, 64_088 + 2 * 1_448);
    let half = w.win_from_space(w.rcvbuf_max) / 2;
    w.rcvbuf = w.rcvbuf_max;
    w.window_clamp = w.win_from_space(w.rcvbuf_max);
    w.rcv_ssthresh = half / 2;
    assert!(w.grow_window(300, 0));
    w.rcv_ssthresh = half / 2 + 1;
    assert!(!w.grow_window(300, 0));
    // 832 bytes for 100: three halvings.
    w.rcv_ssthresh = half / 4;
    assert!(w.grow_window(100, 0));
    w.rcv_ssthresh = half / 4 + 1;
    assert!(!w.grow_window(100, 0));
    assert!(WindowTuning::is_worth_growing(128) && !WindowTuning::is_worth_growing(127));
}

#[test]
fn a_shorter_rtt_counts_in_full_and_a_longer_one_by_an_eighth() {
    let mut w = tuning();
    let mut sample = |at, echo, len, unread| {
        w.rcv_rtt_measure_ts(ms(at), Some(echo), len, unread);
        w.rcv_rtt.as_millis()
    };
    assert_eq!(sample(80, 0, 1_448, false), 80);
    assert_eq!(sample(160, 0, 1_448, false), 80, "the same echo again");
    assert_eq!(sample(161, 1, 1_448, false), 90);
    assert_eq!(sample(162, 2, 1_447, false), 90, "not full");
    assert_eq!(sample(163, 3, 1_448, true), 90, "data is unread");
    assert_eq!(sample(202, 162, 1_448, true), 40);
}

/// Without timestamps a window's worth of data measures the RTT from above.
#[test]
fn a_window_of_data_is_a_round_trip() {
    let mut w = tuning();
    w.rcv_rtt_measure(ms(10), 2_000);
    w.rcv_rtt_measure(ms(40), 2_000 + 64_239);
    assert!(w.rcv_rtt.is_zero());
    w.rcv_rtt_measure(ms(50), 2_000 + 64_240);
    assert_eq!(w.rcv_rtt, Duration::from_millis(40));
}

/// Linux `__tcp_select_window`: with little room whole units, and nothing below a segment or a sixteenth.
#[test]
fn little_room_is_not_offered() {
    let w = tuning();
    // All of 87 040 bytes but for what is rmem_alloc; the threshold is 64 088.
    let held_for = |free: u64| 131_072 - (free << 8) / 170 - 1;
    assert_eq!(w.select_window(0), 64_128, "rounded up");
    assert_eq!(w.select_window(held_for(50_001)), 50_048);
    assert!(!w.is_scarce(held_for(44_000)));
    assert!(w.is_scarce(held_for(43_000)));
    assert_eq!(w.select_window(held_for(43_001)), 42_880, "rounded down");
    assert_eq!(w.select_window(held_for(5_600)), 5_504);
    assert_eq!(w.select_window(held_for(5_400)), 0, "a sixteenth");
    assert_eq!(w.select_window(200_000), 0);
}

/// Without window scale whole segments are offered, and the window stays if it is less than one off.
#[test]
fn an_unscaled_window_is_whole_segments() {
    let mut w = fresh(1_448, 0, None);
    w.measure_rcv_mss(1_448, false);
    w.rcv_ssthresh = 64_300;
    assert_eq!(w.select_window(0), 64_240, "less than a segment off");
    w.rcv_ssthresh = 64_240 + 1_448;
    assert_eq!(w.select_window(0), 45 * 1_448);
    w.rcv_ssthresh = 64_239;
    assert_eq!(w.select_window(0), 44 * 1_448);
    w.rcv_ssthresh = 87_040;
    assert_eq!(w.select_window(0), 60 * 1_448);
    assert_eq!(
        w.window_field(1_000, 0),
        65_535,
        "all that a header can say"
    );
    assert_eq!(w.receive_window(1_000 + 1_448), 59 * 1_448);
}

/// RFC 9293 §3.8.6.2.2: a buffer that is smaller than a segment is offered again when more than half of it is free.
#[test]
fn a_window_below_a_segment_opens_by_half() {
    let mut w = fresh(1_448, 0, Some(1_000));
    w.measure_rcv_mss(1_448, false);
    w.close(1_000);
    for (free, offered) in [(500, 0), (501, 501), (900, 900), (1_000, 1_000)] {
        w.rcv_ssthresh = free;
        assert_eq!(w.select_window(0), offered, "{free}");
    }
}

/// RFC 9293 §3.8.6.2: the right edge does not move back.
#[test]
fn the_right_edge_stays() {
    let mut w = tuning();
    assert_eq!(w.window_field(1_000, 0), 502);
    let edge = w.right_edge;
    assert_eq!(edge, 1_000 + 502 * 128);
    assert_eq!(
        u64::from(w.window_field(1_100, 131_072)) * 128 + 1_100,
        edge + 100
    );
    w.rcv_ssthresh = 64_256;
    assert!(!w.keeps_window(131_072) && w.keeps_window(0));
    w.rcv_ssthresh = 64_128;
    assert!(!w.keeps_window(0));
}

/// Linux `tcp_cleanup_rbuf`: a window update is worth sending if the window doubles.
#[test]
fn an_update_is_due_when_the_window_doubles() {
    let w = tuning();
    let left = |left: u64| 1_000 + w.rcv_wnd - left;
    assert!(w.could_double(left(32_000), 0));
    assert!(w.could_double(left(32_064), 0));
    assert!(!w.could_double(left(32_065), 0));
    assert!(
        !w.could_double(left(44_000), 0),
        "more than half of the clamp"
    );
    assert!(!w.could_double(left(0), 131_072), "nothing to offer");
}

/// Linux `tcp_clamp_window`: data that is here has its memory, up to what a host allows.
#[test]
fn an_outgrown_buffer_is_enlarged() {
    let mut w = tuning();
    assert!(!w.clamp_window(131_072));
    assert!(w.clamp_window(131_073));
    assert_eq!((w.rcvbuf, w.rcv_ssthresh), (131_073, 64_088));
    assert!(w.clamp_window(7 << 20));
    assert_eq!((w.rcvbuf, w.rcv_ssthresh), (6 << 20, 2 * 1_448));
}

/// Linux `__tcp_select_window`: room for exactly one segment is offered, less is not.
#[test]
fn room_for_one_segment_is_offered() {
    let config = TcpConfig {
        receive_buffer_initial: 16 << 10,
        ..configured(1_448, None)
    };
    let mut window = WindowTuning::new(&config, 1_000, 0, true, 5 * 1_448);
    window.measure_rcv_mss(1_448, false);
    let offers = |free: u64| {
        let rmem_alloc = (0..=window.rcvbuf)
            .rev()
            .find(|rmem_alloc| window.win_from_space(window.rcvbuf - rmem_alloc) == free);
        rmem_alloc.map(|rmem_alloc| window.select_window(rmem_alloc))
    };
    assert_eq!(offers(1_448), Some(1_448));
    assert_eq!(offers(1_447), Some(0));
}

/// Linux `tcp_measure_rcv_mss`: a smaller size becomes the MSS if it comes twice in a row. It must be at least 536 bytes
/// with options, or at least 88 bytes without PSH.
#[test]
fn a_smaller_size_must_come_twice() {
    let after = |len: u64, ends: bool| {
        let mut window = tuning();
        let first = window.measure_rcv_mss(len, ends);
        let before = window.rcv_mss;
        let second = window.measure_rcv_mss(len, ends);
        assert_eq!(before, 1_448, "once is not enough");
        assert!(first, "the end of a message");
        (window.rcv_mss, second)
    };
    assert_eq!(after(1_000, true), (1_000, false));
    assert_eq!(
        after(524, true),
        (524, false),
        "with the option of 12 bytes 536"
    );
    assert_eq!(after(523, true), (1_448, true));
    assert_eq!(after(523, false), (523, false));
    assert_eq!(
        after(76, false),
        (76, false),
        "with the option of 12 bytes 88"
    );
    assert_eq!(after(75, false), (1_448, true));
    let mut window = tuning();
    for len in [1_000, 900, 1_000] {
        window.measure_rcv_mss(len, true);
    }
    assert_eq!(window.rcv_mss, 1_448, "not in a row");
}

//! Scripts of our own against the native TCP: what it does, and that differences are noticed.

use packetdrill::Verdict;

use crate::playing::{SERVER, passes, played, server, value};

#[test]
fn a_lost_segment_is_retransmitted_after_three_sacks() {
    let report = server(
        "+0 write(4, ..., 10000) = 10000
         +0 > P. 1:10001(10000) ack 1
        +.1 < . 1:1(0) ack 1 win 257 <sack 1001:2001,nop,nop>
         +0 < . 1:1(0) ack 1 win 257 <sack 1001:3001,nop,nop>
         +0 < . 1:1(0) ack 1 win 257 <sack 1001:4001,nop,nop>
         +0 > . 1:1001(1000) ack 1
         +0 %{ assert tcpi_ca_state == TCP_CA_Recovery }%",
    );
    passes(&report);
    assert_eq!(value(&report, "tcpi_ca_state"), 3);
    assert_eq!(value(&report, "tcpi_sacked"), 3);
    assert_eq!(value(&report, "tcpi_snd_ssthresh"), 7);
}

#[test]
fn a_burst_that_is_repeated_ends_with_the_push_flag() {
    passes(&server(
        "+0 write(4, ..., 10000) = 10000
         +0 > P. 1:10001(10000) ack 1
        +.1 < . 1:1(0) ack 1 win 257 <sack 2001:10001,nop,nop>
         +0 > P. 1:2001(2000) ack 1
        +.1 < . 1:1(0) ack 10001 win 257",
    ));
}

#[test]
fn a_bare_fin_is_acknowledged_at_once_when_the_buffer_is_overrun() {
    let text = SERVER.replace(
        "listen",
        "setsockopt(3, SOL_SOCKET, SO_RCVBUF, [20000], 4) = 0\n+0 listen",
    );
    let text = text.replace(",wscale 8", ",wscale 0");
    passes(&played(&format!(
        "{text}
         +0 < P. 1:60001(60000) ack 1 win 257
          * > . 1:1(0) ack 60001 win 0
         +0 < F. 60001:60001(0) ack 1 win 257
         +0 > . 1:1(0) ack 60002 win 0"
    )));
}

#[test]
fn duplicate_acks_stand_for_sack_if_the_other_end_has_none() {
    let text = SERVER
        .replace("sackOK,nop,nop,nop,", "nop,")
        .replace("nop,nop,sackOK,nop,", "nop,");
    passes(&played(&format!(
        "{text}
         +0 write(4, ..., 10000) = 10000
         +0 > P. 1:10001(10000) ack 1
        +.1 < . 1:1(0) ack 1 win 257
         +0 < . 1:1(0) ack 1 win 257
         +0 < . 1:1(0) ack 1 win 257
         +0 > . 1:1001(1000) ack 1
        +.1 < . 1:1(0) ack 4001 win 257
         +0 > . 4001:5001(1000) ack 1"
    )));
}

#[test]
fn time_outs_double() {
    passes(&server(
        "+0 write(4, ..., 1000) = 1000
         +0 > P. 1:1001(1000) ack 1
        +.3 > P. 1:1001(1000) ack 1
        +.3 > P. 1:1001(1000) ack 1
        +.6~+.62 > P. 1:1001(1000) ack 1
          * > P. 1:1001(1000) ack 1",
    ));
}

#[test]
fn short_segments_wait_by_nagle_cork_and_more() {
    passes(&server(
        "+0 write(4, ..., 100) = 100
         +0 > P. 1:101(100) ack 1
         +0 write(4, ..., 100) = 100
       +.01 < . 1:1(0) ack 101 win 257
         +0 > P. 101:201(100) ack 1
         +0 < . 1:1(0) ack 201 win 257
         +0 setsockopt(4, SOL_TCP, TCP_CORK, [1], 4) = 0
         +0 write(4, ..., 100) = 100
       +.01 setsockopt(4, SOL_TCP, TCP_CORK, [0], 4) = 0
         +0 > P. 201:301(100) ack 1
         +0 < . 1:1(0) ack 301 win 257
         +0 send(4, ..., 100, MSG_MORE) = 100
       +.01 setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0
         +0 > . 301:401(100) ack 1
         +0 send(4, ..., 100, MSG_EOR) = 100
         +0 > P. 401:501(100) ack 1",
    ));
}

#[test]
fn closing_takes_each_way() {
    passes(&server(
        "+0 shutdown(4, SHUT_WR) = 0
         +0 > F. 1:1(0) ack 1
        +.1 < . 1:1(0) ack 2 win 257
         +0 < P. 1:1001(1000) ack 2 win 257
         +0 > . 2:2(0) ack 1001
         +0 read(4, ..., 2000) = 1000
         +0 write(4, ..., 10) = -1 EPIPE (Broken pipe)
         +0 < F. 1001:1001(0) ack 2 win 257
         +0 > . 2:2(0) ack 1002
         +0 read(4, ..., 2000) = 0",
    ));
    // Unread data, or a linger of no time: a reset.
    passes(&server(
        "+0 < P. 1:1001(1000) ack 1 win 257
         +0 > . 1:1(0) ack 1001
         +0 close(4) = 0
         +0 > R. 1:1(0) ack 1001
        +.1 < . 1001:1001(0) ack 1 win 257
         +0 > R 1:1(0)",
    ));
    passes(&server(
        "+0 setsockopt(4, SOL_SOCKET, SO_LINGER, {onoff=1, linger=0}, 8) = 0
         +0 close(4) = 0
         +0 > R. 1:1(0) ack 1",
    ));
    // Data for an application that is gone.
    passes(&server(
        "+0 close(4) = 0
         +0 > F. 1:1(0) ack 1
        +.1 < P. 1:1001(1000) ack 2 win 257
         +0 > R 2:2(0)",
    ));
}

#[test]
fn resets_refusals_and_time_outs_reach_the_application() {
    passes(&server(
        "+.1 < R. 1:1(0) ack 1 win 257
         +0 read(4, ..., 1000) = -1 ECONNRESET (Connection reset by peer)
         +0 read(4, ..., 1000) = 0
         +0 write(4, ..., 1000) = -1 EPIPE (Broken pipe)",
    ));
    passes(&played(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0...0.100 connect(3, ..., ...) = -1 ECONNREFUSED (Connection refused)
        +0 > S 0:0(0) <...>
       +.1 < R. 0:0(0) ack 1 win 0",
    ));
    passes(&server(
        "+0 setsockopt(4, SOL_TCP, TCP_USER_TIMEOUT, [1000], 4) = 0
         +0 write(4, ..., 1000) = 1000
         +0 > P. 1:1001(1000) ack 1
         +3 read(4, ..., 1000) = -1 ETIMEDOUT (Connection timed out)",
    ));
}

#[test]
fn both_ends_may_open_at_the_same_time() {
    passes(&played(
        "0 socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3
        +0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
        +0 > S 0:0(0) <...>
       +.1 < S 0:0(0) win 5792 <mss 1000,sackOK,nop,nop>
        +0 > S. 0:0(0) ack 1 <...>
       +.1 < . 1:1(0) ack 1 win 5792
        +0 poll([{fd=3, events=POLLOUT, revents=POLLOUT}], 1, 0) = 1
        +0 write(3, ..., 1000) = 1000
        +0 > P. 1:1001(1000) ack 1",
    ));
}

#[test]
fn a_syn_is_repeated_each_second_before_the_time_out_doubles() {
    passes(&played(
        "0 socket(..., SOCK_STREAM|SOCK_NONBLOCK, IPPROTO_TCP) = 3
        +0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
        +0 > S 0:0(0) <...>
        +1 > S 0:0(0) <...>
        +1 > S 0:0(0) <...>
        +1 > S 0:0(0) <...>
        +1 > S 0:0(0) <...>
        +1 > S 0:0(0) <...>
        +2 > S 0:0(0) <...>",
    ));
}

/// The kernel's `retransmits_timed_out` and `tcp_clamp_rto_to_user_timeout` in SYN-SENT.
#[test]
fn the_user_timeout_bounds_an_attempt_to_connect() {
    passes(&played(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0 setsockopt(3, SOL_TCP, TCP_USER_TIMEOUT, [2500], 4) = 0
        +0...2.5 connect(3, ..., ...) = -1 ETIMEDOUT (Connection timed out)
        +0 > S 0:0(0) <...>
        +1 > S 0:0(0) <...>
        +1 > S 0:0(0) <...>",
    ));
    // The first time-out is a whole one.
    passes(&played(
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0 setsockopt(3, SOL_TCP, TCP_USER_TIMEOUT, [300], 4) = 0
        +0...1.001 connect(3, ..., ...) = -1 ETIMEDOUT (Connection timed out)
        +0 > S 0:0(0) <...>
        +1 > S 0:0(0) <...>",
    ));
}

#[test]
fn blind_segments_are_challenged() {
    passes(&server(
        "+.1 < S 0:0(0) win 32792 <mss 1000>
         +0 > . 1:1(0) ack 1
         +1 < R 2:2(0) win 257
         +0 > . 1:1(0) ack 1
         +1 < . 1:1(0) ack 5000 win 257
         +0 > . 1:1(0) ack 1
         +1 < - 1:1001(1000) win 257
         +0 ioctl(4, SIOCINQ, [0]) = 0",
    ));
}

#[test]
fn marks_are_echoed_until_the_window_is_reduced() {
    let text = SERVER.replace(
        "defaults.sh`",
        "defaults.sh
sysctl -q net.ipv4.tcp_ecn=1`",
    );
    let text = text
        .replace("< S 0", "< SEW 0")
        .replace("> S. 0", "> SE. 0");
    passes(&played(&format!(
        "{text}
         +0 < [ce] P. 1:1001(1000) ack 1 win 257
         +0 > [noecn] E. 1:1(0) ack 1001
         +0 write(4, ..., 1000) = 1000
         +0 > [ect0] PE. 1:1001(1000) ack 1001
        +.1 < [ect0] WE. 1001:1001(0) ack 1001 win 257
         +0 write(4, ..., 1000) = 1000
         +0 > [ect01] PW. 1001:2001(1000) ack 1001"
    )));
}

#[test]
fn calls_block_until_their_time() {
    passes(&server(
        "+0...0.200 read(4, ..., 2000) = 1000
        +.2 < P. 1:1001(1000) ack 1 win 257
         +0 > . 1:1(0) ack 1001",
    ));
    let report =
        server("+0...0.200 read(4, ..., 2000) = 1000\n +.1 < P. 1:1001(1000) ack 1 win 257");
    let Verdict::Failed(difference) = report.verdict else {
        panic!("{report:?}")
    };
    assert_eq!((difference.line, difference.reason.as_str()), (9, "time"));
}

#[test]
fn differences_have_their_line_and_both_sides() {
    for (text, reason) in [
        ("+0 > P. 1:1001(1000) ack 1", "no packet"),
        ("+0 write(4, ..., 10) = 9", "result"),
        ("+0 write(4, ..., 10) = 10\n+.1 > P. 1:11(10) ack 1", "time"),
        ("+0 write(4, ..., 10) = 10\n+0 > . 1:11(10) ack 1", "PSH"),
        (
            "+0 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 2",
            "acknowledgement number",
        ),
        (
            "+0 write(4, ..., 10) = 10\n+0 > P. 1:12(11) ack 1",
            "payload",
        ),
        (
            "+0 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 1 win 1",
            "window",
        ),
        (
            "+0 write(4, ..., 10) = 10\n+0 > P. 1:11(10) ack 1 <nop,nop,sackOK>",
            "options",
        ),
        ("+0 read(4, ..., 10) = 10", "blocks"),
    ] {
        let Verdict::Failed(difference) = server(text).verdict else {
            panic!("{text}")
        };
        assert_eq!(difference.reason, reason, "{text}: {difference:?}");
        assert_eq!(difference.line as usize, 8 + text.lines().count(), "{text}");
    }
}

#[test]
fn what_is_missing_is_named() {
    for (text, word) in [
        (
            "+0 setsockopt(4, SOL_TCP, TCP_FASTOPEN, [1], 4) = 0",
            "Fast Open",
        ),
        ("+0 send(4, ..., 10, MSG_ZEROCOPY) = 10", "zero-copy"),
        ("+0 splice(4, NULL, 6, NULL, 9, 0) = 9", "splice"),
        ("+0 `nstat | grep -q TcpExt`", "nstat"),
        ("+0 getpeername(4, ..., ...) = 0", "getpeername"),
        ("+0 epoll_create(1) = 5", "epoll"),
        (
            "+0 setsockopt(4, SOL_TCP, TCP_NOTSENT_LOWAT, [1000], 4) = 0",
            "TCP_NOTSENT_LOWAT",
        ),
    ] {
        let Verdict::NotApplicable { reason, .. } = server(text).verdict else {
            panic!("{text}")
        };
        assert!(reason.contains(word), "{text}: {reason}");
    }
}

/// Google's `siocinq.pkt`, whose outcome depends on the kernel: data that comes with the FIN is more than a full segment
/// with it (`tcp_fin` counts one), so its ACK leaves at once if the window can be kept up. Since Linux 6.10 the window of a
/// SYN-ACK without scale may be beyond 64 KiB inside, and cannot be kept up: the ACK waits for the reader.
#[test]
fn the_ack_of_data_with_a_fin_waits_for_a_reader_if_the_window_cannot_be_kept() {
    let ends = |text: &str, delay: &str| {
        passes(&played(&format!(
            "{text}
             +0 < P. 1:1001(1000) ack 1 win 257
             +0 > . 1:1(0) ack 1001
           +.02 read(4, ..., 1000) = 1000
           +.08 < FP. 1001:2001(1000) ack 1 win 257
            {delay} > . 1:1(0) ack 2002"
        )));
    };
    let unscaled = SERVER
        .replace(",wscale 7", "")
        .replace("nop,nop,sackOK,nop,wscale 8", "nop,nop,sackOK")
        .replace("sackOK,nop,nop,nop", "sackOK,nop,nop");
    ends(SERVER, "+0");
    ends(&unscaled, "+.04");
    let small = unscaled.replace(
        "defaults.sh`",
        "defaults.sh\nsysctl -q net.ipv4.tcp_rmem=\"4096 131072 6291456\"`",
    );
    ends(&small, "+0");
}

/// Linux `tcp_sequence`: a segment beyond the window is taken if nothing waits to be read, also behind a hole.
#[test]
fn a_joined_segment_behind_a_hole_may_overrun_the_window() {
    let text = format!("--mss=1000\n{SERVER}").replace(
        "defaults.sh`",
        "defaults.sh\nsysctl -q net.ipv4.tcp_rmem=\"4096 131072 33554432\"`",
    );
    passes(&played(
        &format!(
            "{text}
         +0 < . 2001:41001(39000) ack 1 win 257
         +0 > . 1:1(0) ack 1 <nop,nop,sack 2001:41001>
         +0 < . 41001:101001(60000) ack 1 win 257
         +0 > . 1:1(0) ack 1 <nop,nop,sack 2001:101001>"
        )
        .replace("wscale 8", "wscale 10"),
    ));
}

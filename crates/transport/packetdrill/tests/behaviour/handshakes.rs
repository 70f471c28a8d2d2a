//! Handshakes of which a SYN or SYN-ACK had to be repeated: window, RTT and time-out when data starts.

use crate::playing::{passes, played};

/// A server whose SYN-ACK is acknowledged after `repetitions` of it, by a segment that echoes the timestamp `echo` and
/// carries `data`; timestamps begin with 500.
fn answered(repetitions: u32, wait: &str, echo: u32, data: &str, then: &str) -> String {
    let mut text = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0 bind(3, ..., ...) = 0
        +0 listen(3, 1) = 0
        +0 < S 0:0(0) win 60000 <mss 1212,sackOK,TS val 70 ecr 0,nop,wscale 7>
        +0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 500 ecr 70,nop,wscale 7>\n"
        .to_owned();
    let mut stamp = 500;
    for number in 0..repetitions {
        let seconds = 1 << number;
        stamp += 1_000 * seconds;
        text += &format!(
            "+{seconds}~+{seconds}.05 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val {stamp} ecr 70,nop,wscale 7>\n"
        );
    }
    text += &format!(
        "{wait} < {data} ack 1 win 600 <nop,nop,TS val 9000 ecr {echo}>
         +0 accept(3, ..., ...) = 4
         {then}"
    );
    text
}

const BARE: &str = ". 1:1(0)";

/// Linux `tcp_init_transfer` since 2019: more than one time-out of the handshake cuts the window to one segment, unless the
/// echo of the first timestamp shows that all were spurious.
#[test]
fn two_time_outs_cut_the_window_unless_they_were_spurious() {
    let window = |repetitions, echo, segments: u32| {
        let check = format!("+0 %{{ assert tcpi_snd_cwnd == {segments}, tcpi_snd_cwnd }}%");
        passes(&played(&answered(repetitions, "+.3", echo, BARE, &check)));
    };
    window(0, 500, 10);
    window(1, 1_500, 10);
    window(1, 500, 10);
    window(2, 3_500, 1);
    window(2, 1_500, 1);
    window(2, 500, 10);
    window(3, 7_500, 1);
    window(3, 500, 10);
}

/// The same with data in the third packet of the handshake, which is acknowledged.
#[test]
fn data_may_come_with_the_third_packet() {
    for (echo, segments) in [(500, 10), (3_500, 1)] {
        let check = format!(
            "+0 read(4, ..., 400) = 400
             +0 %{{ assert tcpi_snd_cwnd == {segments}, tcpi_snd_cwnd }}%"
        );
        let data = "P. 1:401(400)";
        passes(&played(&answered(2, "+.3", echo, data, &check)));
    }
}

/// RFC 7323 §4.1, Linux `tcp_ack_update_rtt`: the echo says which transmission was answered, so that there is an RTT.
#[test]
fn the_echo_gives_the_rtt_of_a_repeated_handshake() {
    for (echo, least, most) in [(500, 1_300, 1_360), (1_500, 300, 350)] {
        let check = format!(
            "+0 %{{ assert {least}000 < tcpi_rtt < {most}000, tcpi_rtt
                    assert tcpi_rto > tcpi_rtt, tcpi_rto }}%"
        );
        let report = played(&answered(1, "+.3", echo, BARE, &check));
        passes(&report);
    }
}

/// RFC 6298 §5.7: without an RTT, the time-out is three seconds when data starts.
#[test]
fn an_expired_timer_of_the_handshake_leaves_a_time_out_of_three_seconds() {
    passes(&played(
        "`sysctl -q net.ipv4.tcp_timestamps=0 net.ipv4.tcp_early_retrans=0`
        0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0 bind(3, ..., ...) = 0
        +0 listen(3, 1) = 0
        +0 < S 0:0(0) win 60000 <mss 1200,sackOK,nop,nop,nop,wscale 7>
        +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 7>
      +1~+1.05 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 7>
       +.4 < . 1:1(0) ack 1 win 600
        +0 accept(3, ..., ...) = 4
        +0 %{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd }%
        +0 write(4, ..., 700) = 700
        +0 > P. 1:701(700) ack 1
      +3~+3.05 > P. 1:701(700) ack 1
       +.1 < . 1:1(0) ack 701 win 600
        +0 write(4, ..., 700) = 700
        +0 > P. 701:1401(700) ack 1
       +.2 < . 1:1(0) ack 1401 win 600
        +0 %{ assert tcpi_rto < 700000, tcpi_rto }%",
    ));
}

/// The client's end: its SYN was lost twice, or only late.
#[test]
fn a_client_knows_spurious_time_outs_too() {
    for (echo, segments) in [(100_000, 10), (102_000, 1)] {
        passes(&played(&format!(
            "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
            +0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
            +0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
            +0 > S 0:0(0) <mss 1460,sackOK,TS val 100000 ecr 0,nop,wscale 7>
          +1~+1.05 > S 0:0(0) <mss 1460,sackOK,TS val 101000 ecr 0,nop,wscale 7>
          +1~+1.05 > S 0:0(0) <mss 1460,sackOK,TS val 102000 ecr 0,nop,wscale 7>
           +.2 < S. 0:0(0) ack 1 win 60000 <mss 1212,sackOK,TS val 70 ecr {echo},nop,wscale 7>
            +0 > . 1:1(0) ack 1 <nop,nop,TS val 102200 ecr 70>
            +0 %{{ assert tcpi_snd_cwnd == {segments}, tcpi_snd_cwnd }}%"
        )));
    }
}

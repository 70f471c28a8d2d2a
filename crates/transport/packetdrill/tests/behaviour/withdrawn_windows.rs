//! Windows that the peer withdraws while data is in flight (RFC 9293 §3.8.6): only what fits is repeated, and the head
//! probes a window without any room, as in Linux since 2022.

use crate::playing::{passes, played};

/// Plays a script on a server whose client has offered `window` bytes for segments of 1200, without timestamps and scale.
fn plays(window: u32, settings: &str, text: &str) {
    passes(&played(&format!(
        "`sysctl -q net.ipv4.tcp_timestamps=0{settings}`
        0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0 bind(3, ..., ...) = 0
        +0 listen(3, 1) = 0
        +0 < S 0:0(0) win {window} <mss 1200,sackOK,nop,nop>
        +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK>
       +.2 < . 1:1(0) ack 1 win {window}
        +0 accept(3, ..., ...) = 4
        {text}"
    )));
}

const NO_PROBES: &str = " net.ipv4.tcp_early_retrans=0";

/// The time-out of the head is 600 ms after its transmission. The loss probe would come just then, has nothing to send, and
/// leaves it to that.
#[test]
fn a_closed_window_is_probed_by_the_head_alone() {
    plays(
        30_000,
        "",
        "+0 write(4, ..., 4800) = 4800
         +0 > P. 1:4801(4800) ack 1
        +.2 < . 1:1(0) ack 2401 win 0
      +.4~+.41 > . 2401:3601(1200) ack 1
        +.2 < . 1:1(0) ack 2401 win 0
      +1~+1.02 > . 2401:3601(1200) ack 1
        +.2 < . 1:1(0) ack 3601 win 30000
         +0 > P. 3601:4801(1200) ack 1
        +.2 < . 1:1(0) ack 4801 win 30000",
    );
}

#[test]
fn a_time_out_repeats_what_fits() {
    plays(
        30_000,
        NO_PROBES,
        "+0 write(4, ..., 4800) = 4800
         +0 > P. 1:4801(4800) ack 1
        +.2 < . 1:1(0) ack 1201 win 700
      +.6~+.61 > . 1201:1901(700) ack 1
        +.2 < . 1:1(0) ack 1901 win 30000
         +0 > . 1901:3601(1700) ack 1
        +.2 < . 1:1(0) ack 4801 win 30000",
    );
}

#[test]
fn a_loss_probe_repeats_what_fits() {
    plays(
        30_000,
        "",
        "+0 write(4, ..., 2400) = 2400
         +0 > P. 1:2401(2400) ack 1
        +.2 < . 1:1(0) ack 1201 win 500
      +.6~+.61 > . 1201:1701(500) ack 1
         +0 %{ assert tcpi_ca_state == TCP_CA_Open, tcpi_ca_state }%
        +.2 < . 1:1(0) ack 1701 win 30000
      +.6~+.62 > P. 1701:2401(700) ack 1
        +.2 < . 1:1(0) ack 2401 win 30000",
    );
}

#[test]
fn a_recovery_repeats_what_fits_and_goes_on_when_the_window_opens() {
    plays(
        30_000,
        NO_PROBES,
        "+0 write(4, ..., 12000) = 12000
         +0 > P. 1:12001(12000) ack 1
        +.2 < . 1:1(0) ack 1201 win 1200 <sack 4801:12001,nop,nop>
         +0 > . 1201:2401(1200) ack 1
        +.2 < . 1:1(0) ack 2401 win 30000 <sack 4801:12001,nop,nop>
         +0 > P. 2401:4801(2400) ack 1
        +.2 < . 1:1(0) ack 12001 win 30000",
    );
}

/// Linux `tcp_may_update_window`: of two equal ACKs, a smaller window of the second does not count unless it is closed. By
/// RFC 9293 §3.10.7.4 it would.
#[test]
fn a_smaller_window_without_news_does_not_count() {
    plays(
        30_000,
        NO_PROBES,
        "+0 write(4, ..., 6000) = 6000
         +0 > P. 1:6001(6000) ack 1
        +.2 < . 1:1(0) ack 1 win 1200 <sack 2401:6001,nop,nop>
         +0 > P. 1:2401(2400) ack 1
        +.2 < . 1:1(0) ack 6001 win 30000",
    );
}

//! Connections that live for weeks: the clock of timestamps wraps after 49.7 days, and an old timestamp cannot be compared.

use crate::playing::{passes, played};

const DAY: u64 = 24 * 3_600;

/// A server that was idle for this number of days after its handshake; `then` gets the clock of this end, and of the
/// other one.
fn after(days: u64, then: impl Fn(u32, u32) -> String) {
    let elapsed = (days * DAY * 1_000) as u32;
    let (own, far) = (
        700_u32.wrapping_add(elapsed),
        4_000_000_100_u32.wrapping_add(elapsed),
    );
    let rest = then(own, far);
    passes(&played(&format!(
        "`sysctl -q net.ipv4.tcp_early_retrans=0`
        0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
        +0 bind(3, ..., ...) = 0
        +0 listen(3, 1) = 0
        +0 < S 0:0(0) win 60000 <mss 1212,sackOK,TS val 4000000000 ecr 0,nop,nop>
        +0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 600 ecr 4000000000>
       +.1 < . 1:1(0) ack 1 win 60000 <nop,nop,TS val 4000000100 ecr 600>
        +0 accept(3, ..., ...) = 4
        +{} {rest}",
        days * DAY,
    )));
}

/// RFC 7323 §5.5: data after more than 24 days of silence is taken, however its timestamp compares.
#[test]
fn data_is_taken_after_any_idle_time() {
    for days in [1, 20, 24, 25, 30, 49, 50, 60, 100] {
        after(days, |own, far| {
            format!(
                "< P. 1:301(300) ack 1 win 60000 <nop,nop,TS val {far} ecr 600>
                +0 > . 1:1(0) ack 301 <nop,nop,TS val {own} ecr {far}>
                +0 read(4, ..., 1000) = 300"
            )
        });
    }
}

/// A time-out after days is measured by the clock of that day, and a real one is not undone (Eifel, RFC 3522).
#[test]
fn a_time_out_after_days_is_as_on_the_first_day() {
    for days in [0, 10, 49, 50, 60, 100] {
        after(days, |own, far| {
            let (again, last, ack) = (own + 300, own + 400, far.wrapping_add(400));
            format!(
                "write(4, ..., 900) = 900
                +0 > P. 1:901(900) ack 1 <nop,nop,TS val {own} ecr 4000000100>
              +.3~+.32 > P. 1:901(900) ack 1 <nop,nop,TS val {again} ecr 4000000100>
               +.1 < . 1:1(0) ack 901 win 60000 <nop,nop,TS val {ack} ecr {again}>
                +0 %{{ assert tcpi_rtt < 150000, tcpi_rtt
                       assert tcpi_rto < 500000, tcpi_rto
                       assert tcpi_snd_ssthresh < 1000, tcpi_snd_ssthresh }}%
                +0 write(4, ..., 900) = 900
                +0 > P. 901:1801(900) ack 1 <nop,nop,TS val {last} ecr {ack}>"
            )
        });
    }
}

/// A spurious one is undone on every day: the echo is of the first transmission.
#[test]
fn a_spurious_time_out_after_days_is_undone() {
    for days in [0, 49, 50, 100] {
        after(days, |own, far| {
            let (again, ack) = (own + 300, far.wrapping_add(350));
            format!(
                "write(4, ..., 900) = 900
                +0 > P. 1:901(900) ack 1 <nop,nop,TS val {own} ecr 4000000100>
              +.3~+.32 > P. 1:901(900) ack 1 <nop,nop,TS val {again} ecr 4000000100>
               +.05 < . 1:1(0) ack 901 win 60000 <nop,nop,TS val {ack} ecr {own}>
                +0 %{{ assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd
                       assert tcpi_snd_ssthresh > 1000, tcpi_snd_ssthresh }}%"
            )
        });
    }
}

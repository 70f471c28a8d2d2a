//! Scripts of our own on what limits a sender, and on calls that wait for room in the send buffer.

use packetdrill::Verdict;

use crate::playing::{SERVER, passes, server, value};

#[test]
fn the_offered_window_is_a_limit_as_soon_as_there_is_data() {
    let text = "+0 write(4, ..., 2000) = 2000
         +0 > P. 1:2001(2000) ack 1
       +.05 < . 1:1(0) ack 2001 win 0
         +1 write(4, ..., 1000) = 1000
        +.1 < . 1:1(0) ack 2001 win 257
         +0 > P. 2001:3001(1000) ack 1
       +.02 < . 1:1(0) ack 3001 win 257
        +.5 %{ pass }%";
    let report = server(text);
    passes(&report);
    assert_eq!(value(&report, "tcpi_rwnd_limited"), 100_000);
    assert_eq!(value(&report, "tcpi_busy_time"), 170_000);
    assert_eq!(value(&report, "tcpi_sndbuf_limited"), 0);
}

#[test]
fn a_small_send_buffer_is_a_limit_once_its_data_was_sent() {
    let text = SERVER
        .replace("win 257", "win 5000")
        .replace("wscale 7", "wscale 0");
    let report = crate::playing::played(&format!(
        "{text}
         +0 setsockopt(4, SOL_SOCKET, SO_SNDBUF, [4000], 4) = 0
         +0 getsockopt(4, SOL_SOCKET, SO_SNDBUF, [8000], [4]) = 0
         +0 fcntl(4, F_SETFL, O_RDWR|O_NONBLOCK) = 0
         +0 write(4, ..., 100000) = 7000
         +0 > . 1:5001(5000) ack 1
        +.1 < . 1:1(0) ack 3001 win 30000
         +0 > P. 5001:7001(2000) ack 1
       +.02 < . 1:1(0) ack 7001 win 30000
        +.5 %{{ pass }}%"
    ));
    passes(&report);
    assert_eq!(value(&report, "tcpi_sndbuf_limited"), 20_000);
    assert_eq!(value(&report, "tcpi_rwnd_limited"), 100_000);
    assert_eq!(value(&report, "tcpi_busy_time"), 120_000);
}

#[test]
fn a_write_that_waits_goes_on_when_a_third_of_the_buffer_is_free() {
    // 16000 bytes are taken; the rest follows when at most two thirds of 20000 are taken.
    let text = SERVER.replace(
        "listen",
        "setsockopt(3, SOL_SOCKET, SO_SNDBUF, [10000], 4) = 0\n+0 listen",
    );
    passes(&crate::playing::played(&format!(
        "{text}
         +0...0.200 write(4, ..., 40000) = 40000
        +.1 < . 1:1(0) ack 10001 win 257
        +.1 < . 1:1(0) ack 20001 win 257"
    )));
}

#[test]
fn a_script_whose_times_add_up_to_months_is_not_applicable() {
    let pause = "+9000000 %{ pass }%\n";
    let verdict = server(&pause.repeat(2)).verdict;
    let Verdict::NotApplicable { line, reason } = verdict else {
        panic!("{verdict:?}");
    };
    assert_eq!((line, reason.as_str()), (10, "times after 10000000 s"));
}

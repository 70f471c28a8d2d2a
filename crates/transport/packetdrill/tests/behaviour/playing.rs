//! Playing of scripts in tests: the handshake of a server and what a script must come to.

use packetdrill::{Report, Verdict, parse, play};

/// Handshake of a server whose client has a full segment of 1000 bytes, at 0.1 s; the connection is descriptor 4.
pub const SERVER: &str = "`../common/defaults.sh`
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
   +0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale 8>
  +.1 < . 1:1(0) ack 1 win 257
   +0 accept(3, ..., ...) = 4
";

pub fn played(text: &str) -> Report {
    play(&parse(text).expect("it is in the language"))
}

pub fn server(text: &str) -> Report {
    played(&format!("{SERVER}{text}"))
}

#[track_caller]
pub fn passes(report: &Report) {
    assert_eq!(report.verdict, Verdict::Passed);
}

#[track_caller]
pub fn value(report: &Report, name: &str) -> i64 {
    let fields = &report.assertions.last().expect("an assertion").fields;
    fields
        .iter()
        .find(|(field, _)| *field == name)
        .expect("a field")
        .1
}

//! Tests of the parser.

use super::*;
use crate::script::{Expression, IpEcn, TcpOption};

fn events(text: &str) -> Vec<Event> {
    parse(text).expect("it is in the language").events
}

fn only_event(text: &str) -> EventKind {
    let mut events = events(text);
    assert_eq!(events.len(), 1, "{events:?}");
    events.remove(0).kind
}

#[test]
fn packets_have_flags_numbers_windows_and_options() {
    let EventKind::Out(packet) = only_event(
        "+0 > [ect0] PE. 1:1001(1000) ack 7 win 5 <nop,nop,TS val 1 ecr 2,sack 3:4 5:6>",
    ) else {
        panic!("a packet");
    };
    assert_eq!(
        (packet.flags.as_str(), packet.seq, packet.len),
        ("PE.", 1, 1000)
    );
    assert_eq!(
        (packet.ack, packet.window, packet.ecn),
        (Some(7), Some(5), Some(IpEcn::Ect0))
    );
    let sack = TcpOption::Sack(vec![(3, 4), (5, 6)]);
    let expected = [
        TcpOption::Nop,
        TcpOption::Nop,
        TcpOption::Timestamps(1, 2),
        sack,
    ];
    assert_eq!(packet.options.as_deref(), Some(&expected[..]));
    let EventKind::In(none) = only_event("0 < - 1:1(0) win 3 <...>") else {
        panic!("a packet")
    };
    assert_eq!((none.flags.as_str(), none.options), ("", None));
}

#[test]
fn times_are_relative_absolute_ranges_or_any() {
    let times: Vec<Time> = events("0 `a` +.5 `b` .1~.2 `c` +1~+1.5 `d` * `e` `f`")
        .iter()
        .map(|event| event.time)
        .collect();
    let expected = [
        Time::Absolute(0),
        Time::Relative(500_000),
        Time::AbsoluteRange(100_000, 200_000),
        Time::RelativeRange(1_000_000, 1_500_000),
        Time::Any,
        Time::Relative(0),
    ];
    assert_eq!(times, expected);
}

#[test]
fn calls_have_arguments_results_errors_and_ends() {
    let EventKind::Call(call) =
        only_event("+.1...0.2 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)")
    else {
        panic!("a call");
    };
    assert_eq!(
        (call.name.as_str(), call.returns_us, call.errno.as_deref()),
        ("connect", Some(200_000), Some("EINPROGRESS"))
    );
    let text = "0 sendmsg(4, {msg_name(...)=..., msg_iov(2)=[{..., 100}, {..., 5}], msg_flags=0}, MSG_MORE|MSG_EOR) = 105";
    let EventKind::Call(call) = only_event(text) else {
        panic!("a call")
    };
    let Some(Expression::List(vectors)) = call.arguments[1].field("msg_iov") else {
        panic!("vectors")
    };
    assert_eq!(
        vectors[0],
        Expression::List(vec![Expression::Any, Expression::Number(100)])
    );
    assert!(call.arguments[2].has_word("MSG_EOR"));
    let EventKind::Call(call) = only_event("0 fcntl(3, F_GETFL) = 0x2 (flags O_RDWR)") else {
        panic!("a call")
    };
    assert_eq!(call.result, Expression::Number(2));
}

#[test]
fn unsupported_features_are_named() {
    assert_eq!(
        only_event("0 > S.5 0:0(0) ack 1 <...>"),
        EventKind::Unsupported("AccECN")
    );
    assert_eq!(
        only_event("0 < U. 1:2(1) ack 1 win 2 urg 1"),
        EventKind::Unsupported("urgent data")
    );
    assert_eq!(events("0 < udp (10)\n0 `a`").len(), 2);
}

/// Scripts of google/packetdrill and nplab/packetdrill that have more than TCP over IP.
#[test]
fn packets_of_other_protocols_end_where_the_next_event_begins() {
    let last_of = |text: &str, feature: &'static str| {
        let events = events(&format!("{text}\n+0 `next`"));
        assert_eq!(events.len(), 2, "{text}: {events:?}");
        assert_eq!(events[0].kind, EventKind::Unsupported(feature), "{text}");
    };
    let labels = "0 < ipv4 2.2.2.2 > 1.1.1.1: gre:\n  mpls (label 0, tc 0, ttl 0)\n  (label 7, [S], ttl 255): . 1:1(0)";
    last_of(labels, "encapsulation");
    last_of(
        "0 > encap psp spi 23 P. 501:1001(500) ack 501",
        "encapsulation",
    );
    last_of("0 > sctp: INIT[flgs=0, a_rwnd=..., ...]", "SCTP");
    last_of(
        "0 > S 0:0(0) <mss 1460> { mut tcp mss }",
        "packets that are changed at random (mut)",
    );
    last_of("#ifdef Linux", "parts for some systems only (#ifdef)");
}

#[test]
fn a_message_of_icmp_may_name_its_packet_before_or_after() {
    for text in [
        "0 < [1:1001(1000)] icmp unreachable frag_needed mtu 1500",
        "0 < icmp unreachable frag_needed mtu 1500 [1:1001(1000)]",
    ] {
        let EventKind::Icmp(icmp) = only_event(text) else {
            panic!("a message: {text}")
        };
        assert_eq!((icmp.code.as_str(), icmp.mtu), ("frag_needed", Some(1_500)));
        assert_eq!(icmp.quoted, (1, 1_000));
    }
}

#[test]
fn options_of_tcp_that_are_not_modelled_may_have_lists() {
    let features = |text: &str| match only_event(text) {
        EventKind::Out(packet) => packet.options.expect("a list"),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        features(
            "0 > . 1:1(0) ack 1 <nop,mpcapable v1 flags[flag_h] key[ckey,skey=2] mpcdatalen 9,nop>"
        ),
        [
            TcpOption::Nop,
            TcpOption::Unmodelled("MPTCP"),
            TcpOption::Nop
        ]
    );
    assert_eq!(
        features("0 > S. 0:0(0) ack 1 <mss MSS,nop>"),
        [
            TcpOption::Unmodelled("a symbol that it does not define"),
            TcpOption::Nop
        ]
    );
}

#[test]
fn errors_name_their_lines() {
    for (text, line, word) in [
        ("0 `a`\n+x", 2, "time"),
        ("\n\n0 < S 0:5(3)", 3, "bytes"),
        ("0 < Q 0:0(0)", 1, "flag"),
        ("0 < . 1:1(0) ack 1 win 99999", 1, "99999"),
        ("0 > . 1:1(0) <frob>", 1, "option"),
        ("0 close(3", 1, ","),
        ("0 close(3) =", 1, "expression"),
    ] {
        let error = parse(text).expect_err(text);
        assert_eq!(error.line, line, "{text}: {error}");
        assert!(error.message.contains(word), "{text}: {error}");
    }
}

#[test]
fn symbols_are_replaced_by_their_values() {
    let text = "--define=SIZE=1000\n--define=BURST=2000\n0 < P. 1:1001(SIZE) ack 1 win SIZE\n0 write(3, ..., BURST) = BURST";
    let [first, second] = &events(text)[..] else {
        panic!("two events")
    };
    let EventKind::In(packet) = &first.kind else {
        panic!("a packet")
    };
    assert_eq!((packet.len, packet.window), (1_000, Some(1_000)));
    let EventKind::Call(call) = &second.kind else {
        panic!("a call")
    };
    assert_eq!(call.result, Expression::Number(2_000));
    let error = parse("\n--define=SIZE\n0 `a`").expect_err("no value");
    assert_eq!(error.line, 2);
}

#[test]
fn sizes_of_types_are_arguments() {
    let EventKind::Call(call) =
        only_event("0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], sizeof(int)) = 0 (note)")
    else {
        panic!("a call")
    };
    let size = Expression::Apply(
        "sizeof".to_owned(),
        vec![Expression::Word("int".to_owned())],
    );
    assert_eq!(call.arguments[4], size);
}

#[test]
fn brackets_without_end_are_rejected() {
    for open in ["[", "{", "f(1, "] {
        let text = format!("0 poll({}", open.repeat(100_000));
        let error = parse(&text).expect_err("no end");
        assert!(error.message.contains("brackets"), "{open}: {error}");
    }
}

#[test]
fn a_symbol_does_not_make_a_script_of_any_length() {
    let definition = format!("--define=LONG={}\n", "\\x".repeat(20_000));
    let uses = |times: usize| definition.clone() + &"+0 %{ pass }% LONG".repeat(times);
    let text = uses(1_000);
    assert!(text.len() < 100_000);
    let error = parse(&text).expect_err("it is 40 MB");
    assert_eq!(
        (error.line, error.message.as_str()),
        (
            2,
            "the script is too long: up to 8388608 bytes, symbols replaced, are allowed"
        )
    );
    let error = parse(&" ".repeat(9 << 20)).expect_err("it is 9 MiB");
    assert!(
        error.message.starts_with("the script is too long"),
        "{error}"
    );
}

#[test]
fn times_beyond_four_months_are_rejected() {
    assert!(parse("+10000000 close(3) = 0").is_ok());
    let error = parse("+10000001 close(3) = 0").expect_err("it is too late");
    assert_eq!(
        error.message,
        "time: 10000001 s is not between 0 and 10000000"
    );
}

/// A misspelt call is an error of the script, also where an earlier event would end it; one that packetdrill has and the
/// native TCP does not makes it not applicable.
#[test]
fn an_unknown_call_is_an_error_that_names_it() {
    for name in ["wrte", "Read", "epoll", "frobnicate"] {
        let text = format!("+0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 {name}(3) = 0");
        let error = parse(&text).expect_err("no such call");
        assert_eq!(error.line, 2);
        assert_eq!(error.message, format!("unknown system call {name}"));
    }
    for name in [
        "write",
        "epoll_wait",
        "sendfile",
        "sctp_bindx",
        "psp_assoc",
        "socketpair",
    ] {
        assert!(parse(&format!("+0 {name}(3) = 0")).is_ok(), "{name}");
    }
}

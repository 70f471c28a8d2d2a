//! Tests of explicit congestion notification (RFC 3168), and of exact echoes of marks (RFC 8257).

use cca::{CaState, cca_by_name};
use tcp::{Ecn, Flags, Tcp, TcpConfig};
use units::Duration;

use crate::pipe::{Pipe, Sighting};

const BYTES: u64 = 600 * 1448;

/// Returns a pipe whose client, which opens the connection, requests ECN if `asks`.
fn pipe(cca: &str, asks: bool) -> Pipe {
    let settings = Tcp {
        ecn: asks,
        ..Tcp::default()
    };
    let of = |name: &str| cca_by_name(name).expect("a CCA of ours");
    Pipe::new(settings.into(), of(cca), of(cca), BYTES)
}

fn echoes(pipe: &Pipe) -> Vec<bool> {
    let acks = pipe.acks.iter().map(|(_, ack)| ack.flags);
    acks.filter(|flags| !flags.contains(Flags::SYN))
        .map(|flags| flags.contains(Flags::ECE))
        .collect()
}

fn reductions(pipe: &Pipe) -> Vec<&Sighting> {
    let seen = pipe.seen.iter();
    seen.filter(|sent| sent.flags.contains(Flags::CWR))
        .collect()
}

/// RFC 3168 §6.1.1: the SYN requests ECN with ECE and CWR, the SYN-ACK accepts it with ECE; data is then
/// ECN-capable.
#[test]
fn ecn_is_used_if_both_ends_agree() {
    for asks in [false, true] {
        let mut pipe = pipe("reno", asks);
        let syn = pipe.client.poll_transmit().expect("a SYN");
        assert_eq!(syn.flags.contains(Flags::ECE | Flags::CWR), asks);
        assert_eq!(syn.ecn, Ecn::NotEct);
        pipe.server.on_segment(pipe.now, &syn);
        let answer = pipe.server.poll_transmit().expect("a SYN-ACK");
        assert_eq!(answer.flags.contains(Flags::ECE), asks);
        assert!(!answer.flags.contains(Flags::CWR));
        pipe.client.on_segment(pipe.now, &answer);
        pipe.run(Duration::from_secs(20));
        let expected = if asks { Ecn::Ect0 } else { Ecn::NotEct };
        let mut first = pipe.seen.iter().filter(|sent| !sent.repeated);
        assert!(first.all(|sent| sent.ecn == expected));
        assert!(pipe.acks.iter().all(|(_, ack)| ack.ecn == Ecn::NotEct));
    }
}

/// RFC 3168 §6.1.1.1: a repeated SYN does not request ECN.
#[test]
fn a_repeated_syn_does_not_request_ecn() {
    let mut pipe = pipe("reno", true);
    pipe.client.poll_transmit().expect("a SYN");
    let later = pipe.client.deadline();
    pipe.client.on_deadline(later);
    let again = pipe.client.poll_transmit().expect("a SYN");
    assert!(!again.flags.contains(Flags::ECE));
}

/// RFC 3168 §6.1.2 and §6.1.3: a mark halves the window like a loss, without a retransmission. ACKs carry ECE
/// from the mark until a segment with CWR has arrived. There is only one reduction per window.
#[test]
fn a_mark_halves_the_window_once() {
    let mut pipe = pipe("reno", true);
    pipe.mark = Box::new(|n, _, _| (100..110).contains(&n));
    let mut windows = Vec::new();
    pipe.run(Duration::from_secs(20));
    for pair in pipe.windows.windows(2) {
        if pair[1].2 == CaState::Cwr && pair[0].2 != CaState::Cwr {
            windows.push(pair[0].1);
        }
    }
    assert_eq!(windows.len(), 1, "one reduction");
    let mut after = pipe.windows.iter();
    after.find(|(_, _, state)| *state == CaState::Cwr);
    let after = after.find(|(_, _, state)| *state != CaState::Cwr);
    let (_, cwnd, _) = after.expect("the reduction ends");
    assert!(
        (i64::from(*cwnd) - i64::from(windows[0] / 2)).abs() <= 1,
        "{cwnd} of {windows:?}"
    );
    assert_eq!(pipe.repeats(), 0);
    assert_eq!(reductions(&pipe).len(), 1);
    let echoes = echoes(&pipe);
    let changes = echoes.windows(2).filter(|pair| pair[0] != pair[1]).count();
    assert_eq!(changes, 2, "one stretch of ECN-Echo");
    assert_eq!(pipe.client.received(), BYTES);
}

/// RFC 3168 §6.1.5: retransmissions are not ECN-capable.
#[test]
fn retransmissions_are_not_ecn_capable() {
    let mut pipe = pipe("cubic", true);
    pipe.drop = Box::new(|n, _, _| n == 50);
    pipe.run(Duration::from_secs(20));
    let again: Vec<&Sighting> = pipe.seen.iter().filter(|sent| sent.repeated).collect();
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].ecn, Ecn::NotEct);
    // RFC 3168 §6.1.2: the reduction after a loss is reported as well.
    assert_eq!(reductions(&pipe).len(), 1);
}

/// RFC 8257 §3.2: the echo follows the marks: as many segments are acknowledged with ECE as were marked.
#[test]
fn marks_are_echoed_exactly_for_dctcp() {
    let mut pipe = pipe("dctcp", false);
    pipe.mark = Box::new(|n, _, _| (200..207).contains(&n) || n == 300);
    pipe.run(Duration::from_secs(20));
    assert!(pipe.seen.iter().all(|sent| sent.ecn == Ecn::Ect0));
    let mut before = None;
    let mut echoed = 0;
    for (_, ack) in &pipe.acks {
        let number = ack.ack;
        if let Some(before) = before
            && ack.flags.contains(Flags::ECE)
            && !ack.flags.contains(Flags::SYN)
        {
            echoed += number.wrapping_sub(before);
        }
        before = Some(number);
    }
    assert_eq!(echoed / 1448, 8);
    assert_eq!(pipe.client.received(), BYTES);
}

/// RFC 8257 §3.2 and Linux: without the agreement of both ends there is no ECN, and DCTCP is NewReno.
#[test]
fn dctcp_without_ecn_is_newreno() {
    let of = |name: &str| cca_by_name(name).expect("a CCA of ours");
    let windows = |cca: &str| {
        // The client, which would have to request ECN, runs NewReno.
        let mut pipe = Pipe::new(TcpConfig::default(), of(cca), of("reno"), BYTES);
        pipe.drop = Box::new(|n, _, _| n == 120);
        pipe.run(Duration::from_secs(20));
        pipe.windows
    };
    assert_eq!(windows("dctcp"), windows("reno"));
}

/// RFC 3168 §6.1.1: an end that has not asked for ECN does not use it, whatever the SYN-ACK says, and a SYN-ACK with
/// both flags does not accept it.
#[test]
fn ecn_is_not_used_without_being_asked_for() {
    for (asks, answers) in [
        (false, Flags::ECE),
        (true, Flags::ECE | Flags::CWR),
        (true, Flags::default()),
    ] {
        let mut pipe = pipe("reno", asks);
        let syn = pipe.client.poll_transmit().expect("a SYN");
        pipe.server.on_segment(pipe.now, &syn);
        let mut answer = pipe.server.poll_transmit().expect("a SYN-ACK");
        answer.flags = Flags::SYN | Flags::ACK | answers;
        pipe.client.on_segment(pipe.now, &answer);
        pipe.client.write(pipe.now, 10);
        let sent: Vec<_> = core::iter::from_fn(|| pipe.client.poll_transmit()).collect();
        let data = sent.iter().find(|segment| segment.len > 0).expect("data");
        assert_eq!(data.ecn, Ecn::NotEct, "{asks} {answers:?}");
    }
}

/// RFC 3168 §6.1.4: a FIN alone is not ECN-capable.
#[test]
fn a_fin_without_data_is_not_capable() {
    let mut pipe = pipe("reno", true);
    pipe.backlog = 0;
    pipe.run(Duration::from_millis(200));
    pipe.client.close(pipe.now);
    let fin = pipe.client.poll_transmit().expect("a FIN");
    assert!(fin.flags.contains(Flags::FIN));
    assert_eq!((fin.len, fin.ecn), (0, Ecn::NotEct));
}

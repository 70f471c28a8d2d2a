//! Tests of the device: what fq holds back, and the small queue.

use super::*;
use crate::config::TcpConfig;
use crate::sender::test_sender::{ACK, FIRST, MSS};
use crate::sender::{AckInput, Outgoing, SendFlags};
use crate::settings::Tcp;
use cca::{CongestionState, cca_by_name};
use units::Rate;
use units::random::{Purpose, RngStream};

const RTT: Duration = Duration::from_millis(50);

fn start() -> Instant {
    Instant::ZERO + RTT
}

/// Returns a sender with or without fq that has sent ten segments, and has then had an ACK of the first two at a round
/// trip after the start.
fn second_round(fair_queue: bool) -> (Sender, Instant) {
    let (mut sender, later) = first_round(TcpConfig::from(Tcp {
        pacing: fair_queue,
        ..Tcp::default()
    }));
    assert_eq!(sent(&mut sender).len(), 10);
    acknowledge(&mut sender, later, 10);
    (sender, later)
}

/// Returns a sender whose application has written a megabyte at the start, and the time of the first ACK.
fn first_round(config: TcpConfig) -> (Sender, Instant) {
    let draws = RngStream::new(1, Purpose::CongestionControl, 0);
    let own = config.initial_window(draws);
    let built = cca_by_name("reno").expect("a CCA of ours");
    let mut sender = Sender::new(config, CongestionState::new(own, built), FIRST);
    sender.establish(start(), Some(RTT), 1 << 20, false);
    sender.write(start(), 1 << 20, SendFlags::Message);
    (sender, start() + RTT)
}

/// Returns a sender with a card of 12 Gbit/s, which sends a full packet in a microsecond, that reports after 4 us.
fn with_a_reporting_card() -> (Sender, Instant) {
    first_round(TcpConfig {
        net_device: NetDevice::Reporting {
            rate: Rate::from_bits_per_second(12_000_000_000),
            delay: Duration::from_micros(4),
        },
        ..TcpConfig::default()
    })
}

/// Lets the card report everything in the first round trip.
fn settle(sender: &mut Sender) {
    while sender.deadline() < start() + RTT {
        let at = sender.deadline();
        sender.on_deadline(at);
    }
}

fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

fn acknowledge(sender: &mut Sender, at: Instant, segments: u64) {
    let input = AckInput {
        ack: FIRST + segments * MSS,
        ..ACK
    };
    sender.on_ack(at, &input);
}

fn sent(sender: &mut Sender) -> Vec<Outgoing> {
    core::iter::from_fn(|| sender.poll()).collect()
}

/// Linux `tcp_pacing_check` and `tcp_small_queue_check`: with fq TCP does not wait, but hands over bursts until two
/// wait for their time. The first may leave at once.
#[test]
fn fq_gets_bursts_before_they_may_leave() {
    let (mut sender, now) = second_round(true);
    let out = sent(&mut sender);
    let waiting: Vec<_> = out.iter().filter(|piece| piece.departure > now).collect();
    assert_eq!(out.len() - waiting.len(), 2, "one burst leaves");
    assert_eq!(waiting.len(), 4, "two bursts wait");
    // Twice the window in a round trip, in slow start: two of forty segments. The first wait is half as long, because
    // the sender was late.
    let apart = RTT / 20;
    assert_eq!(waiting[0].departure, now + apart / 2);
    assert_eq!(waiting[2].departure, now + apart / 2 + apart);
    assert_eq!(sender.deadline(), waiting[0].departure + FQ_SLACK);
    let next = sender.deadline();
    sender.on_deadline(next);
    let out = sent(&mut sender);
    assert_eq!(
        out.len(),
        2,
        "the burst that left makes room for another one"
    );
    assert_eq!(out[0].departure, now + apart / 2 + apart * 2);
}

/// Linux `tcp_pacing_check`: without fq a CCA that does not pace sends what the window allows, at once.
#[test]
fn a_card_without_fq_sends_at_once() {
    let (mut sender, now) = second_round(false);
    let out = sent(&mut sender);
    assert_eq!(out.len(), 20);
    assert!(out.iter().all(|piece| piece.departure == now));
}

/// Linux `skb_mstamp_ns`: the RTT counts from the time at which a segment may leave.
#[test]
fn the_wait_in_fq_is_not_part_of_the_rtt() {
    let (mut sender, now) = second_round(true);
    let out = sent(&mut sender);
    let last = out.last().expect("a segment").departure;
    assert!(last > now);
    acknowledge(&mut sender, last + RTT, 10 + out.len() as u64);
    assert_eq!(sender.rtt.min_rtt, RTT);
}

/// Linux `skb_still_in_host_queue`: what has not left the host is not repeated.
#[test]
fn what_is_in_the_host_is_not_repeated() {
    let (mut sender, now) = second_round(true);
    let count = sent(&mut sender).len();
    let last = sender.board.ordinals().end - 1;
    assert!(sender.still_in_host_queue(now, last));
    sender.send_loss_probe(now);
    let out = sent(&mut sender);
    assert!(
        out.iter().all(|piece| !piece.is_retransmission),
        "{count} {out:?}"
    );
}

/// Linux `tcp_small_queue_check` and `tcp_wfree`: the third burst waits until the card has reported a segment of the
/// first one. Each burst has two segments here.
#[test]
fn the_third_burst_waits_for_a_report() {
    let (mut sender, _) = with_a_reporting_card();
    assert_eq!(sent(&mut sender).len(), 4);
    assert_eq!(sender.deadline(), start() + us(1 + 4));
    sender.on_deadline(start() + us(5));
    assert_eq!(sent(&mut sender).len(), 2);
    assert_eq!(
        sender.deadline(),
        start() + us(2 + 4),
        "one after the other"
    );
    sender.on_deadline(start() + us(6));
    assert!(
        sent(&mut sender).is_empty(),
        "four segments are not reported"
    );
    assert_eq!(sender.deadline(), start() + us(3 + 4));
    sender.on_deadline(start() + us(7));
    assert_eq!(sent(&mut sender).len(), 2);
    settle(&mut sender);
    assert_eq!(sent(&mut sender).len(), 2, "the rest of the window");
}

/// Linux `tcp_small_queue_check`: many ACKs at one time release two bursts. The others leave when the card has reported,
/// when all these ACKs have been handled.
#[test]
fn acks_at_one_time_release_two_bursts() {
    let (mut sender, later) = with_a_reporting_card();
    settle(&mut sender);
    assert_eq!(sent(&mut sender).len(), 10);
    for segments in 1..=10 {
        acknowledge(&mut sender, later, segments);
    }
    assert_eq!(sent(&mut sender).len(), 4);
    assert_eq!(sender.deadline(), later + us(5));
}

/// Linux `tcp_xmit_retransmit_queue`: retransmissions wait behind twice as much as new data does.
#[test]
fn retransmissions_wait_for_the_device_too() {
    let (mut sender, later) = with_a_reporting_card();
    settle(&mut sender);
    sent(&mut sender);
    for _ in 0..4 {
        sender.tsq_enqueue(later, later, 2 * MSS);
    }
    assert!(sender.rexmit_queue_check(later, 2 * MSS));
    assert!(
        !sender.rexmit_queue_check(later + us(6), 2 * MSS),
        "two of eight are reported"
    );
}

/// Linux `tcp_small_queue_check`: the limit follows the size of what would leave. Behind six segments there is room for
/// two at once, not for a single one, of which less may wait.
#[test]
fn a_larger_retransmission_may_wait_behind_more() {
    for (lost, repeated) in [(2, 2), (1, 0)] {
        let (mut sender, later) = with_a_reporting_card();
        settle(&mut sender);
        sent(&mut sender);
        for _ in 0..3 {
            sender.tsq_enqueue(later, later, 2 * MSS);
        }
        let input = AckInput {
            sack: &[(FIRST + lost * MSS, FIRST + 9 * MSS)],
            ..ACK
        };
        sender.on_ack(later, &input);
        assert_eq!(u64::from(sender.board.lost_out), lost);
        let again = sent(&mut sender)
            .iter()
            .filter(|out| out.is_retransmission)
            .count();
        assert_eq!(again, repeated);
    }
}

/// Linux `tcp_small_queue_check`: what a TUN device takes does not count.
#[test]
fn a_tun_device_is_never_full() {
    let (mut sender, _) = first_round(TcpConfig {
        net_device: NetDevice::Tun,
        ..TcpConfig::default()
    });
    assert_eq!(sent(&mut sender).len(), 10);
    assert!(!sender.small_queue_check(start(), MSS, true));
}

//! Tests of the purposes of queue disciplines.

use net::{
    Codel, DropReason, Estimator, FqCodel, Limit, LinkCapacity, LinkConfig, Pie, Queue, Red,
};
use tcp::Ecn;
use units::{Duration, Instant, Rate};

use crate::lab::{Lab, Notes, ms};

/// 10 Mbit/s: a packet of 1500 bytes in 1.2 ms.
fn lab(discipline: Queue) -> Lab {
    let capacity = LinkCapacity::Constant(Rate::from_mbps(10.0));
    Lab::new(capacity, |link: &mut LinkConfig| {
        link.queue.discipline = discipline;
        link.queue.limit = Limit::Packets(1_000);
    })
}

/// A packet every millisecond, a fifth more than the link carries, for `seconds`.
fn overload(lab: &mut Lab, seconds: u64) {
    for at in 0..seconds * 1_000 {
        lab.send(ms(at), 1_500);
    }
}

/// A window of packets that shrinks by half when something is lost or marked, at most once in
/// 100 ms, and grows by one in that time: the least that an AQM may expect of its users.
fn adaptive(mut lab: Lab, seconds: u64) -> Notes {
    let (mut pace, mut seen) = (1_000_000.0_f64, 0);
    let (mut at, mut round) = (Instant::ZERO, Instant::ZERO);
    while at < ms(seconds * 1_000) {
        lab.send(at, 1_500);
        at += Duration::from_nanos(pace as u64);
        if at >= round {
            round = at + Duration::from_millis(100);
            let signals = lab.signals();
            let per_round = 1e8 / pace;
            let next = if signals > seen {
                per_round / 2.0
            } else {
                per_round + 1.0
            };
            pace = 1e8 / next.max(2.0);
            seen = signals;
        }
    }
    lab.finish(ms(seconds * 1_000 + 10_000))
}

fn mean_wait_ms(notes: &Notes) -> f64 {
    notes.mean_wait(ms(5_000), |_| true).as_secs_f64() * 1e3
}

#[test]
fn drop_tail_fills_up_under_overload() {
    let mut lab = lab(Queue::Droptail);
    overload(&mut lab, 20);
    let notes = lab.finish(ms(30_000));
    assert_eq!(notes.longest_backlog, 1_000);
    assert!(mean_wait_ms(&notes) > 800.0);
}

#[test]
fn codel_keeps_the_sojourn_near_its_target() {
    let wait = mean_wait_ms(&adaptive(lab(Queue::Codel(Codel::default())), 40));
    assert!(wait < 10.0, "{wait} ms for a target of 5 ms");
    let without = mean_wait_ms(&adaptive(lab(Queue::Droptail), 40));
    assert!(
        without > 10.0 * wait,
        "{without} ms without, {wait} ms with"
    );
}

/// It is made for flows that react: after each success it starts again with the drop rate that the
/// last cycle added (RFC 8289 §5.5), so the queue of one that does not comes back in between.
#[test]
fn codel_holds_even_a_queue_that_does_not_react() {
    let mut lab = lab(Queue::Codel(Codel::default()));
    overload(&mut lab, 40);
    let notes = lab.finish(ms(60_000));
    let late = notes.mean_wait(ms(30_000), |packet| packet.sent_at > ms(30_000));
    assert!(
        late < Duration::from_millis(120),
        "{late} where drop-tail waits 1.2s"
    );
    assert!(
        notes
            .dropped
            .iter()
            .all(|&(_, reason)| reason == DropReason::Aqm)
    );
}

#[test]
fn codel_lets_short_bursts_pass() {
    let mut lab = lab(Queue::Codel(Codel::default()));
    for burst in 0..20 {
        for _ in 0..60 {
            lab.send(ms(burst * 200), 1_500);
        }
    }
    assert!(lab.finish(ms(10_000)).dropped.is_empty());
}

/// RFC 8289 §5.6: a queue of no more bytes than the largest packet of the link is never too long.
#[test]
fn codel_lets_a_packet_of_the_mtu_wait() {
    for discipline in [
        Queue::Codel(Codel::default()),
        Queue::FqCodel(FqCodel::default()),
    ] {
        for (mtu, drops) in [(600, true), (1_199, true), (1_200, false), (1_500, false)] {
            let capacity = LinkCapacity::Constant(Rate::from_mbps(1.0));
            let mut lab = Lab::new(capacity, |link: &mut LinkConfig| {
                link.queue.discipline = discipline.clone();
                link.mtu = mtu;
            });
            // Two packets stay behind the one that leaves next.
            for at in [0, 0, 0] {
                lab.send(ms(at), 600);
            }
            for packet in 0..200 {
                lab.send(
                    Instant::ZERO + Duration::from_micros(4_800 * packet + 100),
                    600,
                );
            }
            let notes = lab.finish(ms(5_000));
            assert_eq!(!notes.dropped.is_empty(), drops, "{discipline:?}, {mtu}");
        }
    }
}

/// RFC 8289 §5.6: the n-th drop in a row comes interval/√n after the one before.
#[test]
fn drops_of_codel_come_closer_with_the_square_root_of_their_number() {
    let mut lab = lab(Queue::Codel(Codel::default()));
    for _ in 0..900 {
        lab.send(ms(0), 1_500);
    }
    let notes = lab.finish(ms(10_000));
    // Between drops the link transmits: the missing packets show when.
    let dropped: Vec<_> = notes.dropped.iter().map(|&(id, _)| id).collect();
    let drop_time = |id: u64| {
        let next = notes
            .transmitted
            .iter()
            .find(|(packet, ..)| packet.id > id)
            .unwrap();
        next.1.as_secs_f64() * 1e3
    };
    let gaps: Vec<_> = dropped
        .windows(2)
        .take(6)
        .map(|pair| drop_time(pair[1]) - drop_time(pair[0]))
        .collect();
    let mut expected = 0.0;
    let mut result = 0.0;
    for (n, gap) in (1..).zip(gaps) {
        expected += 100.0 / f64::from(n).sqrt();
        result += gap;
        assert!(
            (result - expected).abs() <= 1.3,
            "drop {n}: {result} ms instead of {expected}"
        );
    }
}

#[test]
fn codel_marks_those_who_understand_marks() {
    let config = Codel {
        ecn: true,
        ..Codel::default()
    };
    let mut lab = lab(Queue::Codel(config));
    lab.ecn = Ecn::Ect0;
    let notes = adaptive(lab, 20);
    assert!(!notes.marked.is_empty());
    assert!(notes.dropped.is_empty());
    let marks = notes
        .transmitted
        .iter()
        .filter(|(packet, ..)| packet.ecn() == Ecn::Ce)
        .count();
    assert_eq!(marks, notes.marked.len());
}

/// Links treat UDP, ICMP or ESP as TCP: they wait, are dropped and are marked alike.
#[test]
fn packets_of_other_protocols_meet_the_same_queue() {
    let codel = || {
        Queue::Codel(Codel {
            ecn: true,
            ..Codel::default()
        })
    };
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1] {
        let [tcp, other] = [false, true].map(|other| {
            let mut lab = lab(codel());
            (lab.ecn, lab.other) = (ecn, other);
            adaptive(lab, 20)
        });
        assert_eq!(tcp.received, other.received);
        assert_eq!(tcp.dropped.len(), other.dropped.len());
        assert_eq!(tcp.marked.len(), other.marked.len());
        assert_eq!(other.marked.is_empty(), ecn == Ecn::NotEct);
    }
}

/// Linux (`codel_dequeue`): where drops begin again soon, they are as dense as those before, and come to the law of
/// their smaller number from there.
#[test]
fn drops_of_codel_that_begin_again_are_as_dense_as_before() {
    let mut lab = lab(Queue::Codel(Codel::default()));
    // Some fifty drops, a pause in which the queue becomes short, and another queue.
    for at in [0, 2_600] {
        for _ in 0..1_000 {
            lab.send(ms(at), 1_500);
        }
    }
    let notes = lab.finish(ms(10_000));
    let again: Vec<u64> = notes
        .dropped
        .iter()
        .map(|&(id, _)| id)
        .filter(|&id| id > 1_000)
        .collect();
    // The law alone has 100 ms, 83 packets, before the second one.
    let before = notes.dropped.len() - again.len();
    let gap = again[1] - again[0];
    assert!(before > 20 && gap < 40, "{before} drops, {gap} packets");
}

#[test]
fn pie_keeps_the_delay_near_its_target() {
    for estimator in [Estimator::Timestamps, Estimator::DepartureRate] {
        let mut lab = lab(Queue::Pie(Pie {
            estimator,
            ..Pie::default()
        }));
        overload(&mut lab, 60);
        let notes = lab.finish(ms(90_000));
        let wait = notes.mean_wait(ms(20_000), |_| true).as_secs_f64() * 1e3;
        assert!(
            (8.0..25.0).contains(&wait),
            "{estimator:?}: {wait} ms for a target of 15 ms"
        );
        // A fifth too much comes in, so a sixth has to go.
        let share = notes.dropped.len() as f64 / 60_000.0;
        assert!((share - 1.0 / 6.0).abs() < 0.02, "{estimator:?}: {share}");
    }
}

/// RFC 8033 §5.2: no rate is known before 16 KiB have waited. So a queue of ten packets has no delay, however slow its
/// link is; with timestamps it has one.
#[test]
fn pie_without_a_departure_rate_drops_nothing() {
    for (estimator, drops) in [
        (Estimator::Timestamps, true),
        (Estimator::DepartureRate, false),
    ] {
        let capacity = LinkCapacity::Constant(Rate::from_mbps(0.3));
        let mut lab = Lab::new(capacity, |link: &mut LinkConfig| {
            link.queue.discipline = Queue::Pie(Pie {
                estimator,
                ..Pie::default()
            });
            link.queue.limit = Limit::Packets(10);
        });
        for at in 0..500 {
            lab.send(ms(at * 30), 1_500);
        }
        let notes = lab.finish(ms(60_000));
        let early = |&(_, reason): &(u64, DropReason)| reason == DropReason::Aqm;
        assert!(!notes.dropped.is_empty());
        assert_eq!(notes.dropped.iter().any(early), drops, "{estimator:?}");
    }
}

/// RFC 8033 §5.4: the drop probabilities of the packets from one drop to the next sum up to 0.85 at least.
#[test]
fn drops_of_pie_do_not_follow_each_other_by_chance() {
    let mut lab = lab(Queue::Pie(Pie::default()));
    overload(&mut lab, 60);
    let dropped: Vec<u64> = lab
        .finish(ms(90_000))
        .dropped
        .iter()
        .map(|&(id, _)| id)
        .filter(|&id| id > 20_000)
        .collect();
    let gaps = dropped.windows(2).map(|pair| pair[1] - pair[0]);
    // A sixth has to go, which takes a probability of some 0.4.
    assert!(dropped.len() > 6_000 && gaps.min() >= Some(2));
}

/// Linux (`pie_calculate_probability`) adds 2 % to the drop probability with each update above 250 ms, without a cap at
/// 1. After that only two packets get through until the probability has decayed, by 1/64 per update.
#[test]
fn pie_drops_all_for_a_while_after_long_congestion() {
    let mut lab = lab(Queue::Pie(Pie::default()));
    // 1000 packets, 1.2 s.
    for _ in 0..1_000 {
        lab.send(ms(0), 1_500);
    }
    for at in 600..3_000 {
        lab.send(ms(at), 1_500);
    }
    let notes = lab.finish(ms(9_000));
    let lost_of = |from: u64, to: u64| {
        let of = |&&(id, _): &&(u64, DropReason)| (from..to).contains(&id);
        notes.dropped.iter().filter(of).count() as f64 / (to - from) as f64
    };
    // From 0.9 s on: a queue that is not empty yet, and packets that find nothing but one before them.
    let lost = lost_of(1_300, 1_600);
    assert!(lost > 0.9, "{lost}");
}

#[test]
fn pie_lets_a_first_burst_pass_and_marks_at_low_probability() {
    let config = Pie {
        ecn: true,
        ..Pie::default()
    };
    let mut burst = lab(Queue::Pie(config.clone()));
    for _ in 0..100 {
        burst.send(ms(0), 1_500);
    }
    assert!(burst.finish(ms(5_000)).dropped.is_empty());
    let mut capable = lab(Queue::Pie(config));
    capable.ecn = Ecn::Ect0;
    let notes = adaptive(capable, 40);
    assert!(!notes.marked.is_empty());
    assert!(mean_wait_ms(&notes) < 30.0);
}

#[test]
fn red_keeps_the_queue_of_flows_that_react_below_its_thresholds() {
    let notes = adaptive(lab(Queue::Red(Red::default())), 40);
    // 22.5 kB take 18 ms.
    let wait = mean_wait_ms(&notes);
    assert!((1.0..18.0).contains(&wait), "{wait} ms");
    let early = |&(_, reason): &(u64, DropReason)| reason == DropReason::Aqm;
    assert!(!notes.dropped.is_empty() && notes.dropped.iter().all(early));
}

/// Floyd and Jacobson 1993: the mean, not the queue, decides, so that a burst passes.
#[test]
fn red_lets_short_bursts_pass() {
    let mut lab = lab(Queue::Red(Red::default()));
    for burst in 0..5 {
        for _ in 0..60 {
            lab.send(ms(burst * 2_000), 1_500);
        }
    }
    assert!(lab.finish(ms(12_000)).dropped.is_empty());
}

/// Floyd, Gummadi and Shenker 2001: whatever the load, the mean stays near the middle of the thresholds.
#[test]
fn adaptive_red_finds_the_probability_that_a_load_needs() {
    let waits = [false, true].map(|adaptive| {
        let mut lab = lab(Queue::Red(Red {
            adaptive,
            ..Red::default()
        }));
        overload(&mut lab, 60);
        let notes = lab.finish(ms(90_000));
        let wait = notes.mean_wait(ms(30_000), |_| true).as_secs_f64() * 1e3;
        // A fifth too much comes in, so a sixth has to go.
        let share = notes.dropped.len() as f64 / 60_000.0;
        assert!((share - 1.0 / 6.0).abs() < 0.02, "{share}");
        wait
    });
    // Thresholds of 6 and 18 ms; by 2 % at most, the queue stays at the upper one.
    assert!(waits[0] > 16.0, "{waits:?}");
    assert!((10.0..14.5).contains(&waits[1]), "{waits:?}");
}

#[test]
fn red_marks_where_packets_are_capable() {
    let config = Red {
        ecn: true,
        ..Red::default()
    };
    let mut capable = lab(Queue::Red(config));
    capable.ecn = Ecn::Ect0;
    let notes = adaptive(capable, 40);
    assert!(!notes.marked.is_empty() && notes.dropped.is_empty());
}

#[test]
fn fair_queueing_keeps_a_quiet_flow_out_of_the_queue_of_a_loud_one() {
    let run = |discipline| {
        let mut lab = lab(discipline);
        for at in 0..20_000 {
            lab.send_between(ms(at), (0, 1), 1, 1_500);
            if at % 20 == 0 {
                lab.send_between(ms(at), (0, 1), 2, 200);
            }
        }
        let notes = lab.finish(ms(60_000));
        let quiet = notes.mean_wait(ms(5_000), |packet| packet.flow == 2);
        let delivered = notes
            .transmitted
            .iter()
            .filter(|(packet, ..)| packet.flow == 2)
            .count();
        (quiet, delivered)
    };
    let (quiet, delivered) = run(Queue::FqCodel(FqCodel::default()));
    // It waits for the packet in transmission at most.
    assert!(quiet <= Duration::from_micros(1_200), "{quiet}");
    assert_eq!(delivered, 1_000);
    let (quiet, _) = run(Queue::Droptail);
    assert!(quiet > Duration::from_millis(500), "{quiet}");
}

#[test]
fn fair_queueing_shares_between_loud_flows() {
    let mut lab = lab(Queue::FqCodel(FqCodel::default()));
    for at in 0..20_000 {
        for _ in 0..3 {
            lab.send_between(ms(at), (0, 1), 1, 1_500);
        }
        lab.send_between(ms(at), (0, 1), 2, 1_500);
    }
    let notes = lab.finish(ms(20_000));
    let share = |flow| {
        notes
            .transmitted
            .iter()
            .filter(|(packet, ..)| packet.flow == flow)
            .count()
    };
    let ratio = share(1) as f64 / share(2) as f64;
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
    assert!(
        notes
            .dropped
            .iter()
            .any(|&(_, reason)| reason == DropReason::Overflow)
    );
    assert!(notes.longest_backlog <= 1_000);
}

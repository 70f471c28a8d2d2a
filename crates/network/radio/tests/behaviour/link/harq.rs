//! HARQ: timing, soft combining, and recovery of its residual errors by RLC.

use radio::mac::harq::{ErrorDraws, Feedback, Harq, HarqConfig, Reception};
use radio::rlc::am;
use radio::rlc::{Block, Sdu};
use radio::settings::Rlc;
use units::{Duration, Instant};

type Link = Harq<u32, MutualInformation>;

/// Eight processes, eight TTIs between attempts, four attempts, as usual in LTE.
const LTE: HarqConfig = HarqConfig {
    processes: 8,
    round_trip: 8,
    max_transmissions: 4,
};

/// Information gathered over the attempts of a block, for incremental redundancy.
///
/// The mean information per coded bit and the code rate after `n` attempts follow from the sums
/// (Cheng, "Coding performance of hybrid ARQ schemes", IEEE Trans. Commun. 54(6), 2006).
#[derive(Clone, Copy, PartialEq, Default, Debug)]
struct MutualInformation {
    /// Sum over attempts of coded bits times mutual information per coded bit.
    bits: f64,
    /// Sum of coded bits.
    coded_bits: f64,
}

impl MutualInformation {
    /// Adds an attempt with `coded_bits` that brought `per_bit` (0 to 1) of information each.
    fn add(&mut self, coded_bits: f64, per_bit: f64) {
        self.bits += coded_bits * per_bit;
        self.coded_bits += coded_bits;
    }

    /// Returns the mean information per coded bit, zero before the first attempt.
    fn per_bit(&self) -> f64 {
        if self.coded_bits > 0.0 {
            self.bits / self.coded_bits
        } else {
            0.0
        }
    }
}

/// TS 36.213 clause 7: eight processes and a round trip of eight TTIs fill every TTI.
#[test]
fn eight_processes_fill_every_subframe() {
    let mut harq = Link::new(LTE);
    let chance = ErrorDraws::new(1, 0);
    let mut used = Vec::new();
    for tti in 0..24 {
        while harq.feedback(tti).is_some() {}
        let process = harq.idle_process().expect("a process is free in every TTI");
        *harq.new_data(process) = tti as u32;
        assert_eq!(
            harq.attempt(tti, process, &chance, |_| 0.0),
            Reception::Decoded
        );
        used.push(process);
    }
    assert_eq!(used[..8], [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(used[8..16], used[..8]);
}

/// TS 36.321 clause 5.3.2: feedback comes after four TTIs and the retransmission after eight; after
/// the last attempt the block is lost.
#[test]
fn a_block_is_tried_four_times_eight_subframes_apart() {
    let mut harq = Link::new(LTE);
    let chance = ErrorDraws::new(1, 0);
    let mut attempts = Vec::new();
    let mut events = Vec::new();
    let process = harq.idle_process().unwrap();
    harq.new_data(process);
    for tti in 0..40 {
        while let Some((_, feedback)) = harq.feedback(tti) {
            events.push((tti, feedback));
        }
        if tti == 0 || harq.retransmission(tti) == Some(process) {
            harq.attempt(tti, process, &chance, |_| 1.0);
            attempts.push(tti);
        }
    }
    assert_eq!(attempts, [0, 8, 16, 24]);
    let [n, g] = [Feedback::Negative, Feedback::Exhausted];
    assert_eq!(events, [(8, n), (16, n), (24, n), (32, g)]);
    assert!(harq.idle_processes().count() == 8);
}

/// A retransmission may follow in any TTI from a round trip after the failed attempt on.
#[test]
fn retransmissions_may_be_late() {
    let mut harq = Link::new(LTE);
    let chance = ErrorDraws::new(1, 0);
    harq.new_data(0);
    harq.attempt(0, 0, &chance, |_| 1.0);
    assert_eq!(harq.retransmission(7), None);
    while harq.feedback(8).is_some() {}
    assert!((8..20).all(|tti| harq.retransmission(tti) == Some(0)));
}

/// Cheng 2006: with incremental redundancy the code rate falls with each attempt, and the information
/// per bit is the mean over all of them.
#[test]
fn attempts_add_up_to_the_information_a_block_needs() {
    let mut harq = Link::new(LTE);
    let chance = ErrorDraws::new(1, 0);
    harq.new_data(3);
    let mut receptions = Vec::new();
    for tti in [0, 8, 16, 24] {
        while harq.feedback(tti).is_some() {}
        if harq.attempts(3) > 0 && harq.retransmission(tti).is_none() {
            break;
        }
        // 1000 bits in 1200 coded ones, of which each attempt brings 0.4: three are enough.
        receptions.push(harq.attempt(tti, 3, &chance, |soft| {
            soft.add(1_200.0, 0.4);
            assert!((soft.per_bit() - 0.4).abs() < 1e-12);
            if soft.bits >= 1_000.0 { 0.0 } else { 1.0 }
        }));
    }
    let [f, d] = [Reception::Failed, Reception::Decoded];
    assert_eq!(receptions, [f, f, d]);
    // New data begins with an empty soft buffer.
    while harq.feedback(24).is_some() {}
    harq.new_data(3);
    harq.attempt(25, 3, &chance, |soft| {
        assert_eq!(*soft, MutualInformation::default());
        0.0
    });
}

/// The draw of a TTI does not depend on what was sent before, so runs with other traffic have the same one.
#[test]
fn luck_belongs_to_the_subframe() {
    let outcome = |busy: bool| {
        let mut harq = Link::new(LTE);
        let chance = ErrorDraws::new(7, 2);
        let mut outcomes = Vec::new();
        for tti in 0..200 {
            while harq.feedback(tti).is_some() {}
            if let Some(process) = harq.idle_process().filter(|_| busy || tti % 16 == 0) {
                harq.new_data(process);
                let reception = harq.attempt(tti, process, &chance, |_| 0.5);
                if tti % 16 == 0 {
                    outcomes.push(reception);
                }
            }
        }
        outcomes
    };
    let quiet = outcome(false);
    assert!(quiet.contains(&Reception::Failed) && quiet.contains(&Reception::Decoded));
    // With failures pending some processes are held, but at least one is free in fifteen of sixteen TTIs.
    let mut harq = Link::new(LTE);
    let chance = ErrorDraws::new(7, 2);
    for (index, expected) in quiet.iter().enumerate() {
        harq.new_data(0);
        assert_eq!(
            harq.attempt(16 * index as u64, 0, &chance, |_| 0.5),
            *expected
        );
    }
}

/// Feedback errors: a lost acknowledgement repeats a block that is not delivered again, and a negative one taken for
/// positive leaves the loss to RLC.
#[test]
fn feedback_errors_neither_duplicate_nor_hang() {
    let mut harq = Link::new(LTE);
    let mut chance = ErrorDraws::new(1, 0);
    chance.ack_to_nack_rate = 1.0;
    harq.new_data(0);
    assert_eq!(harq.attempt(0, 0, &chance, |_| 0.0), Reception::Decoded);
    assert_eq!(harq.feedback(8), Some((0, Feedback::Negative)));
    assert_eq!(harq.attempt(8, 0, &chance, |_| 0.0), Reception::Duplicate);

    let mut harq = Link::new(LTE);
    chance.nack_to_ack_rate = 1.0;
    harq.new_data(0);
    assert_eq!(harq.attempt(0, 0, &chance, |_| 1.0), Reception::Failed);
    assert_eq!(harq.feedback(8), Some((0, Feedback::Acknowledged)));
    assert!(harq.idle_processes().count() == 8);
}

/// A block whose assignment was missed is sent again, unless the silence counts as an acknowledgement: then it is lost.
#[test]
fn a_block_that_nobody_heard_of_is_sent_again_or_lost() {
    for (share, expected) in [(0.0, Feedback::Negative), (1.0, Feedback::Acknowledged)] {
        let mut harq = Link::new(LTE);
        let mut chance = ErrorDraws::new(1, 0);
        chance.dtx_to_ack_rate = share;
        harq.new_data(0);
        harq.send_dtx(0, 0, &chance);
        assert_eq!(harq.attempts(0), 1);
        assert_eq!(harq.feedback(8), Some((0, expected)));
    }
}

/// TS 36.321 clause 5.9: a MAC reset flushes all buffers.
#[test]
fn a_reset_frees_all_processes() {
    let mut harq = Link::new(LTE);
    let chance = ErrorDraws::new(1, 0);
    for (process, error_rate) in [(0, 0.0), (1, 1.0)] {
        *harq.new_data(process) = process as u32 + 10;
        harq.attempt(0, process, &chance, |_| error_rate);
    }
    harq.reset();
    assert!(harq.idle_processes().count() == 8 && harq.feedback(100).is_none());
}

/// A saturated link: blocks fail 10 % of first attempts, half of later ones, feedback errs. Through
/// HARQ and RLC all packets arrive in order and once.
#[test]
fn harq_and_rlc_together_deliver_everything_in_order() {
    let mut harq: Harq<Block, MutualInformation> = Harq::new(HarqConfig {
        max_transmissions: 2,
        ..LTE
    });
    let mut chance = ErrorDraws::new(3, 1);
    chance.nack_to_ack_rate = 0.01;
    chance.ack_to_nack_rate = 0.01;
    let config = Rlc::default();
    let (mut sender, mut receiver) = (am::Entity::new(config), am::Entity::new(config));
    let (mut delivered, mut confirmed) = (Vec::new(), Vec::new());
    let mut report = Block::default();
    let mut given_up = 0;
    let mut next = 0;
    for tti in 0..6_000 {
        let now = Instant::ZERO + Duration::from_millis(tti);
        sender.advance(now);
        receiver.advance(now);
        while next < 20_000
            && sender.enqueue(Sdu {
                id: next,
                len: 1_500,
            })
        {
            next += 1;
        }
        while let Some((_, feedback)) = harq.feedback(tti) {
            given_up += u32::from(feedback == Feedback::Exhausted);
        }
        let process = match harq.retransmission(tti) {
            Some(process) => Some(process),
            None => harq.idle_process().inspect(|&process| {
                sender.fill(now, 9_422, harq.new_data(process));
            }),
        };
        if let Some(process) = process {
            let first = harq.attempts(process) == 0;
            let rate = if first { 0.1 } else { 0.5 };
            if harq.attempt(tti, process, &chance, |_| rate) == Reception::Decoded {
                receiver.receive(now, harq.payload(process), &mut delivered, &mut Vec::new());
            }
        }
        receiver.fill(now, 100, &mut report);
        sender.receive(now, &report, &mut Vec::new(), &mut confirmed);
    }
    assert!(given_up > 50, "{given_up}");
    assert_eq!(delivered.len(), 20_000);
    assert!(
        delivered
            .iter()
            .enumerate()
            .all(|(index, sdu)| sdu.id == index as u64)
    );
    assert_eq!(confirmed, delivered);
}

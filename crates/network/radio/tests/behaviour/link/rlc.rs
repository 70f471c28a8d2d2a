//! RLC in acknowledged mode: conformance to TS 36.322, and invariants under losses.

use config::Buffer;
use proptest::prelude::*;
use radio::rlc::am::Entity;
use radio::rlc::{Block, DataPdu, Forwarding, Nack, Part, Sdu, Segment, StatusPdu};
use radio::settings::{Rlc, StatusPlacement};
use units::{Bytes, Duration, Instant};

fn at(milliseconds: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(milliseconds)
}

fn ids(sdus: &[Sdu]) -> Vec<u64> {
    sdus.iter().map(|sdu| sdu.id).collect()
}

fn with(config: Rlc, sdus: u64, len: u32) -> Entity {
    let mut entity = Entity::new(config);
    for id in 0..sdus {
        assert!(entity.enqueue(Sdu { id, len }));
    }
    entity
}

fn fill(entity: &mut Entity, now: u64, bytes: u32) -> Block {
    let mut block = Block::default();
    entity.fill(at(now), bytes, &mut block);
    assert!(block.bytes <= bytes, "{} of {bytes}", block.bytes);
    block
}

/// Delivers a block to the receiver, and returns the SDUs that it completes.
fn deliver(receiver: &mut Entity, now: u64, block: &Block) -> Vec<u64> {
    let (mut delivered, mut confirmed) = (Vec::new(), Vec::new());
    receiver.receive(at(now), block, &mut delivered, &mut confirmed);
    ids(&delivered)
}

/// Delivers a status report to the sender, and returns the SDUs that it confirms.
fn confirm(sender: &mut Entity, now: u64, block: &Block) -> Vec<u64> {
    let (mut delivered, mut confirmed) = (Vec::new(), Vec::new());
    sender.receive(at(now), block, &mut delivered, &mut confirmed);
    ids(&confirmed)
}

fn status(entity: &mut Entity, now: u64) -> Block {
    let block = fill(entity, now, 1_000);
    assert!(block.has_status, "a report is due");
    block
}

/// Clauses 6.2.1.4 and 6.2.2.5: SDUs are concatenated and the last one is cut to fit. 3000 bytes are a
/// MAC subheader (1), the fixed part (2), two length indicators in 3 bytes and 2994 bytes of data.
#[test]
fn a_pdu_is_filled_to_the_last_byte() {
    let mut sender = with(Rlc::default(), 3, 1_400);
    let block = fill(&mut sender, 0, 3_000);
    let pdu = block.pdus[0];
    assert_eq!((pdu.header, pdu.data, pdu.segments), (5, 2_994, 3));
    assert_eq!(block.bytes, 3_000);
    let last = block.segments_of(&pdu)[2];
    assert_eq!((last.sdu.id, last.offset, last.len), (2, 0, 194));
    let rest = fill(&mut sender, 1, 3_000);
    assert_eq!(
        rest.segments,
        [Segment {
            offset: 194,
            len: 1_206,
            ..last
        }]
    );
}

/// Clause 6.2.2.5: a length indicator of 11 bits cannot count beyond 2047 bytes.
#[test]
fn an_element_above_2047_bytes_ends_its_pdu() {
    let pdus = |length_indicator_bits| {
        let config = Rlc {
            length_indicator_bits,
            ..Rlc::default()
        };
        fill(&mut with(config, 2, 3_000), 0, 9_000).pdus.len()
    };
    assert_eq!(pdus(11), 2);
    assert_eq!(pdus(15), 1);
}

/// Clause 5.2.2.1: a poll goes with the last data, with every pollPDU-th PDU, and after pollByte.
#[test]
fn polls_follow_count_bytes_and_the_end_of_data() {
    let polled = |poll_pdus, poll_bytes: Option<u64>| {
        let config = Rlc {
            poll_pdus,
            poll_bytes: poll_bytes.map(Bytes::new),
            ..Rlc::default()
        };
        let mut sender = with(config, 10, 500);
        let polls = (0..10).map(|tti| fill(&mut sender, tti, 503).pdus[0].poll);
        let polls: Vec<usize> = polls
            .enumerate()
            .filter(|(_, poll)| *poll)
            .map(|(n, _)| n)
            .collect();
        polls
    };
    assert_eq!(polled(0, None), [9]);
    assert_eq!(polled(4, None), [3, 7, 9]);
    assert_eq!(polled(0, Some(1_250)), [2, 5, 8, 9]);
}

/// Clause 6.2.1.6: 15 bits without, and 12 more for each negative acknowledgement: 2, 4, 5 bytes.
#[test]
fn a_status_report_has_the_size_of_its_fields() {
    for (lost, bytes) in [(0, 2), (1, 4), (2, 5), (3, 7)] {
        let config = Rlc {
            poll_pdus: 0,
            ..Rlc::default()
        };
        let mut sender = with(config, 8, 500);
        let mut receiver = Entity::new(config);
        for tti in 0..8 {
            let block = fill(&mut sender, tti, 503);
            if tti >= lost {
                deliver(&mut receiver, tti, &block);
            }
        }
        receiver.advance(at(100));
        let report = status(&mut receiver, 100);
        assert_eq!(report.status.bytes, bytes);
        assert_eq!(report.status.nacks.len() as u64, lost);
        assert_eq!(report.status.ack_sn, 8);
    }
}

/// Clause 5.2.3: numbers that do not fit stay above ACK_SN, so they do not count as received.
#[test]
fn a_report_that_is_cut_short_acknowledges_only_what_it_covers() {
    let mut sender = with(Rlc::default(), 8, 500);
    let mut receiver = Entity::new(Rlc::default());
    for tti in 0..8 {
        let block = fill(&mut sender, tti, 503);
        if tti % 2 == 1 {
            deliver(&mut receiver, tti, &block);
        }
    }
    // The first expiry covers the gaps known when the timer started, the second one covers all of them.
    receiver.advance(at(36));
    receiver.advance(at(36 + 35));
    // 5 bytes and a subheader: 15 + 2 * 12 bits.
    let report = fill(&mut receiver, 71, 6);
    let missing: Vec<u32> = report.status.nacks.iter().map(|nack| nack.sn).collect();
    assert_eq!((missing, report.status.ack_sn), (vec![0, 2], 4));
}

/// Clauses 5.1.3.2.3 and 5.1.3.2.4: a gap starts t-Reordering. The report names the missing PDU after its expiry, not
/// before, and the repeated PDU completes delivery in order.
#[test]
fn a_lost_pdu_is_reported_when_the_reordering_timer_expires() {
    let mut sender = with(Rlc::default(), 3, 1_000);
    let mut receiver = Entity::new(Rlc::default());
    let blocks: Vec<Block> = (0..3).map(|tti| fill(&mut sender, tti, 1_003)).collect();
    assert_eq!(deliver(&mut receiver, 0, &blocks[0]), [0]);
    assert_eq!(deliver(&mut receiver, 2, &blocks[2]), [0_u64; 0]);
    assert_eq!(receiver.next_deadline(), at(2 + 35));
    // The poll of the last PDU waits for VR(MS) to pass it.
    assert_eq!(receiver.available(Instant::NEVER), 0);
    receiver.advance(at(37));
    let report = status(&mut receiver, 37);
    assert_eq!(report.status.nacks, [Nack { sn: 1, range: None }]);
    assert_eq!(confirm(&mut sender, 41, &report), [0]);
    let again = fill(&mut sender, 42, 1_003);
    assert_eq!(again.pdus[0].sn, 1);
    assert_eq!(deliver(&mut receiver, 42, &again), [1, 2]);
}

/// Clause 5.2.3: t-StatusProhibit spaces reports.
#[test]
fn reports_are_spaced_by_the_prohibit_timer() {
    let config = Rlc {
        poll_pdus: 1,
        ..Rlc::default()
    };
    let mut sender = with(config, 40, 500);
    let mut receiver = Entity::new(config);
    let mut reports = Vec::new();
    for tti in 0..40 {
        let block = fill(&mut sender, tti, 503);
        deliver(&mut receiver, tti, &block);
        if fill(&mut receiver, tti, 100).has_status {
            reports.push(tti);
        }
    }
    assert_eq!(reports, [0, 10, 20, 30]);
}

/// Clause 5.2.2.3: without an answer, t-PollRetransmit repeats the last PDU with a poll.
#[test]
fn a_poll_without_an_answer_is_repeated() {
    let mut sender = with(Rlc::default(), 2, 1_000);
    for tti in 0..2 {
        fill(&mut sender, tti, 1_003);
    }
    assert_eq!(sender.next_deadline(), at(1 + 80));
    assert!(fill(&mut sender, 50, 1_003).is_empty());
    sender.advance(at(81));
    let again = fill(&mut sender, 81, 1_003);
    assert_eq!((again.pdus[0].sn, again.pdus[0].poll), (1, true));
    assert_eq!(sender.next_deadline(), at(81 + 80));
}

/// Clause 5.2.1: a PDU that no longer fits is cut into AMD PDU segments, with a header of 4 bytes. The report then
/// names the part that is missing.
#[test]
fn a_retransmission_is_segmented_to_fit_and_its_parts_acknowledged() {
    let mut sender = with(Rlc::default(), 1, 1_000);
    let mut receiver = Entity::new(Rlc::default());
    fill(&mut sender, 0, 1_003);
    sender.advance(at(80));
    let parts: Vec<Block> = (80..83).map(|tti| fill(&mut sender, tti, 405)).collect();
    let shape: Vec<_> = parts
        .iter()
        .map(|block| (block.pdus[0].part.unwrap(), block.pdus[0].data))
        .collect();
    let part = |offset, last| Part { offset, last };
    assert_eq!(
        shape,
        [
            (part(0, false), 400),
            (part(400, false), 400),
            (part(800, true), 200)
        ]
    );
    deliver(&mut receiver, 80, &parts[0]);
    deliver(&mut receiver, 82, &parts[2]);
    receiver.advance(at(120));
    let report = status(&mut receiver, 120);
    let range = Some((400, 800));
    assert_eq!(report.status.nacks, [Nack { sn: 0, range }]);
    // 15 + 12 + 30 bits.
    assert_eq!(report.status.bytes, 8);
    confirm(&mut sender, 124, &report);
    let again = fill(&mut sender, 125, 1_003);
    assert_eq!(again.pdus[0].data, 400);
    assert_eq!(deliver(&mut receiver, 125, &again), [0]);
}

/// Clauses 5.1.3.1.1 and 7.2: no new PDU when 512 are outstanding.
#[test]
fn the_window_stalls_the_sender() {
    let config = Rlc {
        buffer: Buffer::Packets(1_000),
        ..Rlc::default()
    };
    let mut sender = with(config, 600, 100);
    let sent = (0..600)
        .filter(|&tti| !fill(&mut sender, tti, 103).is_empty())
        .count();
    assert_eq!(sent, 512);
    assert_eq!(sender.queued_packets(), 88);
}

/// Clause 5.2.1: the upper layers are notified when RETX_COUNT reaches maxRetxThreshold.
#[test]
fn too_many_retransmissions_are_reported() {
    let config = Rlc {
        max_retransmissions: 4,
        ..Rlc::default()
    };
    let mut sender = with(config, 1, 1_000);
    fill(&mut sender, 0, 1_003);
    let mut retransmissions = 0;
    for tti in 0..10_000 {
        sender.advance(at(tti));
        retransmissions += u32::from(tti > 0 && !fill(&mut sender, tti, 1_003).is_empty());
        if sender.has_failed() {
            break;
        }
    }
    // The first retransmission sets the count to zero; the fifth would be number four.
    assert_eq!((sender.has_failed(), retransmissions), (true, 5));
}

#[test]
fn the_buffer_drops_what_exceeds_it() {
    let rejected = |buffer, len| {
        let mut sender = Entity::new(Rlc {
            buffer,
            ..Rlc::default()
        });
        (0..2_000)
            .find(|&id| !sender.enqueue(Sdu { id, len }))
            .unwrap()
    };
    assert_eq!(rejected(Rlc::default().buffer, 1_500), 750);
    assert_eq!(rejected(Buffer::Bytes(Bytes::new(10_000)), 1_500), 6);
}

/// ns-3's LTE module sends a report by itself in its block; the standard does not ask for that.
#[test]
fn a_report_goes_alone_or_with_data() {
    for (placement, data) in [
        (StatusPlacement::Alone, false),
        (StatusPlacement::Piggybacked, true),
    ] {
        let config = Rlc {
            status: placement,
            ..Rlc::default()
        };
        let mut peer = with(config, 1, 300);
        let mut entity = with(config, 1, 1_000);
        let block = fill(&mut peer, 0, 400);
        deliver(&mut entity, 0, &block);
        let block = fill(&mut entity, 1, 1_500);
        assert!(block.has_status);
        assert_eq!(!block.pdus.is_empty(), data, "{placement:?}");
    }
}

/// TS 36.300 clause 10.1.2.3: all SDUs that are not confirmed are forwarded, or only those never sent.
#[test]
fn each_mode_forwards_its_sdus() {
    let forwarded = |mode| {
        let mut sender = with(Rlc::default(), 6, 1_000);
        let mut receiver = Entity::new(Rlc::default());
        for tti in 0..3 {
            let block = fill(&mut sender, tti, 1_103);
            if tti != 1 {
                deliver(&mut receiver, tti, &block);
            }
        }
        receiver.advance(at(60));
        let report = status(&mut receiver, 60);
        confirm(&mut sender, 64, &report);
        let mut out = Vec::new();
        sender.forward(mode, &mut out);
        assert_eq!(sender.queued_bytes(), 0);
        ids(&out)
    };
    // PDU 0 holds SDU 0 and 98 bytes of 1, PDU 1 the rest of 1 and some of 2, PDU 2 the rest of 2 and
    // some of 3.
    assert_eq!(forwarded(Forwarding::Lossless), [1, 2, 3, 4, 5]);
    assert_eq!(forwarded(Forwarding::Seamless), [4, 5]);
    assert_eq!(forwarded(Forwarding::Discard), [0_u64; 0]);
}

/// Transfers SDUs over a link with losses in both directions and blocks of any size, until all are confirmed.
fn transfer(config: Rlc, sdus: &[u32], sizes: &[u32], losses: &[bool]) -> (Vec<u64>, Vec<u64>) {
    let (mut sender, mut receiver) = (Entity::new(config), Entity::new(config));
    let (mut delivered, mut confirmed) = (Vec::new(), Vec::new());
    let mut block = Block::default();
    let (mut offered, mut fate) = (0, losses.iter().cycle());
    for tti in 0..40_000_u64 {
        let now = at(tti);
        sender.advance(now);
        receiver.advance(now);
        while let Some(&len) = sdus.get(offered) {
            let id = offered as u64;
            if !sender.enqueue(Sdu { id, len }) {
                break;
            }
            offered += 1;
        }
        let size = sizes[tti as usize % sizes.len()];
        sender.fill(now, size, &mut block);
        assert!(block.bytes <= size);
        if !fate.next().unwrap() {
            receiver.receive(now, &block, &mut delivered, &mut Vec::new());
        }
        receiver.fill(now, 40, &mut block);
        if !fate.next().unwrap() {
            sender.receive(now, &block, &mut Vec::new(), &mut confirmed);
        }
        if confirmed.len() == sdus.len() {
            break;
        }
    }
    (ids(&delivered), ids(&confirmed))
}

fn any_segment() -> impl Strategy<Value = Segment> {
    let field = || prop_oneof![0_u32..3_000, any::<u32>()];
    (0_u64..4, field(), field(), field()).prop_map(|(id, total, offset, len)| Segment {
        sdu: Sdu { id, len: total },
        offset,
        len,
    })
}

prop_compose! {
    fn any_pdu()(
        segments in prop::collection::vec(any_segment(), 0..4),
        sn in prop_oneof![0_u32..8, 500_u32..530, any::<u32>()],
        poll in any::<bool>(),
        part in prop::option::of((prop_oneof![0_u32..3_000, any::<u32>()], any::<bool>())),
        is_consistent in any::<bool>(),
        data in any::<u32>(),
        first_segment in prop_oneof![Just(0), any::<u32>()],
    ) -> Block {
        let sum = segments.iter().fold(0_u32, |sum, segment| sum.wrapping_add(segment.len));
        let pdu = DataPdu {
            sn,
            poll,
            part: part.map(|(offset, last)| Part { offset, last }),
            data: if is_consistent { sum } else { data },
            header: 2,
            first_segment,
            segments: segments.len() as u32,
        };
        Block { pdus: vec![pdu], segments, ..Block::default() }
    }
}

prop_compose! {
    fn any_status()(
        ack_sn in prop_oneof![0_u32..8, any::<u32>()],
        nacks in prop::collection::vec(
            (prop_oneof![0_u32..8, any::<u32>()], prop::option::of((any::<u32>(), any::<u32>()))),
            0..5,
        ),
    ) -> Block {
        let nacks = nacks.into_iter().map(|(sn, range)| Nack { sn, range }).collect();
        let status = StatusPdu { ack_sn, nacks, bytes: 2 };
        Block { has_status: true, status, ..Block::default() }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Everything arrives once and in order, and is confirmed once and in order, whatever is lost.
    #[test]
    fn all_sdus_arrive_once_and_in_order(
        sdus in prop::collection::vec(1_u32..3_000, 1..200),
        sizes in prop::collection::vec(prop_oneof![8_u32..200, 200_u32..9_500], 1..20),
        losses in prop::collection::vec(prop::bool::weighted(0.25), 101),
        sn_bits in prop::sample::select(vec![10, 12, 16, 18]),
        alone in any::<bool>(),
    ) {
        // At least one block of useful size passes in each direction.
        let mut sizes = sizes;
        sizes.push(2_000);
        let mut losses = losses;
        losses.extend([false; 6]);
        let config = Rlc {
            sn_bits: Some(sn_bits),
            status: if alone { StatusPlacement::Alone } else { StatusPlacement::Piggybacked },
            buffer: Buffer::Packets(50),
            ..Rlc::default()
        };
        let all: Vec<u64> = (0..sdus.len() as u64).collect();
        let (delivered, confirmed) = transfer(config, &sdus, &sizes, &losses);
        prop_assert_eq!(&delivered, &all);
        prop_assert_eq!(&confirmed, &all);
    }

    /// Bytes are conserved: an SDU that was taken is queued or has been sent, and sent once.
    #[test]
    fn bytes_are_queued_or_sent(
        sdus in prop::collection::vec(1_u32..3_000, 1..40),
        sizes in prop::collection::vec(1_u32..4_000, 1..30),
    ) {
        let mut sender = Entity::new(Rlc::default());
        let mut total = 0;
        for (id, &len) in sdus.iter().enumerate() {
            assert!(sender.enqueue(Sdu { id: id as u64, len }));
            total += u64::from(len);
        }
        let mut sent = 0;
        for &size in &sizes {
            let block = fill(&mut sender, 0, size);
            sent += block.data_bytes();
            prop_assert_eq!(block.data_bytes(), block.segments.iter().map(|s| u64::from(s.len)).sum::<u64>());
            prop_assert_eq!(sent + sender.queued_bytes(), total);
        }
    }

    /// Clause 5.5.1: no PDU, however malformed, makes an entity panic or deliver an SDU twice in a row.
    #[test]
    fn malformed_pdus_do_not_panic(
        blocks in prop::collection::vec(prop_oneof![any_pdu(), any_status()], 1..60),
        step in 0_u64..20,
    ) {
        let mut entity = with(Rlc::default(), 20, 900);
        for (index, block) in blocks.iter().enumerate() {
            let now = step * index as u64;
            entity.advance(at(now));
            deliver(&mut entity, now, block);
            fill(&mut entity, now, 500);
        }
        let mut left = Vec::new();
        entity.reestablish(&mut left);
    }
}

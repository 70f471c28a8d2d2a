//! Properties that hold for any segments in any order: no panic, no byte lost or invented, no window overrun.

use cca::CCAS;
use cca::cca_by_name;
use proptest::prelude::*;
use tcp::{Connection, Flags, SackBlocks, Segment, TcpConfig};
use units::random::{Purpose, RngStream};
use units::{Bytes, Duration, Instant};

use crate::pipe::Pipe;

fn established(cca: &str) -> (Connection, Connection) {
    let config = TcpConfig::default();
    let pair = || cca_by_name(cca).expect("a CCA of ours");
    let mut server = crate::pipe::connection(&config, 1000, pair());
    let mut client = crate::pipe::connection(&config, 2000, pair());
    server.listen();
    client.connect(Instant::ZERO);
    let mut now = Instant::ZERO;
    for _ in 0..3 {
        now += Duration::from_millis(10);
        while let Some(segment) = client.poll_transmit() {
            server.on_segment(now, &segment);
        }
        while let Some(segment) = server.poll_transmit() {
            client.on_segment(now, &segment);
        }
    }
    server.write(now, 1_000_000);
    (server, client)
}

fn any_cca() -> impl Strategy<Value = &'static str> {
    prop::sample::select(CCAS.map(|cca| cca.name).to_vec())
}

prop_compose! {
    fn any_segment()(
        seq in prop_oneof![Just(2001_u32), 1990_u32..2100, any::<u32>()],
        ack in prop_oneof![900_u32..1100, 1000_u32..20_000, any::<u32>()],
        len in prop_oneof![Just(0_u32), 0_u32..3000],
        window in any::<u16>(),
        flags in any::<u8>(),
        timestamps in prop::option::of((any::<u32>(), any::<u32>())),
        blocks in prop::collection::vec((1000_u32..20_000, 0_u32..6000), 0..4),
    ) -> Segment {
        let mut sack = SackBlocks::EMPTY;
        for (left, length) in blocks {
            sack.push(left, left + length);
        }
        // A reset would end the test too early too often.
        let flags = Flags::from_bits(flags & !0x04 | 0x10);
        Segment { seq, ack, len, window, flags, timestamps, sack, ..Segment::default() }
    }
}

proptest! {
    /// RFC 9293 §3.10.7: any segment, at any time, in any state.
    #[test]
    fn no_segment_makes_a_connection_panic(
        cca in any_cca(),
        steps in prop::collection::vec((any_segment(), 0_u64..400), 1..60),
        close_at in 0_usize..80,
    ) {
        let (mut server, _) = established(cca);
        let mut now = Instant::from_nanos(40_000_000);
        for (index, (segment, wait)) in steps.into_iter().enumerate() {
            now += Duration::from_millis(wait);
            if index == close_at {
                server.close(now);
            }
            if server.deadline() <= now {
                server.on_deadline(now);
            }
            server.on_segment(now, &segment);
            while server.poll_transmit().is_some() {}
            prop_assert!(server.view().cwnd >= 1);
        }
    }

    /// All bytes arrive once and in order, through loss and reordering in both directions, within the
    /// advertised window.
    #[test]
    fn every_byte_arrives_once_through_loss_and_reordering(
        cca in any_cca(),
        seed in any::<u64>(),
        loss in 0.0_f64..0.2,
        ack_loss in 0.0_f64..0.2,
        jitter_ms in 0_u64..60,
        segments in 1_u64..400,
        window in 4_000_u32..200_000,
    ) {
        let pair = || cca_by_name(cca).expect("a CCA of ours");
        let config = crate::pipe::buffer_for(window);
        let mut pipe = Pipe::new(config, pair(), pair(), segments * 1448);
        pipe.queue = Bytes::new(1 << 30);
        let draws = |entity| RngStream::new(seed, Purpose::Loss, entity);
        let below = |stream: &RngStream, n: u64, p: f64| (stream.at(n) as f64) < p * u64::MAX as f64;
        let (data, acks, jitter) = (draws(0), draws(1), draws(2));
        pipe.drop = Box::new(move |n, _, _| below(&data, n, loss));
        pipe.drop_ack = Box::new(move |n, _| below(&acks, n, ack_loss));
        pipe.delay = Box::new(move |n, _| Duration::from_millis(jitter.at(n) % (jitter_ms + 1)));
        // With a fifth lost each way, time-outs of two minutes follow each other; a day is enough.
        pipe.run(Duration::from_secs(86_400));
        prop_assert_eq!(pipe.client.received(), segments * 1448);
        prop_assert_eq!(pipe.server.acknowledged(), segments * 1448);
        let unit = 127;
        let mut edge = u64::from(window) + unit;
        let mut acks = pipe.acks.iter().peekable();
        for sent in &pipe.seen {
            while let Some((_, ack)) = acks.next_if(|(at, _)| *at <= sent.at) {
                let offset = u64::from(ack.ack.wrapping_sub(0xffff_f001));
                edge = edge.max(offset + (u64::from(ack.window) << 7));
            }
            prop_assert!(sent.offset + u64::from(sent.len) <= edge, "{:?} beyond {}", sent, edge);
        }
    }
}

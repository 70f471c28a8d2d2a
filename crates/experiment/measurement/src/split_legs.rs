//! Rows of connections at middleboxes.

use net::{ConnectionState, HostId, Network};
use results::LegRow;
use units::{Duration, Instant};

use crate::Recorder;

fn srtt_ms(srtt: Option<Duration>) -> f64 {
    srtt.map_or(f64::NAN, |srtt| srtt.as_secs_f64() * 1e3)
}

impl Recorder {
    /// Records the state of each connection at each middlebox in the slot from `from` to `now`.
    pub(crate) fn record_legs(&mut self, from: Instant, now: Instant, network: &Network) {
        network.for_each_connection(&mut |node, passage| {
            self.record_passage(from, now, network, node, passage)
        });
    }

    fn record_passage(
        &mut self,
        from: Instant,
        now: Instant,
        network: &Network,
        node: HostId,
        passage: &ConnectionState,
    ) {
        let name = |host| network.host_name(host).to_owned();
        let flow = passage.flow;
        let known = &mut self.watched[flow as usize].middleboxes;
        let index = known.iter().position(|&(known, _)| known == node);
        let index = index.unwrap_or(known.len());
        if index == known.len() {
            known.push((node, passage.is_over));
            let kind = if passage.legs.is_some() {
                "split"
            } else {
                "unsplit"
            };
            self.event(now, flow, kind, name(node));
        } else if core::mem::replace(&mut known[index].1, passage.is_over) {
            // The row of the slot in which it ended is there.
            return;
        }
        let Some(legs) = &passage.legs else { return };
        for (leg, view) in legs.iter().enumerate() {
            self.tables.legs.push(LegRow {
                flow,
                t_s: from.as_secs_f64(),
                node: name(node),
                towards: name(passage.hosts[leg]),
                cwnd: view.cwnd,
                inflight: view.inflight,
                srtt_ms: srtt_ms(view.srtt),
                retransmissions: view.retransmissions,
                timeouts: view.timeouts.unwrap_or_default(),
                buffered_bytes: passage.buffered[1 - leg],
            });
        }
    }
}

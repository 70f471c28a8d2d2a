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
        network.for_each_connection(&mut |node, state| {
            self.record_connection(from, now, network, node, state)
        });
    }

    fn record_connection(
        &mut self,
        from: Instant,
        now: Instant,
        network: &Network,
        node: HostId,
        state: &ConnectionState,
    ) {
        let name = |host| network.host_name(host).to_owned();
        let flow = state.flow;
        let middleboxes = &mut self.connections[flow as usize].middleboxes;
        let index = middleboxes.iter().position(|&(other, _)| other == node);
        let index = index.unwrap_or(middleboxes.len());
        if index == middleboxes.len() {
            middleboxes.push((node, state.is_over));
            let kind = if state.legs.is_some() {
                "split"
            } else {
                "unsplit"
            };
            self.event(now, flow, kind, name(node));
        } else if core::mem::replace(&mut middleboxes[index].1, state.is_over) {
            // Its last slot has its row already.
            return;
        }
        let Some(legs) = &state.legs else { return };
        for (leg, info) in legs.iter().enumerate() {
            self.tables.legs.push(LegRow {
                flow,
                t_s: from.as_secs_f64(),
                node: name(node),
                towards: name(state.hosts[leg]),
                cwnd: info.cwnd,
                inflight: info.inflight,
                srtt_ms: srtt_ms(info.srtt),
                retransmissions: info.retransmissions,
                timeouts: info.timeouts.unwrap_or_default(),
                buffered_bytes: state.buffered[1 - leg],
            });
        }
    }
}

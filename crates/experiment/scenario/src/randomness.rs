//! Randomness: the settings by which the runs of a scenario differ.

use crate::model::radio::{LosModel, Radio, Ue};
use crate::model::{Capacity, Cross, Jitter, Loss, Queue, Scenario};

impl Scenario {
    /// Returns what differs from run to run. If nothing does, a single run suffices.
    pub fn randomness(&self) -> Vec<&'static str> {
        let path = &self.path;
        let hops = || path.wired.iter();
        let capacities = || {
            let wired = hops().map(|hop| &hop.rate);
            let beside = self.links.iter().map(|link| &link.rate);
            [&path.down, &path.up]
                .into_iter()
                .chain(wired)
                .chain(beside)
        };
        let recorded = capacities().any(|c| matches!(c, Capacity::Trace(_)));
        let generated = capacities().any(|c| matches!(c, Capacity::Generated { .. }));
        let losses = hops()
            .map(|hop| &hop.loss)
            .chain(self.links.iter().map(|link| &link.loss))
            .chain([&path.loss, &path.uplink_loss]);
        let jitters = hops()
            .map(|hop| &hop.jitter)
            .chain(self.links.iter().map(|link| &link.jitter))
            .chain([&path.jitter]);
        let ues = || self.radio.iter().flat_map(|radio| &radio.ues);
        let cross = hops()
            .map(|hop| &hop.cross_traffic)
            .chain(self.links.iter().map(|link| &link.cross_traffic))
            .chain(ues().map(|ue| &ue.cross_traffic))
            .chain([&path.cross_traffic]);
        let radio = |is_random: fn(&Radio) -> bool| self.radio.as_ref().is_some_and(is_random);
        let placed = ues().any(Ue::has_position);
        let mut queues = hops()
            .map(|hop| &hop.queue)
            .chain(self.links.iter().map(|link| &link.queue))
            .chain([&path.queue, path.queue_of_uplink()]);
        let result = [
            (
                "trace offset",
                self.variation.trace_offset && (recorded || generated),
            ),
            ("generated capacity", generated),
            ("random loss", losses.into_iter().any(Loss::is_random)),
            ("jitter", jitters.flatten().any(Jitter::is_random)),
            ("cross-traffic", cross.flatten().any(Cross::is_random)),
            ("queue drops", queues.any(Queue::is_random)),
            (
                "fading",
                radio(|radio| radio.fading.is_some()) || ues().any(|ue| ue.fading.is_some()),
            ),
            (
                "shadowing",
                placed && radio(|radio| radio.propagation.shadowing.is_some()),
            ),
            (
                "line of sight",
                placed && radio(|radio| radio.propagation.los == LosModel::Probable),
            ),
            ("block errors", self.radio.is_some()),
            ("start jitter", !self.variation.start_jitter.is_zero()),
            (
                "starts of sessions",
                self.flows.iter().any(|flow| flow.start_spread.is_some()),
            ),
            (
                "workload",
                self.flows.iter().any(|flow| flow.workload.is_random()),
            ),
        ];
        result
            .into_iter()
            .filter_map(|(name, differs)| differs.then_some(name))
            .collect()
    }
}

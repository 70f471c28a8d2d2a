//! Senders: the latest state of the sender of each connection.

use cca::SenderInfo;
use units::Instant;

/// The latest view of each sender, by the number of its connection; `None` before the first one.
#[derive(Debug, Default)]
pub(crate) struct Senders(Vec<Option<SenderInfo>>);

impl Senders {
    /// Adds the next connection.
    pub(crate) fn add(&mut self) {
        self.0.push(None);
    }

    /// Returns the latest view of the sender of `connection`.
    pub(crate) fn view(&self, connection: u32) -> Option<SenderInfo> {
        self.0[connection as usize]
    }

    /// Completes the state of a sender by earlier ones; returns `None` for a connection
    /// that is not there.
    pub(crate) fn complete(
        &mut self,
        now: Instant,
        connection: u32,
        view: SenderInfo,
    ) -> Option<SenderInfo> {
        let known = self.0.get_mut(connection as usize)?;
        let previous = known.unwrap_or_default();
        let left = previous.slow_start && !view.slow_start;
        *known = Some(SenderInfo {
            timeouts: view.timeouts.or(previous.timeouts),
            slow_start_exit: previous
                .slow_start_exit
                .or_else(|| left.then_some((now, view.cwnd))),
            loss_probes: previous.loss_probes,
            fast_recoveries: previous.fast_recoveries,
            undone: previous.undone,
            ..view
        });
        *known
    }

    /// Returns the view of a sender whose counters have arrived.
    pub(crate) fn counted(&mut self, connection: u32) -> Option<&mut SenderInfo> {
        let known = self.0.get_mut(connection as usize)?;
        Some(known.get_or_insert_default())
    }
}

//! Turns: waits for an application before its response, its request, or more of its data.
//!
//! A host whose data are all acknowledged, and that has received all data of the other side, sends when its application
//! does.

/// Shortest wait that counts, ns, if the RTT is shorter: a host needs some time to answer.
const MIN_NS: u64 = 5_000_000;

/// Waits for the application of one side.
#[derive(Clone, Copy, Default)]
pub(super) struct ApplicationWaits {
    /// Number of waits before data that follow those of the other side.
    pub(super) turns: u32,
    /// Time in these waits.
    pub(super) turns_ns: u64,
    /// Time before data that follow those of the same side.
    pub(super) pauses_ns: u64,
}

/// New data of a side all of whose data were acknowledged.
pub(super) struct NewData {
    pub(super) at_ns: u64,
    /// Time at which the last of its data were acknowledged.
    pub(super) acked_ns: u64,
    /// RTT between the capture and the side.
    pub(super) rtt_ns: u64,
}

impl NewData {
    /// Returns the time for which the application let its side wait after the last ACK, ns; 0 if it is too short to tell.
    pub(super) fn waited_ns(&self) -> u64 {
        let waited_ns = self.at_ns.saturating_sub(self.acked_ns + self.rtt_ns);
        if waited_ns < MIN_NS.max(self.rtt_ns) {
            0
        } else {
            waited_ns
        }
    }
}

/// Waits for both applications.
#[derive(Default)]
pub(super) struct Turns {
    /// Side of the last payload, and its time.
    last: Option<(usize, u64)>,
    waits: [ApplicationWaits; 2],
}

impl Turns {
    /// Processes new data of a side with nothing in flight, before [`Self::on_payload`] of the same data.
    pub(super) fn on_new_data(&mut self, side: usize, data: &NewData) {
        let Some((last_side, last_ns)) = self.last else {
            return;
        };
        let is_turn = last_side != side;
        let since_ns = if is_turn { last_ns } else { data.acked_ns };
        let waited_ns = data.at_ns.saturating_sub(since_ns + data.rtt_ns);
        if waited_ns < MIN_NS.max(data.rtt_ns) {
            return;
        }
        let waits = &mut self.waits[side];
        if is_turn {
            waits.turns += 1;
            waits.turns_ns += waited_ns;
        } else {
            waits.pauses_ns += waited_ns;
        }
    }

    /// Processes payload of a side, retransmissions included.
    pub(super) fn on_payload(&mut self, side: usize, at_ns: u64) {
        self.last = Some((side, at_ns));
    }

    /// Returns the waits for the applications of the client and of the server.
    pub(super) fn waits(&self) -> &[ApplicationWaits; 2] {
        &self.waits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn on_new_data(turns: &mut Turns, side: usize, at_ms: u64, acked_ms: u64) {
        let fresh = NewData {
            at_ns: at_ms * MS,
            acked_ns: acked_ms * MS,
            rtt_ns: 20 * MS,
        };
        turns.on_new_data(side, &fresh);
        turns.on_payload(side, at_ms * MS);
    }

    #[test]
    fn a_side_that_answers_late_waits_in_its_turn() {
        let mut turns = Turns::default();
        on_new_data(&mut turns, 0, 0, 0);
        on_new_data(&mut turns, 1, 320, 0);
        on_new_data(&mut turns, 0, 350, 320);
        on_new_data(&mut turns, 1, 670, 350);
        let [client, server] = turns.waits();
        assert_eq!((client.turns, client.turns_ns), (0, 0));
        assert_eq!((server.turns, server.turns_ns), (2, 600 * MS));
        assert_eq!(server.pauses_ns, 0);
    }

    #[test]
    fn a_pause_is_the_time_since_all_was_acknowledged() {
        let mut turns = Turns::default();
        on_new_data(&mut turns, 1, 0, 0);
        on_new_data(&mut turns, 1, 220, 100);
        on_new_data(&mut turns, 1, 250, 230);
        let [_, server] = turns.waits();
        assert_eq!((server.turns, server.pauses_ns), (0, 100 * MS));
    }
}

//! What distinguishes the schedulers, and what they remember.

/// How users are picked.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Policy {
    /// Equal shares in turn.
    RoundRobin,
    /// The greatest rate relative to what a user has had (Jalali et al., "Data throughput of CDMA-HDR",
    /// VTC 2000), averaged over so many TTIs.
    ProportionalFair {
        /// Time constant of the average, in TTIs.
        time_constant: f64,
    },
    /// The greatest rate: max C/I.
    MaxRate,
}

/// Memory between TTIs.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Who comes first in the next round.
    pub(super) next_turn: usize,
    pub(super) next_retransmission: usize,
    /// Mean bits per TTI of each user.
    averages: Vec<f64>,
}

impl State {
    pub(super) fn begin(&mut self, users: usize) {
        self.averages.resize(users, 0.0);
        self.next_turn %= users.max(1);
        self.next_retransmission %= users.max(1);
    }

    /// Forgets what `user` has had: its place belongs to somebody else now.
    pub(super) fn forget(&mut self, user: usize) {
        if let Some(average) = self.averages.get_mut(user) {
            *average = 0.0;
        }
    }

    pub(super) fn average(&self, user: usize) -> f64 {
        self.averages[user]
    }

    pub(super) fn served(&mut self, bits: &[f64], time_constant: f64) {
        let weight = 1.0 / time_constant.max(1.0);
        for (average, bits) in self.averages.iter_mut().zip(bits) {
            *average += weight * (bits - *average);
        }
    }
}

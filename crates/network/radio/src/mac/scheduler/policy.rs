//! Scheduling policies and their state.

/// Policy by which users are picked.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Policy {
    /// Users get equal shares in turn.
    RoundRobin,
    /// The user with the highest rate relative to its past average is picked (Jalali et al., "Data throughput of
    /// CDMA-HDR", VTC 2000).
    ProportionalFair {
        /// Time constant of the average, in TTIs.
        time_constant: f64,
    },
    /// The user with the highest rate is picked: max C/I.
    MaxRate,
}

/// State between TTIs.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// User that comes first in the next round.
    pub(super) next_turn: usize,
    /// User whose retransmission comes first in the next TTI.
    pub(super) next_retransmission: usize,
    /// Mean bits per TTI of each user.
    averages: Vec<f64>,
}

impl State {
    /// Begins a TTI with this number of users.
    pub(super) fn begin(&mut self, users: usize) {
        self.averages.resize(users, 0.0);
        self.next_turn %= users.max(1);
        self.next_retransmission %= users.max(1);
    }

    /// Clears the average of `user`, because its index belongs to another user now.
    pub(super) fn remove_user(&mut self, user: usize) {
        if let Some(average) = self.averages.get_mut(user) {
            *average = 0.0;
        }
    }

    pub(super) fn average(&self, user: usize) -> f64 {
        self.averages[user]
    }

    pub(super) fn update_averages(&mut self, bits: &[f64], time_constant: f64) {
        let weight = 1.0 / time_constant.max(1.0);
        for (average, bits) in self.averages.iter_mut().zip(bits) {
            *average += weight * (bits - *average);
        }
    }
}

//! Scheduler: assigns resource block groups to users in a TTI.
//!
//! For each user, the scheduler knows the bits that wait and the bits that a resource block of each group would carry.
//! Retransmissions come first; then the policy picks among users with data. Each served user needs a message on the
//! control channel. The callback `place` returns whether there is room for it.

mod policy;
mod rate;

pub use crate::settings::SubbandRate;
pub use policy::Policy;
pub use rate::usable_rate;

use policy::State;

/// Marks a group that no user has.
pub const UNUSED: u16 = u16::MAX;

/// Demand of a user.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Demand {
    /// Bits waiting for their first transmission.
    pub bits: u64,
    /// Resource blocks of the retransmission that is due; zero for none.
    pub retransmission_prbs: u16,
    /// Whether the user may be scheduled at all (DRX, handover, free HARQ process).
    pub available: bool,
}

/// Rates of all users, in bits per resource block and TTI.
#[derive(Clone, Copy, Debug)]
pub enum Rates<'a> {
    /// One rate for each user, from wideband reports.
    Wideband(&'a [f32]),
    /// One rate for each group, user by user, from sub-band reports.
    Subband(&'a [f32]),
}

impl Rates<'_> {
    fn of(&self, user: usize, group: usize, groups: usize) -> f32 {
        let rate = match self {
            Self::Wideband(rates) => rates[user],
            Self::Subband(rates) => rates[user * groups + group],
        };
        // A rate that is no number counts as zero.
        if rate > 0.0 { rate } else { 0.0 }
    }
}

/// Scheduler of one cell and direction, with its memory of the past.
#[derive(Clone, Debug)]
pub struct Scheduler {
    policy: Policy,
    /// Resource blocks of each group.
    group_prbs: Vec<u16>,
    state: State,
    /// Bits allocated to each user in this TTI, and the outcome of the placement of its message on the PDCCH.
    allocated_bits: Vec<f64>,
    pdcch_results: Vec<PdcchResult>,
}

/// Outcome of the placement of a message on the PDCCH.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum PdcchResult {
    NotRequested,
    Allocated,
    Blocked,
}

impl Scheduler {
    /// Returns a scheduler over groups with these numbers of resource blocks.
    pub fn new(policy: Policy, group_prbs: &[u16]) -> Self {
        Self {
            policy,
            group_prbs: group_prbs.to_vec(),
            state: State::default(),
            allocated_bits: Vec::new(),
            pdcch_results: Vec::new(),
        }
    }

    /// Returns the sizes of the groups of `prbs` resource blocks with `size` in each; the last one may be smaller (TS
    /// 36.213 clause 7.1.6.1).
    pub fn groups(prbs: u16, size: u16) -> Vec<u16> {
        (0..prbs.div_ceil(size))
            .map(|group| size.min(prbs - group * size))
            .collect()
    }

    /// Clears the history of the user with that index, because the index belongs to another user from now on.
    pub(crate) fn remove_user(&mut self, user: usize) {
        self.state.remove_user(user);
    }

    /// Assigns the groups of a TTI: `assignment[group]` becomes the index of a user in `demands`, or [`UNUSED`]. A
    /// user with a retransmission gets groups for the retransmission only.
    ///
    /// `place` is called once for each user that would be served. A user must have the same index in all TTIs, because
    /// averages and turns belong to indices.
    ///
    /// # Panics
    /// If `assignment` is not as long as there are groups, or `rates` too short for the users.
    pub fn assign(
        &mut self,
        demands: &[Demand],
        rates: Rates<'_>,
        mut place: impl FnMut(usize) -> bool,
        assignment: &mut [u16],
    ) {
        let groups = self.group_prbs.len();
        assert_eq!(assignment.len(), groups, "one entry for each group");
        assignment.fill(UNUSED);
        self.allocated_bits.clear();
        self.allocated_bits.resize(demands.len(), 0.0);
        self.pdcch_results.clear();
        self.pdcch_results
            .resize(demands.len(), PdcchResult::NotRequested);
        self.state.begin(demands.len());
        let free = self.assign_retransmissions(demands, &mut place, assignment);
        match self.policy {
            Policy::RoundRobin => {
                self.assign_round_robin(demands, rates, &mut place, &mut assignment[free..], free)
            }
            Policy::ProportionalFair { .. } | Policy::MaxRate => {
                self.assign_by_metric(demands, rates, &mut place, assignment, free);
            }
        }
        if let Policy::ProportionalFair { time_constant } = self.policy {
            self.state
                .update_averages(&self.allocated_bits, time_constant);
        }
    }

    /// Assigns groups, from the first on, to retransmissions that fit. Returns the first free group.
    fn assign_retransmissions(
        &mut self,
        demands: &[Demand],
        place: &mut impl FnMut(usize) -> bool,
        assignment: &mut [u16],
    ) -> usize {
        let mut free = 0;
        let count = demands.len();
        for turn in 0..count {
            let user = (self.state.next_retransmission + turn) % count;
            let demand = &demands[user];
            if !demand.available || demand.retransmission_prbs == 0 {
                continue;
            }
            let mut end = free;
            let mut prbs = 0;
            while prbs < demand.retransmission_prbs && end < self.group_prbs.len() {
                prbs += self.group_prbs[end];
                end += 1;
            }
            if prbs < demand.retransmission_prbs || !self.may_serve(user, place) {
                continue;
            }
            assignment[free..end].fill(user as u16);
            free = end;
        }
        self.state.next_retransmission = (self.state.next_retransmission + 1) % count.max(1);
        free
    }

    /// Returns whether the control channel has room for the message of a user; asks `place` once.
    fn may_serve(&mut self, user: usize, place: &mut impl FnMut(usize) -> bool) -> bool {
        if self.pdcch_results[user] == PdcchResult::NotRequested {
            self.pdcch_results[user] = if place(user) {
                PdcchResult::Allocated
            } else {
                PdcchResult::Blocked
            };
        }
        self.pdcch_results[user] == PdcchResult::Allocated
    }

    fn wants_more(&self, demands: &[Demand], user: usize) -> bool {
        let demand = &demands[user];
        demand.available
            && demand.retransmission_prbs == 0
            && self.pdcch_results[user] != PdcchResult::Blocked
            && self.allocated_bits[user] < demand.bits as f64
    }

    /// Assigns equal shares of the groups in turn, beginning after the user served last.
    fn assign_round_robin(
        &mut self,
        demands: &[Demand],
        rates: Rates<'_>,
        place: &mut impl FnMut(usize) -> bool,
        assignment: &mut [u16],
        first_group: usize,
    ) {
        let count = demands.len();
        let groups = self.group_prbs.len();
        let waiting = (0..count)
            .filter(|&user| self.wants_more(demands, user))
            .count();
        if waiting == 0 {
            return;
        }
        let share = (assignment.len() / waiting).max(1);
        let mut group = 0;
        let start = self.state.next_turn;
        // The second round assigns the groups that users with little data do not need.
        for round in 0..2 {
            for turn in 0..count {
                let user = (start + turn) % count;
                if group == assignment.len() {
                    return;
                }
                if !self.wants_more(demands, user) || !self.may_serve(user, place) {
                    continue;
                }
                let mut user_groups = 0;
                while group < assignment.len()
                    && (round == 1 || user_groups < share)
                    && self.wants_more(demands, user)
                {
                    assignment[group] = user as u16;
                    self.allocate(user, first_group + group, rates, groups);
                    group += 1;
                    user_groups += 1;
                }
                self.state.next_turn = (user + 1) % count;
            }
        }
    }

    /// Adds the bits of `group` to those of a user.
    fn allocate(&mut self, user: usize, group: usize, rates: Rates<'_>, groups: usize) {
        let prbs = f64::from(self.group_prbs[group]);
        self.allocated_bits[user] += prbs * f64::from(rates.of(user, group, groups));
    }

    /// Assigns each group to the user with the highest metric that still has data.
    fn assign_by_metric(
        &mut self,
        demands: &[Demand],
        rates: Rates<'_>,
        place: &mut impl FnMut(usize) -> bool,
        assignment: &mut [u16],
        free: usize,
    ) {
        let groups = self.group_prbs.len();
        let is_wideband = matches!(rates, Rates::Wideband(_));
        let mut group = free;
        while group < groups {
            match self.leader(demands, rates, place, group) {
                // With one rate for all groups, the best user stays the best one until it has enough.
                Some(user) if is_wideband => {
                    let rate = f64::from(rates.of(user, group, groups));
                    let wanted_bits = demands[user].bits as f64;
                    group += self.allocate_many(user, group, (rate, wanted_bits), assignment);
                }
                Some(user) => {
                    assignment[group] = user as u16;
                    self.allocate(user, group, rates, groups);
                    group += 1;
                }
                None if is_wideband => return,
                None => group += 1,
            }
        }
    }

    /// Returns the user with the highest metric in `group` that still has data and may be served.
    fn leader(
        &mut self,
        demands: &[Demand],
        rates: Rates<'_>,
        place: &mut impl FnMut(usize) -> bool,
        group: usize,
    ) -> Option<usize> {
        loop {
            let user = self.best_user(demands, rates, group)?;
            if self.may_serve(user, place) {
                return Some(user);
            }
        }
    }

    /// Assigns groups from `group` on to a user whose `rate` is the same in all of them, until it has `wanted_bits`.
    /// Returns their number. These are most groups of a cell with a greedy user, so nothing is looked up per group.
    fn allocate_many(
        &mut self,
        user: usize,
        group: usize,
        (rate, wanted_bits): (f64, f64),
        assignment: &mut [u16],
    ) -> usize {
        let mut allocated_bits = self.allocated_bits[user];
        let mut count = 0;
        let owners = assignment[group..].iter_mut();
        for (owner, prbs) in owners.zip(&self.group_prbs[group..]) {
            if allocated_bits >= wanted_bits {
                break;
            }
            *owner = user as u16;
            allocated_bits += f64::from(*prbs) * rate;
            count += 1;
        }
        self.allocated_bits[user] = allocated_bits;
        count
    }

    fn best_user(&self, demands: &[Demand], rates: Rates<'_>, group: usize) -> Option<usize> {
        let groups = self.group_prbs.len();
        let mut best = None;
        for user in 0..demands.len() {
            if !self.wants_more(demands, user) {
                continue;
            }
            let rate = f64::from(rates.of(user, group, groups));
            if rate <= 0.0 {
                continue;
            }
            let average = self.state.average(user);
            let metric = match self.policy {
                Policy::ProportionalFair { .. } => rate / average.max(f64::MIN_POSITIVE),
                Policy::MaxRate | Policy::RoundRobin => rate,
            };
            // Equal metrics go to the user that has had less.
            let key = (metric, -average);
            if best.is_none_or(|(_, best_key)| key > best_key) {
                best = Some((user, key));
            }
        }
        best.map(|(user, _)| user)
    }
}

//! Deadlines: the earliest of many, and whose it is.

use crate::Instant;

/// Tournament over a fixed number of entities, each with one deadline.
///
/// A change costs one comparison per level, and a query costs none. Ties go to the lower entity number, so the order
/// of events never depends on the order of updates.
#[derive(Clone, Debug, Default)]
pub struct Deadlines {
    /// Winners, the root at 1, leaves from `leaves` on.
    winner: Vec<u32>,
    deadline: Vec<Instant>,
    leaves: usize,
}

impl Deadlines {
    /// Returns the deadlines of `entities` entities, none of which waits.
    pub fn new(entities: usize) -> Self {
        let leaves = entities.max(1).next_power_of_two();
        let mut tournament = Self {
            winner: vec![0; 2 * leaves],
            deadline: vec![Instant::NEVER; leaves],
            leaves,
        };
        for leaf in 0..leaves {
            tournament.winner[leaves + leaf] = leaf as u32;
        }
        for node in (1..leaves).rev() {
            tournament.winner[node] = tournament.winner[2 * node];
        }
        tournament
    }

    /// Sets the deadline of `entity`; [`Instant::NEVER`] if it waits for nothing.
    pub fn set(&mut self, entity: usize, at: Instant) {
        if self.deadline[entity] == at {
            return;
        }
        self.deadline[entity] = at;
        let mut node = (self.leaves + entity) / 2;
        while node > 0 {
            let (left, right) = (self.winner[2 * node], self.winner[2 * node + 1]);
            let right_wins = self.deadline[right as usize] < self.deadline[left as usize];
            let winner = if right_wins { right } else { left };
            // Where another entity has won before and wins again, nothing changes above.
            if self.winner[node] == winner && winner as usize != entity {
                break;
            }
            self.winner[node] = winner;
            node /= 2;
        }
    }

    /// Returns the deadline of `entity`.
    pub fn get(&self, entity: usize) -> Instant {
        self.deadline[entity]
    }

    /// Returns the earliest deadline and its entity; [`Instant::NEVER`] if none waits.
    pub fn earliest(&self) -> (Instant, usize) {
        let entity = if self.leaves == 1 {
            0
        } else {
            self.winner[1] as usize
        };
        (self.deadline[entity], entity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_is_the_minimum_and_ties_go_to_the_lower_number(
            updates in prop::collection::vec((0_usize..9, 0_u64..5), 1..60)
        ) {
            let mut tournament = Deadlines::new(9);
            let mut plain = [Instant::NEVER; 9];
            for (entity, at) in updates {
                let at = if at == 4 { Instant::NEVER } else { Instant::from_nanos(at) };
                tournament.set(entity, at);
                plain[entity] = at;
                let expected = (0..9).min_by_key(|&e| (plain[e], e)).unwrap();
                let (when, who) = tournament.earliest();
                prop_assert_eq!(when, plain[expected]);
                if when != Instant::NEVER {
                    prop_assert_eq!(who, expected);
                }
            }
        }
    }

    #[test]
    fn a_single_entity_works() {
        let mut one = Deadlines::new(1);
        assert_eq!(one.earliest().0, Instant::NEVER);
        one.set(0, Instant::from_nanos(7));
        assert_eq!(one.earliest(), (Instant::from_nanos(7), 0));
    }
}

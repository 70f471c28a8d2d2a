//! Deadlines by entity, with a search for the earliest.

use crate::Instant;

/// Deadlines in a group. All of them are compared when the earliest one moves to a later time.
const GROUP: usize = 8;

/// Tournament over a fixed number of entities, each with one deadline.
///
/// A query costs nothing. A change costs a comparison, and more only if it moves the earliest deadline of its group.
/// Ties go to the lower entity number, so the order of events never depends on the order of updates.
#[derive(Clone, Debug)]
pub struct Deadlines {
    /// Groups of the deadlines of all entities.
    groups: Vec<Group>,
    /// Level by level, groups of the earliest deadlines of the groups below, until there is one group.
    above: Vec<Vec<Group>>,
    /// Earliest deadline and its entity.
    earliest: (Instant, usize),
}

/// Deadlines of [`GROUP`] neighbours. Slots without an entity stay at [`Instant::NEVER`].
#[derive(Clone, Debug)]
struct Group {
    deadlines: [Instant; GROUP],
    /// Slot of the earliest deadline.
    first: usize,
}

/// Returns the earlier of two deadlines with their slots; of equal deadlines the first.
#[inline]
fn earlier(one: (Instant, usize), other: (Instant, usize)) -> (Instant, usize) {
    if other.0 < one.0 { other } else { one }
}

impl Group {
    const EMPTY: Self = Self {
        deadlines: [Instant::NEVER; GROUP],
        first: 0,
    };

    /// Sets the deadline of a slot; returns the earliest deadline of the group if that may have changed.
    #[inline]
    fn set(&mut self, slot: usize, at: Instant) -> Option<Instant> {
        let previous = core::mem::replace(&mut self.deadlines[slot], at);
        if self.first == slot {
            return Some(if at > previous { self.search() } else { at });
        }
        let earliest = self.deadlines[self.first];
        if at > earliest || (at == earliest && slot > self.first) {
            return None;
        }
        self.first = slot;
        Some(at)
    }

    /// Searches for the earliest deadline. It compares pairs, as in a tournament, which takes neither loop nor branch.
    ///
    /// It needs many registers. Were it inlined, the more frequent changes without a search would save them as well.
    #[inline(never)]
    fn search(&mut self) -> Instant {
        let [a, b, c, d, e, f, g, h] = self.deadlines;
        let low = earlier(earlier((a, 0), (b, 1)), earlier((c, 2), (d, 3)));
        let high = earlier(earlier((e, 4), (f, 5)), earlier((g, 6), (h, 7)));
        let (earliest, first) = earlier(low, high);
        self.first = first;
        earliest
    }
}

impl Deadlines {
    /// Returns the deadlines of `entities` entities, all at [`Instant::NEVER`].
    pub fn new(entities: usize) -> Self {
        let groups = vec![Group::EMPTY; entities.max(1).div_ceil(GROUP)];
        let mut above = Vec::new();
        let mut size = groups.len();
        while size > 1 {
            size = size.div_ceil(GROUP);
            above.push(vec![Group::EMPTY; size]);
        }
        Self {
            groups,
            above,
            earliest: (Instant::NEVER, 0),
        }
    }

    /// Sets the deadline of `entity`; [`Instant::NEVER`] for none.
    #[inline]
    pub fn set(&mut self, entity: usize, at: Instant) {
        if self.get(entity) != at {
            self.change(entity, at);
        }
    }

    fn change(&mut self, entity: usize, at: Instant) {
        // Mostly there are few entities, which fit one group.
        if let [group] = &mut self.groups[..] {
            if let Some(earliest) = group.set(entity, at) {
                self.earliest = (earliest, group.first);
            }
        } else {
            self.change_in_levels(entity, at);
        }
    }

    fn change_in_levels(&mut self, entity: usize, at: Instant) {
        let (mut index, mut earliest) = (entity, at);
        let levels = core::iter::once(&mut self.groups).chain(&mut self.above);
        for level in levels {
            match level[index / GROUP].set(index % GROUP, earliest) {
                Some(at) => earliest = at,
                None => return,
            }
            index /= GROUP;
        }
        let mut first = 0;
        for level in self.above.iter().rev() {
            first = first * GROUP + level[first].first;
        }
        first = first * GROUP + self.groups[first].first;
        self.earliest = (earliest, first);
    }

    /// Returns the deadline of `entity`.
    #[inline]
    pub fn get(&self, entity: usize) -> Instant {
        self.groups[entity / GROUP].deadlines[entity % GROUP]
    }

    /// Returns the earliest deadline and its entity; [`Instant::NEVER`] if no entity has one.
    #[inline]
    pub fn earliest(&self) -> (Instant, usize) {
        self.earliest
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_earliest_is_the_minimum_and_ties_go_to_the_lower_number(
            entities in 1_usize..100,
            updates in prop::collection::vec((0_usize..100, 0_u64..5), 1..60)
        ) {
            let mut tournament = Deadlines::new(entities);
            let mut plain = vec![Instant::NEVER; entities];
            for (entity, at) in updates {
                let entity = entity % entities;
                let at = if at == 4 { Instant::NEVER } else { Instant::from_nanos(at) };
                tournament.set(entity, at);
                plain[entity] = at;
                let expected = (0..entities).min_by_key(|&e| (plain[e], e)).unwrap();
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

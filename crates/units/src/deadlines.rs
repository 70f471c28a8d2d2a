//! Deadlines: a queue of deadlines by entity, which finds the earliest one.

use crate::Instant;

/// Deadlines in a group, which is searched as a whole when its earliest one has moved to later.
const GROUP: usize = 16;

/// Tournament over a fixed number of entities, each with one deadline.
///
/// A query costs nothing. A change costs a comparison, and more only if it moves the earliest deadline of its group.
/// Ties go to the lower entity number, so the order of events never depends on the order of updates.
#[derive(Clone, Debug)]
pub struct Deadlines {
    /// Deadlines of all entities, then level by level the earliest ones of the groups of the level before, until there
    /// is one group.
    levels: Vec<Level>,
    earliest: (Instant, usize),
}

#[derive(Clone, Debug)]
struct Level {
    deadlines: Vec<Instant>,
    /// Numbers of the earliest deadlines of all groups.
    firsts: Vec<u32>,
}

impl Level {
    /// Sets deadline `number`; returns the earliest one of its group if that may have changed.
    #[inline]
    fn set(&mut self, number: usize, at: Instant) -> Option<Instant> {
        let before = core::mem::replace(&mut self.deadlines[number], at);
        let group = number / GROUP;
        let first = self.firsts[group] as usize;
        if first == number && at > before {
            self.search(group);
        } else if first != number {
            let earliest = self.deadlines[first];
            if at > earliest || (at == earliest && number > first) {
                return None;
            }
            self.firsts[group] = number as u32;
        }
        Some(self.deadlines[self.firsts[group] as usize])
    }

    /// Searches a group for its earliest deadline.
    #[inline]
    fn search(&mut self, group: usize) {
        let start = group * GROUP;
        let end = (start + GROUP).min(self.deadlines.len());
        let (mut earliest, mut first) = (Instant::NEVER, start);
        for (number, &at) in (start..).zip(&self.deadlines[start..end]) {
            if at < earliest {
                (earliest, first) = (at, number);
            }
        }
        self.firsts[group] = first as u32;
    }
}

impl Deadlines {
    /// Returns the deadlines of `entities` entities, none of which waits.
    pub fn new(entities: usize) -> Self {
        let mut levels = Vec::new();
        let mut size = entities.max(1);
        while levels.is_empty() || size > 1 {
            let firsts: Vec<u32> = (0..size as u32).step_by(GROUP).collect();
            let groups = firsts.len();
            levels.push(Level {
                deadlines: vec![Instant::NEVER; size],
                firsts,
            });
            size = groups;
        }
        Self {
            levels,
            earliest: (Instant::NEVER, 0),
        }
    }

    /// Sets the deadline of `entity`; [`Instant::NEVER`] if it waits for nothing.
    #[inline]
    pub fn set(&mut self, entity: usize, at: Instant) {
        if self.get(entity) != at {
            self.change(entity, at);
        }
    }

    fn change(&mut self, entity: usize, at: Instant) {
        let (mut number, mut earliest) = (entity, at);
        for level in &mut self.levels {
            match level.set(number, earliest) {
                Some(at) => earliest = at,
                None => return,
            }
            number /= GROUP;
        }
        let mut first = 0;
        for level in self.levels.iter().rev() {
            first = level.firsts[first] as usize;
        }
        self.earliest = (earliest, first);
    }

    /// Returns the deadline of `entity`.
    #[inline]
    pub fn get(&self, entity: usize) -> Instant {
        self.levels[0].deadlines[entity]
    }

    /// Returns the earliest deadline and its entity; [`Instant::NEVER`] if none waits.
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

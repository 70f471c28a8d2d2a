//! State of a middlebox by connection: timers and tables.

use units::{Deadlines, Instant};

/// Deadlines of connections by number; the table grows with the highest number.
pub(crate) struct ConnectionTimers {
    deadlines: Deadlines,
    capacity: usize,
}

impl ConnectionTimers {
    /// Creates an empty table.
    pub(crate) fn new() -> Self {
        let capacity = 8;
        Self {
            deadlines: Deadlines::new(capacity),
            capacity,
        }
    }

    /// Sets the deadline of connection number `flow`; [`Instant::NEVER`] for none.
    pub(crate) fn set(&mut self, flow: u32, at: Instant) {
        let index = flow as usize;
        if index >= self.capacity {
            let capacity = (index + 1).next_power_of_two();
            let mut deadlines = Deadlines::new(capacity);
            (0..self.capacity).for_each(|index| deadlines.set(index, self.deadlines.get(index)));
            (self.deadlines, self.capacity) = (deadlines, capacity);
        }
        self.deadlines.set(index, at);
    }

    /// Returns the earliest deadline; [`Instant::NEVER`] without one.
    pub(crate) fn earliest(&self) -> Instant {
        self.deadlines.earliest().0
    }

    /// Returns the connection with the earliest deadline, if that has been reached.
    pub(crate) fn due(&self, now: Instant) -> Option<u32> {
        let (at, index) = self.deadlines.earliest();
        (at <= now && at != Instant::NEVER).then_some(index as u32)
    }
}

/// Returns the state of connection number `flow`; the table grows with the highest number.
pub(crate) fn state_of<T: Default>(states: &mut Vec<T>, flow: u32) -> &mut T {
    let index = flow as usize;
    if states.len() <= index {
        states.resize_with(index + 1, T::default);
    }
    &mut states[index]
}

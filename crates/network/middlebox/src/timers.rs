//! Due times of connections: the deadlines at which a middlebox acts on each of them.

use units::{Deadlines, Instant};

/// Deadlines of connections by number, with room for as many as come.
pub(crate) struct ConnectionTimers {
    deadlines: Deadlines,
    room: usize,
}

impl ConnectionTimers {
    /// Creates the times of no connection.
    pub(crate) fn new() -> Self {
        let room = 8;
        Self {
            deadlines: Deadlines::new(room),
            room,
        }
    }

    /// Sets the time for connection number `flow`; [`Instant::NEVER`] for none.
    pub(crate) fn set(&mut self, flow: u32, at: Instant) {
        let index = flow as usize;
        if index >= self.room {
            let room = (index + 1).next_power_of_two();
            let mut deadlines = Deadlines::new(room);
            (0..self.room).for_each(|known| deadlines.set(known, self.deadlines.get(known)));
            (self.deadlines, self.room) = (deadlines, room);
        }
        self.deadlines.set(index, at);
    }

    /// Returns the earliest time, and its connection.
    pub(crate) fn earliest(&self) -> (Instant, u32) {
        let (at, index) = self.deadlines.earliest();
        (at, index as u32)
    }
}

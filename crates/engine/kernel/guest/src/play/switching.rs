//! Switching: takeovers of the CCA, and the cap that holds the new one to the modelled window at first.

use std::io;

use cca::Takeover;
use kernel_protocol::Message;
use linux_sockets::{Hold, options};
use units::Instant;
use workload::{Due, Opens};

use super::Play;
use crate::flows::Choice;

impl Play<'_> {
    pub(super) fn switch(&mut self, now: Instant, due: &Due<Choice>) -> io::Result<()> {
        let to = due.to.name;
        if self.job.flows[due.flow].opens == Opens::To {
            options::set_congestion(&self.listeners[due.flow], to)?;
        }
        for number in 0..self.connections.len() {
            if self.connections[number].flow == due.flow {
                self.switch_one(now, number, to, due.how)?;
            }
        }
        Ok(())
    }

    /// Changes the congestion control of a connection, if its sender is there.
    pub(super) fn switch_one(
        &mut self,
        now: Instant,
        number: usize,
        to: &'static str,
        how: Takeover,
    ) -> io::Result<()> {
        let Some(before) = self.view(number)? else {
            return Ok(());
        };
        let connection = &mut self.connections[number];
        let Some(socket) = connection.sender() else {
            return Ok(());
        };
        let hold = match how {
            Takeover::Kernel => None,
            Takeover::Context => Hold::new(now, &before),
        };
        let cwnd = hold.as_ref().map_or(before.cwnd, Hold::window);
        if let Some(hold) = hold {
            hold.apply(&socket)?;
            connection.hold = Some(hold);
        }
        options::set_congestion(&socket, to)?;
        connection.cca = to;
        self.device.tell(&Message::Switched {
            connection: number as u32,
            to: to.to_owned(),
            how,
            cwnd,
        })
    }

    pub(super) fn lift_holds(&mut self, now: Instant) -> io::Result<()> {
        for connection in &mut self.connections {
            let sender = connection.sender();
            let Some(hold) = connection.hold.as_mut().filter(|hold| hold.next() <= now) else {
                continue;
            };
            let goes_on = hold.advance();
            match sender {
                Some(socket) if goes_on => hold.apply(&socket)?,
                Some(socket) => options::cap_pacing_rate(&socket, u64::MAX)?,
                None => {}
            }
            if !goes_on {
                connection.hold = None;
            }
        }
        Ok(())
    }
}

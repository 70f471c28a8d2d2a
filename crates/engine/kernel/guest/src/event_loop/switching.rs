//! Switching: takeovers of the CCA, and the cap that holds the new one to the modelled window at first.

use std::io;

use cca::SwitchMode;
use kernel_protocol::Message;
use linux_sockets::{PacingCap, options};
use selection::{CcaChoice, DEFAULT_CCA};
use units::Instant;
use workload::{OpenedBy, ScheduledSwitch};

use super::EventLoop;

impl EventLoop<'_> {
    pub(super) fn switch(
        &mut self,
        now: Instant,
        due: &ScheduledSwitch<CcaChoice>,
    ) -> io::Result<()> {
        let to = due.to.fixed().map_or(DEFAULT_CCA, |cca| cca.name);
        if self.job.flows[due.flow].opens == OpenedBy::Receiver {
            options::set_congestion(&self.listeners[due.flow], to)?;
        }
        for number in 0..self.connections.len() {
            if self.connections[number].flow == due.flow {
                self.switch_one(now, number, to, due.mode)?;
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
        how: SwitchMode,
    ) -> io::Result<()> {
        let Some(before) = self.view(number)? else {
            return Ok(());
        };
        let connection = &mut self.connections[number];
        let Some(socket) = connection.sender() else {
            return Ok(());
        };
        let hold = match how {
            SwitchMode::Kernel => None,
            SwitchMode::Context => PacingCap::new(now, &before),
        };
        let cwnd = hold.as_ref().map_or(before.cwnd, PacingCap::window);
        if let Some(hold) = hold {
            hold.apply(&socket)?;
            connection.hold = Some(hold);
        }
        options::set_congestion(&socket, to)?;
        connection.cca = to;
        self.device.send(&Message::Switched {
            connection: number as u32,
            to: to.to_owned(),
            how,
            cwnd,
        })
    }

    pub(super) fn update_pacing_caps(&mut self, now: Instant) -> io::Result<()> {
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

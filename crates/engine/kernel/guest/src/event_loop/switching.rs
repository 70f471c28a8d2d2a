//! Switches of the CCA, and the cap of the pacing rate that keeps the new CCA to the modelled window at first.

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
        let to = due.to.fixed_cca().map_or(DEFAULT_CCA, |cca| cca.name);
        if self.job.flows[due.flow].opens == OpenedBy::Receiver {
            options::set_congestion(&self.listeners[due.flow], to)?;
        }
        for number in 0..self.connections.len() {
            if self.connections[number].flow == due.flow {
                self.switch_connection(now, number, to, due.mode)?;
            }
        }
        Ok(())
    }

    /// Changes the congestion control of a connection, if its sender is there.
    pub(super) fn switch_connection(
        &mut self,
        now: Instant,
        number: usize,
        to: &'static str,
        mode: SwitchMode,
    ) -> io::Result<()> {
        let Some(before) = self.read_sender(number)? else {
            return Ok(());
        };
        let connection = &mut self.connections[number];
        let Some(socket) = connection.sender() else {
            return Ok(());
        };
        let cap = match mode {
            SwitchMode::Kernel => None,
            SwitchMode::Context => PacingCap::new(now, &before),
        };
        let cwnd = cap.as_ref().map_or(before.cwnd, PacingCap::window);
        if let Some(cap) = cap {
            cap.apply(&socket)?;
            connection.cap = Some(cap);
        }
        options::set_congestion(&socket, to)?;
        connection.cca = to;
        self.device.send(&Message::Switched {
            connection: number as u32,
            to: to.to_owned(),
            mode,
            cwnd,
        })
    }

    pub(super) fn update_pacing_caps(&mut self, now: Instant) -> io::Result<()> {
        for connection in &mut self.connections {
            let sender = connection.sender();
            let Some(cap) = connection.cap.as_mut().filter(|cap| cap.stage_end() <= now) else {
                continue;
            };
            let is_capped = cap.advance();
            match sender {
                Some(socket) if is_capped => cap.apply(&socket)?,
                Some(socket) => options::cap_pacing_rate(&socket, u64::MAX)?,
                None => {}
            }
            if !is_capped {
                connection.cap = None;
            }
        }
        Ok(())
    }
}

//! Connection set-up: one end connects, and the listener of the other end accepts.

use std::io;
use std::sync::Arc;

use kernel_protocol::Message;
use linux_sockets::options;
use nix::sys::epoll::EpollFlags;
use packet::addressing;
use selection::{DEFAULT_CCA, decision_row};
use units::Instant;
use workload::End;

use super::EventLoop;
use super::event_token::{EventToken, watch};
use super::sockets::Connection;
use crate::connection;
use crate::host::Host;

impl<'a> EventLoop<'a> {
    pub(super) fn open(
        &mut self,
        now: Instant,
        connection: u32,
        flow: usize,
        by: End,
    ) -> io::Result<()> {
        let decision = self.choose(now, flow, connection)?;
        let (opener, acceptor) = (self.host_of(flow, by)?, self.host_of(flow, by.other())?);
        let current = self.switches.current(flow);
        let fixed = current.fixed_cca().map_or(DEFAULT_CCA, |cca| cca.name);
        let cca = decision.as_ref().map_or(fixed, |decision| decision.to);
        self.device.send(&Message::Open {
            flow: flow as u32,
            cca: current.to_string(),
        })?;
        if let Some(decision) = &decision {
            self.device
                .send(&Message::Decision(decision_row(connection, decision)))?;
            if by == End::Client {
                options::set_congestion(&self.listeners[flow], cca)?;
            }
        }
        let default = self.job.settings.initial_window;
        let initial_window =
            decision.map_or(default, |decision| decision.initial_window_or(default));
        self.set_initial_window(flow, initial_window)?;
        opener.enter()?;
        // Only an end whose own CCA needs ECN requests it and echoes marks one by one.
        let both_ends = cca::cca_by_name(cca).is_ok_and(|built| built.cca.needs_ecn());
        if both_ends && by == End::Server {
            options::set_congestion(&self.listeners[flow], cca)?;
        }
        let own_cca = (both_ends || by == End::Server).then_some(cca);
        let (own, peer) = (opener.address, acceptor.address);
        let socket = connection::open(
            own,
            peer,
            flow,
            connection,
            own_cca,
            self.end_settings(flow),
        )?;
        let mut new = Connection::new(flow, by, cca);
        if by == End::Server {
            let source = EventToken::Socket(connection as usize, by);
            watch(&self.epoll, &socket, EpollFlags::EPOLLOUT, source)?;
            new.end(by).epollout_armed = Some(true);
        }
        new.end(by).socket = Some(Arc::new(socket));
        self.connections.push(new);
        Ok(())
    }

    /// Sets the initial window of the sender of a flow, as an attribute of its route.
    fn set_initial_window(&mut self, flow: usize, segments: u32) -> io::Result<()> {
        let ends = &self.job.flows[flow];
        let key = (ends.from.clone(), ends.to.clone());
        let default = self.job.settings.initial_window;
        if *self.initial_windows.get(&key).unwrap_or(&default) == segments {
            return Ok(());
        }
        let sender = self.host_of(flow, End::Server)?;
        let to = self.host_of(flow, End::Client)?.address;
        sender.set_initial_window(to, &self.job.settings, segments)?;
        self.initial_windows.insert(key, segments);
        Ok(())
    }

    /// Returns the host of an end of a flow.
    pub(super) fn host_of(&self, flow: usize, end: End) -> io::Result<&'a Host> {
        let flow = &self.job.flows[flow];
        self.host(match end {
            End::Client => &flow.to,
            End::Server => &flow.from,
        })
    }

    pub(super) fn accept(&mut self, flow: usize) -> io::Result<()> {
        while let Some((socket, port)) = connection::accept(&self.listeners[flow])? {
            let matches = |(number, connection): &(usize, &Connection)| {
                connection.flow == flow
                    && connection.has_no_socket(connection.opened_by.other())
                    && addressing::client_port(*number as u32) == port
            };
            let waiting = self.connections.iter().enumerate().rev().find(matches);
            let Some((number, _)) = waiting else {
                continue;
            };
            let connection = &mut self.connections[number];
            let end = connection.opened_by.other();
            if end == End::Server {
                // The listener may have got another congestion control since.
                match self.switches.current(flow).fixed_cca() {
                    Some(current) if current.name == connection.cca => {}
                    current => {
                        connection.cca = current.map_or(connection.cca, |current| current.name);
                        options::set_congestion(&socket, connection.cca)?;
                    }
                }
                let source = EventToken::Socket(number, end);
                watch(&self.epoll, &socket, EpollFlags::EPOLLOUT, source)?;
                connection.end(end).epollout_armed = Some(true);
            }
            let accepted = connection.end(end);
            accepted.socket = Some(Arc::new(socket));
            accepted.start_reading(&self.readers, number, end)?;
            self.sessions.on_established(number as u32);
            self.on_writable(number, end)?;
        }
        Ok(())
    }

    /// Handles a socket that has room for bytes. The first such event also ends the handshake.
    pub(super) fn on_writable(&mut self, number: usize, end: End) -> io::Result<()> {
        let connection = &mut self.connections[number];
        if end == End::Server && !core::mem::replace(&mut connection.is_established, true) {
            let flow = connection.flow;
            if self.switches.current(flow).fixed_cca().is_none() {
                self.establish(number as u32)?;
            }
        }
        self.write(number as u32, end)?;
        self.carry_out()
    }
}

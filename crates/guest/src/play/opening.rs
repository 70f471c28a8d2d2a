//! Opening: the client's end of a connection asks for it, the server's listener accepts it.

use std::io;
use std::sync::Arc;

use capture::addressing;
use nix::sys::epoll::EpollFlags;
use sidechannel::Message;
use units::Instant;
use workload::{End, decision_row};

use super::Play;
use super::ends::Connection;
use super::source::{Source, watch};
use crate::connection;
use crate::sockopt;

impl Play<'_> {
    pub(super) fn open(&mut self, now: Instant, connection: u32, flow: usize) -> io::Result<()> {
        let decision = self.choose(now, flow, connection)?;
        let ends = &self.scenario.flows[flow];
        let (server, client) = (self.host(&ends.from)?, self.host(&ends.to)?);
        let asked = self.switches.present(flow);
        let cca = decision.as_ref().map_or(asked.name, |decision| decision.to);
        self.device.tell(&Message::Open {
            flow: flow as u32,
            cca: asked.to_string(),
        })?;
        if let Some(decision) = &decision {
            self.device
                .tell(&Message::Decided(decision_row(connection, decision)))?;
            sockopt::set_congestion(&self.listeners[flow], cca)?;
        }
        client.enter()?;
        // A congestion control that needs ECN asks for it, and has marks echoed one by one, on its own side only.
        let both_ends = cca::cca_by_name(cca).is_ok_and(|(cca, _)| cca.needs_ecn());
        let cca_there = both_ends.then_some(cca);
        let (own, to) = (client.address, server.address);
        let socket = connection::open(own, to, flow, connection, cca_there, self.ends())?;
        let mut new = Connection::new(flow, cca);
        new.end(End::Client).socket = Some(Arc::new(socket));
        self.connections.push(new);
        Ok(())
    }

    pub(super) fn accept(&mut self, flow: usize) -> io::Result<()> {
        while let Some((socket, port)) = connection::accept(&self.listeners[flow])? {
            let is_it = |(number, each): &(usize, &Connection)| {
                each.sender().is_none()
                    && each.flow == flow
                    && addressing::client_port(*number as u32) == port
            };
            let found = self.connections.iter().enumerate().rev().find(is_it);
            let Some((number, _)) = found else {
                continue;
            };
            let connection = &mut self.connections[number];
            // The listener may have got another congestion control since.
            let present = self.switches.present(flow);
            if present.auto().is_some() {
                sockopt::set_congestion(&socket, connection.cca)?;
            } else if present.name != connection.cca {
                connection.cca = present.name;
                sockopt::set_congestion(&socket, connection.cca)?;
            }
            watch(
                &self.epoll,
                &socket,
                EpollFlags::EPOLLOUT,
                Source::Socket(number, End::Server),
            )?;
            let server = connection.end(End::Server);
            server.asks_for_room = Some(true);
            server.socket = Some(Arc::new(socket));
            server.start_reading(&self.readers, number, End::Server)?;
            if present.auto().is_some() {
                self.greet(number)?;
            }
            self.sessions.connected(number as u32);
            self.write(number as u32, End::Server)?;
            self.carry_out()?;
        }
        Ok(())
    }
}

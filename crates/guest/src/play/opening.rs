//! New connections: the receiver asks for one, the sender's listener accepts it.

use std::io;

use capture::addressing;
use nix::sys::epoll::EpollFlags;
use scenario::Workload;
use sidechannel::Message;
use units::Instant;
use workload::decision_row;

use super::source::{Source, watch};
use super::{Connection, Play};
use crate::connection;
use crate::sockopt;

impl Play<'_> {
    pub(super) fn open(&mut self, now: Instant, index: usize) -> io::Result<()> {
        let decision = self.choose(now, index, self.connections.len() as u32)?;
        let running = &self.running[index];
        let (flow, number) = (running.number, self.connections.len());
        let (sender, receiver) = (self.host(&running.flow.from)?, self.host(&running.flow.to)?);
        // What ends only when the application says so ends with the stream.
        let finite = !matches!(running.flow.workload, Workload::OnOff(_));
        let asked = self.switches.present(flow);
        let cca = decision.as_ref().map_or(asked.name, |decision| decision.to);
        self.device.tell(&Message::Open {
            flow: flow as u32,
            cca: asked.to_string(),
        })?;
        if let Some(decision) = &decision {
            self.device
                .tell(&Message::Decided(decision_row(number as u32, decision)))?;
            sockopt::set_congestion(&self.listeners[flow], cca)?;
        }
        receiver.enter()?;
        let ends = self.ends();
        let (own, to) = (receiver.address, sender.address);
        // What needs ECN asks for it, and has marks echoed one by one, on its own side only.
        let both_ends = cca::cca_by_name(cca).is_ok_and(|(cca, _)| cca.needs_ecn());
        let cca_there = both_ends.then_some(cca);
        let socket = connection::open(own, to, flow, number as u32, cca_there, ends)?;
        self.receivers.start(
            number,
            socket,
            self.running[index].budget.filter(|_| finite),
        )?;
        self.connections.push(Connection {
            running: index,
            sender: None,
            asks_for_room: false,
            cca,
            hold: None,
        });
        self.running[index].connection = Some(number);
        Ok(())
    }

    pub(super) fn accept(&mut self, flow: usize) -> io::Result<()> {
        while let Some((socket, port)) = connection::accept(&self.listeners[flow])? {
            let is_it = |(number, each): &(usize, &Connection)| {
                each.sender.is_none()
                    && self.running[each.running].number == flow
                    && addressing::client_port(*number as u32) == port
            };
            let found = self.connections.iter().enumerate().rev().find(is_it);
            let Some((number, _)) = found else {
                continue;
            };
            let connection = &mut self.connections[number];
            // The listener may have got another one since.
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
                Source::Sender(number),
            )?;
            connection.asks_for_room = true;
            connection.sender = Some(socket);
            let running = connection.running;
            if present.auto().is_some() {
                self.greet(number)?;
            }
            self.write(running)?;
        }
        Ok(())
    }
}

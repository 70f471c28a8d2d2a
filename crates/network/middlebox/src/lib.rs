//! Middleboxes: hosts in the middle of a path that work on TCP, as nodes of a network.
//!
//! A split host has two connections of our TCP for each connection that passes, back to back. It sends in the names of
//! both ends, with their sequence numbers. A policy decides when it acknowledges data that has not reached the far end
//! yet. The other middleboxes do not split the connection: they repair losses of the wireless link, or change, delay or
//! mark packets. The settings of middleboxes in scenarios are [`Middlebox`].

mod ack_regulator;
mod connections;
mod egress;
mod eln;
mod freeze;
mod policies;
mod reset_tracker;
mod settings;
mod snoop;
mod split;
mod text;

pub use ack_regulator::AckRegulator;
pub use egress::EgressQueue;
pub use eln::Eln;
pub use freeze::Freeze;
pub use reset_tracker::ResetTracker;
pub use settings::{AckSemantics, Kind, Middlebox};
pub use snoop::Snoop;
pub use split::{RunDefaults, SplitHost};

use net::{Actions, Packet};

/// Replaces the packet with the identity of `packet` by `packet`, with the same payload.
fn replace(packet: Packet, actions: &mut Actions<'_>) {
    let payload = actions.payload(packet.id);
    actions.absorb(packet.id);
    actions.create(packet, payload);
}

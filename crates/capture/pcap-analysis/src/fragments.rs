//! Fragments of IP packets: the length of their payload is added to the segment that the first of them has.

use std::collections::VecDeque;

use crate::input::decode::Packet;
use crate::input::skipped::Fragment;

/// Maximum number of fragments that wait for the first of their packet.
const KEPT: usize = 256;
/// Number of packets among which the first is searched.
const SEARCH_PACKETS: usize = 512;

/// Fragments that came before the first of their packet, and counts.
#[derive(Default)]
pub(crate) struct Fragments {
    early: VecDeque<Fragment>,
    /// Fragments without the first of their packet.
    pub(crate) left_out: u64,
    /// Fragments whose packet is read.
    pub(crate) joined: u64,
}

impl Fragments {
    /// Adds a later fragment. The first of its packet can be a waiting one.
    pub(crate) fn add(&mut self, fragment: Fragment, waiting: &mut VecDeque<Packet>) {
        let mut latest = waiting.iter_mut().rev().take(SEARCH_PACKETS);
        let first =
            latest.find(|packet| packet.fragments.is_some_and(|own| own.key == fragment.key));
        if let Some(packet) = first {
            add(packet, fragment);
            self.joined += 1;
            return;
        }
        if self.early.len() == KEPT {
            self.early.pop_front();
        }
        self.early.push_back(fragment);
        self.left_out += 1;
    }

    /// Adds a segment, which can be in the first fragment of a packet.
    pub(crate) fn complete(&mut self, packet: &mut Packet) {
        let Some(own) = packet.fragments else {
            return;
        };
        let previous = self.early.len();
        self.early.retain(|early| {
            let is_part = early.key == own.key;
            if is_part {
                add(packet, *early);
            }
            !is_part
        });
        let joined = (previous - self.early.len()) as u64;
        self.left_out -= joined;
        self.joined += joined;
    }
}

fn add(packet: &mut Packet, fragment: Fragment) {
    if packet.fragments.is_some_and(|own| own.have_payload) {
        packet.segment.len = packet.segment.len.saturating_add(fragment.len);
    }
}

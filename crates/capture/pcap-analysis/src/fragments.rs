//! IP fragments: the payload length of later fragments is added to the segment in the first one.

use std::collections::VecDeque;

use crate::input::decode::Packet;
use crate::input::skipped::Fragment;

/// Maximum number of fragments that wait for the first one of their packet.
const MAX_EARLY: usize = 256;
/// Number of packets among which the first fragment is searched.
const SEARCH_PACKETS: usize = 512;

/// Fragments that came before the first one of their packet, and counts.
#[derive(Default)]
pub(crate) struct Fragments {
    early: VecDeque<Fragment>,
    /// Later fragments whose first one is missing.
    pub(crate) lone: u64,
    /// Later fragments that were added to their first one.
    pub(crate) joined: u64,
}

impl Fragments {
    /// Adds a later fragment to the first one among the waiting packets, or stores it until that comes.
    pub(crate) fn add(&mut self, fragment: Fragment, waiting: &mut VecDeque<Packet>) {
        let mut latest = waiting.iter_mut().rev().take(SEARCH_PACKETS);
        let first =
            latest.find(|packet| packet.fragments.is_some_and(|own| own.key == fragment.key));
        if let Some(packet) = first {
            join(packet, fragment);
            self.joined += 1;
            return;
        }
        if self.early.len() == MAX_EARLY {
            self.early.pop_front();
        }
        self.early.push_back(fragment);
        self.lone += 1;
    }

    /// Adds stored fragments to a segment, if it is in the first fragment of their packet.
    pub(crate) fn complete(&mut self, packet: &mut Packet) {
        let Some(own) = packet.fragments else {
            return;
        };
        let previous = self.early.len();
        self.early.retain(|early| {
            let is_part = early.key == own.key;
            if is_part {
                join(packet, *early);
            }
            !is_part
        });
        let joined = (previous - self.early.len()) as u64;
        self.lone -= joined;
        self.joined += joined;
    }
}

fn join(packet: &mut Packet, fragment: Fragment) {
    if packet.fragments.is_some_and(|own| own.have_payload) {
        packet.segment.len = packet.segment.len.saturating_add(fragment.len);
    }
}

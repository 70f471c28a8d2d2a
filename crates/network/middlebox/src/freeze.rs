//! Freeze-TCP: withdraws the receiver's window before its link is interrupted (Goff, Moronski, Phatak and Gupta,
//! "Freeze-TCP: a true end-to-end TCP enhancement mechanism for mobile environments", INFOCOM 2000).
//!
//! In the publication the mobile host foresees the interruption, announces a window of zero, and repeats its last ACK
//! three times when it is connected again. Here the base station does so in the name of the mobile host, which stays
//! unmodified. It changes the window of ACKs only, never their number.

use net::{Actions, HostId, LinkChange, LinkSubscription, Node, Packet};
use tcp::{Flags, SackBlocks, Segment, SeqUnwrapper};

use crate::Middlebox;

/// ACKs by which a reconnected mobile host lets the sender go on at once.
const ACKS_AFTER: usize = 3;

/// Middlebox that freezes the senders to a mobile host whose link is interrupted.
pub struct Freeze {
    watch: Option<LinkSubscription>,
    /// Hosts behind the wireless link, and whether their link is interrupted, or will be soon.
    mobiles: Vec<(HostId, bool)>,
    /// By the number of the connection.
    flows: Vec<Entry>,
}

/// A connection as Freeze-TCP knows it.
enum Entry {
    /// The mobile host has sent no ACK.
    Unknown,
    /// The sender may have data.
    Open(Box<LatestAck>),
    /// The sender has ended its data: there is nothing to freeze.
    Over,
}

/// Latest ACK of a mobile host on one connection, as it would be without data.
struct LatestAck {
    ack: Packet,
    segment: Segment,
    numbers: SeqUnwrapper,
    acknowledged: u64,
}

impl LatestAck {
    fn new(packet: &Packet, segment: &Segment) -> Self {
        Self {
            ack: *packet,
            segment: *segment,
            numbers: SeqUnwrapper::default(),
            acknowledged: 0,
        }
    }

    /// Processes a segment of the mobile host, unless a later one has overtaken it.
    fn note(&mut self, packet: &Packet, segment: &Segment) {
        let number = self.numbers.segment(segment.ack);
        if number < self.acknowledged {
            return;
        }
        self.acknowledged = number;
        let fin = u32::from(segment.flags.contains(Flags::FIN));
        let ack = Segment {
            seq: segment.seq.wrapping_add(segment.len + fin),
            len: 0,
            flags: Flags::ACK,
            sack: SackBlocks::EMPTY,
            continues: false,
            ..*segment
        };
        self.segment = ack;
        self.ack = Packet {
            payload: ack.into(),
            size: ack.ip_len(),
            ..*packet
        };
    }

    /// Returns the ACK with this window.
    fn with_window(&self, window: u16) -> Packet {
        let segment = Segment {
            window,
            ..self.segment
        };
        Packet {
            payload: segment.into(),
            ..self.ack
        }
    }
}

impl Freeze {
    /// Creates the middlebox; `mobiles` are the hosts behind the wireless link.
    pub fn new(settings: &Middlebox, mobiles: Vec<HostId>) -> Self {
        Self {
            watch: settings.watch(),
            mobiles: mobiles.into_iter().map(|host| (host, false)).collect(),
            flows: Vec::new(),
        }
    }

    fn entry(&mut self, flow: u32) -> &mut Entry {
        let index = flow as usize;
        if self.flows.len() <= index {
            self.flows.resize_with(index + 1, || Entry::Unknown);
        }
        &mut self.flows[index]
    }

    /// Returns the latest ACK of the connection of `packet`, unless that is over.
    fn open(&mut self, packet: &Packet, segment: &Segment) -> Option<&mut LatestAck> {
        let entry = self.entry(packet.flow);
        if let Entry::Unknown = entry {
            *entry = Entry::Open(Box::new(LatestAck::new(packet, segment)));
        }
        match entry {
            Entry::Open(latest) => Some(latest),
            _ => None,
        }
    }

    /// Returns whether the link of a mobile host is interrupted; `None` if the host is none.
    fn is_interrupted(&self, host: HostId) -> Option<bool> {
        let mut mobiles = self.mobiles.iter();
        mobiles.find_map(|&(mobile, interrupted)| (mobile == host).then_some(interrupted))
    }
}

impl Node for Freeze {
    fn on_packet(&mut self, packet: &Packet, actions: &mut Actions<'_>) {
        let Some(segment) = packet.segment() else {
            actions.forward(packet.id);
            return;
        };
        let others = Flags::SYN.bits() | Flags::RST.bits();
        let plain = segment.flags.bits() & others == 0;
        let is_ack = segment.flags.contains(Flags::ACK) && plain;
        let interrupted = self.is_interrupted(packet.source);
        let ends = Flags::FIN.bits() | Flags::RST.bits();
        if segment.flags.bits() & ends != 0 && self.is_interrupted(packet.destination).is_some() {
            *self.entry(packet.flow) = Entry::Over;
        }
        if !is_ack || interrupted.is_none() {
            actions.forward(packet.id);
            return;
        }
        if let Some(latest) = self.open(packet, segment) {
            latest.note(packet, segment);
        }
        if interrupted != Some(true) {
            actions.forward(packet.id);
            return;
        }
        let payload = actions.payload(packet.id);
        actions.absorb(packet.id);
        let segment = Segment {
            window: 0,
            ..*segment
        };
        actions.create(
            Packet {
                payload: segment.into(),
                ..*packet
            },
            payload,
        );
    }

    fn link_subscription(&self) -> Option<LinkSubscription> {
        self.watch
    }

    fn on_link(&mut self, to: HostId, change: LinkChange, actions: &mut Actions<'_>) {
        let interrupted = change != LinkChange::Restored;
        let Some((_, state)) = self.mobiles.iter_mut().find(|(host, _)| *host == to) else {
            return;
        };
        if core::mem::replace(state, interrupted) == interrupted {
            return;
        }
        for entry in &self.flows {
            let Entry::Open(latest) = entry else {
                continue;
            };
            if latest.ack.source != to {
                continue;
            }
            if interrupted {
                actions.create(latest.with_window(0), None);
                continue;
            }
            let window = latest.segment.window;
            for _ in 0..ACKS_AFTER {
                actions.create(latest.with_window(window), None);
            }
        }
    }
}

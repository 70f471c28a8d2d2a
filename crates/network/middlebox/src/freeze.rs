//! Freeze-TCP: withdraws the receiver's window before its link is interrupted (Goff, Moronski, Phatak and Gupta,
//! "Freeze-TCP: a true end-to-end TCP enhancement mechanism for mobile environments", INFOCOM 2000).
//!
//! In the publication the mobile host foresees the interruption, announces a window of zero, and repeats its last ACK
//! three times when it is connected again. Here the base station does so in the name of the mobile host, which stays
//! unmodified. It changes the window of ACKs only, never their number.

use net::{Actions, HostId, LinkChange, LinkSubscription, Node, Packet};
use tcp::{Flags, SackBlocks, Segment, SeqUnwrapper};

use crate::connections::state_of;
use crate::{Middlebox, replace};

/// Number of ACKs after which the sender of a reconnected mobile host resumes at once.
const RESUMING_ACKS: usize = 3;

/// Middlebox that freezes the senders to a mobile host whose link is interrupted.
pub struct Freeze {
    subscription: Option<LinkSubscription>,
    /// Hosts behind the wireless link, and whether their link is interrupted, or will be soon.
    mobiles: Vec<(HostId, bool)>,
    /// By the number of the connection.
    flows: Vec<Tracked>,
}

/// State of a connection.
#[derive(Default)]
enum Tracked {
    /// The mobile host has sent no ACK.
    #[default]
    Unknown,
    /// The sender may have data.
    Open(Box<LatestAck>),
    /// The sender has ended its data: there is nothing to freeze.
    Ended,
}

/// Latest ACK of a mobile host on one connection, without its data.
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

    /// Stores the ACK of a segment of the mobile host, unless a later one has overtaken it.
    fn update(&mut self, packet: &Packet, segment: &Segment) {
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
            more_in_burst: false,
            ..*segment
        };
        self.segment = ack;
        self.ack = Packet {
            payload: ack.into(),
            size: ack.ip_len(),
            ..*packet
        };
    }

    /// Returns the ACK with the field `window`.
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
            subscription: settings.link_subscription(),
            mobiles: mobiles.into_iter().map(|host| (host, false)).collect(),
            flows: Vec::new(),
        }
    }

    /// Returns the latest ACK of the connection of `packet`, unless its data has ended.
    fn latest_ack(&mut self, packet: &Packet, segment: &Segment) -> Option<&mut LatestAck> {
        let entry = state_of(&mut self.flows, packet.flow);
        if let Tracked::Unknown = entry {
            *entry = Tracked::Open(Box::new(LatestAck::new(packet, segment)));
        }
        match entry {
            Tracked::Open(latest) => Some(latest),
            _ => None,
        }
    }

    /// Returns whether the link of a mobile host is interrupted; `None` for other hosts.
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
        let syn_or_rst = Flags::SYN.bits() | Flags::RST.bits();
        let is_ack = segment.flags.contains(Flags::ACK) && segment.flags.bits() & syn_or_rst == 0;
        let interrupted = self.is_interrupted(packet.source);
        let fin_or_rst = Flags::FIN.bits() | Flags::RST.bits();
        if segment.flags.bits() & fin_or_rst != 0
            && self.is_interrupted(packet.destination).is_some()
        {
            *state_of(&mut self.flows, packet.flow) = Tracked::Ended;
        }
        if !is_ack || interrupted.is_none() {
            actions.forward(packet.id);
            return;
        }
        if let Some(latest) = self.latest_ack(packet, segment) {
            latest.update(packet, segment);
        }
        if interrupted != Some(true) {
            actions.forward(packet.id);
            return;
        }
        let segment = Segment {
            window: 0,
            ..*segment
        };
        let frozen = Packet {
            payload: segment.into(),
            ..*packet
        };
        replace(frozen, actions);
    }

    fn link_subscription(&self) -> Option<LinkSubscription> {
        self.subscription
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
            let Tracked::Open(latest) = entry else {
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
            for _ in 0..RESUMING_ACKS {
                actions.create(latest.with_window(window), None);
            }
        }
    }
}

//! Flow: one connection through a split host, as its two legs.

use net::{HostId, LinkChange};
use tcp::{Connection, Failure, Segment, State, reset_reply};
use units::{Duration, Instant};

use super::stream::Stream;

/// Index of the leg to the host that opened the connection, and of the leg to the other host.
pub(crate) const OPENER: usize = 0;
pub(crate) const ACCEPTOR: usize = 1;

/// A connection through a split host.
pub(crate) struct Flow {
    /// The hosts at the ends of the legs.
    pub(crate) hosts: [HostId; 2],
    pub(crate) legs: [Connection; 2],
    /// Data that arrives on each leg.
    pub(crate) streams: [Stream; 2],
    /// SYN of the opener, which is answered once the acceptor has answered.
    syn: Option<Segment>,
    idle_timeout: Duration,
    last_packet: Instant,
    /// Whether memory is reserved for its buffers.
    pub(crate) has_memory: bool,
    /// Resets that no connection of a leg sends: index of the leg, segment.
    pub(crate) replies: Vec<(usize, Segment)>,
}

impl Flow {
    /// Creates the flow of a `syn`. `legs` are closed; the one to the acceptor starts to connect.
    pub(crate) fn new(
        now: Instant,
        hosts: [HostId; 2],
        mut legs: [Connection; 2],
        streams: [Stream; 2],
        syn: Segment,
        idle_timeout: Duration,
    ) -> Self {
        for (leg, stream) in legs.iter_mut().zip(&streams) {
            leg.set_unacked_tail(stream.policy.reserve());
        }
        legs[ACCEPTOR].connect(now);
        Self {
            hosts,
            legs,
            streams,
            syn: Some(syn),
            idle_timeout,
            last_packet: now,
            has_memory: true,
            replies: Vec::new(),
        }
    }

    /// Returns the index of the leg to this host.
    pub(crate) fn leg_to(&self, host: HostId) -> usize {
        usize::from(self.hosts[OPENER] != host)
    }

    /// Returns whether both legs are closed for good.
    pub(crate) fn is_closed(&self) -> bool {
        self.all_legs(|state| state == State::Closed)
    }

    /// Returns whether no more data will arrive.
    pub(crate) fn is_drained(&self) -> bool {
        self.all_legs(|state| matches!(state, State::Closed | State::TimeWait))
    }

    fn all_legs(&self, is: impl Fn(State) -> bool) -> bool {
        self.syn.is_none() && self.legs.iter().all(|leg| is(leg.state()))
    }

    /// Returns the time of the next call of [`Flow::on_deadline`].
    pub(crate) fn deadline(&self) -> Instant {
        let legs = self.legs.iter().map(Connection::deadline);
        let policies = self.streams.iter().map(|stream| stream.policy.deadline());
        let idle = self.last_packet + self.idle_timeout;
        legs.chain(policies).fold(idle, Instant::min)
    }

    /// Returns whether the acceptor has not answered yet. Its answer opens the leg to the opener, with the same initial
    /// sequence number.
    pub(crate) fn is_connecting(&self) -> bool {
        self.syn.is_some()
    }

    /// Handles a segment on leg number `leg` of an open flow.
    pub(crate) fn on_segment(
        &mut self,
        now: Instant,
        leg: usize,
        segment: &Segment,
        sent_at: Instant,
        payload: Option<Vec<u8>>,
    ) {
        self.last_packet = now;
        if segment.len > 0 {
            let stream = &mut self.streams[leg];
            stream.store(segment, sent_at, payload);
            stream.policy.before_data(&mut self.legs[leg], segment);
        }
        let before = self.legs[leg].state();
        self.legs[leg].on_segment(now, segment);
        if before != State::Established && self.legs[leg].state() == State::Established {
            self.streams[leg].offer_window(&mut self.legs[leg]);
            if leg == OPENER && self.withholds_first_ack() {
                self.legs[ACCEPTOR].acknowledge(now);
            }
        }
        self.relay(now);
    }

    /// Returns whether the SYN-ACK of the acceptor is acknowledged only when the opener has acknowledged its own: where
    /// ACKs follow those of the far end, so does the first, from which the acceptor has its first RTT.
    fn withholds_first_ack(&self) -> bool {
        self.streams[ACCEPTOR].policy.reserve() == Connection::CONFIRMED_ONLY
    }

    /// Handles a segment of the opener before the acceptor has answered: a reset, or another SYN.
    pub(crate) fn on_early_segment(&mut self, now: Instant, segment: &Segment) {
        self.last_packet = now;
        if segment.flags.contains(tcp::Flags::RST) {
            self.syn = None;
            self.legs[ACCEPTOR].abort(now);
        }
    }

    /// Handles the SYN-ACK or reset of the acceptor. `opener` creates the leg to the opener.
    pub(crate) fn on_answer(
        &mut self,
        now: Instant,
        segment: &Segment,
        opener: impl FnOnce(u32) -> (Connection, Stream),
    ) {
        self.last_packet = now;
        self.legs[ACCEPTOR].on_segment(now, segment);
        match self.legs[ACCEPTOR].state() {
            State::Established => {
                let Some(syn) = self.syn.take() else {
                    return;
                };
                let (leg, stream) = opener(segment.seq);
                self.legs[OPENER] = leg;
                self.streams[ACCEPTOR] = stream;
                if self.withholds_first_ack() {
                    let _ = self.legs[ACCEPTOR].poll_transmit();
                }
                let reserve = self.streams[ACCEPTOR].policy.reserve();
                self.legs[ACCEPTOR].set_unacked_tail(reserve);
                self.streams[ACCEPTOR]
                    .policy
                    .negotiated(&mut self.legs[ACCEPTOR]);
                self.streams[ACCEPTOR].offer_window(&mut self.legs[ACCEPTOR]);
                self.legs[OPENER].set_unacked_tail(self.streams[OPENER].policy.reserve());
                self.legs[OPENER].listen();
                self.legs[OPENER].on_segment(now, &syn);
                self.streams[OPENER]
                    .policy
                    .negotiated(&mut self.legs[OPENER]);
            }
            State::Closed => self.abort(),
            _ => {}
        }
    }

    /// Ends a flow whose acceptor has refused the connection, or does not answer.
    fn abort(&mut self) {
        let refused = self.legs[ACCEPTOR].failure() == Some(Failure::Refused);
        if let Some(syn) = self.syn.take()
            && refused
        {
            let reply = reset_reply(&syn);
            self.replies.extend(reply.map(|reply| (OPENER, reply)));
        }
    }

    /// Handles the deadline.
    pub(crate) fn on_deadline(&mut self, now: Instant) {
        if self.last_packet + self.idle_timeout <= now {
            self.syn = None;
            self.legs.iter_mut().for_each(|leg| leg.abort(now));
            return;
        }
        for leg in 0..2 {
            if self.legs[leg].deadline() <= now {
                self.legs[leg].on_deadline(now);
            }
            if self.streams[leg].policy.deadline() <= now {
                self.streams[leg]
                    .policy
                    .on_deadline(now, &mut self.legs[leg]);
            }
        }
        if self.syn.is_some() {
            if self.legs[ACCEPTOR].state() == State::Closed {
                self.abort();
            }
            return;
        }
        self.relay(now);
    }

    /// Handles a change of the link to the host `to`, which is one of the ends.
    pub(crate) fn on_link(&mut self, now: Instant, to: HostId, change: LinkChange) {
        if self.is_connecting() {
            return;
        }
        let [opener, acceptor] = &mut self.legs;
        let [from_opener, from_acceptor] = &mut self.streams;
        if self.hosts[OPENER] == to {
            from_acceptor.policy.on_link(now, acceptor, opener, change);
        } else {
            from_opener.policy.on_link(now, opener, acceptor, change);
        }
        self.relay(now);
    }

    /// Transfers data between the legs, and aborts one leg if the other has failed.
    fn relay(&mut self, now: Instant) {
        let [opener, acceptor] = &mut self.legs;
        let [from_opener, from_acceptor] = &mut self.streams;
        from_opener.transfer(now, opener, acceptor);
        from_acceptor.transfer(now, acceptor, opener);
        for leg in 0..2 {
            if self.legs[leg].failure().is_some() {
                self.legs[1 - leg].abort(now);
            }
        }
    }
}

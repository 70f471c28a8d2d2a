//! Connection: the state machine of RFC 9293 with a sender and a receiver.

mod close;
mod far_acks;
mod handshake;
mod info;
mod keepalive;
mod proxy;
mod rfc5961;
mod sequence_check;
mod state;
mod time_wait;

use std::collections::VecDeque;

use units::Instant;

use crate::config::TcpConfig;
use crate::receiver::Receiver;
use crate::segment::{Ecn, Flags, Segment};
use crate::sender::{AckInput, FQ_SLACK, Outgoing, SendFlags, Sender};
use crate::sequence::{self, unwrap};
use cca::{BuiltCca, CongestionState, SwitchMode, TransferState};
pub use close::Failure;
use far_acks::FarAcks;
pub use info::Info;
use keepalive::KeepAlive;
pub use state::State;

/// One end of a connection.
#[derive(Debug)]
pub struct Connection {
    config: TcpConfig,
    state: State,
    sender: Sender,
    receiver: Option<Receiver>,
    iss: u64,
    snd_wscale: u8,
    rcv_wscale: u8,
    /// Whether timestamps, and window scaling, were negotiated.
    tstamp_ok: bool,
    wscale_ok: bool,
    /// Maximum segment size that this end announces, bytes.
    announced_mss: u32,
    /// Whether ECN was negotiated; during the handshake, whether it was requested.
    ecn_ok: bool,
    /// Origin of this end's timestamp clock, milliseconds.
    timestamp_offset: u32,
    /// Latest timestamp of the peer, to be echoed, and its arrival.
    ts_recent: u32,
    ts_recent_at: Instant,
    /// Next expected sequence number when the last ACK was sent (RFC 7323 §4.3).
    last_ack_sent: u64,
    /// Time of the latest ACK for an unacceptable segment without data.
    last_oow_ack: Option<Instant>,
    /// Time at which the SYN or SYN-ACK is sent again.
    handshake_deadline: Instant,
    /// Times of the first and of the latest SYN or SYN-ACK, and their number, without answers to repeated SYNs.
    handshake_start: Instant,
    handshake_sent_at: Instant,
    handshake_attempts: u32,
    /// Whether the SYN-ACK answered a repeated SYN, so that the handshake measures no RTT.
    synack_repeated: bool,
    time_wait_until: Instant,
    established_at: Option<Instant>,
    /// Whether the application reads by request.
    manual_read: bool,
    /// Bytes that a split-TCP proxy leaves unacknowledged; `None` if the data goes to an application.
    unacked_tail: Option<u64>,
    /// Far acknowledgements; `None` if they are not negotiated.
    far_acks: Option<FarAcks>,
    /// Whether the application has closed the socket.
    socket_closed: bool,
    /// Whether the application reads nothing more (`SHUT_RD`).
    read_shutdown: bool,
    failure: Option<Failure>,
    /// Times of the latest data and of the latest ACK.
    data_received_at: Instant,
    ack_received_at: Instant,
    keepalive: KeepAlive,
    /// Segments that fq holds back, with the times at which they may leave.
    departures: VecDeque<(Instant, Segment)>,
    /// Segments that leave now.
    out: VecDeque<Segment>,
}

impl Connection {
    /// Creates a closed connection. `iss` is the initial sequence number and `timestamp_offset` the origin of the timestamp
    /// clock, milliseconds.
    pub fn new(
        config: TcpConfig,
        congestion: CongestionState,
        iss: u32,
        timestamp_offset: u32,
    ) -> Self {
        let iss = sequence::initial(iss);
        Self {
            announced_mss: config.mss + config.settings.options_len(),
            sender: Sender::new(config.clone(), congestion, iss + 1),
            config,
            state: State::Closed,
            receiver: None,
            iss,
            snd_wscale: 0,
            rcv_wscale: 0,
            tstamp_ok: false,
            wscale_ok: false,
            ecn_ok: false,
            timestamp_offset,
            ts_recent: 0,
            ts_recent_at: Instant::ZERO,
            last_ack_sent: 0,
            last_oow_ack: None,
            handshake_deadline: Instant::NEVER,
            handshake_start: Instant::ZERO,
            handshake_sent_at: Instant::ZERO,
            handshake_attempts: 0,
            synack_repeated: false,
            time_wait_until: Instant::NEVER,
            established_at: None,
            manual_read: false,
            unacked_tail: None,
            far_acks: None,
            socket_closed: false,
            read_shutdown: false,
            failure: None,
            data_received_at: Instant::ZERO,
            ack_received_at: Instant::ZERO,
            keepalive: KeepAlive::OFF,
            departures: VecDeque::new(),
            out: VecDeque::with_capacity(64),
        }
    }

    /// Waits for a SYN.
    pub fn listen(&mut self) {
        self.state = State::Listen;
    }

    /// Sends a SYN.
    pub fn connect(&mut self, now: Instant) {
        self.state = State::SynSent;
        self.send_handshake(now);
    }

    /// Returns the state (RFC 9293).
    pub fn state(&self) -> State {
        self.state
    }

    /// Writes up to `bytes` and sends what may be sent. Returns the bytes accepted: fewer if the send buffer is full,
    /// none if the connection is not open.
    pub fn write(&mut self, now: Instant, bytes: u64) -> u64 {
        self.write_with_flags(now, bytes, SendFlags::Message)
    }

    /// Writes like [`Connection::write`], with the flags of `send`.
    pub fn write_with_flags(&mut self, now: Instant, bytes: u64, flags: SendFlags) -> u64 {
        if !matches!(self.state, State::Established | State::CloseWait) {
            return 0;
        }
        let accepted = self.sender.write(now, bytes, flags);
        self.flush(now);
        accepted
    }

    /// Returns whether a write found the send buffer full, and no space was reported since (`SOCK_NOSPACE`, `EPOLLOUT`).
    pub fn nospace(&self) -> bool {
        self.sender.nospace()
    }

    /// Ends the stream: a FIN follows the data.
    pub fn close(&mut self, now: Instant) {
        self.state = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            State::Listen | State::SynSent | State::SynReceived => State::Closed,
            other => other,
        };
        if matches!(self.state, State::FinWait1 | State::LastAck) {
            self.sender.finish(now);
            self.flush(now);
        }
    }

    /// Returns the payload bytes that have arrived in order. The application reads them at once, unless it uses
    /// [`Connection::read`].
    pub fn received(&self) -> u64 {
        self.receiver.as_ref().map_or(0, Receiver::delivered)
    }

    /// Returns the payload bytes that the peer has acknowledged.
    pub fn acknowledged(&self) -> u64 {
        let fin = u64::from(self.sender.seq.fin_sent() && self.sender.seq.all_acked());
        self.sender.seq.snd_una - (self.iss + 1) - fin
    }

    /// Returns the time of the next call of [`Connection::on_deadline`]; [`Instant::NEVER`] if none is
    /// needed.
    pub fn deadline(&self) -> Instant {
        let departure = self
            .departures
            .front()
            .map_or(Instant::NEVER, |(at, _)| *at + FQ_SLACK);
        let earliest = self
            .handshake_deadline
            .min(self.time_wait_until)
            .min(departure);
        match &self.receiver {
            Some(receiver) if self.is_synchronised() => earliest
                .min(self.sender.deadline())
                .min(receiver.deadline())
                .min(self.next_probe_at())
                .min(self.keepalive.next_at),
            _ => earliest,
        }
    }

    /// Handles the deadline.
    pub fn on_deadline(&mut self, now: Instant) {
        self.flush_departures(now);
        if self.handshake_deadline <= now {
            self.send_handshake(now);
        }
        if self.time_wait_until <= now {
            self.state = State::Closed;
            self.time_wait_until = Instant::NEVER;
        }
        if self.is_synchronised() {
            if self.sender.deadline() <= now {
                self.sender.on_deadline(now);
            }
            if self.sender.has_timed_out() {
                self.fail(Failure::TimedOut);
                return;
            }
            self.probe_far_end(now);
            self.keep_alive(now);
            self.flush(now);
        }
    }

    /// Returns the next segment to put on the path.
    pub fn poll_transmit(&mut self) -> Option<Segment> {
        self.out.pop_front()
    }

    /// Switches the congestion control; returns the state that the new one gets.
    pub fn switch(&mut self, now: Instant, built: BuiltCca, mode: SwitchMode) -> TransferState {
        self.sender.switch(now, built, mode)
    }

    /// Returns the kernel's name of the current congestion control.
    pub fn cca(&self) -> &'static str {
        self.sender.congestion.name()
    }

    /// Handles a segment; the application reads its data at once.
    pub fn on_segment(&mut self, now: Instant, segment: &Segment) {
        self.process_segment(now, segment);
        self.read_all(now);
    }

    /// Reads up to `bytes` of what has arrived in order and returns how many bytes were there.
    ///
    /// From the first call on, which may be for no bytes, the application reads by request: data waits for further
    /// calls. The window closes when the buffer is full, and opens again as the application reads (RFC 9293 §3.8.6.2.2).
    pub fn read(&mut self, now: Instant, bytes: u64) -> u64 {
        self.manual_read = true;
        let Some(receiver) = &mut self.receiver else {
            return 0;
        };
        let accepted = receiver.read(now, bytes);
        if self.is_synchronised() {
            self.flush(now);
        }
        accepted
    }

    /// Returns the bytes that wait for [`Connection::read`]; none if the application reads at once.
    pub fn readable(&self) -> u64 {
        self.receiver.as_ref().map_or(0, Receiver::unread)
    }

    /// Reads all data in order, and returns whether there was any. An application that reads by request reads nothing.
    pub fn read_all(&mut self, now: Instant) -> bool {
        let Some(receiver) = &mut self.receiver else {
            return false;
        };
        let has_read = receiver.read_all(now);
        if has_read && self.is_synchronised() {
            self.flush(now);
        }
        has_read
    }

    /// Handles a segment without a read. More segments may arrive at the same time before the application
    /// [reads](Self::read_all).
    pub fn process_segment(&mut self, now: Instant, segment: &Segment) {
        match self.state {
            State::Closed => {}
            State::Listen => self.on_syn(now, segment),
            State::SynSent => self.on_syn_sent(now, segment),
            _ => self.on_synchronised_segment(now, segment),
        }
    }

    fn is_synchronised(&self) -> bool {
        !matches!(
            self.state,
            State::Closed | State::Listen | State::SynSent | State::SynReceived
        )
    }

    fn on_synchronised_segment(&mut self, now: Instant, segment: &Segment) {
        let Some(receiver) = &mut self.receiver else {
            return;
        };
        let seq = unwrap(receiver.rcv_nxt, segment.seq);
        if segment.flags.contains(Flags::SYN) {
            self.on_syn_established(now, seq);
            return;
        }
        if self.is_time_wait_segment(segment) {
            self.on_time_wait_segment(now, seq, segment);
            return;
        }
        if !self.validate(now, seq, segment) {
            self.flush(now);
            return;
        }
        if segment.flags.contains(Flags::RST) {
            self.on_reset(now, seq);
            return;
        }
        if !self.check_ack(now, segment) {
            return;
        }
        if let Some((value, _)) = segment.timestamps
            && seq <= self.last_ack_sent
            && !self.repeats_withheld(seq, segment)
            && self.is_timestamp_recent(now, value, 0)
        {
            self.ts_recent = value;
            self.ts_recent_at = now;
        }
        if let Some(receiver) = &mut self.receiver {
            receiver.accept_cwr(segment);
        }
        if segment.flags.contains(Flags::ACK) {
            self.ack_received_at = now;
            self.keepalive.unanswered_probes = 0;
            self.on_ack(now, seq, segment);
        }
        if self.is_data_after_close(seq, segment) {
            self.reset_unexpected(segment);
            if !self.socket_closed {
                self.failure = Some(Failure::Reset);
            }
            return;
        }
        if segment.len > 0 || segment.flags.contains(Flags::FIN) {
            self.data_received_at = now;
            self.on_data(now, seq, segment);
        } else if let Some(receiver) = &mut self.receiver
            && seq < receiver.rcv_nxt
        {
            // A window probe or a keep-alive.
            receiver.acknowledge_now();
        }
        self.flush(now);
    }

    fn on_ack(&mut self, now: Instant, seq: u64, segment: &Segment) {
        let window = u64::from(segment.window) << self.snd_wscale;
        let ack = unwrap(self.sender.seq.snd_una, segment.ack);
        if self.state == State::SynReceived {
            if ack != self.iss + 1 {
                return;
            }
            self.establish(now, window, self.echo(segment));
        }
        let mut blocks = [(0, 0); 4];
        let wire_blocks = segment.sack.as_slice();
        let near = self.sender.seq.snd_una;
        for (block, &(left, right)) in blocks.iter_mut().zip(wire_blocks) {
            *block = (unwrap(near, left), unwrap(near, right));
        }
        let is_far_acked = self.on_far_ack(segment);
        let input = AckInput {
            ack,
            seq,
            window,
            sack: &blocks[..wire_blocks.len()],
            echo: self.echo(segment),
            timestamps: segment
                .timestamps
                .filter(|_| self.tstamp_ok)
                .map(|(value, echo)| (value, echo.wrapping_sub(self.timestamp_offset))),
            // An ACK repeats another one only if the far acknowledgement does too (Kim 2016, section 5.5.1).
            not_dup: segment.len > 0 || is_far_acked,
            ecn_echo: self.ecn_ok && segment.flags.contains(Flags::ECE),
            radio_loss: segment.eln && self.config.eln,
        };
        self.sender.on_ack(now, &input);
        self.schedule_probe(now);
        if self.sender.seq.fin_sent() && self.sender.seq.all_acked() {
            self.on_fin_acked(now);
        }
    }

    fn on_fin_acked(&mut self, now: Instant) {
        match self.state {
            State::FinWait1 => self.state = State::FinWait2,
            State::Closing => self.enter_time_wait(now),
            State::LastAck if self.delivered() == self.acknowledged() => self.state = State::Closed,
            _ => {}
        }
    }

    fn on_data(&mut self, now: Instant, seq: u64, segment: &Segment) {
        let echo = self.echo(segment);
        let Some(receiver) = &mut self.receiver else {
            return;
        };
        receiver.on_data(now, seq, segment, echo);
        let fin_received = receiver.fin_received();
        let (flushed, rcv_nxt) = (receiver.take_flushed_ack(), receiver.rcv_nxt);
        if let Some((ack, ece)) = receiver.take_prior_ce_ack() {
            self.send_prior_ce_ack(now, ack, ece);
        }
        if let Some(flushed) = flushed {
            self.last_ack_sent = rcv_nxt;
            let timestamp = self.timestamp(now);
            self.out.push_back(Segment {
                sack: flushed.sack,
                ..self.build_ack(timestamp, flushed.number, flushed.window, flushed.ece)
            });
        }
        if !fin_received {
            return;
        }
        if self.state != State::Established
            && let Some(receiver) = &mut self.receiver
        {
            // Both ends have closed (the kernel's `tcp_fin`).
            receiver.acknowledge_now();
        }
        match self.state {
            State::Established => self.state = State::CloseWait,
            State::FinWait1 => self.state = State::Closing,
            State::FinWait2 => self.enter_time_wait(now),
            _ => {}
        }
    }

    /// Returns our own timestamp that the segment echoes, without its offset, milliseconds modulo 2^32. Zero is no echo
    /// (the kernel's `tcp_rcv_rtt_measure_ts` and `tcp_ack_update_rtt`).
    fn echo(&self, segment: &Segment) -> Option<u32> {
        let (_, echo) = segment.timestamps.filter(|_| self.tstamp_ok)?;
        (echo != 0).then(|| echo.wrapping_sub(self.timestamp_offset))
    }

    /// Sends queued segments whose departure time has come.
    fn flush_departures(&mut self, now: Instant) {
        while let Some((_, segment)) = self.departures.pop_front_if(|(at, _)| *at <= now) {
            self.out.push_back(segment);
        }
    }

    /// Returns the value of the timestamps option, milliseconds modulo 2^32.
    fn timestamp(&self, now: Instant) -> u32 {
        self.timestamp_offset
            .wrapping_add((now.as_nanos() / 1_000_000) as u32)
    }

    /// Sends the sender's data, and an ACK if one is due.
    fn flush(&mut self, now: Instant) {
        self.flush_departures(now);
        while let Some(data) = self.sender.poll() {
            self.push(now, Some(data));
        }
        if self
            .receiver
            .as_mut()
            .is_some_and(|receiver| receiver.ack_due(now))
        {
            self.push(now, None);
        }
    }

    /// Puts a segment with `data`, or a pure ACK, on the wire.
    fn push(&mut self, now: Instant, data: Option<Outgoing>) {
        let departure = data
            .as_ref()
            .map_or_else(|| self.sender.departure(now), |data| data.departure);
        let timestamp = self.timestamp(departure);
        let Some(receiver) = &mut self.receiver else {
            return;
        };
        let (ack, sack) = receiver.acknowledge();
        let window = receiver.window_field();
        let ece = receiver.sends_ece();
        self.last_ack_sent = receiver.rcv_nxt;
        if data.as_ref().is_some_and(|data| data.len > 0) {
            receiver.note_data_sent(now);
        }
        let mut segment = self.build_ack(timestamp, ack, window, ece);
        segment.far_ack = self.take_far_ack(data.as_ref().map_or(0, |data| data.len));
        match data {
            Some(data) => {
                // RFC 3168 §6.1.4 and §6.1.5: neither pure ACKs nor retransmissions are ECN-capable.
                if self.ecn_ok && data.len > 0 && !data.is_retransmission {
                    segment.ecn = Ecn::Ect0;
                    if self.sender.take_cwr() {
                        segment.flags |= Flags::CWR;
                    }
                }
                segment.seq = data.seq as u32;
                segment.len = data.len;
                if data.fin {
                    segment.flags |= Flags::FIN;
                }
                if data.push && data.len > 0 {
                    segment.flags |= Flags::PSH;
                }
                segment.more_in_burst = data.more_in_burst;
            }
            None if self.config.sack => segment.sack = sack,
            None => {}
        }
        if departure > now || !self.departures.is_empty() {
            self.departures.push_back((departure, segment));
        } else {
            self.out.push_back(segment);
        }
    }

    /// Returns an ACK with these fields, without data and SACK.
    fn build_ack(&self, timestamp: u32, ack: u64, window: u16, ece: bool) -> Segment {
        let flags = if ece {
            Flags::ACK | Flags::ECE
        } else {
            Flags::ACK
        };
        Segment {
            seq: self.sender.seq.snd_nxt as u32,
            ack: ack as u32,
            window,
            flags,
            timestamps: self.tstamp_ok.then_some((timestamp, self.ts_recent)),
            // A CCA that needs ECN has all segments marked as capable, also ACKs (Linux `INET_ECN_xmit`).
            ecn: if self.ecn_ok && self.needs_ecn() {
                Ecn::Ect0
            } else {
                Ecn::NotEct
            },
            ..Segment::default()
        }
    }

    /// Returns an ACK of the current state that leaves now, without data, SACK and ECN-Echo.
    fn current_ack(&mut self, now: Instant) -> Option<Segment> {
        let receiver = self.receiver.as_mut()?;
        let (ack, _) = receiver.acknowledge();
        let window = receiver.window_field();
        Some(self.build_ack(self.timestamp(now), ack, window, false))
    }

    /// Acknowledges the segments before a change of the CE state (RFC 8257 §3.2).
    fn send_prior_ce_ack(&mut self, now: Instant, ack: u64, ece: bool) {
        let timestamp = self.timestamp(now);
        let Some(receiver) = &mut self.receiver else {
            return;
        };
        let window = receiver.window_field();
        let segment = self.build_ack(timestamp, ack, window, ece);
        self.out.push_back(segment);
    }
}

//! User: the state of one user, with its channel, its HARQ processes and its bearer.

use std::collections::VecDeque;
use std::sync::Arc;

use units::{Decibel, Instant};

use super::air_interface::Formats;
use super::bearer::{Bearer, PacketOutcome};
use super::log_records::BlockRecord;
use super::power::PowerControl;
use super::uplink_power::UplinkPower;
use super::{AirInterface, Channel, Direction, RanConfig, User, UserId};
use crate::channel::Activity;
use crate::handover::Mobility;
use crate::mac::drx::Drx;
use crate::mac::harq::{self, ErrorDraws, Harq, Reception};
use crate::mac::headroom::Headroom;
use crate::mac::scheduler::{SubbandRate, usable_rate};
use crate::mac::uplink::{self, GRANT_TO_TRANSMISSION, GrantAccount};
use crate::phy::{
    CqiReporter, OuterLoop, ReportConfig, SoftBuffer, TransportFormat, effective_sinr_mi,
};
use crate::rlc::Block;
use crate::settings::Load;

/// Content of one HARQ process.
#[derive(Clone, Debug, Default)]
pub(super) struct Payload {
    pub(super) block: Block,
    pub(super) format: Option<TransportFormat>,
    pub(super) mcs: u8,
    pub(super) prbs: u16,
    /// Bytes of the buffer status report in an uplink block.
    pub(super) report: Option<u64>,
    /// Power headroom report in an uplink block.
    pub(super) headroom: Option<Headroom>,
}

impl Payload {
    /// Returns the transport format.
    ///
    /// # Panics
    /// If the process has never been filled.
    pub(super) fn format(&self) -> TransportFormat {
        self.format.expect("a process that sends has been filled")
    }

    /// Returns the record of an attempt.
    pub(super) fn record(&self, attempt: u8, bler: f64, reception: Reception) -> BlockRecord {
        BlockRecord {
            mcs: self.mcs,
            bytes: self.format().bits / 8,
            payload: self.block.data_bytes() as u32,
            attempt,
            bler: bler as f32,
            decoded: reception == Reception::Decoded,
            prbs: self.prbs,
        }
    }
}

pub(super) type Processes = Harq<Payload, Option<SoftBuffer>>;

/// A decoded block that RLC receives at TTI `due`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decoded {
    pub(super) due: u64,
    /// TTI in which it was sent.
    pub(super) sent: u64,
    pub(super) direction: Direction,
    pub(super) process: usize,
}

/// An uplink transmission that has been granted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Granted {
    /// TTI in which the grant was sent.
    pub(super) announced: u64,
    /// TTI of the transmission.
    pub(super) at: u64,
    pub(super) process: usize,
}

/// Retransmission of an uplink block that failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retransmission {
    /// TTI of the transmission.
    pub(super) at: u64,
    pub(super) process: usize,
}

/// State of one user.
pub(super) struct UserState {
    pub(super) id: UserId,
    pub(super) observed: bool,
    pub(super) channel: Channel,
    /// Speed in the configuration, m/s.
    pub(super) speed_mps: Option<f64>,
    /// SINR by group of resource blocks, dB.
    pub(super) sinr_db: Vec<f32>,
    /// Channel period, or TTI, to which `sinr_db` belongs.
    sinr_period: Option<u64>,
    pub(super) reporter: CqiReporter,
    pub(super) outer_loop: Option<OuterLoop>,
    pub(super) bearer: Bearer,
    pub(super) down: Processes,
    pub(super) down_errors: ErrorDraws,
    pub(super) up: Processes,
    pub(super) up_errors: ErrorDraws,
    pub(super) decoded: VecDeque<Decoded>,
    pub(super) granted: VecDeque<Granted>,
    /// TTI of the last uplink block with data that was received.
    pub(super) last_uplink: Option<u64>,
    /// Whether a prescheduled grant is due, because there was no room for it in its turn.
    pub(super) is_prescheduled_grant_due: bool,
    /// Scheduled retransmissions of uplink blocks.
    pub(super) retransmissions: VecDeque<Retransmission>,
    /// TTIs from which on requests can be answered by grants.
    pub(super) requests: VecDeque<u64>,
    /// TTI and bytes of reports that were sent without a grant and are not decoded yet.
    pub(super) reports: VecDeque<(u64, u64)>,
    pub(super) bsr_reporter: Option<uplink::BsrReporter>,
    pub(super) grant_account: GrantAccount,
    pub(super) drx: Option<Drx>,
    pub(super) is_awake: bool,
    pub(super) mobility: Mobility,
    /// The cell that the gateway sends to.
    pub(super) gateway_cell: u32,
    /// Capacity so far in each direction.
    pub(super) capacity: [Capacity; 2],
    /// Number of its resource blocks in this TTI, by direction.
    pub(super) prbs_now: [u16; 2],
    /// Its groups of resource blocks in the downlink of this TTI, a bit each.
    pub(super) groups_now: u64,
    /// Rates by group; buffer of [`Self::add_capacity`].
    rates: Vec<f32>,
    /// Latest result of [`Self::uplink_bytes`], with its SINR and number of resource blocks.
    uplink_bytes: Option<((u64, u32), f64)>,
    power: UplinkPower,
    /// Scheme and error rate of a block over the whole carrier in this TTI, if computed.
    pub(super) carrier_bler: Option<(u8, f64)>,
}

/// Resource blocks of a TTI that no other user was given.
#[derive(Clone, Copy, Debug)]
pub(super) struct FreeBlocks {
    /// Number in each direction.
    pub(super) prbs: [u32; 2],
    /// Groups of the downlink, a bit each.
    pub(super) groups: u64,
}

/// Cumulative capacity in bytes, at the end of each TTI.
#[derive(Clone, Debug, Default)]
pub(super) struct Capacity {
    bytes: f64,
    by_tti: Vec<u64>,
}

impl Capacity {
    pub(super) fn add(&mut self, bytes: f64) {
        self.bytes += bytes;
        self.by_tti.push(self.bytes as u64);
    }

    /// Returns the bytes of the TTIs from `from` on and before `to`, as far as they are known.
    pub(super) fn between(&self, from: u64, to: u64) -> u64 {
        let before = |tti: u64| match (tti.min(self.by_tti.len() as u64)).checked_sub(1) {
            Some(last) => self.by_tti[last as usize],
            None => 0,
        };
        before(to).saturating_sub(before(from))
    }
}

/// Returns the HARQ of the uplink. Retransmissions are sent a round trip after the attempt, in TDD in the next uplink TTI.
/// A process is occupied from its grant on, so there are more processes than blocks in flight.
fn uplink_harq(config: &RanConfig) -> harq::HarqConfig {
    harq::HarqConfig {
        processes: config.harq().processes + GRANT_TO_TRANSMISSION as u8,
        ..config.harq()
    }
}

/// Returns the random errors of the downlink and of its feedback.
fn down_errors(config: &RanConfig, seed: u64, id: UserId) -> ErrorDraws {
    let mut errors = ErrorDraws::new(seed, 2 * id);
    if let Some(rates) = &config.radio.downlink.control_errors {
        errors.nack_to_ack_rate = rates.nack_to_ack;
        errors.ack_to_nack_rate = rates.ack_to_nack;
        errors.dtx_to_ack_rate = rates.dtx_to_ack;
    }
    errors
}

impl UserState {
    /// Returns whether the gateway sends to another cell than the one that serves the user.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.gateway_cell != self.mobility.serving() || self.mobility.is_between_cells()
    }

    /// Returns user number `id`; all users share the power control.
    pub(super) fn new(
        config: &RanConfig,
        id: UserId,
        user: &User,
        seed: u64,
        power_control: Arc<PowerControl>,
    ) -> Self {
        let air = &config.air;
        let downlink = &config.radio.downlink;
        let period = config.ttis(downlink.cqi_period).max(1) as u32;
        let reports = ReportConfig {
            period,
            // Reports of different users are spread over the period.
            offset: id % period,
            delay: config.ttis(downlink.cqi_delay) as u32,
            subband_size: if config.subband_rule().is_some() {
                air.subband_prbs
            } else {
                0
            },
        };
        let serving = config.first_cell(user);
        Self {
            id,
            observed: user.observed,
            channel: user.channel.clone(),
            speed_mps: user.speed_mps,
            sinr_db: vec![0.0; air.grid.groups()],
            sinr_period: None,
            reporter: CqiReporter::new(reports, air.grid.prbs_per_group as u32),
            outer_loop: downlink
                .outer_loop
                .as_ref()
                .map(|outer| OuterLoop::new(outer.target, outer.step.get(), outer.limit.get())),
            bearer: Bearer::new(config.rlc(), config.pdcp_sn()),
            down: Harq::new(config.harq()),
            down_errors: down_errors(config, seed, id),
            up: Harq::new(uplink_harq(config)),
            up_errors: ErrorDraws::new(seed, 2 * id + 1),
            decoded: VecDeque::new(),
            granted: VecDeque::new(),
            last_uplink: None,
            is_prescheduled_grant_due: false,
            retransmissions: VecDeque::new(),
            requests: VecDeque::new(),
            reports: VecDeque::new(),
            bsr_reporter: config.bsr_reporter(id),
            grant_account: GrantAccount::default(),
            drx: config.drx(),
            is_awake: true,
            mobility: Mobility::new(
                config.radio.handover.clone(),
                config.radio.link_failure.clone(),
                serving,
            ),
            gateway_cell: serving,
            capacity: Default::default(),
            prbs_now: [0; 2],
            groups_now: 0,
            rates: Vec::new(),
            uplink_bytes: None,
            power: UplinkPower::new(power_control),
            carrier_bler: None,
        }
    }

    /// Sets `sinr_db` to that of TTI `tti`, which begins at `now`.
    pub(super) fn update_sinr(
        &mut self,
        tti: u64,
        now: Instant,
        config: &RanConfig,
        activity: &[f32],
    ) {
        let period = match config.radio.downlink.channel_period {
            Some(period) => tti / config.ttis(period).max(1),
            None => tti,
        };
        // Unless all cells always transmit, the interference differs from TTI to TTI.
        let key = if config.radio.propagation.load == Load::Full {
            period
        } else {
            tti
        };
        if self.sinr_period == Some(key) {
            return;
        }
        self.sinr_period = Some(key);
        match &self.channel {
            Channel::Traced(source) => source.sinr_db(now, &mut self.sinr_db),
            Channel::Placed(reception) => {
                let activity = config.activity(activity);
                let cell = self.mobility.serving() as usize;
                reception.sinr_db(now, cell, activity, &mut self.sinr_db);
            }
        }
        if config.air.layers > 1 {
            // Layers share the power of the cell and fade alike.
            let split_db = Decibel::from_linear(f64::from(config.air.layers)).get() as f32;
            self.sinr_db.iter_mut().for_each(|sinr| *sinr -= split_db);
        }
    }

    /// Passes decoded blocks to RLC that are due at `tti`.
    pub(super) fn deliver(&mut self, tti: u64, now: Instant, outcomes: &mut Vec<PacketOutcome>) {
        while let Some(decoded) = self.decoded.front().copied() {
            if decoded.due > tti {
                return;
            }
            self.decoded.pop_front();
            let process = decoded.process;
            let payload = match decoded.direction {
                Direction::Down => self.down.payload(process),
                Direction::Up => {
                    let payload = self.up.payload(process);
                    if let Some(bytes) = payload.report {
                        self.grant_account.report(decoded.sent, bytes);
                    }
                    if let Some(report) = payload.headroom {
                        self.power.on_decoded(report);
                    }
                    if !payload.block.is_empty() {
                        self.last_uplink = Some(decoded.due);
                    }
                    payload
                }
            };
            self.bearer
                .receive(decoded.direction, now, &payload.block, outcomes);
        }
    }

    /// Resets MAC (TS 36.321 clause 5.9). Blocks in flight are lost.
    pub(super) fn reset_mac(&mut self, config: &RanConfig) {
        self.down.reset();
        self.up.reset();
        self.decoded.clear();
        self.granted.clear();
        self.retransmissions.clear();
        self.last_uplink = None;
        self.is_prescheduled_grant_due = false;
        self.requests.clear();
        self.reports.clear();
        self.grant_account = GrantAccount::default();
        self.bsr_reporter = config.bsr_reporter(self.id);
        self.drx = config.drx();
        self.power.reset();
    }

    /// Resets channel measurements after a cell change.
    pub(super) fn reset_measurements(&mut self) {
        self.sinr_period = None;
        self.reporter.restart();
    }

    /// Returns the SINR of the link to `cell` without fast fading, in dB.
    pub(super) fn mean_db(&self, now: Instant, cell: u32) -> f64 {
        match &self.channel {
            Channel::Traced(source) => source.mean_db(now),
            Channel::Placed(reception) => {
                reception.mean_sinr_db(now, cell as usize, Activity::Full)
            }
        }
    }

    /// Returns the path loss to its cell in dB, antennas included, without fast fading; `None` without a position.
    fn path_loss_db(&self, now: Instant) -> Option<f64> {
        match &self.channel {
            Channel::Traced(_) => None,
            Channel::Placed(reception) => {
                Some(-reception.gain_db(now, self.mobility.serving() as usize))
            }
        }
    }

    /// Returns the SINR of the uplink over `prbs` resource blocks, in dB: the path loss is that of the downlink, without
    /// fast fading, and users of other cells do not interfere.
    pub(super) fn uplink_sinr_db(&self, now: Instant, config: &RanConfig, prbs: u32) -> f64 {
        match self.path_loss_db(now) {
            None => config.radio.uplink.sinr.get(),
            Some(loss) => self.power.sinr_db(loss, prbs),
        }
    }

    /// Returns the number of resource blocks, at most `free`, with the largest transport block, as far as the base station
    /// knows.
    pub(super) fn best_allocation(
        &mut self,
        (tti, now): (u64, Instant),
        config: &RanConfig,
        free: u32,
    ) -> u32 {
        match self.path_loss_db(now) {
            None => free,
            Some(loss) => self.power.best_allocation((tti, loss), config, free),
        }
    }

    /// Returns the highest scheme that keeps the error target on `prbs` resource blocks, as far as the base station
    /// knows; the lowest if none does.
    pub(super) fn uplink_scheme(
        &mut self,
        (tti, now): (u64, Instant),
        config: &RanConfig,
        prbs: u32,
    ) -> u8 {
        let sinr_db = match self.path_loss_db(now) {
            None => config.radio.uplink.sinr.get(),
            Some(loss) => self.power.measured((tti, loss), config).sinr_db(prbs),
        };
        config.air.up.adaptation.mcs(sinr_db, prbs).unwrap_or(0)
    }

    /// Returns the power headroom report that is sent with new data granted in this TTI, if one is due and fits into
    /// `room` bytes.
    pub(super) fn take_headroom_report(
        &mut self,
        (tti, now): (u64, Instant),
        config: &RanConfig,
        (prbs, room): (u32, u32),
    ) -> Option<Headroom> {
        let loss = self.path_loss_db(now)?;
        self.power.take_report((tti, loss), config, (prbs, room))
    }

    /// Returns the correction of the outer loop, in dB.
    pub(super) fn offset_db(&self) -> f64 {
        self.outer_loop.map_or(0.0, |outer| outer.offset_db())
    }

    /// Returns the CQI of the latest report on the whole carrier, and the scheme for it on `prbs` resource blocks of a TTI
    /// with `formats`.
    pub(super) fn scheme(
        &mut self,
        tti: u64,
        (formats, prbs): (&Formats, u32),
        config: &RanConfig,
    ) -> Option<(u8, u8)> {
        self.scheme_with_offset(tti, (formats, prbs), config, self.offset_db())
    }

    /// Returns CQI and scheme as [`Self::scheme`] does, with `offset` as correction, dB.
    pub(super) fn scheme_with_offset(
        &mut self,
        tti: u64,
        (formats, prbs): (&Formats, u32),
        config: &RanConfig,
        offset: f64,
    ) -> Option<(u8, u8)> {
        let cqi = self.reporter.latest(tti)?.wideband;
        let offset = offset - config.radio.downlink.margin.get();
        let mcs = formats.adaptation.mcs_of_cqi(cqi, prbs, offset)?;
        Some((cqi, mcs))
    }

    /// Adds the capacity of this TTI on the resource blocks of no other user, and returns it in bytes per direction. It is
    /// the transport block that would have been sent, divided by 1 + BLER, as a failed block takes a second TTI. Third
    /// attempts are neglected.
    pub(super) fn add_capacity(
        &mut self,
        tti: u64,
        now: Instant,
        free: &FreeBlocks,
        config: &RanConfig,
    ) -> [u32; 2] {
        let air = &config.air;
        let connected = self.mobility.is_connected();
        let down = match air.downlink(tti) {
            Some(formats) if connected && free.prbs[0] > 0 => {
                self.downlink_bytes(tti, formats, free, config)
            }
            _ => 0.0,
        };
        let up = if air.is_uplink(tti) && connected && free.prbs[1] > 0 {
            let free = air.uplink_allocation(free.prbs[1]);
            self.uplink_bytes((tti, now), free, config)
        } else {
            0.0
        };
        self.capacity[0].add(down);
        self.capacity[1].add(up);
        [down, up].map(|bytes| bytes as u32)
    }

    fn downlink_bytes(
        &mut self,
        tti: u64,
        formats: &Formats,
        free: &FreeBlocks,
        config: &RanConfig,
    ) -> f64 {
        if let Some(rule) = config.subband_rule() {
            return self.subband_bytes(tti, formats, free, (config, rule));
        }
        let Some((_, mcs)) = self.scheme(tti, (formats, free.prbs[0]), config) else {
            return 0.0;
        };
        let bits = formats.get(mcs, free.prbs[0]).bits;
        f64::from(bits / 8) / (1.0 + self.first_error_rate(mcs, &config.air))
    }

    /// Returns the bytes that the free groups carry on which the user reports a rate.
    fn subband_bytes(
        &mut self,
        tti: u64,
        formats: &Formats,
        free: &FreeBlocks,
        (config, rule): (&RanConfig, SubbandRate),
    ) -> f64 {
        let air = &config.air;
        let mut rates = core::mem::take(&mut self.rates);
        rates.clear();
        self.push_subband_rates(tti, formats, config, &mut rates);
        let is_usable = |group: usize| free.groups >> group & 1 == 1 && rates[group] > 0.0;
        let groups = 0..rates.len();
        let owners: Vec<u16> = groups
            .clone()
            .map(|group| u16::from(!is_usable(group)))
            .collect();
        let usable = groups.filter(|group| owners[*group] == 0);
        let prbs: u32 = usable
            .clone()
            .map(|group| u32::from(air.group_prbs[group]))
            .sum();
        let rate = usable_rate(rule, 0, &owners, &rates, &air.group_prbs);
        let bytes = match formats.scheme_of_rate(rate, air.prbs()) {
            Some(mcs) if prbs > 0 => {
                let format = formats.get(mcs, prbs);
                let sinr_db: Vec<f32> = usable.map(|group| self.sinr_db[group]).collect();
                let error_rate = format.bler(effective_sinr_mi(&sinr_db, format.modulation));
                f64::from(format.bits / 8) / (1.0 + error_rate)
            }
            _ => 0.0,
        };
        self.rates = rates;
        bytes
    }

    /// Appends the bits per resource block of each group, by the sub-bands of the latest report; nothing without one.
    pub(super) fn push_subband_rates(
        &mut self,
        tti: u64,
        formats: &Formats,
        config: &RanConfig,
        rates: &mut Vec<f32>,
    ) {
        let air = &config.air;
        let carrier_prbs = air.prbs();
        let offset = self.offset_db() - config.radio.downlink.margin.get();
        let Some(report) = self.reporter.latest(tti) else {
            return;
        };
        let mut first = 0;
        for &prbs in &air.group_prbs {
            let cqi = report.subband((first / air.subband_prbs) as usize);
            let mcs = formats.adaptation.mcs_of_cqi(cqi, carrier_prbs, offset);
            let rate = |mcs| formats.get(mcs, carrier_prbs).bits as f32 / carrier_prbs as f32;
            rates.push(mcs.map_or(0.0, rate));
            first += u32::from(prbs);
        }
    }

    fn uplink_bytes(&mut self, (tti, now): (u64, Instant), free: u32, config: &RanConfig) -> f64 {
        let prbs = self.best_allocation((tti, now), config, free);
        let sinr_db = self.uplink_sinr_db(now, config, prbs);
        let key = (sinr_db.to_bits(), prbs);
        if let Some((cached, bytes)) = self.uplink_bytes
            && cached == key
        {
            return bytes;
        }
        let mcs = self.uplink_scheme((tti, now), config, prbs);
        let format = config.air.up.get(mcs, prbs);
        let bytes = f64::from(format.bits / 8) / (1.0 + format.bler(sinr_db));
        self.uplink_bytes = Some((key, bytes));
        bytes
    }

    /// Returns the error rate of a first transmission over the whole carrier.
    pub(super) fn first_error_rate(&mut self, mcs: u8, air: &AirInterface) -> f64 {
        if let Some((cached, rate)) = self.carrier_bler
            && cached == mcs
        {
            return rate;
        }
        let format = air.down.get(mcs, air.prbs());
        let rate = format.bler(effective_sinr_mi(&self.sinr_db, format.modulation));
        self.carrier_bler = Some((mcs, rate));
        rate
    }
}

//! Configuration of the radio access network: what the section makes of itself for [`crate::ran`], whose times are in
//! TTIs.

use std::sync::Arc;

use config::Buffer;
use units::Duration;

use super::{
    Access as Asks, Cqi, Modulation, Radio, RlcMode as Mode, Scheduler, Technology, Timer, Transmit,
};
use crate::mac::scheduler::Policy;
use crate::mac::{drx, harq, uplink};
use crate::phy::{lte, nr};
use crate::ran::{
    Access, AirError, AirInterface, Carrier, Downlink, LteCarrier, NrCarrier, Prescheduling,
    RanConfig, RlcMode, Uplink, User,
};
use crate::rlc::pdcp::SnLength;
use crate::rlc::{self, LengthIndicator, Limit};

impl Radio {
    /// Returns the air interface.
    ///
    /// # Errors
    /// If 3GPP has no such carrier.
    pub fn air_interface(&self) -> Result<Arc<AirInterface>, AirError> {
        AirInterface::shared(&carrier(self)?)
    }

    /// Returns the configuration of the radio access network for these users.
    pub fn ran_config(&self, air: Arc<AirInterface>, users: Vec<User>) -> RanConfig {
        let ttis = Ttis(air.tti());
        let (harq, decoding) = harq(self, ttis);
        RanConfig {
            cells: self.cells.len().max(1),
            downlink: downlink(self, ttis),
            harq,
            decoding,
            rlc: rlc(self),
            pdcp_sn: pdcp_sn(self),
            uplink: uplink(self, ttis),
            drx: drx(self, ttis),
            handover: self.handover.clone(),
            link_failure: self.link_failure.clone(),
            load: self.propagation.load,
            users,
            log: self.log,
            air,
        }
    }
}

fn carrier(radio: &Radio) -> Result<Carrier, AirError> {
    let width_mhz = radio.width().map_or(0.0, |width| width.hertz() / 1e6);
    Ok(match radio.technology {
        Technology::Lte => {
            let bandwidth = lte::Bandwidth::from_khz(libm::round(width_mhz * 1e3) as u32);
            Carrier::Lte(LteCarrier {
                prbs: bandwidth?.prbs(),
                cfi: radio.control_symbols,
                antenna_ports: match radio.transmit {
                    Transmit::Single => radio.layers,
                    Transmit::Diversity => 2,
                },
                table: match radio.modulation {
                    Modulation::Qam256 => lte::McsTable::Qam256,
                    Modulation::Qam64 | Modulation::LowRate => lte::McsTable::Qam64,
                },
                layers: radio.layers,
            })
        }
        Technology::Nr => {
            let numerology = (radio.spacing_khz() / 15).ilog2();
            let high = radio
                .carrier()
                .is_some_and(|carrier| carrier.hertz() > 10e9);
            let range = if high {
                nr::FrequencyRange::Fr2
            } else {
                nr::FrequencyRange::Fr1
            };
            let numbers = nr::Numerology::new(numerology)?;
            let width = libm::round(width_mhz) as u32;
            let found = nr::Carrier::new(range, numbers, width)?;
            let special = radio.special_slot;
            Carrier::Nr(NrCarrier {
                prbs: found.prbs(),
                numerology,
                tdd: radio.tdd.as_ref().map(|pattern| {
                    let symbols = [special.downlink, special.guard, special.uplink];
                    (pattern.letters().to_owned(), symbols)
                }),
                table: match radio.modulation {
                    Modulation::Qam64 => nr::McsTable::Qam64,
                    Modulation::Qam256 => nr::McsTable::Qam256,
                    Modulation::LowRate => nr::McsTable::LowRate,
                },
                layers: radio.layers,
            })
        }
    })
}

/// Times of a scenario in TTIs.
#[derive(Clone, Copy)]
struct Ttis(Duration);

impl Ttis {
    fn of(self, time: Duration) -> u64 {
        time.as_nanos() / self.0.as_nanos().max(1)
    }
}

fn downlink(radio: &Radio, ttis: Ttis) -> Downlink {
    let model = &radio.downlink;
    Downlink {
        policy: match model.scheduler {
            Scheduler::ProportionalFair => Policy::ProportionalFair {
                time_constant: ttis.of(model.time_constant) as f64,
            },
            Scheduler::RoundRobin => Policy::RoundRobin,
            Scheduler::MaxRate => Policy::MaxRate,
        },
        subbands: (model.cqi == Cqi::Subband).then_some(model.subband_rate),
        cqi_period: ttis.of(model.cqi_period).max(1) as u32,
        cqi_delay: ttis.of(model.cqi_delay) as u32,
        margin_db: model.margin.get(),
        outer_loop: model
            .outer_loop
            .as_ref()
            .map(|outer| (outer.target, outer.step.get(), outer.limit.get())),
        channel_period: model
            .channel_period
            .map_or(1, |period| ttis.of(period).max(1)) as u32,
    }
}

fn harq(radio: &Radio, ttis: Ttis) -> (harq::HarqConfig, u64) {
    let config = harq::HarqConfig {
        processes: radio.harq_processes() as u8,
        round_trip: ttis.of(radio.harq_round_trip()),
        max_transmissions: radio.harq.transmissions as u8,
        timing: harq::Timing::Asynchronous,
    };
    (config, ttis.of(radio.decoding()))
}

fn rlc(radio: &Radio) -> RlcMode {
    let model = &radio.rlc;
    let length_indicator = match model.length_indicator_bits {
        15 => LengthIndicator::Bits15,
        _ => LengthIndicator::Bits11,
    };
    match model.mode {
        Mode::Am => {
            let usual = match radio.technology {
                Technology::Lte => 10,
                Technology::Nr => 16,
            };
            let config = rlc::am::AmConfig {
                sn: match model.sn_bits.unwrap_or(usual) {
                    16 => rlc::am::SnLength::Bits16,
                    _ => rlc::am::SnLength::Bits10,
                },
                length_indicator,
                limit: limit(model.buffer),
                status: model.status,
                t_poll_retransmit: model.poll_retransmit,
                t_reordering: model.reordering,
                t_status_prohibit: model.status_prohibit,
                poll_pdu: (model.poll_pdus > 0).then_some(model.poll_pdus),
                poll_byte: model.poll_bytes.map(units::Bytes::get),
                max_retransmissions: model.max_retransmissions,
            };
            RlcMode::Acknowledged {
                config,
                uplink: limit(model.uplink_buffer),
            }
        }
        Mode::Um => {
            let config = rlc::um::UmConfig {
                sn: match model.sn_bits {
                    Some(5) => rlc::um::SnLength::Bits5,
                    _ => rlc::um::SnLength::Bits10,
                },
                length_indicator,
                limit: limit(model.buffer),
                t_reordering: model.reordering,
            };
            RlcMode::Unacknowledged {
                config,
                uplink: limit(model.uplink_buffer),
            }
        }
    }
}

/// The usual numbers of LTE (TS 36.323 clause 6.3.2), and those of NR that its rates need (TS 38.323 clause
/// 6.3.2): what is under way in a handover has to be less than half of them.
const fn pdcp_sn(radio: &Radio) -> SnLength {
    match radio.technology {
        Technology::Lte => SnLength::Bits12,
        Technology::Nr => SnLength::Bits18,
    }
}

fn limit(buffer: Buffer) -> Limit {
    match buffer {
        Buffer::Packets(packets) => Limit::Packets(packets as usize),
        Buffer::Bytes(bytes) => Limit::Bytes(bytes.get()),
        Buffer::Bdp(_) => unreachable!("a buffer of RLC is in packets or bytes"),
    }
}

fn uplink(radio: &Radio, ttis: Ttis) -> Uplink {
    let model = &radio.uplink;
    let subframe = Duration::from_millis(1);
    let access = match model.access {
        Asks::Configured => Access::Configured,
        Asks::Granted => {
            let subframes = |time: Duration| time.as_nanos() / subframe.as_nanos();
            let periodic = match model.periodic_bsr {
                Timer::After(time) => Some(subframes(time)),
                Timer::Infinity => None,
            };
            let retransmission = subframes(model.retx_bsr);
            let timers = uplink::Timers::new(periodic, retransmission);
            Access::Granted {
                protocol: model.protocol,
                enhanced: model.enhanced,
                timers: timers.in_ttis(ttis.of(subframe)),
                request: uplink::RequestConfig {
                    period: ttis.of(model.sr_period).max(1),
                    offset: 0,
                    prohibit: u64::from(model.sr_prohibit),
                    max_transmissions: model.sr_transmissions,
                },
            }
        }
    };
    Uplink {
        access,
        traced_sinr_db: model.sinr.get(),
        power_dbm: model.power.dbm(),
        noise_figure_db: radio.propagation.enb_noise_figure.get(),
        first_grant: model.first_grant.get(),
        prescheduling: model.prescheduling.as_ref().map(|model| Prescheduling {
            interval: ttis.of(model.interval).max(1),
            duration: ttis.of(model.duration),
            grant: model.grant.get(),
        }),
        random_access: ttis.of(model.random_access),
    }
}

fn drx(radio: &Radio, ttis: Ttis) -> Option<drx::DrxConfig> {
    let (harq, _) = harq(radio, ttis);
    radio.drx.as_ref().map(|model| drx::DrxConfig {
        on_duration: ttis.of(model.on_duration),
        inactivity: ttis.of(model.inactivity),
        retransmission: ttis.of(model.retransmission),
        harq_round_trip: harq.round_trip,
        long_cycle: ttis.of(model.long_cycle),
        offset: ttis.of(model.offset),
        short: model
            .short_cycle
            .map(|cycle| (ttis.of(cycle), u64::from(model.short_cycles))),
    })
}

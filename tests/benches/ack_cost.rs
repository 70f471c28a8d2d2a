//! Benchmark: the cost of an ACK in each congestion control.

#![allow(missing_docs, reason = "criterion's macro makes a public function")]

use cca::CCAS;
use cca::{
    Ack, AckKind, AckSample, CaState, CcaInfo, CongestionState, Event, RateSample, Settings, Window,
};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use units::random::{Purpose, RngStream};
use units::{Duration, Instant};

const MSS: u32 = 1_448;
/// RTT of the path without a queue.
const BASE_RTT: Duration = Duration::from_millis(40);
/// Segments that the path holds without a queue, and with a full queue.
const PIPE: u32 = 200;
const FULL: u32 = 400;
/// ACKs per measurement, about a hundred round trips.
const ACKS: u64 = 20_000;

/// Flow through a bottleneck with a queue, one ACK at a time; segments that overflow the queue are lost.
struct Flow {
    congestion: CongestionState,
    /// ACKs until the loss episode is over.
    recovering: u32,
}

impl Flow {
    fn new(cca: &CcaInfo) -> Self {
        let draws = RngStream::new(1, Purpose::CongestionControl, 0);
        let mut window = Window::new(MSS, 10, draws);
        window.now = Instant::ZERO + Duration::from_secs(1);
        window.cwnd_limited = true;
        window.srtt = BASE_RTT;
        window.min_rtt = BASE_RTT;
        let built = cca.build(&Settings::new()).expect("the defaults");
        let mut congestion = CongestionState::new(window, built);
        congestion.init();
        Self {
            congestion,
            recovering: 0,
        }
    }

    fn ack(&mut self) {
        let w = &mut self.congestion.window;
        let in_flight = w.cwnd.min(FULL);
        let rtt = BASE_RTT.scaled(u64::from(in_flight.max(PIPE)), u64::from(PIPE));
        w.now += rtt / u64::from(in_flight);
        w.srtt = (w.srtt * 7 + rtt) / 8;
        w.snd_una += u64::from(MSS);
        w.snd_nxt = w.snd_una + u64::from(in_flight) * u64::from(MSS);
        w.packets_out = in_flight;
        w.inflight = in_flight;
        w.delivered += 1;
        let ms = w.now.since_start().as_millis() as u32;
        let sent = ms.saturating_sub(rtt.as_millis() as u32);
        w.timestamps = Some((ms.saturating_sub(20), sent)).into();
        let overflows = w.cwnd > FULL && self.recovering == 0;
        w.lost += u64::from(overflows);
        let prior_delivered = w.delivered.saturating_sub(u64::from(in_flight));
        let delivered = (w.delivered - prior_delivered) as u32;
        self.congestion.pkts_acked(&AckSample {
            acked: 1,
            rtt: Some(rtt),
            in_flight,
        });
        self.congestion.in_ack_event(AckKind {
            slow_path: self.recovering > 0,
            ecn_echo: false,
        });
        if overflows {
            self.lose(in_flight);
        }
        self.control(&Ack {
            acked: 1,
            delivered: 1,
            lost: u32::from(overflows),
            prior_inflight: in_flight,
            rtt: Some(rtt),
            rate: RateSample {
                delivered: Some(delivered),
                interval: rtt,
                prior_delivered,
                app_limited: false,
                retransmitted: false,
                ..RateSample::default()
            },
            ..Ack::default()
        });
    }

    fn lose(&mut self, in_flight: u32) {
        self.recovering = in_flight;
        self.congestion.window.prior_cwnd = self.congestion.window.cwnd;
        let ssthresh = self.congestion.ssthresh();
        self.congestion.window.ssthresh = ssthresh;
        self.congestion.set_state(CaState::Recovery);
    }

    fn control(&mut self, ack: &Ack) {
        if self.congestion.owns_window() {
            self.congestion.cong_control(ack);
        } else if self.recovering == 0 {
            self.congestion.cong_avoid(ack.delivered);
        }
        self.congestion.update_default_pacing_rate();
        if self.recovering > 0 {
            self.recovering -= 1;
            if self.recovering == 0 {
                self.recover();
            }
        }
    }

    fn recover(&mut self) {
        if !self.congestion.owns_window() {
            self.congestion.window.cwnd = self.congestion.window.ssthresh;
            self.congestion.cwnd_event(Event::CompleteCwr);
        }
        self.congestion.set_state(CaState::Open);
    }
}

fn ack_cost(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("20,000 ACKs");
    group.throughput(Throughput::Elements(ACKS)).sample_size(20);
    group.warm_up_time(std::time::Duration::from_millis(500));
    group.measurement_time(std::time::Duration::from_secs(2));
    for cca in CCAS {
        let mut flow = Flow::new(cca);
        group.bench_function(cca.name, |bencher| {
            bencher.iter(|| {
                for _ in 0..ACKS {
                    flow.ack();
                }
                flow.congestion.window.cwnd
            });
        });
    }
    group.finish();
}

criterion_group!(benches, ack_cost);
criterion_main!(benches);

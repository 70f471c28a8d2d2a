//! Properties that hold for every congestion control of the catalogue, for any events and settings.

use cca::CCAS;
use cca::{
    Ack, AckKind, AckSample, BuiltCca, CaState, CcaInfo, CongestionState, Event, Lost, RateSample,
    Settings, SwitchMode, Window,
};
use proptest::prelude::*;
use units::random::{Purpose, RngStream};
use units::{Duration, Rate};

const MSS: u32 = 1_448;

/// Event of a connection.
#[derive(Clone, Copy, Debug)]
enum Step {
    Ack {
        acked: u32,
        sacked: u32,
        lost: u32,
        rtt: Option<Duration>,
        interval: Duration,
        limited: bool,
        odd: bool,
        timestamps: Option<(u32, u32)>,
    },
    Disorder,
    Reduction(CaState),
    /// The reduction ends with this window.
    Opened(u32),
    TimeOut(u32),
    Undone(bool),
    Idle,
    Restarted(u32),
    /// The CCA at this position of the catalogue takes over.
    Switched(usize, SwitchMode),
}

/// Generates times from zero to 10 s, short ones as often as long ones.
fn times() -> impl Strategy<Value = Duration> {
    prop_oneof![
        Just(Duration::ZERO),
        (0..10_u32, 1..10_u64).prop_map(|(decade, digit)| Duration::from_nanos(
            (digit * 10_u64.pow(decade)).min(10_000_000_000)
        )),
    ]
}

/// Generates numbers of segments, small ones as often as large ones.
fn segments() -> impl Strategy<Value = u32> {
    prop_oneof![0..4_u32, 0..100_u32, 0..100_000_u32]
}

fn acks() -> impl Strategy<Value = Step> {
    let (acked, sacked, lost) = (segments(), 0..50_u32, 0..20_u32);
    let rtt = prop_oneof![3 => times().prop_map(Some), 1 => Just(None)];
    let timestamps = proptest::option::of(any::<(u32, u32)>());
    (
        acked,
        sacked,
        lost,
        rtt,
        times(),
        any::<(bool, bool)>(),
        timestamps,
    )
        .prop_map(
            |(acked, sacked, lost, rtt, interval, (limited, odd), timestamps)| Step::Ack {
                acked,
                sacked,
                lost,
                rtt,
                interval,
                limited,
                odd,
                timestamps,
            },
        )
}

fn steps() -> impl Strategy<Value = Step> {
    let reductions = [CaState::Cwr, CaState::Recovery].map(Step::Reduction);
    let mode = prop_oneof![Just(SwitchMode::Kernel), Just(SwitchMode::Context)];
    prop_oneof![
        20 => acks(),
        1 => Just(Step::Disorder),
        2 => proptest::sample::select(reductions.to_vec()),
        2 => segments().prop_map(Step::Opened),
        1 => segments().prop_map(Step::TimeOut),
        1 => any::<bool>().prop_map(Step::Undone),
        1 => Just(Step::Idle),
        1 => segments().prop_map(Step::Restarted),
        1 => (any::<usize>(), mode).prop_map(|(which, mode)| Step::Switched(which, mode)),
    ]
}

/// Returns the bounds of a parameter, read from its own description, and its default.
fn ends(parameter: &cca::Parameter, default: String) -> Vec<String> {
    let allowed = (parameter.allowed)();
    let ends = match allowed.split_once("from ") {
        Some((_, range)) => range.split(" to ").map(str::to_owned).collect(),
        None => allowed.split(", ").map(str::to_owned).collect::<Vec<_>>(),
    };
    let takes = |value: &String| (parameter.canonical)(value).is_some();
    ends.into_iter().filter(takes).chain([default]).collect()
}

/// Creates a congestion control with its parameters at the bounds that `choice` picks.
fn built(cca: &CcaInfo, choice: u64) -> BuiltCca {
    let mut settings = Settings::new();
    for (nth, (parameter, default)) in cca.all_parameters().enumerate() {
        // The kernel's old switch and the choice of a method exclude each other.
        if parameter.name != "hystart" {
            let ends = ends(parameter, default);
            let picked = (choice >> (2 * nth as u32 % 64)) as usize % ends.len();
            settings.insert(parameter.name.to_owned(), ends[picked].clone());
        }
    }
    let pair = cca.build(&settings);
    pair.unwrap_or_else(|error| panic!("{settings:?}: {error}"))
}

/// Connection as its congestion control sees it.
struct Lab {
    congestion: CongestionState,
    choice: u64,
}

impl Lab {
    fn new(cca: &CcaInfo, clamp: u32, choice: u64) -> Self {
        let draws = RngStream::new(choice, Purpose::CongestionControl, 0);
        let mut window = Window::new(MSS, clamp.min(10), draws);
        window.cwnd_clamp = clamp;
        window.max_pacing_rate = Rate::from_mbps(100_000.0);
        let mut congestion = CongestionState::new(window, built(cca, choice));
        congestion.init();
        congestion.update_default_pacing_rate();
        Self { congestion, choice }
    }

    fn window(&mut self) -> &mut Window {
        &mut self.congestion.window
    }

    fn take(&mut self, after: Duration, step: Step) {
        self.window().now += after;
        match step {
            Step::Ack { .. } => self.ack(step),
            Step::Disorder => self.congestion.set_state(CaState::Disorder),
            Step::Reduction(state) => {
                self.reduce();
                self.congestion.set_state(state);
            }
            Step::Opened(cwnd) => self.open(cwnd),
            Step::TimeOut(in_flight) => {
                self.reduce();
                self.congestion.cwnd_event(Event::Loss);
                let w = self.window();
                w.cwnd = (in_flight + 1).min(w.cwnd_clamp);
                self.congestion.set_state(CaState::Loss);
            }
            Step::Undone(threshold) => self.congestion.undo(threshold, 1_000),
            Step::Idle => self.congestion.cwnd_event(Event::TxStart),
            Step::Restarted(cwnd) => {
                self.congestion.cwnd_event(Event::CwndRestart);
                let w = self.window();
                w.cwnd = w.cwnd.min(cwnd.max(1));
            }
            Step::Switched(which, mode) => {
                let pair = built(CCAS[which % CCAS.len()], self.choice);
                self.congestion.switch(pair, mode);
            }
        }
    }

    fn reduce(&mut self) {
        let w = self.window();
        w.cwnd_cnt = 0;
        w.prior_cwnd = w.cwnd;
        self.window().ssthresh = self.congestion.ssthresh();
    }

    fn open(&mut self, cwnd: u32) {
        if !self.congestion.owns_window() {
            let w = self.window();
            w.cwnd = cwnd.min(w.ssthresh).clamp(1, w.cwnd_clamp);
            self.congestion.cwnd_event(Event::CompleteCwr);
        }
        self.congestion.set_state(CaState::Open);
    }

    fn ack(&mut self, step: Step) {
        let Step::Ack {
            acked,
            sacked,
            lost,
            rtt,
            interval,
            limited,
            odd,
            timestamps,
        } = step
        else {
            return;
        };
        let w = self.window();
        let prior_inflight = w.inflight;
        let prior_delivered = w.delivered.saturating_sub(u64::from(w.cwnd));
        w.snd_una += u64::from(acked) * u64::from(MSS);
        w.packets_out = w.cwnd.min(2_000_000);
        w.sacked_out = sacked.min(w.packets_out);
        w.inflight = w.packets_out - w.sacked_out;
        w.snd_nxt = w.snd_una + u64::from(w.packets_out) * u64::from(MSS);
        w.delivered += u64::from(acked + sacked);
        w.lost += u64::from(lost);
        w.cwnd_limited = limited;
        w.app_limited = odd && !limited;
        w.timestamps = timestamps.into();
        if let Some(rtt) = rtt {
            w.srtt = if w.srtt.is_zero() {
                rtt
            } else {
                (w.srtt * 7 + rtt) / 8
            };
            w.min_rtt = w.min_rtt.min(rtt);
        }
        let delivered = (w.delivered - prior_delivered) as u32;
        let state = w.state;
        let in_flight = w.inflight;
        let app_limited = w.app_limited;
        self.congestion.pkts_acked(&AckSample {
            acked,
            rtt,
            in_flight,
        });
        self.congestion.in_ack_event(AckKind {
            slow_path: odd,
            ecn_echo: false,
        });
        let rate = RateSample {
            delivered: (!odd).then_some(delivered),
            interval,
            prior_delivered,
            app_limited,
            retransmitted: odd,
            lost,
            tx_in_flight: prior_inflight,
        };
        for nth in 0..lost {
            let seq = self.congestion.window.snd_una + u64::from(nth) * u64::from(MSS);
            self.congestion.on_lost(&Lost {
                seq,
                end: seq + u64::from(MSS),
                tx_in_flight: prior_inflight,
                lost: nth + 1,
                app_limited,
            });
        }
        let ack = Ack {
            acked,
            delivered: acked + sacked,
            lost,
            prior_inflight,
            rtt,
            rate,
            delayed: odd,
            ..Ack::default()
        };
        if self.congestion.owns_window() {
            self.congestion.cong_control(&ack);
        } else if !matches!(state, CaState::Cwr | CaState::Recovery) && acked > 0 {
            self.congestion.cong_avoid(acked + sacked);
        }
        self.congestion.update_default_pacing_rate();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// For any events, the window is between one segment and the clamp, and the pacing rate is within its
    /// bound. Overflows and divisions by zero would panic here.
    #[test]
    fn windows_and_rates_stay_within_their_bounds(
        history in proptest::collection::vec((times(), steps()), 1..150),
        clamp in prop_oneof![Just(u32::MAX), 1..100_u32, 1..1_000_000_u32],
        choice in any::<u64>(),
    ) {
        for cca in CCAS {
            let mut lab = Lab::new(cca, clamp, choice);
            for (nth, &(after, step)) in history.iter().enumerate() {
                lab.take(after, step);
                let w = lab.window();
                prop_assert!(
                    (1..=w.cwnd_clamp).contains(&w.cwnd) && w.cwnd_clamp <= clamp,
                    "{}: window {} of {} after step {nth}, {step:?}", cca.name, w.cwnd, w.cwnd_clamp
                );
                prop_assert!(
                    w.pacing_rate <= w.max_pacing_rate,
                    "{}: pacing at {} after step {nth}, {step:?}", cca.name, w.pacing_rate
                );
                prop_assert!(
                    w.ssthresh > 0,
                    "{}: a threshold of nothing after step {nth}, {step:?}", cca.name
                );
            }
        }
    }

    /// The same events give the same window: no CCA has a clock or a random source of its own.
    #[test]
    fn the_same_events_give_the_same_window(
        history in proptest::collection::vec((times(), steps()), 1..80),
        choice in any::<u64>(),
    ) {
        for cca in CCAS {
            let last = || {
                let mut lab = Lab::new(cca, u32::MAX, choice);
                for &(after, step) in &history {
                    lab.take(after, step);
                }
                let w = lab.window();
                (w.cwnd, w.ssthresh, w.pacing_rate)
            };
            prop_assert_eq!(last(), last(), "{}", cca.name);
        }
    }
}

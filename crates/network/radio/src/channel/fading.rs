//! Fast fading: a tapped delay line whose taps are sums of plane waves.

use std::sync::Arc;
use units::random::{Purpose, RngStream};
use units::{Decibel, Instant};

use super::hst::HighSpeedTrain;
use super::sinusoids::{Sinusoids, WAVES};
use super::{Doppler, Grid, ParameterError};
use crate::settings::Profile;

/// Number of PRB groups that are computed together: compilers vectorise that loop, and its arrays fit the stack.
const BLOCK: usize = 64;

/// Maximum number of taps of a profile.
const MAX_TAPS: usize = 9;

/// Maximum number of antennas of a receiver.
const MAX_ANTENNAS: usize = 8;

/// Radio link between one UE and one cell. Links fade independently.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LinkId {
    /// Index of the UE, below 2^20.
    pub ue: u32,
    /// Index of the cell, below 2^12.
    pub cell: u32,
}

impl LinkId {
    pub(crate) fn check(self) -> Result<(), ParameterError> {
        let last = f64::from((1_u32 << 20) - 1);
        ParameterError::range("number of a UE", f64::from(self.ue), 0.0, last)?;
        let last = f64::from((1_u32 << 12) - 1);
        ParameterError::range("number of a cell", f64::from(self.cell), 0.0, last)?;
        Ok(())
    }

    /// Returns the entity of the random stream of this link.
    fn entity(self) -> u32 {
        self.ue << 12 | self.cell
    }
}

/// Frequency of the direct path over time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum LineOfSight {
    /// Direct path at a constant angle: its shift is the maximum times `cosine` (-1 to 1).
    Steady {
        /// K factor of the first tap: direct over scattered power, in dB; infinite for no fading.
        k_db: f64,
        /// Cosine of the angle between movement and path.
        cosine: f64,
    },
    /// Direct path of a train: its shift swings as the train passes base stations.
    Train {
        /// K factor of the first tap: direct over scattered power, in dB; infinite for no fading,
        /// as in TS 36.101 B.3; 10 dB in the tunnel with a leaky cable of TS 25.104 table B.2A.
        k_db: f64,
        /// Movement of the train.
        train: HighSpeedTrain,
    },
}

impl LineOfSight {
    fn k_db(self) -> f64 {
        match self {
            Self::Steady { k_db, .. } | Self::Train { k_db, .. } => k_db,
        }
    }

    /// Returns the Doppler shift of the direct path in hertz; `max_doppler_hz` is the maximum.
    pub(crate) fn shift_hz(self, max_doppler_hz: f64, at: Instant) -> f64 {
        match self {
            Self::Steady { cosine, .. } => max_doppler_hz * cosine,
            Self::Train { train, .. } => train.shift_hz(at),
        }
    }

    /// Returns the phase of the direct path since the start of the run, in cycles.
    fn phase_cycles(self, max_doppler_hz: f64, at: Instant) -> f64 {
        match self {
            Self::Steady { cosine, .. } => {
                let cycles = max_doppler_hz * cosine * at.as_secs_f64();
                cycles - libm::floor(cycles)
            }
            Self::Train { train, .. } => train.phase_cycles(at),
        }
    }
}

/// Taps, Doppler shift and antennas of a fading channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct FadingConfig {
    /// Delays and powers of the taps.
    pub profile: Profile,
    /// Largest Doppler shift of the scattered waves, whose spectrum is the classical one.
    pub doppler: Doppler,
    /// A direct path in the first tap, if any: Rician instead of Rayleigh.
    pub line_of_sight: Option<LineOfSight>,
    /// Receive antennas with independent fading, combined for the highest ratio (MRC). Their powers add up, so two
    /// antennas also bring 3 dB of array gain. One antenna leaves the mean as it is.
    pub antennas: usize,
    /// Transmit diversity: two antennas with independent fading and Alamouti's code over pairs of subcarriers (IEEE
    /// J. Sel. Areas Commun. 16(8), 1998; TS 36.211 6.3.4.3). Each antenna has half the power, and the receiver gets
    /// the sum of both. The mean stays as it is, and fades get rarer.
    pub transmit_diversity: bool,
}

impl FadingConfig {
    /// Returns Rayleigh fading between one transmit and one receive antenna.
    pub fn new(profile: Profile, doppler: Doppler) -> Self {
        Self {
            profile,
            doppler,
            line_of_sight: None,
            antennas: 1,
            transmit_diversity: false,
        }
    }

    fn transmit_antennas(&self) -> usize {
        if self.transmit_diversity { 2 } else { 1 }
    }

    /// Returns the number of pairs of a receive and a transmit antenna.
    fn branches(&self) -> usize {
        self.antennas * self.transmit_antennas()
    }

    /// Returns the share of the whole power that is in the direct path.
    pub(crate) fn direct_share(&self) -> f64 {
        let first = self.profile.powers().next().unwrap_or(0.0);
        let scattered = |line: LineOfSight| 1.0 / (1.0 + Decibel::new(line.k_db()).to_linear());
        self.line_of_sight
            .map_or(0.0, |line| first * (1.0 - scattered(line)))
    }
}

/// Fading channel: power over the mean, by PRB group, as a function of time.
///
/// Each tap is a sum of plane waves from all directions. Their angles are drawn one in each of equal sectors, and
/// their phases are drawn freely (Xiao, Zheng and Beaulieu, "Novel sum-of-sinusoids simulation models for Rayleigh
/// and Rician fading channels", IEEE Trans. Wireless Comm. 5(12), 2006). Over all seeds the autocorrelation is J0(2π
/// f τ) with any number of waves. The frequencies of one draw are fixed, so the channel is known at every nanosecond
/// without steps.
#[derive(Clone, PartialEq, Debug)]
pub struct Fading {
    config: FadingConfig,
    /// Waves of the taps of the first branch, then of the next one.
    waves: Vec<Sinusoids>,
    tap_phases: Arc<TapPhases>,
    direct_amplitude: f32,
    /// Phase of the direct path of each branch, cycles.
    direct_phase: Vec<f64>,
}

/// Phase shifts that the delays of the taps cause over frequency. All links of a kind share them.
#[derive(PartialEq, Debug)]
struct TapPhases {
    taps: usize,
    groups: usize,
    /// Amplitude of one wave, with the phase that the delay of the tap causes at the frequency of the group: for each tap, for each
    /// group.
    re: Vec<f32>,
    im: Vec<f32>,
}

impl TapPhases {
    fn new(config: &FadingConfig, grid: &Grid) -> Self {
        let taps = config.profile.taps();
        let (mut re, mut im) = (Vec::new(), Vec::new());
        let direct = config.direct_share();
        let waves = (WAVES * config.transmit_antennas()) as f64;
        for (index, (tap, power)) in taps.iter().zip(config.profile.powers()).enumerate() {
            let scattered = if index == 0 { power - direct } else { power };
            let amplitude = libm::sqrt(scattered.max(0.0) / waves);
            for group in 0..grid.groups() {
                let cycles = -grid.offset_hz(group) * tap.delay_ns * 1e-9;
                let angle = core::f64::consts::TAU * (cycles - libm::floor(cycles));
                re.push((amplitude * libm::cos(angle)) as f32);
                im.push((amplitude * libm::sin(angle)) as f32);
            }
        }
        Self {
            taps: taps.len(),
            groups: grid.groups(),
            re,
            im,
        }
    }
}

impl Fading {
    /// Returns the channel of `link` in the run with `seed`, seen on `grid`.
    pub fn new(
        config: FadingConfig,
        grid: &Grid,
        seed: u64,
        link: LinkId,
    ) -> Result<Self, ParameterError> {
        let max = MAX_ANTENNAS as f64;
        ParameterError::range("receive antennas", config.antennas as f64, 1.0, max)?;
        link.check()?;
        let tap_phases = Arc::new(TapPhases::new(&config, grid));
        Ok(Self::draw(config, tap_phases, seed, link))
    }

    /// Returns a channel of the same kind for another link. The two share the phase shifts of the taps.
    pub fn of_link(&self, seed: u64, link: LinkId) -> Result<Self, ParameterError> {
        link.check()?;
        let tap_phases = Arc::clone(&self.tap_phases);
        Ok(Self::draw(self.config, tap_phases, seed, link))
    }

    fn draw(config: FadingConfig, tap_phases: Arc<TapPhases>, seed: u64, link: LinkId) -> Self {
        let mut stream = RngStream::new(seed, Purpose::Fading, link.entity());
        let max_doppler_hz = config.doppler.hz();
        let mut waves = Vec::with_capacity(config.branches() * tap_phases.taps);
        let mut direct_phase = Vec::with_capacity(config.branches());
        for _ in 0..config.branches() {
            direct_phase.push(stream.uniform());
            waves.extend((0..tap_phases.taps).map(|_| tap_waves(&mut stream, max_doppler_hz)));
        }
        let direct = config.direct_share() / config.transmit_antennas() as f64;
        Self {
            config,
            waves,
            tap_phases,
            direct_amplitude: libm::sqrt(direct) as f32,
            direct_phase,
        }
    }

    /// Returns the configuration.
    pub fn config(&self) -> &FadingConfig {
        &self.config
    }

    /// Writes the power of each PRB group over the mean of one antenna to `out`, which has one element per group.
    pub fn power(&self, at: Instant, out: &mut [f32]) {
        assert_eq!(
            out.len(),
            self.tap_phases.groups,
            "one element per PRB group"
        );
        out.fill(0.0);
        for branch in 0..self.config.branches() {
            let gains = self.tap_gains(branch, at);
            let (direct_re, direct_im) = self.direct(branch, at);
            for (block, out) in out.chunks_mut(BLOCK).enumerate() {
                let (mut re, mut im) = ([direct_re; BLOCK], [direct_im; BLOCK]);
                let (re, im) = (&mut re[..out.len()], &mut im[..out.len()]);
                for (tap, &(a, b)) in gains[..self.tap_phases.taps].iter().enumerate() {
                    let from = tap * self.tap_phases.groups + block * BLOCK;
                    let groups = from..from + out.len();
                    let (cos, sin) = (
                        &self.tap_phases.re[groups.clone()],
                        &self.tap_phases.im[groups],
                    );
                    add_products(re, a, cos, -b, sin);
                    add_products(im, a, sin, b, cos);
                }
                for ((out, re), im) in out.iter_mut().zip(re).zip(im) {
                    *out += *re * *re + *im * *im;
                }
            }
        }
    }

    /// Returns the complex amplitude of one PRB group on one branch (both counted from zero) at one receive antenna.
    /// Under transmit diversity each antenna has two branches in a row.
    pub fn amplitude(&self, at: Instant, branch: usize, group: usize) -> (f32, f32) {
        let (mut re, mut im) = self.direct(branch, at);
        let gains = self.tap_gains(branch, at);
        for (tap, &(a, b)) in gains[..self.tap_phases.taps].iter().enumerate() {
            let (cos, sin) = (
                self.tap_phases.re[tap * self.tap_phases.groups + group],
                self.tap_phases.im[tap * self.tap_phases.groups + group],
            );
            re += a * cos - b * sin;
            im += a * sin + b * cos;
        }
        (re, im)
    }

    /// Returns the complex gain of each tap.
    fn tap_gains(&self, branch: usize, at: Instant) -> [(f32, f32); MAX_TAPS] {
        let mut gains = [(0.0, 0.0); MAX_TAPS];
        let waves = &self.waves[branch * self.tap_phases.taps..][..self.tap_phases.taps];
        for (gain, waves) in gains.iter_mut().zip(waves) {
            *gain = waves.sum(at.as_nanos());
        }
        gains
    }

    /// Returns the complex amplitude of the direct path. It arrives first, so its phase is the same at all frequencies.
    fn direct(&self, branch: usize, at: Instant) -> (f32, f32) {
        let Some(line) = self.config.line_of_sight else {
            return (0.0, 0.0);
        };
        let cycles = line.phase_cycles(self.config.doppler.hz(), at) + self.direct_phase[branch];
        let angle = core::f64::consts::TAU * cycles;
        (
            self.direct_amplitude * libm::cos(angle) as f32,
            self.direct_amplitude * libm::sin(angle) as f32,
        )
    }
}

/// Adds `a * x + b * y` to each sum.
fn add_products(sums: &mut [f32], a: f32, x: &[f32], b: f32, y: &[f32]) {
    for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
        *sum += a * x + b * y;
    }
}

/// Returns the waves of one tap. Their angles are (2πn + θ)/N, with θ uniform in ±π.
fn tap_waves(stream: &mut RngStream, max_doppler_hz: f64) -> Sinusoids {
    let mut waves = [(0.0, 0.0); WAVES];
    for (n, wave) in waves.iter_mut().enumerate() {
        let sector = (n as f64 + stream.uniform() - 0.5) / WAVES as f64;
        let cosine = libm::cos(core::f64::consts::TAU * sector);
        *wave = (max_doppler_hz * cosine, stream.uniform());
    }
    Sinusoids::new(waves)
}

//! Fading channels against the theory of Clarke and Jakes (Jakes, "Microwave mobile communications",
//! 1974, ch. 1) and against the profiles of TS 36.101 B.2.

use radio::channel::{Doppler, Fading, FadingConfig, Grid, LineOfSight, LinkId, ParameterError};
use radio::settings::Profile;
use units::Instant;

const LINK: LinkId = LinkId { ue: 3, cell: 1 };

fn rayleigh(profile: Profile, hz: f64) -> FadingConfig {
    FadingConfig::new(profile, Doppler::Hertz(hz))
}

fn channel(config: FadingConfig, grid: &Grid, seed: u64) -> Fading {
    Fading::new(config, grid, seed, LINK).unwrap()
}

fn one_prb() -> Grid {
    Grid::lte(1, 1).unwrap()
}

fn at(seconds: f64) -> Instant {
    Instant::from_nanos((seconds * 1e9) as u64)
}

fn power((re, im): (f32, f32)) -> f64 {
    f64::from(re) * f64::from(re) + f64::from(im) * f64::from(im)
}

/// Returns the mean over `seeds` draws of a channel.
fn mean_over(seeds: u32, mut of: impl FnMut(u64) -> f64) -> f64 {
    (0..seeds).map(|seed| of(u64::from(seed))).sum::<f64>() / f64::from(seeds)
}

/// Jakes: the correlation of the complex amplitude over a time τ is J0(2π f τ).
#[test]
fn autocorrelation_over_time_is_a_bessel_function() {
    let (hz, grid, start) = (294.3, one_prb(), 12.345);
    for angle in [0.0, 0.5, 1.0, 2.404_826, 3.831_7, 7.0, 20.0] {
        let tau = angle / (core::f64::consts::TAU * hz);
        let product = |seed| {
            let fading = channel(rayleigh(Profile::Flat, hz), &grid, seed);
            let (a, b) = fading.amplitude(at(start), 0, 0);
            let (c, d) = fading.amplitude(at(start + tau), 0, 0);
            f64::from(a * c + b * d)
        };
        let result = mean_over(4_000, product);
        let expected = libm::j0(angle);
        assert!(
            (result - expected).abs() < 0.04,
            "{angle}: {result} for {expected}"
        );
    }
}

/// Jakes: the envelope rises through R = ρ·rms N = sqrt(2π) f ρ exp(-ρ²) times per second, and each
/// fade below it lasts (exp(ρ²) - 1)/(ρ f sqrt(2π)) on average.
#[test]
#[ignore = "slow, make test-all"]
fn level_crossings_and_fade_durations_are_those_of_a_rayleigh_channel() {
    let (hz, grid) = (100.0, one_prb());
    let (seeds, seconds, step) = (60_u32, 10.0, 1e-4);
    let steps = (seconds / step) as u32;
    let levels = [0.1, 0.3, 1.0, 1.5];
    let (mut crossings, mut below) = ([0_u32; 4], [0_u32; 4]);
    for seed in 0..seeds {
        let fading = channel(rayleigh(Profile::Flat, hz), &grid, u64::from(seed));
        let mut last = power(fading.amplitude(at(0.0), 0, 0)).sqrt();
        for index in 1..steps {
            let now = power(fading.amplitude(at(f64::from(index) * step), 0, 0)).sqrt();
            for (level, &rho) in levels.iter().enumerate() {
                crossings[level] += u32::from(last < rho && now >= rho);
                below[level] += u32::from(now < rho);
            }
            last = now;
        }
    }
    let whole = f64::from(seeds) * seconds;
    for (level, &rho) in levels.iter().enumerate() {
        let root = core::f64::consts::TAU.sqrt();
        let rate = f64::from(crossings[level]) / whole;
        let expected = root * hz * rho * (-rho * rho).exp();
        assert!(
            (rate / expected - 1.0).abs() < 0.1,
            "{rho}: {rate}/s for {expected}"
        );
        let duration = f64::from(below[level]) * step / f64::from(crossings[level]);
        let expected = ((rho * rho).exp() - 1.0) / (rho * hz * root);
        assert!(
            (duration / expected - 1.0).abs() < 0.1,
            "{rho}: {duration} s for {expected}"
        );
    }
}

/// The power of a Rayleigh channel is exponential: P(power < x) = 1 - exp(-x), in every PRB.
#[test]
fn envelopes_are_rayleigh_on_each_profile() {
    let grid = Grid::lte(100, 4).unwrap();
    let seeds = 20_000;
    for profile in [Profile::Flat, Profile::Epa, Profile::Eva, Profile::Etu] {
        let mut out = vec![0.0; grid.groups()];
        let mut powers = Vec::new();
        for seed in 0..seeds {
            channel(rayleigh(profile, 70.0), &grid, seed).power(at(3.0), &mut out);
            powers.push(f64::from(out[7]));
        }
        let mean = powers.iter().sum::<f64>() / seeds as f64;
        assert!((mean - 1.0).abs() < 0.03, "{profile:?}: mean {mean}");
        for below in [0.01, 0.1, 0.5, 1.0, 2.0, 3.0] {
            let result = powers.iter().filter(|&&p| p < below).count() as f64 / seeds as f64;
            let expected = 1.0 - (-below).exp();
            let error = 4.0 * (expected * (1.0 - expected) / seeds as f64).sqrt() + 0.005;
            assert!(
                (result - expected).abs() < error,
                "{profile:?} below {below}: {result} for {expected}"
            );
        }
    }
}

/// The correlation over frequency is the Fourier transform of the delay profile. The bandwidth over which it falls to
/// one half agrees with that for each profile.
#[test]
#[ignore = "slow, make test-all"]
fn coherence_bandwidth_follows_the_delay_profile() {
    let grid = Grid::lte(100, 1).unwrap();
    let transform = |profile: Profile, hz: f64| {
        let (mut re, mut im) = (0.0, 0.0);
        for (tap, power) in profile.taps().iter().zip(profile.powers()) {
            let angle = core::f64::consts::TAU * hz * tap.delay_ns * 1e-9;
            re += power * angle.cos();
            im += power * angle.sin();
        }
        (re, im)
    };
    let mut coherent = Vec::new();
    for profile in [Profile::Epa, Profile::Eva, Profile::Etu] {
        let seeds = 4_000_u32;
        let mut sums = vec![(0.0, 0.0); 60];
        for seed in 0..seeds {
            let fading = channel(rayleigh(profile, 70.0), &grid, u64::from(seed));
            let (a, b) = fading.amplitude(at(1.0), 0, 20);
            for (apart, sum) in sums.iter_mut().enumerate() {
                let (c, d) = fading.amplitude(at(1.0), 0, 20 + apart);
                sum.0 += f64::from(a * c + b * d) / f64::from(seeds);
                sum.1 += f64::from(b * c - a * d) / f64::from(seeds);
            }
        }
        for (apart, sum) in sums.iter().enumerate() {
            let expected = transform(profile, apart as f64 * 180e3);
            let off = (sum.0 - expected.0).hypot(sum.1 - expected.1);
            assert!(
                off < 0.1,
                "{profile:?}, {apart} PRBs: {sum:?} for {expected:?}"
            );
        }
        coherent.push(
            sums.iter()
                .position(|sum| sum.0.hypot(sum.1) < 0.9 * sums[0].0),
        );
    }
    // In PRBs of 180 kHz, by the transform: 11, 2 and 1.
    let [epa, eva, etu] = coherent[..] else {
        panic!("three profiles")
    };
    assert!(epa.is_some_and(|prbs| (10..=12).contains(&prbs)), "{epa:?}");
    assert_eq!((eva, etu), (Some(2), Some(1)));
}

/// Rician fading: power 1 on average with the variance (1 + 2K)/(1 + K)²; none without scattering.
#[test]
fn a_direct_path_makes_fading_rician() {
    let grid = one_prb();
    let with = |k_db| FadingConfig {
        line_of_sight: Some(LineOfSight::Steady { k_db, cosine: 0.7 }),
        ..rayleigh(Profile::Flat, 70.0)
    };
    let k = 10_f64.powf(0.6);
    let sample = |seed| power(channel(with(6.0), &grid, seed).amplitude(at(2.0), 0, 0));
    let mean = mean_over(20_000, sample);
    let variance = mean_over(20_000, |seed| (sample(seed) - mean).powi(2));
    let expected = (1.0 + 2.0 * k) / ((1.0 + k) * (1.0 + k));
    assert!((mean - 1.0).abs() < 0.02, "{mean}");
    assert!(
        (variance / expected - 1.0).abs() < 0.05,
        "{variance} for {expected}"
    );

    let steady = channel(with(f64::INFINITY), &grid, 1);
    for second in 0..50 {
        let result = power(steady.amplitude(at(f64::from(second) * 0.37), 0, 0));
        assert!((result - 1.0).abs() < 1e-6, "{result}");
    }
}

/// Maximum-ratio combining of two antennas gives twice the power. It is gamma- instead of exponentially distributed,
/// with half the relative variance: 2 in all, less a sixteenth because there are sixteen waves.
#[test]
fn a_second_antenna_adds_power_and_diversity() {
    let grid = one_prb();
    let config = FadingConfig {
        antennas: 2,
        ..rayleigh(Profile::Flat, 70.0)
    };
    let sample = |seed| {
        let mut out = [0.0];
        channel(config, &grid, seed).power(at(2.0), &mut out);
        f64::from(out[0])
    };
    let mean = mean_over(10_000, sample);
    let variance = mean_over(10_000, |seed| (sample(seed) - mean).powi(2));
    assert!((mean - 2.0).abs() < 0.06, "{mean}");
    assert!((variance - 1.875).abs() < 0.15, "{variance}");
}

/// Alamouti's code over two transmit antennas: the mean stays, the relative variance is half of that of
/// the receive antennas alone.
#[test]
fn transmit_diversity_keeps_the_mean_and_halves_the_variance() {
    let grid = one_prb();
    for (antennas, mean_power) in [(1, 1.0), (2, 2.0)] {
        let config = FadingConfig {
            antennas,
            transmit_diversity: true,
            ..rayleigh(Profile::Flat, 70.0)
        };
        let sample = |seed| {
            let mut out = [0.0];
            channel(config, &grid, seed).power(at(2.0), &mut out);
            f64::from(out[0])
        };
        let mean = mean_over(10_000, sample);
        let variance = mean_over(10_000, |seed| (sample(seed) - mean).powi(2));
        assert!((mean - mean_power).abs() < 0.04, "{antennas}: {mean}");
        // 2 · antennas branches with a quarter of the variance of one antenna each.
        let expected = 0.9375 / 4.0 * 2.0 * mean_power;
        assert!((variance - expected).abs() < 0.06, "{antennas}: {variance}");
    }
}

/// A direct path comes from both antennas, with half the power each.
#[test]
fn transmit_diversity_leaves_a_direct_path_as_strong_as_it_is() {
    let config = FadingConfig {
        line_of_sight: Some(LineOfSight::Steady {
            k_db: f64::INFINITY,
            cosine: 0.5,
        }),
        transmit_diversity: true,
        ..rayleigh(Profile::Flat, 70.0)
    };
    let mut out = [0.0];
    channel(config, &one_prb(), 3).power(at(1.7), &mut out);
    assert!((out[0] - 1.0).abs() < 1e-6, "{}", out[0]);
}

/// Links, seeds and antennas are independent. The same query always has the same result, in any order and resolution.
#[test]
fn a_channel_is_a_function_of_seed_link_and_time() {
    let config = rayleigh(Profile::Eva, 147.0);
    let (fine, coarse) = (Grid::lte(100, 1).unwrap(), Grid::lte(100, 4).unwrap());
    let first = channel(config, &coarse, 7);
    let mut forward = vec![0.0; 25];
    let mut history = Vec::new();
    for ms in 0..200 {
        first.power(at(f64::from(ms) * 1e-3), &mut forward);
        history.push(forward.clone());
    }
    let again = channel(config, &coarse, 0).of_link(7, LINK).unwrap();
    for ms in (0..200).rev() {
        again.power(at(f64::from(ms) * 1e-3), &mut forward);
        assert_eq!(forward, history[ms as usize]);
    }
    let other = Fading::new(config, &coarse, 7, LinkId { ue: 3, cell: 2 }).unwrap();
    other.power(at(0.0), &mut forward);
    assert_ne!(forward, history[0]);

    // The middle of the PRBs 48 to 51 is the edge between 49 and 50: the fine grid is close to it.
    let mut all = vec![0.0; 100];
    channel(config, &fine, 7).power(at(0.0), &mut all);
    let between = (all[49] + all[50]) / 2.0;
    assert!(
        (between - history[0][12]).abs() < 0.05,
        "{between}, {}",
        history[0][12]
    );
}

/// Hash of the bits of a channel, which shows a machine or compiler that rounds differently.
#[test]
fn the_channel_has_the_same_bits_everywhere() {
    let grid = Grid::lte(100, 4).unwrap();
    let fading = channel(rayleigh(Profile::Etu, 300.0), &grid, 42);
    let mut out = vec![0.0; 25];
    // FNV-1a over the bits.
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for ms in 0..1_000 {
        fading.power(Instant::from_nanos(ms * 1_000_000), &mut out);
        for value in &out {
            for byte in value.to_bits().to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            }
        }
    }
    assert_eq!(hash, 0xe1e8_f906_aaa4_7a02, "{hash:#x}");
}

#[test]
fn impossible_channels_are_rejected() {
    let none = FadingConfig {
        antennas: 0,
        ..rayleigh(Profile::Eva, 5.0)
    };
    let error: ParameterError = Fading::new(none, &one_prb(), 1, LINK).unwrap_err();
    assert_eq!(
        error.to_string(),
        "receive antennas = 0 must be from 1 to 8"
    );
}

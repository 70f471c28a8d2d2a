//! Effect of speed alone on the SINR at a mean of 20 dB: EVA at 60 and 120 km/h, and a train at 300.

use radio::channel::{
    Doppler, FadedSinr, Fading, FadingConfig, Grid, HighSpeedTrain, LineOfSight, LinkId, Receiver,
    SinrTrace,
};
use radio::settings::{Estimation, Frequency, Profile, Speed, Tracking, Train};
use units::Instant;

fn receiver(estimation: Estimation) -> Receiver {
    Receiver {
        tracking: Tracking::Ideal,
        estimation,
    }
}

/// Returns the mean of the wideband SINR and of its change within 5 ms, in dB, over both passages of the train and
/// several draws. The wideband SINR is the one at which Shannon's formula gives the mean of the PRB groups, with at
/// most the 6 bit of 64QAM.
fn wideband(config: FadingConfig, receiver: Receiver) -> (f64, f64) {
    let grid = Grid::lte(100, 4).unwrap();
    let (mut sum, mut steps, mut count) = (0.0, 0.0, 0.0);
    for seed in 0..10 {
        let fading = Fading::new(config, &grid, seed, LinkId { ue: 0, cell: 0 }).unwrap();
        let mean = SinrTrace::new(vec![(Instant::ZERO, 20.0)]).unwrap();
        let link = FadedSinr::new(mean, fading, receiver, &grid);
        let mut out = vec![0.0; grid.groups()];
        let mut last = None;
        for ms in (0..7_200).step_by(5) {
            link.sinr_db(Instant::from_nanos(ms * 1_000_000), &mut out);
            let bits = |db: &f32| (1.0 + 10_f64.powf(f64::from(*db) / 10.0)).log2().min(6.0);
            let bits = out.iter().map(bits).sum::<f64>() / out.len() as f64;
            let now = 10.0 * (bits.exp2() - 1.0).log10();
            steps += (now - last.replace(now).unwrap_or(now)).abs();
            sum += now;
            count += 1.0;
        }
    }
    (sum / count, steps / count)
}

fn eva(km_per_h: f64) -> FadingConfig {
    let speed = Speed::from_metres_per_second(km_per_h / 3.6);
    let carrier = Frequency::from_hertz(2650.0 * 1e6);
    FadingConfig::new(Profile::Eva, Doppler::Moving(speed, carrier))
}

fn train(k_db: f64) -> FadingConfig {
    FadingConfig {
        line_of_sight: Some(LineOfSight::Train {
            k_db,
            train: HighSpeedTrain::new(
                &Train::default(),
                Speed::from_metres_per_second(300.0 / 3.6),
                Doppler::Hertz(750.0),
            ),
        }),
        ..FadingConfig::new(Profile::Flat, Doppler::Hertz(750.0))
    }
}

/// With the dense reference symbols of LTE, the train's flat Rician tap lowers the SINR and makes it vary: a fade hits
/// all PRBs at once.
#[test]
fn a_flat_rician_train_is_low_and_jumps() {
    let lte = receiver(Estimation::Lte);
    let [slow, fast, train] = [eva(60.0), eva(120.0), train(3.0)].map(|c| wideband(c, lte));
    assert!(slow.0 > fast.0, "{slow:?}, {fast:?}");
    assert!(fast.0 > train.0 + 0.5, "{fast:?}, {train:?}");
    assert!(train.1 > 1.5 * slow.1, "{slow:?}, {train:?}");
}

/// With one channel estimate per slot, the SINR falls with speed: a little at 120 km/h, by most of it at 300.
#[test]
fn sparse_channel_estimates_make_speed_costly() {
    let slot = receiver(Estimation::LteSlot);
    let [slow, fast, train] = [eva(60.0), eva(120.0), train(3.0)].map(|c| wideband(c, slot));
    assert!(slow.0 > fast.0 + 0.2, "{slow:?}, {fast:?}");
    assert!(fast.0 > train.0 + 5.0, "{fast:?}, {train:?}");
}

/// The noise of scattered waves does not fade with the signal. Where it limits the SINR, the flat tap of a train
/// still fades, and more than EVA, whose other PRBs make up for a fade.
#[test]
fn the_noise_of_speed_does_not_fade_with_the_signal() {
    let slot = receiver(Estimation::LteSlot);
    let [fast, train] = [eva(120.0), train(2.0)].map(|c| wideband(c, slot));
    assert!(train.1 > 1.5 * fast.1, "{fast:?}, {train:?}");
}

/// The single tap of TS 36.101 B.3 does not fade. A receiver that tracks the Doppler shift keeps its 20 dB (18 dB at the
/// cap of 6 bit); a receiver that does not track it loses SINR.
#[test]
fn the_profile_of_3gpp_is_steady_for_a_receiver_that_follows() {
    let slot = receiver(Estimation::LteSlot);
    let (mean, step) = wideband(train(f64::INFINITY), slot);
    let six_bit = 10.0 * 63_f64.log10();
    assert!(
        (mean - six_bit).abs() < 1e-3 && step < 1e-3,
        "{mean}, {step}"
    );
    let lost = Receiver {
        tracking: Tracking::Fixed,
        ..slot
    };
    let (mean, _) = wideband(train(f64::INFINITY), lost);
    assert!(mean < 10.0, "{mean}");
}

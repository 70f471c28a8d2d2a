//! Radio access network with one user in one cell.

use radio::channel::{Doppler, FadedSinr, FadingConfig, SinrTrace};
use radio::ran::{Channel, ConnectionEvent, Direction, User};
use radio::settings::{ControlErrors, Frequency, Profile, Speed};
use units::{Decibel, Duration, Instant};

use crate::ran::lab::{Lab, faded, lte, ms, steady};

/// A saturated user gets the transport block that link adaptation chooses in every TTI, less errors of
/// one in ten at the most and headers.
#[test]
fn a_saturated_user_gets_what_the_tables_say() {
    for (sinr_db, low, high) in [
        (0.0, 7.5, 9.3),
        (10.0, 33.0, 40.0),
        (20.0, 66.0, 75.4),
        (30.0, 70.0, 75.4),
    ] {
        let mut lab = Lab::new(lte(100, vec![steady(sinr_db)]));
        lab.saturate(ms(2_000), 0, Direction::Down);
        let result = lab.mbps(0, false, 2.0);
        let capacity = lab
            .ran
            .capacity(0, Direction::Down, Instant::ZERO, ms(2_000));
        let capacity = capacity.get() as f64 * 8e-6 / 2.0;
        println!("{sinr_db} dB: {result:.1} Mbit/s of {capacity:.1}");
        assert!((low..high).contains(&result), "{sinr_db} dB: {result}");
        assert!(
            (result / capacity - 1.0).abs() < 0.05,
            "{result} of {capacity}"
        );
    }
}

/// TR 36.912 annex B.2: 4 ms one way if nothing waits. A TTI begins in the same moment here.
#[test]
fn a_packet_that_finds_the_cell_idle_takes_four_milliseconds_down() {
    let mut lab = Lab::new(lte(100, vec![steady(30.0)]));
    lab.run(ms(50));
    assert!(lab.send(ms(50), 0, Direction::Down, 1500));
    lab.run(ms(80));
    assert_eq!(lab.arrived, [(0, Duration::from_millis(4))]);
}

/// Up, a scheduling request waits for its opportunity (up to 10 ms), the grant for 4 ms, the data for 4
/// more, decoding for another 4.
#[test]
fn a_packet_up_waits_for_a_request_and_a_grant() {
    let mut lab = Lab::new(lte(100, vec![steady(30.0)]));
    lab.run(ms(53));
    assert!(lab.send(ms(53), 0, Direction::Up, 52));
    lab.run(ms(120));
    assert_eq!(lab.arrived, [(0, Duration::from_millis(7 + 4 + 4 + 4))]);
}

#[test]
fn an_uplink_alone_is_filled_too() {
    let mut lab = Lab::new(lte(100, vec![steady(30.0)]));
    lab.saturate(ms(2_000), 0, Direction::Up);
    let result = lab.mbps(0, true, 2.0);
    println!("{result:.1} Mbit/s up");
    assert!(result > 35.0, "{result}");
}

pub fn eva(km_per_h: f64) -> FadingConfig {
    let speed = Speed::from_metres_per_second(km_per_h / 3.6);
    let carrier = Frequency::from_hertz(2650.0 * 1e6);
    FadingConfig::new(Profile::Eva, Doppler::Moving(speed, carrier))
}

/// Fading costs capacity and brings errors, but acknowledged mode loses nothing and keeps the order.
#[test]
fn acknowledged_mode_delivers_everything_in_order_through_fading() {
    let mut config = lte(100, vec![]);
    config.users = vec![faded(&config, 0, 12.0, eva(60.0), 7)];
    let mut lab = Lab::new(config);
    lab.saturate(ms(5_000), 0, Direction::Down);
    println!("EVA60 at 12 dB: {:.1} Mbit/s", lab.mbps(0, false, 5.0));
    lab.run(ms(6_000));
    assert!(lab.lost.is_empty());
    assert!(lab.sent.is_empty(), "{} still on their way", lab.sent.len());
    assert!(lab.arrived.windows(2).all(|pair| pair[0].0 < pair[1].0));
    let repeated = lab.log.iter().filter_map(|record| record.block);
    let repeated = repeated.filter(|block| block.attempt > 1).count();
    assert!(repeated > 50, "{repeated}");
}

/// The size of an assignment follows the reported channel. At speed, a fade comes between report and use, and the user
/// misses the assignment, whatever the scheme of the block (here 20 dB safer than reported). Acknowledged mode still
/// delivers everything.
#[test]
fn a_fast_user_misses_assignments() {
    let failed = [None, Some(ControlErrors::default())].map(|errors| {
        let mut config = lte(100, vec![]);
        config.radio.downlink.control_errors = errors;
        config.radio.downlink.margin = Decibel::new(20.0);
        let flat = FadingConfig {
            profile: Profile::Flat,
            ..eva(120.0)
        };
        config.users = vec![faded(&config, 0, 5.0, flat, 7)];
        let mut lab = Lab::new(config);
        lab.saturate(ms(3_000), 0, Direction::Down);
        lab.run(ms(6_000));
        assert!(lab.lost.is_empty() && lab.sent.is_empty());
        let blocks = lab.log.iter().filter_map(|record| record.block);
        let first: Vec<_> = blocks.filter(|block| block.attempt == 1).collect();
        let failed = first.iter().filter(|block| !block.decoded).count();
        failed as f64 / first.len() as f64
    });
    assert!(failed[1] > failed[0] + 0.01, "{failed:?}");
}

/// With one control symbol on 10 MHz, an assignment at 0 dB takes all eight elements of a subframe. The uplink still has
/// its turn: a packet waits for its grant as long as for its request, not for the end of the downlink.
#[test]
fn a_busy_downlink_leaves_grants_to_the_uplink() {
    let mut lab = Lab::new(lte(50, vec![steady(0.0)]));
    let (mut sent, until) = (0, ms(2_000));
    while lab.ran.next_event() < until {
        lab.fill(0, Direction::Down, 100);
        let now = lab.ran.next_event();
        if now >= ms(20 * sent) {
            sent += 1;
            assert!(lab.send(now, 0, Direction::Up, 52));
        }
        lab.tick();
    }
    let up = lab.delivered_bytes.get(&(0, true)).copied().unwrap_or(0) / 52;
    let down = lab.mbps(0, false, 2.0);
    println!("{up} of {sent} packets up, {down:.1} Mbit/s down");
    assert!(up + 3 >= sent, "{up} of {sent}");
    assert!(down > 3.0, "{down}");
}

/// A user whose SINR is given measures no cells. After a failure of the link it comes back to the cell that it knows.
#[test]
fn a_user_without_measurements_comes_back_after_a_failure() {
    let steps = [(0, 15.0), (1_000, -20.0), (4_000, 15.0)];
    let steps = steps.map(|(at, sinr_db)| (ms(at), sinr_db));
    let trace = SinrTrace::new(steps.to_vec()).unwrap();
    let user = User {
        channel: Channel::Traced(Box::new(FadedSinr::unfaded(trace))),
        ..steady(0.0)
    };
    let mut lab = Lab::new(lte(50, vec![user]));
    let mut events = Vec::new();
    while lab.ran.next_event() < ms(8_000) {
        lab.fill(0, Direction::Down, 100);
        lab.tick();
        events.extend(lab.outcome.events.drain(..).map(|(_, event)| event));
    }
    assert!(
        matches!(
            events[..],
            [
                ConnectionEvent::Failure { cell: 0, .. },
                ConnectionEvent::Recovered { cell: 0, .. }
            ]
        ),
        "{events:?}"
    );
    let late = lab.log.iter().filter_map(|record| record.block).count();
    assert!(late > 3_000, "{late} blocks");
}

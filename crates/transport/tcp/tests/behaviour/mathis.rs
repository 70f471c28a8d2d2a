//! NewReno under random loss compared with the square-root law of Mathis et al. ("The macroscopic behavior of
//! the TCP congestion avoidance algorithm", CCR 27(3), 1997): rate = MSS/RTT · C/√p.
//!
//! Linux counts acknowledged segments, not ACKs (RFC 3465), so its window grows by one segment per round trip
//! also with delayed ACKs. C = √1.5 therefore holds with and without delayed ACKs, and the √0.75 of the paper
//! for delayed ACKs does not apply.

use cca::cca_by_name;
use tcp::{Tcp, TcpConfig, WindowScale};
use units::random::{Purpose, RngStream};
use units::{Bytes, Duration, Rate};

use crate::pipe::Pipe;

/// Returns the mean window over the runs, in segments per RTT, on a link that never limits, after the effect
/// of the first slow start has faded.
fn window(p: f64, delayed_ack: bool) -> f64 {
    let (rtt, from, to, runs) = (0.04, 40, 240, 4_u64);
    let mut total = 0.0;
    for seed in 0..runs {
        let cca = || cca_by_name("reno").expect("a CCA of ours");
        let settings = Tcp {
            delayed_ack,
            receive_buffer_max: Bytes::new(128 << 20),
            window_scale: WindowScale::Fixed(12),
            send_buffer_max: Bytes::new(64 << 20),
            ..Tcp::default()
        };
        let config = TcpConfig {
            receive_buffer_initial: 128 << 20,
            ..settings.into()
        };
        let mut pipe = Pipe::new(config, cca(), cca(), u64::MAX / 2);
        pipe.rate = Rate::from_mbps(5000.0);
        pipe.queue = Bytes::new(1 << 40);
        pipe.one_way = Duration::from_millis(20);
        let loss = RngStream::new(seed, Purpose::Loss, 0);
        pipe.drop = Box::new(move |n, _, _| (loss.at(n) as f64) < p * u64::MAX as f64);
        pipe.run(Duration::from_secs(from));
        let before = pipe.client.received();
        pipe.run(Duration::from_secs(to));
        let bytes = (pipe.client.received() - before) as f64;
        total += bytes / 1448.0 * rtt / (to - from) as f64;
    }
    total / runs as f64
}

#[test]
#[ignore = "slow, make test-all"]
fn newreno_follows_the_square_root_law() {
    for p in [1e-4, 1e-3, 1e-2] {
        for delayed_ack in [false, true] {
            let (result, law) = (window(p, delayed_ack), f64::sqrt(1.5 / p));
            println!("p {p}, delayed ACK {delayed_ack}: {result:.1} segments, law {law:.1}");
            assert!(
                (result / law - 1.0).abs() < 0.25,
                "p {p}: {result:.1} for {law:.1}"
            );
        }
    }
}

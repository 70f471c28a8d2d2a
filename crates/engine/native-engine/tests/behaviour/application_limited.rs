//! Applications that send less than the window allows, and connections that live for months.

use cca::CCAS;
use results::Tables;

use crate::library::{run, scenario};

/// Segments of 10 Mbit/s times 40 ms, and of 10 kB.
const BDP: u32 = 35;
const BURST: u32 = 7;

fn widest(tables: &Tables) -> u32 {
    tables.slots.cwnd.iter().copied().max().unwrap_or_default()
}

/// An application that writes 10 kB every 100 ms over a path that carries them in 8 ms: no window outgrows two
/// bandwidth-delay products and two bursts. Vegas's does, here as in Linux: its slow start does not ask whether the window
/// is in use (`tcp_vegas_cong_avoid`).
#[test]
fn windows_do_not_outgrow_what_an_application_sends() {
    for cca in CCAS.iter().filter(|cca| cca.name != "vegas") {
        let flow = format!(
            "flows=[{{ cca = '{}', opens = 'from', workload = {{ kind = 'frames', size = '10kB', interval = '100ms' }} }}]",
            cca.name
        );
        let changes = [
            "duration=30s",
            "path.rtt=40ms",
            "path.down.rate=10Mbit/s",
            "path.buffer=1000packets",
            flow.as_str(),
        ];
        let widest = widest(&run(&scenario("steady-20-68", &changes), 1));
        assert!(widest <= 2 * BDP + 2 * BURST, "{}: {widest}", cca.name);
    }
}

/// A connection sends 2 Mbit/s on a path of 20 Mbit/s for 45 s after a loss, then has more to send. RFC 9438 §5.8 excludes
/// application-limited time from CUBIC's curve, so that the window grows from its last value. Linux excludes idle time
/// only: its window grows by some 80 segments a round trip.
#[test]
fn cubic_can_exclude_application_limited_time() {
    let after_the_pause = |cca: &str| {
        let flow = format!(
            "flows=[{{ cca = {cca}, opens = 'from', workload = {{ kind = 'frames', size = '6.25kB', interval = '25ms', \
             beside = [{{ size = '22MB', interval = '55s' }}] }} }}]"
        );
        let changes = [
            "duration=64s",
            "path.rtt=100ms",
            "path.down.rate=20Mbit/s",
            "path.buffer=3bdp",
            "tcp.pacing=true",
            flow.as_str(),
        ];
        let tables = run(&scenario("steady-20-68", &changes), 1);
        let later = tables.slots.t_s.partition_point(|t| *t < 40.0);
        let windows = &tables.slots.cwnd[later..];
        // Three round trips.
        let steps = windows.windows(4).map(|w| w[3].saturating_sub(w[0]));
        let lost: u64 = tables.flows.retransmissions.iter().sum();
        (steps.max().expect("there are slots"), lost)
    };
    let (step, lost) = after_the_pause("'cubic'");
    let (compliant_step, compliant_lost) =
        after_the_pause("{ name = 'cubic', excluded = 'application-limited' }");
    assert!(step > 60 && compliant_step < 30, "{step} {compliant_step}");
    assert!(compliant_lost < lost / 3, "{compliant_lost} of {lost}");
}

/// Requests and responses on one connection, one an hour for 70 days, with losses. The timestamp clock wraps in that time;
/// response times of the last 20 days are like those of the first.
#[test]
fn response_times_do_not_change_in_70_days() {
    let flow = "flows=[{ workload = { kind = 'request-response', request = '100B', response = '3000B', gap = '3600s' } }]";
    let changes = [
        "duration=6048000s",
        "slot=3600s",
        "samples=off",
        "path.loss=0.04",
        "path.uplink_loss=0.04",
        flow,
    ];
    let tables = run(&scenario("steady-5-68", &changes), 3);
    let events = tables.events.t_ns.iter().zip(&tables.events.kind);
    let answers: Vec<(u64, f64)> = events
        .zip(&tables.events.detail)
        .filter(|((_, kind), _)| *kind == "response_s")
        .map(|((t, _), detail)| (*t / 86_400_000_000_000, detail.parse().expect("seconds")))
        .collect();
    let days = |first: u64| {
        let of: Vec<f64> = answers
            .iter()
            .filter(|(day, _)| (first..first + 20).contains(day))
            .map(|(_, seconds)| *seconds)
            .collect();
        (of.len(), of.iter().sum::<f64>() / of.len() as f64)
    };
    let ((first_count, first), (last_count, last)) = (days(0), days(50));
    assert!(
        first_count.abs_diff(last_count) < first_count / 50,
        "{first_count} {last_count}"
    );
    assert!((0.6..1.6).contains(&(last / first)), "{first} {last}");
}

//! Behaviour of a session whose scenario changes while it goes on.

use etherparse::PacketBuilder;
use live::Session;
use net::HostId;
use network_builder::Traces;
use packet::addressing::address;
use scenario::Scenario;
use units::{Duration, Instant};

use crate::{NR, SERVER, at, loaded, session};

const WIRED: &str = "duration = \"30s\"\n[path]\nrtt = \"40ms\"\nbuffer = \"1MB\"\n[path.down]\nrate = \"8Mbps\"\n\
                     [path.up]\nrate = \"8Mbps\"\n";

/// Changes a session to the last of these scenarios, by the one before each.
fn change(session: &mut Session, texts: &[&str]) -> Result<(), String> {
    let loaded: Vec<(Scenario, Traces)> = texts.iter().map(|text| loaded(text)).collect();
    let steps: Vec<_> = loaded
        .iter()
        .map(|(scenario, traces)| (scenario, traces))
        .collect();
    session.change(&steps)
}

/// Sends packets of 1000 bytes, which take 1 ms at 8 Mbit/s.
fn send(session: &mut Session, time: Instant, [from, to]: [HostId; 2], packets: u32) {
    session.advance(time).unwrap();
    for _ in 0..packets {
        let mut bytes = Vec::new();
        let builder = PacketBuilder::ipv4(address(from.0).octets(), address(to.0).octets(), 64);
        builder.udp(9, 9).write(&mut bytes, &[0; 972]).unwrap();
        session.arrive(time, from, &bytes);
    }
}

/// Returns when packets have left until a time, in whole milliseconds.
fn departures(session: &mut Session, until: u64) -> Vec<u64> {
    session.advance(at(until)).unwrap();
    let all = core::iter::from_fn(|| session.next_departure());
    all.map(|departure| departure.at.since_start().as_millis())
        .collect()
}

#[test]
fn rate_delay_and_loss_change_at_once() {
    let mut session = session(WIRED, 1);
    let down = [SERVER, session.host("phone").unwrap()];
    send(&mut session, at(100), down, 3);
    // They come to the access link at 120 ms.
    session
        .advance(at(121) + Duration::from_micros(500))
        .unwrap();
    let slow = WIRED.replace("down]\nrate = \"8", "down]\nrate = \"2");
    change(&mut session, &[&slow]).unwrap();
    // The second packet was in transmission; the third takes 4 ms.
    assert_eq!(departures(&mut session, 200), [121, 122, 126]);
    let far = slow.replace("40ms", "80ms");
    change(&mut session, &[&far]).unwrap();
    send(&mut session, at(200), down, 1);
    assert_eq!(departures(&mut session, 300), [244]);
    let lossy = far.replace("[path]\n", "[path]\nloss = 1.0\n");
    change(&mut session, &[&far, &lossy]).unwrap();
    send(&mut session, at(300), down, 1);
    assert!(departures(&mut session, 400).is_empty());
    let (_, traffic) = session.traffic().next().unwrap();
    assert_eq!((traffic.sent, traffic.lost), (5, 1));
}

#[test]
fn an_interruption_ends_by_itself_and_stays_when_something_else_changes() {
    for text in [WIRED, NR] {
        let mut session = session(text, 1);
        let phone = session.host("phone").unwrap();
        session.advance(at(500)).unwrap();
        session.interrupt(Duration::from_millis(300)).unwrap();
        let farther = text.replace("40ms", "44ms").replace("20ms", "24ms");
        change(&mut session, &[&farther]).unwrap();
        let mut sent = 0;
        for time in [510, 700, 900, 1_000] {
            for way in [[SERVER, phone], [phone, SERVER]] {
                send(&mut session, at(time), way, 1);
                sent += 1;
            }
        }
        assert_eq!(
            departures(&mut session, 2_000).len() as u32,
            sent / 2,
            "{text}"
        );
    }
}

#[test]
fn what_is_no_wire_cannot_change_and_nothing_has_changed_then() {
    let mut wired = session(WIRED, 1);
    let slow = WIRED.replace("8Mbps", "2Mbps");
    for other in [
        WIRED.replace("[path]\n", "[path]\nmtu = \"1400B\"\n"),
        format!("{WIRED}[tcp]\ninitial_window = 4\n"),
        format!("{WIRED}[[path.middleboxes]]\nkind = \"snoop\"\n"),
        WIRED.replace("30s", "20s"),
        NR.to_owned(),
    ] {
        let rejected = change(&mut wired, &[&slow, &other]).unwrap_err();
        assert_eq!(
            rejected.to_string(),
            "it cannot change while a run goes on; allowed: rates, delays, losses, blackouts and buffers of wires"
        );
    }
    let down = [SERVER, wired.host("phone").unwrap()];
    send(&mut wired, at(10), down, 2);
    assert_eq!(departures(&mut wired, 100), [31, 32]);
    assert!(wired.interrupt(Duration::ZERO).is_err());
}

//! Selection at an endpoint that is no simulation and knows no scenario.

use std::collections::BTreeMap;

use cca::SwitchMode;
use selection::{Auto, Files, Hints, SAMPLE_INTERVAL, Selectors, SenderInfo};
use units::{Duration, Instant};

use crate::by_queue::{at, rules, sender};
use crate::endpoint::MadeUp;

const TUNING: &str = "interval = 0.5\nagree = 2\ndwell = 1.0";

fn auto(words: &[(&str, &str)]) -> Auto {
    let words = words.iter();
    let words: BTreeMap<String, String> = words
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Auto::new(&words).expect("words")
}

fn selectors(auto: Auto) -> Selectors {
    let mut files = Files::new();
    auto.load(&mut files, |file| {
        assert_eq!(file, "by-queue.toml");
        Ok(rules(TUNING))
    })
    .expect("a policy");
    Selectors::new([("fixed", None), ("selected", Some(auto))], &files, 1).expect("a policy")
}

/// Shows the selectors a sender with this RTT from `from` to `to`, ms.
fn run(
    selectors: &mut Selectors,
    endpoint: &mut MadeUp,
    from: u64,
    to: u64,
    rtt: impl Fn(u64) -> u64,
) {
    while selectors.next_sample() < at(to) {
        let now = selectors.next_sample();
        assert!(now >= at(from));
        let ms = now.since_start().as_millis();
        endpoint.senders.insert(7, sender(ms, rtt(ms)));
        selectors.observe_all(now, endpoint).expect("it is open");
    }
}

#[test]
fn a_connection_is_set_up_watched_and_changed() {
    let mut selectors = selectors(auto(&[("policy", "by-queue.toml")]));
    let mut endpoint = MadeUp::default();
    assert_eq!(selectors.next_sample(), Instant::NEVER);
    let opened = selectors.open(at(0), 0, 6, "a phone", &mut endpoint);
    assert_eq!(opened, Ok(None), "its congestion control is fixed");
    let opened = selectors.open(at(0), 1, 7, "a phone", &mut endpoint);
    assert_eq!(opened.expect("no error").expect("selected").to, "cubic");
    assert_eq!(selectors.next_sample(), at(0) + SAMPLE_INTERVAL);

    // The handshake has shown the RTT; the new connection has no context yet.
    endpoint.senders.insert(7, sender(0, 50));
    selectors
        .establish(at(1), 7, &mut endpoint)
        .expect("it is open");
    assert_eq!(endpoint.switches, [(7, "illinois", SwitchMode::Kernel)]);

    run(&mut selectors, &mut endpoint, 0, 5_000, |ms| {
        if ms < 2_000 { 50 } else { 100 }
    });
    let (_, cca, mode) = endpoint.switches[1];
    assert_eq!((cca, mode), ("vegas", SwitchMode::Context));
    let causes: Vec<_> = endpoint.recorded.iter().map(|row| &row.cause).collect();
    assert_eq!(causes, ["establishment", "change"]);
    assert_eq!(endpoint.recorded[1].flow, 7);
    assert!(endpoint.recorded[1].reason.contains("a queue stands"));
    assert!(endpoint.asked.is_empty(), "nobody wants hints");

    let estimates: Vec<_> = selectors.estimates(at(4_000)).collect();
    assert_eq!(estimates.len(), 1);
    assert_eq!((estimates[0].flow, estimates[0].base_rtt_ms), (7, 50.0));
    assert_eq!(estimates[0].using_cca, "vegas");

    selectors.close(7);
    assert_eq!(selectors.next_sample(), Instant::NEVER);
    assert_eq!(selectors.estimates(at(5_000)).count(), 0);
}

#[test]
fn a_connection_that_is_not_open_decides_nothing() {
    let mut selectors = selectors(auto(&[("policy", "by-queue.toml")]));
    let mut endpoint = MadeUp::default();
    let opened = selectors.open(at(0), 1, 7, "a phone", &mut endpoint);
    assert!(opened.is_ok_and(|decision| decision.is_some()));
    for step in 1..1_000 {
        selectors
            .observe_all(at(10 * step), &mut endpoint)
            .expect("nothing to do");
    }
    assert!(endpoint.recorded.is_empty());
}

#[test]
fn only_the_radio_of_the_destination_is_asked() {
    let mut selectors = selectors(auto(&[
        ("policy", "thesis-establishment"),
        ("requirement", "delay"),
        ("hints", "on"),
    ]));
    let away = Hints {
        sinr_db: Some(15.0),
        speed_mps: Some(120.0 / 3.6),
        sinr_trend: Some(-0.5),
    };
    let mut endpoint = MadeUp {
        radios: BTreeMap::from([("a phone".to_owned(), away)]),
        ..MadeUp::default()
    };
    selectors
        .open(at(0), 1, 7, "a phone", &mut endpoint)
        .expect("no error");
    let established = SenderInfo {
        min_rtt: Some(Duration::from_millis(78)),
        ..sender(0, 78)
    };
    endpoint.senders.insert(7, established);
    selectors
        .establish(at(90), 7, &mut endpoint)
        .expect("it is open");
    assert_eq!(endpoint.asked, ["a phone", "a phone"]);
    assert!(
        endpoint.recorded[0]
            .reason
            .starts_with("forward at 120 km/h"),
        "{}",
        endpoint.recorded[0].reason
    );
}

#[test]
fn an_error_of_the_endpoint_comes_through() {
    struct Broken;
    impl selection::Endpoint for Broken {
        type Error = &'static str;
        fn sender_info(&mut self, _: u32) -> Result<Option<selection::SenderInfo>, Self::Error> {
            Err("no such socket")
        }
        fn hints(&mut self, _: &str) -> Result<Option<Hints>, Self::Error> {
            Ok(None)
        }
        fn record(&mut self, _: results::DecisionRow) -> Result<(), Self::Error> {
            Ok(())
        }
        fn switch_cca(
            &mut self,
            _: Instant,
            _: u32,
            _: &'static str,
            _: SwitchMode,
        ) -> Result<(), Self::Error> {
            Ok(())
        }
    }
    let mut selectors = selectors(auto(&[("policy", "by-queue.toml")]));
    selectors
        .open(at(0), 1, 7, "a phone", &mut Broken)
        .expect("no error");
    assert_eq!(
        selectors.observe_all(at(10), &mut Broken),
        Err("no such socket")
    );
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let words = auto(&[("policy", "mine.toml")]);
    let missing = words.load(&mut Files::new(), |_| {
        Err(std::io::Error::from(std::io::ErrorKind::NotFound))
    });
    let missing = missing.expect_err("it is not there");
    assert!(
        missing.starts_with("\"mine.toml\" cannot be read: "),
        "{missing}"
    );
    assert!(missing.ends_with(", or a file"), "{missing}");
}

/// A Linux kernel has no Copa.
#[test]
fn a_kernel_takes_what_the_policy_names_instead() {
    const COPA: &str = "name = \"mine\"\ndescription = \"A test.\"\n[instead]\ncopa = \"vegas\"\n\
                        [method.fixed]\ncca = \"copa\"\n";
    let mut files = Files::new();
    let auto = auto(&[("policy", "mine.toml")]);
    auto.load(&mut files, |_| Ok(COPA.to_owned()))
        .expect("a policy");
    let selectors = Selectors::new([("selected", Some(auto))], &files, 1).expect("a policy");
    let first = |mut selectors: Selectors| {
        let opened = selectors.open(at(0), 0, 7, "a phone", &mut MadeUp::default());
        opened.expect("no error").expect("selected").to
    };
    assert_eq!(first(selectors.clone()), "copa");
    assert_eq!(first(selectors.for_kernel()), "vegas");
}

#[test]
fn an_agent_changes_the_cca_at_the_next_sample() {
    let mut selectors = selectors(auto(&[("policy", "fixed"), ("cca", "cubic")]));
    let mut endpoint = MadeUp::default();
    assert!(!selectors.request(7, "copa"), "it is not open");
    let opened = selectors.open(at(0), 1, 7, "a phone", &mut endpoint);
    assert_eq!(opened.expect("no error").expect("selected").to, "cubic");

    // Nothing has been acknowledged, so that the new CCA starts as at an establishment.
    assert!(selectors.request(7, "copa"));
    run(&mut selectors, &mut endpoint, 0, 2_000, |_| 100);
    assert_eq!(endpoint.switches, [(7, "copa", SwitchMode::Kernel)]);
    let selector = selectors.selector(7).expect("it is open");
    assert_eq!(selector.current(), "copa");
    assert!(selector.estimators().estimates().rounds > 0);

    // The CCA in use stays as it is.
    assert!(selectors.request(7, "copa"));
    run(&mut selectors, &mut endpoint, 2_000, 3_000, |_| 100);
    assert_eq!(endpoint.switches.len(), 1);

    assert!(selectors.request(7, "vegas"));
    run(&mut selectors, &mut endpoint, 3_000, 9_000, |_| 100);
    assert_eq!(endpoint.switches[1..], [(7, "vegas", SwitchMode::Context)]);
    let rows = endpoint.recorded.iter();
    let reported: Vec<_> = rows
        .map(|row| (&*row.cause, &*row.from_cca, &*row.to_cca))
        .collect();
    assert_eq!(
        reported,
        [("agent", "cubic", "copa"), ("agent", "copa", "vegas")]
    );
    assert_eq!(selectors.open_connections(), [7]);
    selectors.close(7);
    assert!(selectors.selector(7).is_none());
}

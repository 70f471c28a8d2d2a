use super::*;
use units::random::Purpose;

fn at(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

fn page(objects: u32, depth: u32) -> Page {
    let bytes = |count| Distribution::Constant {
        value: Bytes::new(count),
    };
    Page {
        document: bytes(20_000),
        objects,
        object: bytes(5_000),
        depth,
        connections: 2,
        count: Some(1),
        ..Page::default()
    }
}

fn browser(page: Page) -> Browser {
    page.check().unwrap();
    Browser::new(page, RngStream::new(1, Purpose::Workload, 0))
}

/// Network that carries each message in 50 ms; returns the commands with their times and slots.
fn load(mut browser: Browser) -> Vec<(Instant, usize, Command)> {
    let mut done = Vec::new();
    let mut arrivals: BTreeMap<(Instant, usize), (usize, End, u64)> = BTreeMap::new();
    let mut wake = at(0);
    let mut order = 0;
    loop {
        let arrival = arrivals.keys().next().copied();
        let now = arrival.map_or(wake, |key| key.0.min(wake));
        if now == Instant::NEVER {
            return done;
        }
        let (mut slot, mut out) = (0, Vec::new());
        if wake <= now {
            wake = Instant::NEVER;
            browser.select_slot(0);
            browser.on_wake(now, &mut out);
        } else if let Some((from, end, bytes)) = arrival.and_then(|key| arrivals.remove(&key)) {
            slot = from;
            browser.select_slot(slot);
            browser.on_progress(now, end, bytes, &mut out);
        }
        for command in out {
            match command {
                Command::SelectSlot(to) => slot = to,
                Command::WakeAt(time) => wake = time,
                Command::Send(end, bytes) => {
                    let arrives = now + Duration::from_millis(50);
                    arrivals.insert((arrives, order), (slot, end.other(), bytes));
                    order += 1;
                }
                _ => {}
            }
            if !matches!(command, Command::SelectSlot(_)) {
                done.push((now, slot, command));
            }
        }
    }
}

fn opened(done: &[(Instant, usize, Command)]) -> Vec<usize> {
    let opens = done.iter().filter(|(_, _, each)| *each == Command::Open);
    opens.map(|(_, slot, _)| *slot).collect()
}

fn page_load(done: &[(Instant, usize, Command)]) -> f64 {
    let figure = done.iter().find_map(|(_, _, command)| match command {
        Command::Record("page_load_s", value) => Some(*value),
        _ => None,
    });
    figure.expect("the page was loaded")
}

#[test]
fn a_document_alone_takes_a_request_and_a_response() {
    let done = load(browser(page(0, 1)));
    // 50 ms each way and 10 ms at the server.
    assert!((page_load(&done) - 0.110).abs() < 1e-9);
    assert_eq!(
        done.last().map(|last| last.2),
        Some(Command::Close(End::Client))
    );
}

#[test]
fn a_page_has_the_payload_of_its_document_and_its_objects() {
    let done = load(browser(page(4, 1)));
    assert!(
        done.iter()
            .any(|each| each.2 == Command::Record("page_bytes", 40_000.0))
    );
}

#[test]
fn objects_of_a_level_are_requested_when_the_level_above_has_arrived_and_was_parsed() {
    let done = load(browser(page(2, 2)));
    // Three requests one after another, and 10 ms of parsing before the second and the third.
    assert!((page_load(&done) - 0.350).abs() < 1e-9);
    assert_eq!(opened(&done), [0]);
}

#[test]
fn each_connection_carries_one_request_at_a_time() {
    let done = load(browser(page(4, 1)));
    // The document, then four objects over two connections: two after two.
    assert!((page_load(&done) - 0.340).abs() < 1e-9);
    assert_eq!(opened(&done), [0, 1]);
}

#[test]
fn a_multiplexed_connection_carries_all_requests_at_once() {
    let multiplexed = Page {
        multiplexed: true,
        ..page(4, 1)
    };
    let done = load(browser(multiplexed));
    assert!((page_load(&done) - 0.230).abs() < 1e-9);
    assert_eq!(opened(&done), [0]);
}

#[test]
fn every_object_of_a_page_arrives_once() {
    for seed in 0..50 {
        let drawn = Page {
            depth: 1 + seed % 7,
            connections: 1 + seed % 9,
            multiplexed: seed % 3 == 0,
            count: Some(1),
            ..Page::default()
        };
        let browser = Browser::new(drawn, RngStream::new(u64::from(seed), Purpose::Workload, 0));
        let done = load(browser);
        let sent = |end| {
            let sends = done.iter();
            sends
                .filter(|(_, _, each)| matches!(each, Command::Send(of, _) if *of == end))
                .count()
        };
        assert_eq!((sent(End::Client), sent(End::Server)), (71, 71));
        assert!(page_load(&done) > 0.0);
    }
}

#[test]
fn an_impossible_page_is_rejected() {
    let without = Page {
        connections: 0,
        ..Page::default()
    };
    assert_eq!(without.check().unwrap_err().field, "connections");
    let endless = Page {
        objects: 1_000_000,
        ..Page::default()
    };
    assert_eq!(endless.check().unwrap_err().field, "objects");
}

/// As of frames: a page that is younger than one took may still come.
#[test]
fn a_page_that_is_older_at_the_end_than_any_took_has_its_age() {
    let mut browser = browser(page(3, 1));
    let mut out = Vec::new();
    browser.on_wake(at(100), &mut out);
    out.clear();
    browser.on_stopped(at(500), &mut out);
    assert_eq!(out, [Command::Record("page_load_age_s", 0.4)]);
    browser.longest_load = Duration::from_millis(400);
    out.clear();
    browser.on_stopped(at(500), &mut out);
    assert!(out.is_empty(), "{out:?}");
}

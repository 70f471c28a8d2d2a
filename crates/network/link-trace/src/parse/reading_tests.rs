//! Tests of reading tables: names, units, times, directions, and what is refused as unclear.

use units::Duration;

use super::*;

const DOWN: Direction = Direction::Downlink;

fn summary_of(text: &str, reading: &ReadOptions) -> Result<String, String> {
    let result = read(text, "f.csv", reading, DOWN);
    result
        .map(|recording| recording.to_string())
        .map_err(|error| error.to_string())
}

/// Reads `text` as it is.
fn plain(text: &str) -> Result<String, String> {
    summary_of(text, &ReadOptions::default())
}

/// Reads `text` with a column and a unit said beside it.
fn with(text: &str, column: Option<&str>, unit: Option<&str>) -> Result<String, String> {
    let reading = ReadOptions {
        column: column.map(str::to_owned),
        unit: unit.map(str::to_owned),
        ..ReadOptions::default()
    };
    summary_of(text, &reading)
}

#[test]
fn units_are_read_from_the_names_of_columns() {
    for (text, expected) in [
        (
            "time_s,throughput_kbps\n0,8000\n1,16000\n",
            "CSV with commas, time \"time_s\" in s, rate \"throughput_kbps\" in kbit/s: 2.0 s, mean 12.000 Mbit/s",
        ),
        (
            "time_ms;rate (MB/s)\n0;0,5\n500;1,5\n",
            "CSV with semicolons, time \"time_ms\" in ms, rate \"rate (MB/s)\" in MB/s: 1.0 s, mean 8.000 Mbit/s",
        ),
        (
            "\"Time\"\t\"Rate [bit/s]\"\n2024-05-01T10:00:00Z\t1000000\n2024-05-01T10:00:02Z\t3000000\n",
            "CSV with tabs, time \"Time\" in a date, rate \"Rate [bit/s]\" in bit/s: 4.0 s, mean 2.000 Mbit/s",
        ),
        (
            "timestamp,Mbps\n1453121790686,5\n1453121791186,7\n",
            "CSV with commas, time \"timestamp\" in ms, rate \"Mbps\" in Mbit/s: 1.0 s, mean 6.000 Mbit/s",
        ),
        (
            "# time_ms,kbit/s\n0,1000\n100,3000\n",
            "CSV with commas, time \"time_ms\" in ms, rate \"kbit/s\" in kbit/s: 0.2 s, mean 2.000 Mbit/s",
        ),
        (
            "0.5 4\n1.0 2\n",
            "CSV with spaces, time of column 1 in s, rate of column 2 in Mbit/s: 1.0 s, mean 3.000 Mbit/s",
        ),
    ] {
        assert_eq!(plain(text), Ok(expected.to_owned()), "{text}");
    }
}

#[test]
fn a_direction_chooses_among_two() {
    let text = "time_s,up_mbps,down_mbps\n0,1,8\n1,1,8\n";
    let read_for = |side, direction| {
        let reading = ReadOptions {
            direction,
            ..ReadOptions::default()
        };
        let result = read(text, "f", &reading, side).unwrap();
        result.trace.mean_rate().as_mbps()
    };
    assert_eq!(read_for(Direction::Downlink, None), 8.0);
    assert_eq!(read_for(Direction::Uplink, None), 1.0);
    assert_eq!(read_for(Direction::Downlink, Some(Direction::Uplink)), 1.0);
    let other = plain("time_s,uplink_mbps\n0,1\n").unwrap_err();
    assert!(other.contains("--direction up reads them"), "{other}");
    let reading = ReadOptions {
        direction: Some(Direction::Uplink),
        ..ReadOptions::default()
    };
    let neither = summary_of("time_s,rate_mbps\n0,1\n", &reading).unwrap_err();
    assert!(
        neither.contains("which column is of that direction"),
        "{neither}"
    );
    let file = read("5\n9\n", "f.down", &reading, DOWN)
        .unwrap_err()
        .to_string();
    assert_eq!(
        file,
        "f.down: direction: files of mahimahi have none to choose: leave it out"
    );
}

#[test]
fn what_is_unclear_is_refused_with_what_would_say_it() {
    for (text, part) in [
        (
            "time,rate\n0,5\n1,5\n",
            "\"rate\" does not tell the unit of its rates: --unit",
        ),
        (
            "0,5000\n1,6000\n",
            "whose mean would be 5500 Mbit/s: --unit",
        ),
        ("5,0\n4,1\n6,2\n", "--column 2,1 reads it as the time"),
        (
            "0,1,8\n1,1,8\n",
            "3 columns without names: --column TIME,RATE",
        ),
        (
            "time,a_mbps,b_mbps\n0,1,8\n",
            "\"a_mbps\", \"b_mbps\" leave open which column has the rates",
        ),
        ("x,y\n0,1\n", "leave open which column has the times"),
        ("time_s,MBPS\n0,1\n", "--unit"),
    ] {
        let message = plain(text).unwrap_err();
        assert!(message.contains(part), "{text}: {message}");
    }
    let ms: String = (0..30).map(|n| format!("{},5\n", n * 100)).collect();
    let message = plain(&ms).unwrap_err();
    assert!(
        message.contains("whose steps would be 100 s: --unit"),
        "{message}"
    );
    assert!(
        with(&ms, None, Some("ms"))
            .unwrap()
            .ends_with(": 3.0 s, mean 5.000 Mbit/s")
    );
}

#[test]
fn columns_and_units_can_be_said() {
    let text = "0,1,8000\n1000,1,8000\n";
    assert_eq!(
        with(text, Some("1,3"), Some("ms,kbit/s")).unwrap(),
        "CSV with commas, time of column 1 in ms, rate of column 3 in kbit/s: 2.0 s, mean 8.000 Mbit/s"
    );
    let named = "t,a,b\n0,1,8\n1,1,8\n";
    assert!(
        with(named, Some("b"), Some("MB/s"))
            .unwrap()
            .ends_with("mean 64.000 Mbit/s")
    );
    assert!(
        with(named, Some("T,A"), Some("Mbps"))
            .unwrap()
            .ends_with("mean 1.000 Mbit/s")
    );
    assert_eq!(
        with(named, Some("c"), None).unwrap_err(),
        "f.csv: column: unknown \"c\"; allowed: numbers from 1 to 3, or of t, a, b"
    );
    assert_eq!(
        with(named, Some("9"), None).unwrap_err(),
        "f.csv: column: unknown \"9\"; allowed: numbers from 1 to 3, or of t, a, b"
    );
    let message = with(named, Some("b"), Some("furlongs")).unwrap_err();
    assert!(
        message.contains("unit: unknown \"furlongs\"; allowed: bit/s, kbit/s"),
        "{message}"
    );
}

#[test]
fn logs_of_nyu_mets_have_a_line_per_second() {
    let iperf = "3,Mbits/sec\n500,Kbits/sec\n0,bits/sec\n";
    let wide =
        "12.6,9,0,102,13,3,7.37,2100\n3.4,9,0,102,13,3,6.51,2100\n0,11,0,107,16,3,8.5,2100\n";
    assert_eq!(TraceFormat::detect("f.csv", iperf), TraceFormat::NyuMets);
    assert_eq!(TraceFormat::detect("f.txt", wide), TraceFormat::NyuMets);
    let result = |text| {
        let recording = read(text, "f.txt", &ReadOptions::default(), DOWN).unwrap();
        (
            recording.trace.period(),
            recording.trace.bytes_between(
                units::Instant::ZERO,
                units::Instant::ZERO + Duration::from_secs(2),
                Duration::ZERO,
            ),
        )
    };
    assert_eq!(
        result(iperf),
        (Duration::from_secs(3), units::Bytes::new(437_500))
    );
    assert_eq!(
        result(wide),
        (Duration::from_secs(3), units::Bytes::new(2_000_000))
    );
    let reading = ReadOptions {
        format: Some(TraceFormat::NyuMets),
        ..ReadOptions::default()
    };
    let wrong = read("3,apples\n", "f", &reading, DOWN).unwrap_err();
    assert_eq!(wrong.to_string(), "f:1: \"apples\" is no unit of a rate");
}

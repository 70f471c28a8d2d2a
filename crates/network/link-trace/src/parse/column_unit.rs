//! Units of the columns of a table: rates and times, from a name such as `throughput_kbps` or from an option.

/// Unit of a rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct RateUnit {
    /// Megabits per second in one of the unit.
    pub(super) mbps: f64,
    /// Name in messages.
    pub(super) name: &'static str,
}

/// Unit of a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TimeUnit {
    /// Nanoseconds in one of the unit.
    pub(super) nanos: u64,
    /// Name in messages.
    pub(super) name: &'static str,
}

/// Units of rates that `--unit` takes, in its own spelling.
pub(super) const RATE_UNITS: &str =
    "bit/s, kbit/s, Mbit/s, Gbit/s, B/s, kB/s, MB/s, GB/s, KiB/s, MiB/s";
/// Units of times that `--unit` takes.
pub(super) const TIME_UNITS: &str = "ns, us, ms, s, min";

const MBITS: RateUnit = RateUnit {
    mbps: 1.0,
    name: "Mbit/s",
};

impl RateUnit {
    /// The unit of a file that names none.
    pub(super) const DEFAULT: Self = MBITS;

    /// Returns the unit that a text spells: `kbps`, `Mbits/sec`, `MB/s`, `bytes per second`; `None` for another text.
    ///
    /// A capital B is a byte, a small one a bit. All capitals (`MBPS`) leave that open, so that they are no unit.
    pub(super) fn spelled(text: &str) -> Option<Self> {
        let text: String = text.split_whitespace().collect();
        let text = text.replace("_per_", "/").replace("per", "/");
        if text.len() > 3 && text.chars().all(|c| c.is_ascii_uppercase()) {
            return None;
        }
        let (amount, per_second) = match text.split_once('/') {
            Some((amount, "s" | "sec" | "second" | "S")) => (amount, true),
            Some(_) => return None,
            None => match text.strip_suffix("ps") {
                Some(amount) => (amount, true),
                None => (text.as_str(), false),
            },
        };
        let bits = ["bits", "bit", "b"];
        let bytes = ["bytes", "byte", "Bytes", "Byte", "B"];
        // Rates of tc have no second: 20mbit. A prefix without it is an amount of bytes otherwise.
        let ends = |words: &[&'static str]| {
            words
                .iter()
                .find_map(|word| amount.strip_suffix(word))
                .map(str::to_owned)
        };
        let (prefix, is_bytes) = match (ends(&bits), ends(&bytes)) {
            (Some(prefix), _) => (prefix, false),
            (_, Some(prefix)) => (prefix, true),
            (None, None) => return None,
        };
        let is_tc = !per_second && !is_bytes && !prefix.is_empty() && amount.contains("bit");
        if !per_second && !is_tc {
            return None;
        }
        let place = match prefix.as_str() {
            "" => 0,
            "k" | "K" | "kilo" | "Kilo" => 1,
            "M" | "m" | "mega" | "Mega" => 2,
            "G" | "g" | "giga" | "Giga" => 3,
            "Ki" if is_bytes => return Some(Self::of(8.192e-3, "KiB/s")),
            "Mi" if is_bytes => return Some(Self::of(8.388_608, "MiB/s")),
            _ => return None,
        };
        let scale = [1e-6, 1e-3, 1.0, 1e3][place];
        Some(if is_bytes {
            Self::of(8.0 * scale, ["B/s", "kB/s", "MB/s", "GB/s"][place])
        } else {
            Self::of(scale, ["bit/s", "kbit/s", "Mbit/s", "Gbit/s"][place])
        })
    }

    const fn of(mbps: f64, name: &'static str) -> Self {
        Self { mbps, name }
    }

    /// Returns the unit in the name of a column.
    pub(super) fn in_name(name: &str) -> Option<Self> {
        parts(name).find_map(Self::spelled)
    }
}

impl TimeUnit {
    /// The second.
    pub(super) const SECOND: Self = Self {
        nanos: 1_000_000_000,
        name: "s",
    };
    /// The millisecond.
    pub(super) const MILLISECOND: Self = Self {
        nanos: 1_000_000,
        name: "ms",
    };
    /// The microsecond.
    pub(super) const MICROSECOND: Self = Self {
        nanos: 1_000,
        name: "us",
    };
    /// The nanosecond.
    pub(super) const NANOSECOND: Self = Self {
        nanos: 1,
        name: "ns",
    };

    /// Returns the unit that a text spells.
    pub(super) fn spelled(text: &str) -> Option<Self> {
        match text.to_lowercase().as_str() {
            "s" | "sec" | "secs" | "second" | "seconds" => Some(Self::SECOND),
            "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => {
                Some(Self::MILLISECOND)
            }
            "us" | "µs" | "usec" | "micros" | "microsecond" | "microseconds" => {
                Some(Self::MICROSECOND)
            }
            "ns" | "nsec" | "nanos" | "nanosecond" | "nanoseconds" => Some(Self::NANOSECOND),
            "min" | "minute" | "minutes" => Some(Self {
                nanos: 60_000_000_000,
                name: "min",
            }),
            _ => None,
        }
    }

    /// Returns the unit in the name of a column.
    pub(super) fn in_name(name: &str) -> Option<Self> {
        parts(name).find_map(Self::spelled)
    }
}

/// Returns the parts of a column's name that may be a unit: the words between brackets, underscores, spaces and dots,
/// pairs of them (`bytes per second`), and what follows a change from small letters to capitals (`rateMbps`).
fn parts(name: &str) -> impl Iterator<Item = &str> {
    let cut = |c: char| !(c.is_alphanumeric() || c == '/');
    let words = name.split(cut).filter(|word| !word.is_empty());
    let inner = words.clone().flat_map(|word| {
        word.char_indices()
            .skip(1)
            .filter(|&(at, c)| c.is_uppercase() && word[..at].ends_with(char::is_lowercase))
            .map(|(at, _)| &word[at..])
    });
    let bracketed = name
        .split(['(', '[', '{'])
        .skip(1)
        .filter_map(|rest| rest.split([')', ']', '}']).next());
    let per = ["per_s", "per s"]
        .into_iter()
        .filter_map(|middle| name.find(middle))
        .map(|at| {
            let before = name[..at].trim_end_matches(['_', ' ']);
            let start = before
                .rfind(|c: char| !c.is_alphanumeric())
                .map_or(0, |at| at + 1);
            name[start..].trim_end_matches([')', ']', '}'])
        });
    per.chain(words).chain(inner).chain(bracketed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_of_rates_are_found_in_names() {
        let mbps = |name: &str| RateUnit::in_name(name).map(|unit| (unit.mbps, unit.name));
        for (name, unit) in [
            ("throughput_kbps", (1e-3, "kbit/s")),
            ("DL bitrate [kbit/s]", (1e-3, "kbit/s")),
            ("Mbits/sec", (1.0, "Mbit/s")),
            ("mbps", (1.0, "Mbit/s")),
            ("rateMbps", (1.0, "Mbit/s")),
            ("Throughput (MBps)", (8.0, "MB/s")),
            ("MB/s", (8.0, "MB/s")),
            ("kB_per_s", (8e-3, "kB/s")),
            ("bytes per second", (8e-6, "B/s")),
            ("rx bit/s", (1e-6, "bit/s")),
            ("bps", (1e-6, "bit/s")),
            ("MiB/s", (8.388_608, "MiB/s")),
            ("100mbit", (0.0, "")),
            ("mbit", (1.0, "Mbit/s")),
        ] {
            let expected = (unit.0 > 0.0).then_some(unit);
            assert_eq!(mbps(name), expected, "{name}");
        }
        for name in [
            "throughput",
            "THROUGHPUT_MBPS",
            "bytes",
            "Speed",
            "caps",
            "kb",
            "RSRP",
        ] {
            assert_eq!(mbps(name), None, "{name}");
        }
    }

    #[test]
    fn units_of_times_are_found_in_names() {
        let nanos = |name: &str| TimeUnit::in_name(name).map(|unit| unit.name);
        assert_eq!(nanos("time_s"), Some("s"));
        assert_eq!(nanos("time_ms"), Some("ms"));
        assert_eq!(nanos("Time [ms]"), Some("ms"));
        assert_eq!(nanos("timestampMs"), Some("ms"));
        assert_eq!(nanos("t_us"), Some("us"));
        assert_eq!(nanos("time"), None);
    }
}

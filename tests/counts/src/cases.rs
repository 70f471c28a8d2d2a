//! Cases: the simulations whose instructions are counted, most as `celltcp bench` has them, but shorter.

use crate::error::CountsError;

/// A simulation whose instructions are counted.
#[derive(PartialEq, Debug)]
pub(crate) struct Case {
    /// Name in tables.
    pub(crate) name: &'static str,
    /// Name of a built-in scenario.
    pub(crate) scenario: &'static str,
    /// Changes to it.
    pub(crate) changes: &'static [&'static str],
    /// Length, simulated seconds.
    pub(crate) seconds: u32,
}

/// All cases.
pub(crate) const CASES: [Case; 8] = [
    Case {
        name: "wired",
        scenario: "steady-20-68",
        changes: &["path.down.rate=50Mbit/s"],
        seconds: 60,
    },
    Case {
        name: "wired-samples",
        scenario: "steady-20-68",
        changes: &[
            "path.down.rate=50Mbit/s",
            "flows.0.cca=bbr",
            "samples=every-ack",
        ],
        seconds: 30,
    },
    Case {
        name: "drive",
        scenario: "drive",
        changes: &[],
        // The rate wanders, but carries as much in the next 80 s.
        seconds: 80,
    },
    Case {
        name: "four-flows",
        scenario: "steady-100-18",
        changes: &["flows.0.count=4"],
        seconds: 24,
    },
    Case {
        name: "random-loss",
        scenario: "steady-20-68",
        changes: &["flows.0.cca=reno", "path.loss=0.001"],
        seconds: 360,
    },
    Case {
        name: "fq-codel",
        scenario: "steady-20-68",
        changes: &["path.queue=fq-codel", "flows.0.count=2"],
        seconds: 120,
    },
    Case {
        name: "static",
        scenario: "static/mid-cell",
        changes: &["radio.ues.0.sinr=44dB"],
        seconds: 20,
    },
    Case {
        name: "nine-cells",
        scenario: "vehicular/scenario-3",
        changes: &["flows.0.workload=bulk", "tcp.mss=1100B"],
        seconds: 3,
    },
];

impl Case {
    /// Returns the case of that name.
    pub(crate) fn called(name: &str) -> Result<&'static Self, CountsError> {
        let result = CASES.iter().find(|case| case.name == name);
        result.ok_or_else(|| CountsError::UnknownCase {
            name: name.to_owned(),
            allowed: CASES.map(|case| case.name).join(", "),
        })
    }
}

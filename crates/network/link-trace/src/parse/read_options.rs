//! Options for reading a trace or log: properties that column names and values leave ambiguous.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantNames};

use super::Direction;

/// Declares choices whose words in files and on the command line are their names in kebab case.
macro_rules! choices {
    ($($(#[$meta:meta])* pub enum $name:ident { $($body:tt)* })+) => {$(
        $(#[$meta])*
        #[derive(
            Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
            EnumString, IntoStaticStr, VariantNames,
        )]
        #[serde(rename_all = "kebab-case")]
        #[strum(serialize_all = "kebab-case")]
        pub enum $name { $($body)* }
    )+};
}

choices! {
    /// Format of a trace or log file, in the order in which they are tried. Logs are read outside of the engine,
    /// which gets a canonical trace.
    pub enum TraceFormat {
        /// A line per delivery opportunity of 1500 bytes: its time in whole ms.
        Mahimahi,
        /// Parquet; xlsx if the package openpyxl is installed.
        Spreadsheet,
        /// `iperf3 -J`; network files of Sabre and dash.js; AlphaRTC; Starlink's history; ntrace of Intel; records or
        /// columns of other tools, as JSON or JSON lines.
        Json,
        /// Reports of iperf3 and iperf2 as text; several tests in one report follow one another.
        Iperf3,
        /// Reports of `iperf -y C`.
        Iperf2,
        /// Logs of mahimahi's mm-link; delivery opportunities are read, not deliveries.
        MmLink,
        /// Zeek's conn.log, as the demand of the hosts behind the link.
        Zeek,
        /// Logs of NYU-METS: `3.97,Mbits/sec` per second, or eight columns with Mbit/s first.
        NyuMets,
        /// Logs of G-NetTrack with `DL_bitrate` and `UL_bitrate` in kbit/s: `5gdataset` on the command line, `phone-log` in files.
        #[strum(to_string = "5gdataset", serialize = "phone-log")]
        PhoneLog,
        /// Results of speedtest-cli as CSV; each row is a sample.
        Speedtest,
        /// `metrics.csv` of srsRAN's UE.
        Srsran,
        /// Tables in text with a time and a rate, also of drive tests (XCAL, TEMS, NEMO, QualiPoc) and monitors (sadf,
        /// Windows' performance monitor, Grafana, InfluxDB, PRTG, dstat).
        Csv,
    }

    /// Use of the time that a log does not cover.
    pub enum Holes {
        /// It is left out.
        Cut,
        /// It has the rate before it.
        Hold,
        /// It has no capacity.
        Zero,
    }

    /// Order of day and month in dates.
    pub enum DateOrder {
        /// Day, month, year.
        Dmy,
        /// Month, day, year.
        Mdy,
        /// Year, month, day.
        Ymd,
    }
}

impl TraceFormat {
    /// Names on the command line.
    pub const NAMES: &[&str] = Self::VARIANTS;
}

/// Defines a struct that has, after fields of its own, the options for reading a file (`flatten` does not work with
/// `deny_unknown_fields`). `read_options` returns them, `with_read_options` sets them.
macro_rules! with_read_options {
    (@struct $(#[$meta:meta])* $vis:vis struct $name:ident { $($own:tt)* }) => {
        $(#[$meta])*
        $vis struct $name {
            $($own)*
            /// Format of the file; unset: found from its contents.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub format: Option<TraceFormat>,
            /// The columns of a table, `RATE` or `TIME,RATE`, by names or numbers from 1; unset: found from names and values.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub column: Option<String>,
            /// The units of a table, `RATE`, `TIME` or `TIME,RATE`, such as `ms,kbit/s`; unset: found from the names.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub unit: Option<String>,
            /// The direction whose rates are read, of a file that has both; unset: that of the link.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub direction: Option<Direction>,
            /// Use of the time that was not measured: "cut", "hold" (the rate before it) or "zero"; unset: "cut".
            #[serde(skip_serializing_if = "Option::is_none")]
            pub holes: Option<Holes>,
            /// Whether a rate is that of the interval that ends at its row; unset: it begins there.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub rates_end_at_row: Option<bool>,
            /// Time per row of a table without a column of times, such as `1s`.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub step: Option<String>,
            /// The rows to read of a file with several runs, `COLUMN=VALUE`; unset: all, one after another.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub run: Option<String>,
            /// Order of day and month in dates: "dmy", "mdy" or "ymd"; unset: found from the dates.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub dates: Option<DateOrder>,
            /// Whether a column of bytes is a cumulative counter; unset: if it never decreases.
            #[serde(skip_serializing_if = "Option::is_none")]
            pub counter: Option<bool>,
        }
    };
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($own:tt)* }) => {
        with_read_options! { @struct $(#[$meta])* $vis struct $name { $($own)* } }

        impl $name {
            /// Returns the options for reading the file.
            pub fn read_options(&self) -> $crate::ReadOptions {
                $crate::ReadOptions {
                    format: self.format,
                    column: self.column.clone(),
                    unit: self.unit.clone(),
                    direction: self.direction,
                    holes: self.holes,
                    rates_end_at_row: self.rates_end_at_row,
                    step: self.step.clone(),
                    run: self.run.clone(),
                    dates: self.dates,
                    counter: self.counter,
                }
            }

            /// Returns a copy with these options.
            pub(crate) fn with_read_options(mut self, options: &$crate::ReadOptions) -> Self {
                self.format = options.format;
                self.column = options.column.clone();
                self.unit = options.unit.clone();
                self.direction = options.direction;
                self.holes = options.holes;
                self.rates_end_at_row = options.rates_end_at_row;
                self.step = options.step.clone();
                self.run = options.run.clone();
                self.dates = options.dates;
                self.counter = options.counter;
                self
            }
        }
    };
}
pub(crate) use with_read_options;

with_read_options! {
    @struct
    /// Properties of a file that a user gives; the others follow from its contents.
    #[derive(
        Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize,
    )]
    #[serde(default, deny_unknown_fields)]
    pub struct ReadOptions {}
}

impl ReadOptions {
    /// Returns whether no option is set, or only the format mahimahi, which needs none.
    pub fn are_of_own_formats(&self) -> bool {
        matches!(self.format, None | Some(TraceFormat::Mahimahi))
            && *self
                == Self {
                    format: self.format,
                    ..Self::default()
                }
    }

    /// Parses options from JSON.
    ///
    /// # Errors
    /// A field that is unknown, or a value that is not allowed.
    pub fn from_json(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Returns the options as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("options are texts, numbers and words")
    }
}

//! Workload: the configuration that chooses a flow's application.

use config::{Distribution, FieldError, add_kind_words, invalid_value, word_or_table};
use schemars::JsonSchema;
use serde::Serialize;
use units::random::RngStream;
use units::{Duration, Measure};

use crate::application::Application;
use crate::{
    AbortingClient, Bulk, Chunked, Frames, OnOff, Page, RequestResponse, ShortDownloads, Telemetry,
    Video, WindowPaced,
};

/// Distribution of times with a mean of a second.
pub(crate) const SECOND: Distribution<Duration> = Distribution::Exponential {
    mean: Duration::from_secs(1),
};

/// Settings of an application.
pub(crate) trait Settings {
    /// Checks that all fields are in their ranges.
    fn check(&self) -> Result<(), FieldError>;

    /// Returns whether the application draws random numbers.
    fn is_random(&self) -> bool;

    /// Returns the mean time from one action of the application to the next, ns, with a round trip of `rtt_ns` where it
    /// waits for a response; infinite if it only sends as much as it can.
    fn mean_period_ns(&self, rtt_ns: f64) -> f64;

    /// Returns whether such applications set `TCP_NODELAY` on their sockets.
    fn sets_nodelay(&self) -> bool {
        false
    }

    /// Returns the application of a flow, which takes its random numbers from `draws`.
    fn application(&self, draws: RngStream) -> Box<dyn Application>;
}

/// Declares the kinds of applications, each with its name in files and its settings.
macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident($settings:ty) = $name:literal,)+) => {
        /// Application of a flow.
        #[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
        #[serde(tag = "kind")]
        #[schemars(transform = add_kind_words)]
        pub enum Workload {
            $(
                $(#[$about])*
                #[serde(rename = $name)]
                $kind($settings),
            )+
        }

        word_or_table!(Workload {} { $($name => $kind($settings),)+ });

        impl Workload {
            fn settings(&self) -> &dyn Settings {
                match self {
                    $(Self::$kind(settings) => settings,)+
                }
            }
        }
    };
}

kinds! {
    /// Sends as much as it can.
    Bulk(Bulk) = "bulk",
    /// Short flows one after another, each on a connection of its own.
    ShortDownloads(ShortDownloads) = "sequence",
    /// Sends and pauses in turn, on one connection.
    OnOff(OnOff) = "on-off",
    /// The receiving node asks and the sending node answers, again and again on one connection.
    RequestResponse(RequestResponse) = "request-response",
    /// The receiving node loads pages: a document and the objects that it refers to.
    Page(Page) = "page",
    /// The sending node sends frames as they are made, as in a video call.
    Frames(Frames) = "frames",
    /// The receiving node plays a video by adaptive streaming.
    Video(Video) = "video",
    /// The sending node is a machine, which answers each question of the receiving node with its data.
    Telemetry(Telemetry) = "telemetry",
    /// The receiving node downloads a video over a series of connections, each of which it aborts.
    AbortingClient(AbortingClient) = "abandoning",
    /// The receiving node takes a video on one connection in bursts, between which it closes its window.
    WindowPaced(WindowPaced) = "window-paced",
    /// The receiving node asks for a piece of a video at regular times.
    Chunked(Chunked) = "chunked",
}

impl Default for Workload {
    fn default() -> Self {
        Self::Bulk(Bulk::default())
    }
}

impl Workload {
    /// Checks that all fields are in their ranges.
    ///
    /// # Errors
    /// [`FieldError`] names the first that is not.
    pub fn check(&self) -> Result<(), FieldError> {
        self.settings().check()
    }

    /// Returns the name of the file that the settings give, if there is one.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Video(video) => video.ladder.file(),
            _ => None,
        }
    }

    /// Reads the file that the settings name, if there is one. `read` returns the path, for errors,
    /// and the contents.
    ///
    /// # Errors
    /// [`FieldError`] names the fault of the file, or a setting that does not go with it.
    pub fn load(
        &mut self,
        read: impl FnOnce(&str) -> Result<(String, String), FieldError>,
    ) -> Result<(), FieldError> {
        match self {
            Self::Video(video) => video.load(read),
            _ => Ok(()),
        }
    }

    /// Returns the warnings about the file that the settings name, once it has been read.
    pub fn notes(&self) -> Vec<String> {
        match self {
            Self::Video(video) => video.ladder.notes(),
            _ => Vec::new(),
        }
    }

    /// Returns the mean rate of the best representation of a video with its audio, bit/s; `None` for other
    /// applications, and before the file of segment sizes has been read.
    pub fn top_bitrate(&self) -> Option<f64> {
        match self {
            Self::Video(video) => {
                let manifest = video.ladder.manifest()?;
                Some(manifest.rate(manifest.top()))
            }
            _ => None,
        }
    }

    /// Returns whether the application draws random numbers.
    pub fn is_random(&self) -> bool {
        self.settings().is_random()
    }

    /// Returns the mean time between two wake-ups of the application, ns, on a path with a round trip of `rtt`; infinite
    /// if there is only one. It ignores the duration of transfers, so it is a lower bound.
    pub fn mean_period_ns(&self, rtt: Duration) -> f64 {
        self.settings().mean_period_ns(rtt.to_base())
    }

    /// Returns whether such applications set `TCP_NODELAY` on their sockets, because an answer or a frame is late if its
    /// last segment waits.
    pub fn sets_nodelay(&self) -> bool {
        self.settings().sets_nodelay()
    }

    /// Returns the application.
    pub(crate) fn application(&self, draws: RngStream) -> Box<dyn Application> {
        self.settings().application(draws)
    }
}

/// Checks that a number of repetitions, where one is given, is not zero.
pub(crate) fn at_least_one(
    field: &str,
    count: Option<u32>,
    allowed: &str,
) -> Result<(), FieldError> {
    match count {
        Some(0) => invalid_value(field, 0, allowed),
        _ => Ok(()),
    }
}

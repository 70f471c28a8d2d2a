//! Settings of TCP on the hosts of one side of a path.

use config::table;
use units::Duration;

table! {
    /// Settings of TCP on the hosts of one side of a path, in place of those of all hosts.
    pub struct HostTcp {
        /// Lower bound of the variance term of the retransmission timeout, for all sockets of these hosts (`rto_min` of
        /// their routes); unset: `tcp.min_rto`.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub min_rto: Option<Duration>,
    }
}

impl HostTcp {
    /// Returns whether nothing is set.
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

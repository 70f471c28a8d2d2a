//! Standard slow start (RFC 5681 §3.1, with appropriate byte counting of RFC 3465 without limit, as
//! Linux does): one segment for each acknowledged one, until loss.

use super::SlowStart;

/// Slow start that ends at the threshold only.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standard;

impl SlowStart for Standard {
    fn name(&self) -> &'static str {
        "standard"
    }
}

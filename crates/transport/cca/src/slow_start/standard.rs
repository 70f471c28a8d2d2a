//! Standard slow start (RFC 5681 §3.1): one segment for each acknowledged one, until a loss. It counts bytes
//! as RFC 3465 does, without a limit, like Linux.

use super::SlowStart;

/// Slow start that ends only at the threshold.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standard;

impl SlowStart for Standard {}

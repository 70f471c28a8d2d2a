//! Records without a TCP segment.

/// Reason why a record is no TCP segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Skipped {
    /// Another network or transport protocol.
    NotTcp,
    /// A fragment of an IP packet.
    Fragment,
    /// Fewer bytes were kept than the headers have.
    Cut,
    /// A link type that is not read.
    LinkType(i32),
}

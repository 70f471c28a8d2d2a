//! Errors of system calls by name.

/// Error that a system call returns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Errno {
    Again,
    BadDescriptor,
    ConnectionRefused,
    ConnectionReset,
    Fault,
    HostUnreachable,
    InProgress,
    Invalid,
    IsConnected,
    Already,
    NetworkUnreachable,
    NotConnected,
    Pipe,
    TimedOut,
}

impl Errno {
    /// Returns the name of the C constant.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Again => "EAGAIN",
            Self::BadDescriptor => "EBADF",
            Self::ConnectionRefused => "ECONNREFUSED",
            Self::ConnectionReset => "ECONNRESET",
            Self::Fault => "EFAULT",
            Self::HostUnreachable => "EHOSTUNREACH",
            Self::InProgress => "EINPROGRESS",
            Self::Invalid => "EINVAL",
            Self::IsConnected => "EISCONN",
            Self::Already => "EALREADY",
            Self::NetworkUnreachable => "ENETUNREACH",
            Self::NotConnected => "ENOTCONN",
            Self::Pipe => "EPIPE",
            Self::TimedOut => "ETIMEDOUT",
        }
    }
}

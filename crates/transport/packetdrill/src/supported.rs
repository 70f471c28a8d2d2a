//! Unsupported features: finds those that a script needs and the native TCP lacks, before it is played.

use crate::script::{Call, EventKind, Script, TcpOption};

/// Words in calls, and the features that they stand for.
const FEATURES: &[(&str, &str)] = &[
    ("FASTOPEN", "Fast Open"),
    ("MPTCP", "MPTCP"),
    ("ZEROCOPY", "zero-copy"),
    ("TIMESTAMPING", "socket timestamps"),
    ("SO_TIMESTAMP", "socket timestamps"),
    ("TCP_MD5SIG", "TCP MD5 and AO"),
    ("TCP_AO_", "TCP MD5 and AO"),
    ("TCP_REPAIR", "TCP_REPAIR"),
    ("TCP_ULP", "upper layer protocols"),
    ("TCP_DEFER_ACCEPT", "TCP_DEFER_ACCEPT"),
    ("TCP_SAVE", "TCP_SAVE_SYN"),
    ("MSG_OOB", "urgent data"),
    ("IPPROTO_UDP", "UDP"),
    ("SCTP", "SCTP"),
    ("SOCK_DGRAM", "UDP"),
    ("SOCK_RAW", "raw sockets"),
    ("SO_TXTIME", "SO_TXTIME"),
    ("TCP_TX_DELAY", "TCP_TX_DELAY"),
];

/// System calls that scripts may have, in addition to [`UNMODELLED_CALLS`].
const SYSTEM_CALLS: &[&str] = &[
    "accept",
    "accept4",
    "bind",
    "close",
    "connect",
    "fcntl",
    "getpeername",
    "getpid",
    "getsockname",
    "getsockopt",
    "ioctl",
    "listen",
    "poll",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmmsg",
    "recvmsg",
    "select",
    "send",
    "sendmmsg",
    "sendmsg",
    "sendto",
    "setsockopt",
    "shutdown",
    "socket",
    "socketpair",
    "write",
    "writev",
];

/// Prefixes of the names of calls on other protocols.
const OTHER_PROTOCOLS: &[(&str, &str)] = &[("sctp_", "SCTP"), ("psp_", "PSP")];

/// Calls that are not modelled, and the features that they stand for.
const UNMODELLED_CALLS: &[(&str, &str)] = &[
    ("splice", "splice"),
    ("vmsplice", "splice"),
    ("tee", "splice"),
    ("pipe", "splice"),
    ("open", "sendfile and files"),
    ("sendfile", "sendfile and files"),
    ("cap_set", "capabilities"),
    ("epoll_create", "epoll"),
    ("epoll_create1", "epoll"),
    ("epoll_ctl", "epoll"),
    ("epoll_pwait", "epoll"),
    ("epoll_wait", "epoll"),
];

/// Returns the first feature that the script needs and the native TCP does not have, with its line.
pub(crate) fn missing(script: &Script) -> Option<(u32, String)> {
    script.events.iter().find_map(|event| {
        let feature = match &event.kind {
            EventKind::Unsupported(feature) => Some(*feature),
            EventKind::In(packet) | EventKind::Out(packet) => packet
                .options
                .iter()
                .flatten()
                .find_map(|option| match option {
                    TcpOption::Unmodelled(feature) => Some(*feature),
                    _ => None,
                }),
            EventKind::Call(call) => missing_in_call(call),
            EventKind::Code(code)
                if code.contains("delivered_ce") || code.contains("delivered_e") =>
            {
                Some("AccECN")
            }
            EventKind::Icmp(_) | EventKind::Command(_) | EventKind::Code(_) => None,
        };
        feature.map(|feature| (event.line, feature.to_owned()))
    })
}

/// Returns whether the name is that of a system call.
pub(crate) fn is_system_call(name: &str) -> bool {
    SYSTEM_CALLS.contains(&name) || unmodelled_call(name).is_some()
}

/// Returns the feature of a call that is not modelled.
fn unmodelled_call(name: &str) -> Option<&'static str> {
    let protocol = OTHER_PROTOCOLS
        .iter()
        .find(|(prefix, _)| name.starts_with(prefix));
    let feature = protocol.or_else(|| UNMODELLED_CALLS.iter().find(|(call, _)| *call == name));
    feature.map(|(_, feature)| *feature)
}

fn missing_in_call(call: &Call) -> Option<&'static str> {
    let mut unsupported = unmodelled_call(&call.name);
    for argument in &call.arguments {
        argument.words(&mut |word| {
            let feature = FEATURES.iter().find(|(part, _)| word.contains(part));
            unsupported = unsupported.or(feature.map(|(_, feature)| *feature));
        });
    }
    unsupported
}

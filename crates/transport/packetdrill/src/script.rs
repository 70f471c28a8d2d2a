//! Script: the events of a packetdrill script as data.

/// Parsed script.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Script {
    /// Options of the command line, such as `tolerance_usecs`, with their lines.
    pub options: Vec<(u32, String, String)>,
    /// Events in order.
    pub(crate) events: Vec<Event>,
}

/// Event with its time.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Event {
    pub(crate) line: u32,
    pub(crate) time: Time,
    pub(crate) kind: EventKind,
}

/// Time of an event, microseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Time {
    /// Any time.
    Any,
    /// Time since the start of the script.
    Absolute(i64),
    /// Time since the previous event.
    Relative(i64),
    /// Range since the start of the script.
    AbsoluteRange(i64, i64),
    /// Range since the previous event.
    RelativeRange(i64, i64),
}

/// Kind of an event.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum EventKind {
    /// Packet that the peer sends.
    In(Packet),
    /// Packet that TCP must send.
    Out(Packet),
    /// ICMP message that arrives.
    Icmp(Icmp),
    /// System call.
    Call(Call),
    /// Shell command.
    Command(String),
    /// Python code.
    Code(String),
    /// Something that is recognised but not modelled, with its name.
    Unsupported(&'static str),
}

/// TCP packet as a script writes it.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Packet {
    /// Letters of the flags: `S`, `F`, `R`, `P`, `.`, `E`, `W`, `U`.
    pub(crate) flags: String,
    pub(crate) seq: u32,
    pub(crate) len: u32,
    pub(crate) ack: Option<u32>,
    pub(crate) window: Option<u16>,
    /// Options in order; `None` for `<...>`.
    pub(crate) options: Option<Vec<TcpOption>>,
    pub(crate) ecn: Option<IpEcn>,
}

/// ECN field of the IP header as a script writes it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IpEcn {
    None,
    Ect0,
    Ect1,
    /// ECT(0) or ECT(1).
    EitherEct,
    Ce,
}

/// TCP option as a script writes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TcpOption {
    Nop,
    Eol,
    Mss(u16),
    WindowScale(u8),
    SackPermitted,
    Sack(Vec<(u32, u32)>),
    Timestamps(u32, u32),
    /// Option that is not modelled, with its name.
    Unmodelled(&'static str),
}

/// ICMP message about a packet of ours.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Icmp {
    pub(crate) kind: String,
    pub(crate) code: String,
    pub(crate) mtu: Option<u32>,
    /// First sequence number and payload bytes of the quoted packet.
    pub(crate) quoted: (u32, u32),
}

/// System call.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Call {
    pub(crate) name: String,
    pub(crate) arguments: Vec<Expression>,
    pub(crate) result: Expression,
    /// Name of the error that the call returns.
    pub(crate) errno: Option<String>,
    /// Time at which a call that blocks returns, microseconds, relative or absolute like that of its start.
    pub(crate) returns_us: Option<i64>,
}

/// Argument or result of a system call.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Expression {
    /// `...`
    Any,
    Number(i64),
    Word(String),
    Text(String),
    /// `a | b`
    Or(Vec<Expression>),
    /// `[a, b]`, or `{a, b}`.
    List(Vec<Expression>),
    /// `{name = a, name = b}`
    Fields(Vec<(String, Expression)>),
    /// `name(a, b)`
    Apply(String, Vec<Expression>),
}

impl Expression {
    /// Returns the value of the field of this name.
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        let Self::Fields(fields) = self else {
            return None;
        };
        fields
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// Returns whether the expression is the word, or has it among its alternatives.
    pub(crate) fn has_word(&self, word: &str) -> bool {
        match self {
            Self::Word(own) => own == word,
            Self::Or(parts) => parts.iter().any(|part| part.has_word(word)),
            _ => false,
        }
    }

    /// Calls `visit` with the words of the expression at any depth.
    pub(crate) fn words(&self, visit: &mut impl FnMut(&str)) {
        match self {
            Self::Word(word) => visit(word),
            Self::Or(parts) | Self::List(parts) => parts.iter().for_each(|part| part.words(visit)),
            Self::Apply(name, parts) => {
                visit(name);
                parts.iter().for_each(|part| part.words(visit));
            }
            Self::Fields(fields) => fields.iter().for_each(|(_, value)| value.words(visit)),
            Self::Any | Self::Number(_) | Self::Text(_) => {}
        }
    }
}

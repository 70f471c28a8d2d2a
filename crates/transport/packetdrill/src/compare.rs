//! Comparison of a packet that TCP sent with the one that a script expects, and both as texts.

use core::fmt::Write as _;

use tcp::{Ecn, Flags, Segment};

use crate::script::{IpEcn, Packet, TcpOption};

/// Letters of the flags in the order in which they are written.
const LETTERS: [(Flags, char); 7] = [
    (Flags::SYN, 'S'),
    (Flags::FIN, 'F'),
    (Flags::RST, 'R'),
    (Flags::PSH, 'P'),
    (Flags::ECE, 'E'),
    (Flags::CWR, 'W'),
    (Flags::ACK, '.'),
];

/// Returns the flags of these letters.
pub(crate) fn flags_of(letters: &str) -> Flags {
    let mut flags = Flags::NONE;
    for (flag, letter) in LETTERS {
        if letters.contains(letter) {
            flags |= flag;
        }
    }
    flags
}

fn letters_of(flags: Flags) -> String {
    let letters: String = LETTERS
        .iter()
        .filter(|(flag, _)| flags.contains(*flag))
        .map(|(_, letter)| *letter)
        .collect();
    if letters.is_empty() {
        "-".to_owned()
    } else {
        letters
    }
}

/// Returns the options of a segment in the order and with the padding of Linux.
pub(crate) fn options_of(segment: &Segment) -> Vec<TcpOption> {
    let mut options = Vec::new();
    let syn = segment.flags.contains(Flags::SYN);
    if let Some(mss) = segment.mss {
        options.push(TcpOption::Mss(mss));
    }
    if let Some((value, echo)) = segment.timestamps {
        let sack_beside = syn && segment.sack_permitted;
        options.push(if sack_beside {
            TcpOption::SackPermitted
        } else {
            TcpOption::Nop
        });
        if !sack_beside {
            options.push(TcpOption::Nop);
        }
        options.push(TcpOption::Timestamps(value, echo));
    } else if segment.sack_permitted {
        options.extend([TcpOption::Nop, TcpOption::Nop, TcpOption::SackPermitted]);
    }
    if let Some(scale) = segment.window_scale {
        options.extend([TcpOption::Nop, TcpOption::WindowScale(scale)]);
    }
    if !segment.sack.is_empty() {
        options.extend([
            TcpOption::Nop,
            TcpOption::Nop,
            TcpOption::Sack(segment.sack.as_slice().to_vec()),
        ]);
    }
    options
}

/// Returns the name of the first field in which `seen` is not as `expected`. Timestamps are compared if `clock` gives
/// the value that the script should have, and the number of clock ticks that it may be off.
pub(crate) fn difference(
    expected: &Packet,
    seen: &Segment,
    clock: Option<(u32, u32)>,
) -> Option<&'static str> {
    let flags = flags_of(&expected.flags);
    let differs = |flag: Flags| flags.contains(flag) != seen.flags.contains(flag);
    let names = ["SYN", "FIN", "RST", "PSH", "ECN echo", "CWR", "ACK flag"];
    if let Some((_, name)) = LETTERS
        .iter()
        .zip(names)
        .find(|((flag, _), _)| differs(*flag))
    {
        return Some(name);
    }
    if expected.seq != seen.seq {
        return Some("sequence number");
    }
    if expected.len != seen.len {
        return Some("payload");
    }
    let acknowledges = flags.contains(Flags::ACK);
    if acknowledges && expected.ack.unwrap_or(0) != seen.ack {
        return Some("acknowledgement number");
    }
    if expected.window.is_some_and(|window| window != seen.window) {
        return Some("window");
    }
    if let Some(ecn) = expected.ecn
        && !matches!(
            (ecn, seen.ecn),
            (IpEcn::None, Ecn::NotEct)
                | (IpEcn::Ect0 | IpEcn::EitherEct, Ecn::Ect0)
                | (IpEcn::Ect1 | IpEcn::EitherEct, Ecn::Ect1)
                | (IpEcn::Ce, Ecn::Ce)
        )
    {
        return Some("ECN field");
    }
    let Some(options) = &expected.options else {
        return None;
    };
    let sent = options_of(seen);
    let same = options.len() == sent.len()
        && options.iter().zip(&sent).all(|pair| match pair {
            (TcpOption::Timestamps(value, echo), TcpOption::Timestamps(_, sent_echo)) => {
                let late = clock.is_some_and(|(actual, max)| {
                    actual.wrapping_sub(*value).cast_signed().unsigned_abs() > max
                });
                !late && echo == sent_echo
            }
            (mine, theirs) => mine == theirs,
        });
    (!same).then_some("options")
}

/// Returns a segment as a script would write it.
pub(crate) fn segment_text(segment: &Segment) -> String {
    let end = segment.seq.wrapping_add(segment.len);
    let mut text = match segment.ecn {
        Ecn::NotEct => String::new(),
        Ecn::Ect0 => "[ect0] ".to_owned(),
        Ecn::Ect1 => "[ect1] ".to_owned(),
        Ecn::Ce => "[ce] ".to_owned(),
    };
    let _ = write!(
        text,
        "{} {}:{end}({})",
        letters_of(segment.flags),
        segment.seq,
        segment.len
    );
    if segment.flags.contains(Flags::ACK) {
        let _ = write!(text, " ack {}", segment.ack);
    }
    let _ = write!(text, " win {}", segment.window);
    push_options(&mut text, &options_of(segment));
    text
}

/// Returns an expected packet as the script writes it.
pub(crate) fn packet_text(packet: &Packet) -> String {
    let end = packet.seq.wrapping_add(packet.len);
    let flags = if packet.flags.is_empty() {
        "-"
    } else {
        &packet.flags
    };
    let ecn = match packet.ecn {
        None => "",
        Some(IpEcn::None) => "[noecn] ",
        Some(IpEcn::Ect0) => "[ect0] ",
        Some(IpEcn::Ect1) => "[ect1] ",
        Some(IpEcn::EitherEct) => "[ect01] ",
        Some(IpEcn::Ce) => "[ce] ",
    };
    let mut text = format!("{ecn}{flags} {}:{end}({})", packet.seq, packet.len);
    if let Some(ack) = packet.ack {
        let _ = write!(text, " ack {ack}");
    }
    if let Some(window) = packet.window {
        let _ = write!(text, " win {window}");
    }
    match &packet.options {
        None => text.push_str(" <...>"),
        Some(options) => push_options(&mut text, options),
    }
    text
}

fn push_options(text: &mut String, options: &[TcpOption]) {
    if options.is_empty() {
        return;
    }
    let words: Vec<String> = options.iter().map(option_text).collect();
    let _ = write!(text, " <{}>", words.join(","));
}

fn option_text(option: &TcpOption) -> String {
    match option {
        TcpOption::Nop => "nop".to_owned(),
        TcpOption::Eol => "eol".to_owned(),
        TcpOption::Mss(mss) => format!("mss {mss}"),
        TcpOption::WindowScale(scale) => format!("wscale {scale}"),
        TcpOption::SackPermitted => "sackOK".to_owned(),
        TcpOption::Sack(blocks) => blocks
            .iter()
            .fold("sack".to_owned(), |text, (left, right)| {
                format!("{text} {left}:{right}")
            }),
        TcpOption::Timestamps(value, echo) => format!("TS val {value} ecr {echo}"),
        TcpOption::Unmodelled(name) => (*name).to_owned(),
    }
}

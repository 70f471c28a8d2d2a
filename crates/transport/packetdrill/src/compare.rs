//! Comparison of a packet that TCP has sent with the one that a script expects, and their texts.

use core::fmt::Write as _;

use tcp::{Ecn, Flags, Segment};

use crate::script::{IpEcn, Packet, TcpOption};

/// Letters of the flags in the order in which they are written.
const FLAG_LETTERS: [(Flags, char); 7] = [
    (Flags::SYN, 'S'),
    (Flags::FIN, 'F'),
    (Flags::RST, 'R'),
    (Flags::PSH, 'P'),
    (Flags::ECE, 'E'),
    (Flags::CWR, 'W'),
    (Flags::ACK, '.'),
];

/// Returns the flags for letters of a script.
pub(crate) fn parse_flags(letters: &str) -> Flags {
    let mut flags = Flags::NONE;
    for (flag, letter) in FLAG_LETTERS {
        if letters.contains(letter) {
            flags |= flag;
        }
    }
    flags
}

/// Returns the letters of flags, as a script writes them.
fn flag_letters(flags: Flags) -> String {
    let letters: String = FLAG_LETTERS
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
pub(crate) fn segment_options(segment: &Segment) -> Vec<TcpOption> {
    let mut options = Vec::new();
    let syn = segment.flags.contains(Flags::SYN);
    if let Some(mss) = segment.mss {
        options.push(TcpOption::Mss(mss));
    }
    if let Some((value, echo)) = segment.timestamps {
        let has_sack_permitted = syn && segment.sack_permitted;
        options.push(if has_sack_permitted {
            TcpOption::SackPermitted
        } else {
            TcpOption::Nop
        });
        if !has_sack_permitted {
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

/// Returns the name of the first field in which `seen` differs from `expected`. With `timestamp`, timestamps are compared:
/// it is the one sent, in the script's numbers, and its tolerance, ticks.
pub(crate) fn first_difference(
    expected: &Packet,
    seen: &Segment,
    timestamp: Option<(u32, u32)>,
) -> Option<&'static str> {
    let flags = parse_flags(&expected.flags);
    let differs = |flag: Flags| flags.contains(flag) != seen.flags.contains(flag);
    let names = ["SYN", "FIN", "RST", "PSH", "ECN echo", "CWR", "ACK flag"];
    if let Some((_, name)) = FLAG_LETTERS
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
    let sent = segment_options(seen);
    let are_same = options.len() == sent.len()
        && options.iter().zip(&sent).all(|pair| match pair {
            (TcpOption::Timestamps(value, echo), TcpOption::Timestamps(_, sent_echo)) => {
                let is_off = timestamp.is_some_and(|(actual, max)| {
                    actual.wrapping_sub(*value).cast_signed().unsigned_abs() > max
                });
                !is_off && echo == sent_echo
            }
            (option, sent_option) => option == sent_option,
        });
    (!are_same).then_some("options")
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
        flag_letters(segment.flags),
        segment.seq,
        segment.len
    );
    if segment.flags.contains(Flags::ACK) {
        let _ = write!(text, " ack {}", segment.ack);
    }
    let _ = write!(text, " win {}", segment.window);
    push_options(&mut text, &segment_options(segment));
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

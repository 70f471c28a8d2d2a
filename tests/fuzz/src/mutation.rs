//! Mutation: one change of an input, of its bytes, numbers, values or lines.

use std::ops::Range;

use proptest::prelude::*;
use proptest::sample::Index;

/// Longest mutant, bytes: mutations that make it longer are left out.
const MAX_LENGTH: usize = 1 << 20;
/// Most mutations of one input.
const MAX_MUTATIONS: usize = 8;

/// Texts that readers of numbers, quantities, names and structures tend to fall for.
const TEXTS: &[&str] = &[
    "0",
    "-0",
    "-1",
    "1",
    "2",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e9",
    "1e18",
    "1e19",
    "1e308",
    "1e400",
    "1e-9",
    "1e-308",
    "1e-400",
    "0.1",
    ".5",
    "5.",
    "nan",
    "inf",
    "-inf",
    "0x7fffffffffffffff",
    "0x",
    "\"\"",
    "\"0\"",
    "\"x\"",
    "true",
    "false",
    "null",
    "[]",
    "{}",
    "[[]]",
    "[{}]",
    "\"\\u0000\"",
    "\"é\"",
    "é",
    "\u{feff}",
    "\"0s\"",
    "\"1ns\"",
    "\"1us\"",
    "\"-1s\"",
    "\"9e9s\"",
    "\"1e308s\"",
    "\"1000000h\"",
    "\"2147483648s\"",
    "\"0Mbit/s\"",
    "\"1bit/s\"",
    "\"2147483648Mbit/s\"",
    "\"9e9Gbit/s\"",
    "\"1e308Gbit/s\"",
    "\"0B\"",
    "\"1B\"",
    "\"27B\"",
    "\"9GB\"",
    "\"9e9GB\"",
    "\"0packets\"",
    "\"4294967295packets\"",
    "\"0bdp\"",
    "\"1e308bdp\"",
    "\"1e308MHz\"",
    "\"0Hz\"",
    "\"-400dB\"",
    "\"1e308dBm\"",
    "\"1e308m\"",
    "\"1e308km/h\"",
    "\"off\"",
    "\"*\"",
    "\"../x\"",
    "1970-01-01T00:00:00Z",
    "65535.12.31_23.59.59",
    "0.1.1_0.0.0",
    "2019-12-14T10:16:30+99:99",
    "2019-12-14T10:16:30é",
    ",",
    ";",
    "\t",
    " ",
    "\n",
    "\r\n",
    "\r",
    "\0",
    "#",
    "=",
    ":",
    "\"",
    "'",
    "`",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "%{",
    "}%",
    "<",
    ">",
    "|",
    "\\",
    "/",
    "//",
    "/*",
    "*/",
    "..",
    "...",
    "+",
    "-",
    "*",
    "~",
    "<?xml",
    "]]>",
    "&amp;",
    "--define=a=a a",
];

/// Integers that readers of binary files tend to fall for.
const INTEGERS: &[u64] = &[
    0,
    1,
    2,
    3,
    4,
    7,
    8,
    15,
    16,
    20,
    24,
    40,
    60,
    127,
    128,
    255,
    256,
    1_500,
    32_767,
    32_768,
    65_535,
    65_536,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    u64::MAX / 2,
    u64::MAX,
];

/// Change of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LineChange {
    /// Removes it.
    Remove,
    /// Repeats it after another line.
    Repeat,
    /// Puts it after another line.
    Move,
}

/// One change of an input. Places are shares of the input, so that a mutation applies to any input.
#[derive(Clone, Debug)]
pub enum Mutation {
    /// Puts one of a list of texts in the place of a number.
    Number(Index, Index),
    /// Puts one of a list of texts in the place of what follows a `=`, `:` or `,` up to the end of it.
    Value(Index, Index),
    /// Inserts one of a list of texts.
    Insert(Index, Index),
    /// Puts one of a list of integers in the place of some bytes: place, integer, log2 of the width, little endian.
    Integer(Index, Index, u32, bool),
    /// Replaces a byte.
    Byte(Index, u8),
    /// Removes some bytes.
    Remove(Index, usize),
    /// Repeats some bytes.
    Repeat(Index, usize, usize),
    /// Cuts the rest off.
    Cut(Index),
    /// Inserts a part of another input: place, other input, start there, length.
    Splice(Index, Index, Index, usize),
    /// Changes a line; the second place is that of another line.
    Line(Index, Index, LineChange),
}

impl Mutation {
    /// Returns the strategy of one mutation.
    pub fn strategy() -> impl Strategy<Value = Self> {
        use Mutation as M;
        let place = any::<Index>;
        let change = prop_oneof![
            Just(LineChange::Remove),
            Just(LineChange::Repeat),
            Just(LineChange::Move)
        ];
        prop_oneof![
            5 => (place(), place()).prop_map(|(at, text)| M::Number(at, text)),
            4 => (place(), place()).prop_map(|(at, text)| M::Value(at, text)),
            2 => (place(), place()).prop_map(|(at, text)| M::Insert(at, text)),
            2 => (place(), place(), 0_u32..4, any::<bool>()).prop_map(|(at, n, log, little)| M::Integer(at, n, log, little)),
            2 => (place(), any::<u8>()).prop_map(|(at, byte)| M::Byte(at, byte)),
            2 => (place(), 1_usize..64).prop_map(|(at, length)| M::Remove(at, length)),
            1 => (place(), 1_usize..64, 1_usize..2_000).prop_map(|(at, length, times)| M::Repeat(at, length, times)),
            1 => place().prop_map(M::Cut),
            1 => (place(), place(), place(), 1_usize..512).prop_map(|(at, other, from, length)| M::Splice(at, other, from, length)),
            3 => (place(), place(), change).prop_map(|(at, to, change)| M::Line(at, to, change)),
        ]
    }

    /// Applies the mutation to `input`.
    fn apply(&self, input: &mut Vec<u8>, sources: &[Vec<u8>]) {
        match self {
            Self::Number(at, text) => {
                replace_one(input, &numbers(input), at, text.get(TEXTS).as_bytes());
            }
            Self::Value(at, text) => {
                replace_one(input, &values(input), at, text.get(TEXTS).as_bytes());
            }
            Self::Insert(at, text) => insert(input, at, text.get(TEXTS).as_bytes()),
            Self::Integer(at, number, log, little) => {
                let bytes = match little {
                    true => number.get(INTEGERS).to_le_bytes(),
                    false => number.get(INTEGERS).to_be_bytes(),
                };
                let width = 1_usize << log;
                let bytes = if *little {
                    &bytes[..width]
                } else {
                    &bytes[8 - width..]
                };
                if input.len() >= width {
                    let at = at.index(input.len() - width + 1);
                    input[at..at + width].copy_from_slice(bytes);
                }
            }
            Self::Byte(at, byte) => {
                if !input.is_empty() {
                    *at.get_mut(input) = *byte;
                }
            }
            Self::Remove(at, length) => {
                let range = part(input, at, *length);
                input.drain(range);
            }
            Self::Repeat(at, length, times) => {
                let range = part(input, at, *length);
                let repeated = input[range.clone()].repeat(*times);
                put(input, range.end..range.end, &repeated);
            }
            Self::Cut(at) => input.truncate(at.index(input.len() + 1)),
            Self::Splice(at, other, from, length) => {
                let other = other.get(sources);
                insert(input, at, &other[part(other, from, *length)]);
            }
            Self::Line(at, to, change) => {
                let mut lines: Vec<Vec<u8>> = input
                    .split_inclusive(|&byte| byte == b'\n')
                    .map(<[u8]>::to_vec)
                    .collect();
                if lines.is_empty() {
                    return;
                }
                let at = at.index(lines.len());
                let line = lines[at].clone();
                if *change != LineChange::Repeat {
                    lines.remove(at);
                }
                if *change != LineChange::Remove {
                    lines.insert(to.index(lines.len() + 1), line);
                }
                *input = lines.concat();
            }
        }
    }
}

/// Returns the strategy of mutants: a number of one of the sources, and its mutations.
pub(crate) fn mutants() -> impl Strategy<Value = (Index, Vec<Mutation>)> {
    let mutations = prop::collection::vec(Mutation::strategy(), 0..=MAX_MUTATIONS);
    (any::<Index>(), mutations)
}

/// Returns one of `sources`, mutated.
pub fn mutated(sources: &[Vec<u8>], source: Index, mutations: &[Mutation]) -> Vec<u8> {
    let mut input = source.get(sources).clone();
    for mutation in mutations {
        mutation.apply(&mut input, sources);
    }
    input
}

/// Returns the numbers in a text: digits and points.
fn numbers(input: &[u8]) -> Vec<Range<usize>> {
    runs(input, |byte| byte.is_ascii_digit() || byte == b'.')
}

/// Returns what stands between the marks that separate values, without blanks.
fn values(input: &[u8]) -> Vec<Range<usize>> {
    runs(input, |byte| !b"=:,;|()[]{}<>\n\r\t ".contains(&byte))
}

/// Returns the longest runs of bytes that `belongs` accepts.
fn runs(input: &[u8], belongs: impl Fn(u8) -> bool) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let mut start = None;
    for (at, &byte) in input.iter().chain([&b'\n']).enumerate() {
        let is_part = at < input.len() && belongs(byte);
        match (start, is_part) {
            (None, true) => start = Some(at),
            (Some(first), false) => {
                runs.push(first..at);
                start = None;
            }
            _ => {}
        }
    }
    runs
}

fn replace_one(input: &mut Vec<u8>, ranges: &[Range<usize>], at: &Index, new: &[u8]) {
    if !ranges.is_empty() {
        put(input, at.get(ranges).clone(), new);
    }
}

fn insert(input: &mut Vec<u8>, at: &Index, new: &[u8]) {
    let at = at.index(input.len() + 1);
    put(input, at..at, new);
}

fn put(input: &mut Vec<u8>, range: Range<usize>, new: &[u8]) {
    if input.len() + new.len() <= MAX_LENGTH {
        input.splice(range, new.iter().copied());
    }
}

fn part(input: &[u8], at: &Index, length: usize) -> Range<usize> {
    let start = at.index(input.len() + 1);
    start..(start + length).min(input.len())
}

//! TCP options, in the layout of Linux.

use tcp::{FarAck, Flags, SackBlocks, Segment};

use super::WireError;

const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// Kinds for experiments (RFC 4727 §2.2); with four bytes of data, the far acknowledgement of AS-TCP.
const EXPERIMENTS: [u8; 2] = [253, 254];

/// Appends the options of `segment`, each padded in front to 32-bit words. The order is: maximum segment size,
/// timestamps (behind SACK-permitted or two NOPs), SACK-permitted if there are no timestamps, window scale, SACK
/// blocks, far acknowledgement.
pub(super) fn write(segment: &Segment, out: &mut Vec<u8>) {
    let syn = segment.flags.contains(Flags::SYN);
    let permitted = syn && segment.sack_permitted;
    if let (true, Some(mss)) = (syn, segment.mss) {
        out.extend([MSS, 4]);
        out.extend(mss.to_be_bytes());
    }
    if let Some((value, echo)) = segment.timestamps {
        out.extend(if permitted {
            [SACK_PERMITTED, 2]
        } else {
            [NOP, NOP]
        });
        out.extend([TIMESTAMPS, 10]);
        out.extend(value.to_be_bytes());
        out.extend(echo.to_be_bytes());
    } else if permitted {
        out.extend([NOP, NOP, SACK_PERMITTED, 2]);
    }
    if let (true, Some(shift)) = (syn, segment.window_scale) {
        out.extend([NOP, WINDOW_SCALE, 3, shift]);
    }
    let blocks = segment.sack.as_slice();
    if !blocks.is_empty() {
        out.extend([NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
        for (left, right) in blocks {
            out.extend(left.to_be_bytes());
            out.extend(right.to_be_bytes());
        }
    }
    if let Some(FarAck { kind, number }) = segment.far_ack {
        out.extend([NOP, NOP, kind, 6]);
        out.extend(number.to_be_bytes());
    }
}

/// Reads options into `segment`. Unknown options are skipped (RFC 9293 §3.1).
///
/// # Errors
/// An option is malformed or cut off. Those before it have been read.
pub fn read_options(mut bytes: &[u8], segment: &mut Segment) -> Result<(), WireError> {
    while let Some((&kind, rest)) = bytes.split_first() {
        match kind {
            END => break,
            NOP => {
                bytes = rest;
                continue;
            }
            _ => {}
        }
        let malformed = WireError::Option { kind };
        let len = usize::from(*rest.first().ok_or(malformed)?);
        let (option, rest) = bytes.split_at_checked(len.max(1)).ok_or(malformed)?;
        let value = option.get(2..).ok_or(malformed)?;
        match kind {
            MSS => segment.mss = Some(u16::from_be_bytes(value.try_into().or(Err(malformed))?)),
            WINDOW_SCALE => {
                let [shift] = value.try_into().or(Err(malformed))?;
                segment.window_scale = Some(shift);
            }
            SACK_PERMITTED => segment.sack_permitted = true,
            TIMESTAMPS => {
                segment.timestamps = Some(pair(value).ok_or(malformed)?);
            }
            SACK => {
                segment.sack = SackBlocks::EMPTY;
                if value.len() % 8 != 0 {
                    return Err(malformed);
                }
                for (left, right) in value.chunks_exact(8).filter_map(pair) {
                    segment.sack.push(left, right);
                }
            }
            _ if EXPERIMENTS.contains(&kind) => {
                let number = value.try_into().map(u32::from_be_bytes);
                segment.far_ack = number.ok().map(|number| FarAck { kind, number });
            }
            _ => {}
        }
        bytes = rest;
    }
    Ok(())
}

fn pair(bytes: &[u8]) -> Option<(u32, u32)> {
    let (first, second) = bytes.split_at_checked(4)?;
    let number = |bytes: &[u8]| Some(u32::from_be_bytes(bytes.try_into().ok()?));
    Some((number(first)?, number(second)?))
}

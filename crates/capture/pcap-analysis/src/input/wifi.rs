//! IEEE 802.11: from a data frame to its payload.

use super::layer::{Layer, Step, next_header, octet};
use super::skipped::Skipped;

/// Name of frames without data among the skipped records.
const NO_DATA_NAME: &str = "IEEE 802.11 without data";

/// Maximum length of the headers before LLC: four addresses, QoS control, HT control, and the header of an A-MSDU
/// subframe.
const MAX_HEADER: usize = 30 + 2 + 4 + 14;

/// Returns the layer that a data frame carries, with its bytes (IEEE 802.11 §9.2).
pub(super) fn frame(bytes: &[u8]) -> Step<'_> {
    // First octet of the frame control: version, type and subtype.
    const DATA: u8 = 0b10;
    const QOS: u8 = 0b1000_0000;
    const NO_DATA: u8 = 0b0100_0000;
    // Second octet: flags.
    const BOTH_DS: u8 = 0b0000_0011;
    const PROTECTED: u8 = 0b0100_0000;
    const ORDER: u8 = 0b1000_0000;
    // First octet of the QoS control.
    const A_MSDU: u8 = 0b1000_0000;
    let (type_octet, flags) = (octet(bytes, 0)?, octet(bytes, 1)?);
    if type_octet & 0b11 != 0 || type_octet >> 2 & 0b11 != DATA || type_octet & NO_DATA != 0 {
        return Err(Skipped::Other(NO_DATA_NAME));
    }
    if flags & PROTECTED != 0 {
        return Err(Skipped::Encrypted("IEEE 802.11"));
    }
    let mut at = if flags & BOTH_DS == BOTH_DS { 30 } else { 24 };
    if type_octet & QOS == 0 {
        return next_header(Layer::Llc, bytes, at);
    }
    let is_a_msdu = octet(bytes, at)? & A_MSDU != 0;
    at += 2;
    if flags & ORDER != 0 {
        at += 4;
    }
    // Of an A-MSDU, the first subframe is read, behind its header of 14 octets.
    next_header(Layer::Llc, bytes, if is_a_msdu { at + 14 } else { at })
}

/// Returns the layer that a data frame in CAPWAP carries, with its bytes. Some controllers swap the octets of the frame
/// control.
pub(super) fn frame_of_controller(bytes: &[u8]) -> Step<'_> {
    let step = frame(bytes);
    if !matches!(step, Err(Skipped::Other(_))) {
        return step;
    }
    let mut swapped = [0; MAX_HEADER];
    let len = bytes.len().min(swapped.len());
    swapped[..len].copy_from_slice(&bytes[..len]);
    if len >= 2 {
        swapped.swap(0, 1);
    }
    let (layer, rest) = frame(&swapped[..len])?;
    next_header(layer, bytes, len - rest.len())
}

//! GTP-U: from a UDP payload to the packet that it tunnels (3GPP TS 29.281 §5).

/// UDP port of GTP-U.
pub(super) const PORT: u16 = 2_152;
/// Message type of a G-PDU, which carries a packet of a user.
const G_PDU: u8 = 255;
/// Version 1 and protocol type GTP in the first octet.
const VERSION_AND_TYPE: u8 = 0b0011_0000;
const OPTIONAL_FIELDS: u8 = 0b0000_0111;
const EXTENSION: u8 = 0b0000_0100;

/// Returns the packet in the payload of a UDP datagram, if it is a G-PDU.
pub(super) fn inner_packet(payload: &[u8]) -> Option<&[u8]> {
    let flags = *payload.first()?;
    if flags & 0b1111_0000 != VERSION_AND_TYPE || *payload.get(1)? != G_PDU {
        return None;
    }
    if flags & OPTIONAL_FIELDS == 0 {
        return payload.get(8..);
    }
    let mut next = *payload.get(11)?;
    let mut at = 12;
    while flags & EXTENSION != 0 && next != 0 {
        // The length of an extension header counts units of four octets (§5.2.1).
        let len = usize::from(*payload.get(at)?) * 4;
        if len == 0 {
            return None;
        }
        at += len;
        next = *payload.get(at - 1)?;
    }
    payload.get(at..)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_found_behind_optional_fields_and_extension_headers() {
        let plain = [0x30, 255, 0, 1, 0, 0, 0, 9, 0x45];
        assert_eq!(inner_packet(&plain), Some(&[0x45][..]));
        let numbered = [0x32, 255, 0, 5, 0, 0, 0, 9, 0, 1, 0, 0, 0x45];
        assert_eq!(inner_packet(&numbered), Some(&[0x45][..]));
        // A PDU session container (TS 38.415), as between base station and UPF.
        let session = [
            0x34, 255, 0, 9, 0, 0, 0, 9, 0, 0, 0, 0x85, 1, 0x10, 9, 0, 0x60,
        ];
        assert_eq!(inner_packet(&session), Some(&[0x60][..]));
    }

    #[test]
    fn other_messages_and_endless_extensions_are_none() {
        assert_eq!(inner_packet(&[0x32, 1, 0, 4, 0, 0, 0, 0]), None);
        assert_eq!(
            inner_packet(&[0x34, 255, 0, 9, 0, 0, 0, 9, 0, 0, 0, 0x85, 0, 0, 0, 0]),
            None
        );
    }
}

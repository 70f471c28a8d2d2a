//! Reset: the reply of a host to a segment that belongs to no connection.

use crate::segment::{Flags, Segment};

/// Returns the reset that answers a segment of no connection (RFC 9293 §3.10.7.1); `None` for a reset.
pub fn reset_reply(segment: &Segment) -> Option<Segment> {
    if segment.flags.contains(Flags::RST) {
        return None;
    }
    let reply = Segment {
        flags: Flags::RST,
        ..Segment::default()
    };
    Some(if segment.flags.contains(Flags::ACK) {
        Segment {
            seq: segment.ack,
            ..reply
        }
    } else {
        Segment {
            ack: segment.seq.wrapping_add(segment.sequence_len()),
            flags: Flags::RST | Flags::ACK,
            ..reply
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_repeats_the_acknowledgement_or_acknowledges_all() {
        let ack = Segment {
            seq: 5,
            ack: 9,
            flags: Flags::ACK,
            ..Segment::default()
        };
        let reply = reset_reply(&ack).expect("a reply");
        assert_eq!((reply.seq, reply.flags), (9, Flags::RST));
        let syn = Segment {
            seq: 5,
            len: 3,
            flags: Flags::SYN,
            ..Segment::default()
        };
        let reply = reset_reply(&syn).expect("a reply");
        assert_eq!((reply.seq, reply.ack), (0, 9));
        assert_eq!(reply.flags, Flags::RST | Flags::ACK);
        assert_eq!(reset_reply(&reply), None);
    }
}

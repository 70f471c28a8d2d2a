//! ACK semantics: verifies that the middleboxes of a run acknowledge only what their settings allow.

use results::Flows;
use scenario::AckSemantics;

/// Violation of the ACK semantics: data acknowledged before delivery.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AckViolation {
    /// Bytes were acknowledged early.
    #[error(
        "{bytes} bytes of connection {flow} were acknowledged before they had reached the receiver"
    )]
    Bytes { flow: u32, bytes: u64 },
    /// All payload sent was acknowledged early.
    #[error(
        "everything sent on connection {flow} was acknowledged before it had reached the receiver"
    )]
    All { flow: u32 },
}

/// Verifies the ACKs that the senders of these connections received.
pub(crate) fn verify(ack_semantics: AckSemantics, flows: &Flows) -> Result<(), AckViolation> {
    for (index, &flow) in flows.flow.iter().enumerate() {
        let (bytes, ends) = (
            flows.acked_early_bytes[index],
            flows.acked_early_ends[index],
        );
        if ack_semantics == AckSemantics::EndToEnd && bytes > 0 {
            return Err(AckViolation::Bytes { flow, bytes });
        }
        if ack_semantics >= AckSemantics::PerConnection && ends > 0 {
            return Err(AckViolation::All { flow });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{AckViolation, verify};
    use results::Flows;
    use scenario::AckSemantics;

    #[test]
    fn each_promise_forbids_what_it_says() {
        let flows = |bytes, ends| Flows {
            flow: vec![3],
            acked_early_bytes: vec![bytes],
            acked_early_ends: vec![ends],
            ..Flows::default()
        };
        let broken = Err(AckViolation::Bytes { flow: 3, bytes: 7 });
        assert_eq!(verify(AckSemantics::EndToEnd, &flows(7, 0)), broken);
        assert_eq!(verify(AckSemantics::PerConnection, &flows(7, 0)), Ok(()));
        assert_eq!(
            verify(AckSemantics::PerConnection, &flows(7, 1)),
            Err(AckViolation::All { flow: 3 })
        );
        assert_eq!(verify(AckSemantics::NoGuarantee, &flows(7, 1)), Ok(()));
    }
}

//! ACK semantics: verifies that the middleboxes of a run acknowledge only what their settings allow.

use results::Flows;
use scenario::AckSemantics;

/// Verifies the ACKs that the senders of these connections received.
pub(crate) fn verify(ack_semantics: AckSemantics, flows: &Flows) -> Result<(), String> {
    for (index, &flow) in flows.flow.iter().enumerate() {
        let (bytes, ends) = (
            flows.acked_early_bytes[index],
            flows.acked_early_ends[index],
        );
        if ack_semantics == AckSemantics::EndToEnd && bytes > 0 {
            return Err(format!(
                "{bytes} bytes of connection {flow} were acknowledged before they had reached the receiver"
            ));
        }
        if ack_semantics >= AckSemantics::PerConnection && ends > 0 {
            return Err(format!(
                "everything sent on connection {flow} was acknowledged before it had reached the receiver"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::verify;
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
        let broken = verify(AckSemantics::EndToEnd, &flows(7, 0)).unwrap_err();
        assert!(broken.starts_with("7 bytes of connection 3"), "{broken}");
        assert_eq!(verify(AckSemantics::PerConnection, &flows(7, 0)), Ok(()));
        let broken = verify(AckSemantics::PerConnection, &flows(7, 1)).unwrap_err();
        assert!(
            broken.starts_with("everything sent on connection 3"),
            "{broken}"
        );
        assert_eq!(verify(AckSemantics::NoGuarantee, &flows(7, 1)), Ok(()));
    }
}

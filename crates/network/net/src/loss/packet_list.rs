//! Packet list: the numbers of the packets that a link loses.

use config::{FieldError, invalid_value};
use schemars::{JsonSchema, Schema};
use serde::{Deserialize, Serialize};

use super::gilbert_elliott::tag;

pub(super) const LIST: &str = "list";

/// Loss of given packets, as exercises have it (ns-3's `ReceiveListErrorModel`). Packets are counted as the link
/// transmits them, from 1 on; the first one of a download is its SYN-ACK.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename = "list", deny_unknown_fields)]
#[schemars(rename = "PacketList", transform = tagged)]
pub struct PacketList {
    /// Numbers of the lost packets, in ascending order; compulsory.
    #[schemars(inner(range(min = 1)))]
    pub packets: Vec<u64>,
}

impl PacketList {
    pub(super) fn check(&self) -> Result<(), FieldError> {
        let mut before = 0;
        for (index, number) in self.packets.iter().enumerate() {
            if *number <= before {
                let allowed = format!("numbers above {before}, in ascending order");
                return invalid_value(format!("packets.{index}"), number, allowed);
            }
            before = *number;
        }
        Ok(())
    }
}

fn tagged(schema: &mut Schema) {
    tag(schema, LIST);
}

//! Kernel settings, for the kernel engine only.

use std::collections::BTreeMap;

use config::{Parameter, table};

table! {
    /// Settings of the kernel engine; the native engine rejects a scenario that has any.
    pub struct Kernel {
        /// Sysctls of all hosts by their names, such as "net.ipv4.tcp_notsent_lowat"; they take precedence over the
        /// section tcp; default none.
        pub sysctl: BTreeMap<String, Parameter>,
        /// Parameters of modules, such as "tcp_cubic.hystart"; default none.
        pub module: BTreeMap<String, Parameter>,
        /// Whether packets wait before the access link in a queue of Linux, whose discipline, parameters and limit are
        /// those of path.queue and path.buffer; default false: in that of the native engine. Downlink only.
        #[serde(skip_serializing_if = "core::ops::Not::not")]
        pub queue: bool,
    }
}

impl Kernel {
    /// Returns whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.sysctl.is_empty() && self.module.is_empty() && !self.queue
    }
}

/// Returns the value as files of the kernel take it.
pub fn kernel_text(value: &Parameter) -> String {
    match value {
        Parameter::Switch(on) => u8::from(*on).to_string(),
        Parameter::Number(number) => number.to_string(),
        Parameter::Text(text) => text.clone(),
    }
}

//! What only the Linux kernel has.

use std::collections::BTreeMap;

use config::table;

use super::Parameter;

table! {
    /// Settings of the kernel engine; the native engine refuses a scenario that has any.
    pub struct Kernel {
        /// Sysctls of all hosts by their names, such as "net.ipv4.tcp_notsent_lowat"; they win over what the
        /// section tcp says; default none.
        pub sysctl: BTreeMap<String, Parameter>,
        /// Parameters of modules, such as "tcp_cubic.hystart"; default none.
        pub module: BTreeMap<String, Parameter>,
    }
}

impl Kernel {
    /// Whether nothing is set.
    pub fn is_empty(&self) -> bool {
        self.sysctl.is_empty() && self.module.is_empty()
    }
}

/// The value as the kernel's files take it.
pub fn kernel_text(value: &Parameter) -> String {
    match value {
        Parameter::Switch(on) => u8::from(*on).to_string(),
        Parameter::Number(number) => number.to_string(),
        Parameter::Text(text) => text.clone(),
    }
}

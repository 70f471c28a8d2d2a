//! LTE and NR radio links as TCP meets them.

pub mod phy;

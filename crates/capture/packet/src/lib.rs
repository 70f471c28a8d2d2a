//! Packets as bytes: headers of IPv4, IPv6 and TCP, the addresses and ports of a run, and capture files.
//!
//! [`wire`] encodes and parses headers, [`addressing`] maps hosts and connections to addresses and ports, and [`pcap`]
//! writes and reads captures. Nothing here knows the network: an observer of the path hands over what it sees.

pub mod addressing;
pub mod pcap;
pub mod wire;

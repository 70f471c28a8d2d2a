//! Input: from the bytes of a capture to TCP packets.
//!
//! [`decompress`] opens files and pipes, [`pcap_reader`] takes pcap and pcapng apart, [`decode`] finds the TCP segment
//! in a record.

pub mod decode;
pub mod decompress;
mod ether;
mod gtp;
mod ip;
mod layer;
mod link;
pub mod pcap_reader;
mod ppp;
pub(crate) mod skipped;
mod tcp_header;
mod tunnel;
mod wifi;
mod zstd;

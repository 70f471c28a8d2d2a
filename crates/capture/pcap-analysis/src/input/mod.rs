//! Input: from the bytes of a capture to TCP packets.
//!
//! [`decompress`] opens files and pipes, `pcap_reader` parses pcap and pcapng, `decode` finds the TCP segment
//! in a record.

pub(crate) mod decode;
pub mod decompress;
mod ether;
mod gtp;
mod ip;
mod layer;
mod link;
pub(crate) mod pcap_reader;
mod ppp;
pub(crate) mod skipped;
mod tcp_header;
mod tunnel;
mod wifi;
mod zstd;

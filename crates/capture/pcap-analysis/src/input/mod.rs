//! Input: from the bytes of a capture to TCP packets.
//!
//! [`decompress`] opens files and pipes, [`pcap_reader`] takes pcap and pcapng apart, [`decode`] finds the TCP segment
//! in a record.

pub mod decode;
pub mod decompress;
mod gtp;
mod ip;
mod link;
pub mod pcap_reader;
pub(crate) mod skipped;
mod tcp_header;
mod zstd;

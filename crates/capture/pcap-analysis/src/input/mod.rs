//! Input: from the bytes of a capture to TCP packets.
//!
//! [`source`] opens files and pipes, [`records`] takes pcap and pcapng apart, [`layers`] finds the TCP segment in a
//! record.

mod gtp;
mod ip;
pub mod layers;
mod link;
pub mod records;
pub mod source;
mod tcp_header;
mod zstd;

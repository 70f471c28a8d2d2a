//! Tests of TCP connections, alone, in pairs and on a pipe.

mod acknowledgements;
mod after_idle;
mod alone;
mod announced_segments;
mod closing;
mod ecn;
mod handshake;
mod keepalive;
mod limits;
mod mathis;
mod pair;
mod pipe;
mod plausible_acks;
mod properties;
mod recovery;
mod relaying;
mod repeated_request;
mod sending;
mod short_segments;
mod slow_reader;
mod steady;
mod time_outs;
mod without_sack;

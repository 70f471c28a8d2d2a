//! Tests of the player of packetdrill scripts.

mod command_line;
mod limits;
mod playing;
mod scripts;

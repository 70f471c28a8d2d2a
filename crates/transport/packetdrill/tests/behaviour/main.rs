//! Tests of the player of packetdrill scripts.

mod command_line;
mod handshakes;
mod limits;
mod long_lives;
mod playing;
mod scripts;
mod shutdowns;
mod withdrawn_windows;

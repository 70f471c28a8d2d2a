//! Tests of the radio link, against theory and specifications, and of files of it.

mod broken_files;
mod cells;
mod fading_statistics;
mod link;
mod phone_logs;
mod ran;
mod speed;

//! Packet flows of middleboxes, step by step.

mod advanced;
mod bytes;
mod contents;
mod es;
mod mtcp;
mod script;
mod whole;

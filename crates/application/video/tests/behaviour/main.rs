//! Tests of the video client.

mod fluid;
mod promises;
mod published;
mod rungs;
mod sizes;

//! Background file: a file that a thread of its own writes, so that a slow disk delays no packet.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Bytes after which the collected bytes go to the thread.
const CHUNK: usize = 256 * 1024;

/// A file whose bytes are collected, and written by another thread.
pub struct BackgroundFile {
    chunk: Vec<u8>,
    chunks: Sender<Vec<u8>>,
    /// Empty buffers of written chunks.
    buffers: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
}

impl BackgroundFile {
    /// Creates the file and starts its thread.
    pub fn create(file: &Path) -> io::Result<Self> {
        let mut out = File::create(file)?;
        let (chunks, to_write) = channel::<Vec<u8>>();
        let (recycle, buffers) = channel();
        let thread = std::thread::spawn(move || {
            for mut chunk in to_write {
                out.write_all(&chunk)?;
                chunk.clear();
                // Nobody reuses it after the end.
                let _ = recycle.send(chunk);
            }
            Ok(())
        });
        Ok(Self {
            chunk: Vec::new(),
            chunks,
            buffers,
            thread,
        })
    }

    /// Writes what is left, and ends the thread.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        drop(self.chunks);
        let ended = self.thread.join();
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Write for BackgroundFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.chunk.extend_from_slice(bytes);
        if self.chunk.len() >= CHUNK {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    /// Sends the collected bytes to the thread. The error of a failed thread is returned at the end.
    fn flush(&mut self) -> io::Result<()> {
        let empty = self.buffers.try_recv().unwrap_or_default();
        let _ = self.chunks.send(core::mem::replace(&mut self.chunk, empty));
        Ok(())
    }
}

//! Background file: a file that a thread of its own writes, so that a slow disk delays no packet.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

/// Bytes after which the thread is handed what was gathered.
const PIECE: usize = 256 * 1024;

/// A file whose bytes are gathered, and written by another thread.
pub struct BackgroundFile {
    piece: Vec<u8>,
    pieces: Sender<Vec<u8>>,
    written: Receiver<Vec<u8>>,
    thread: JoinHandle<io::Result<()>>,
}

impl BackgroundFile {
    /// Creates the file and starts its thread.
    pub fn create(file: &Path) -> io::Result<Self> {
        let mut out = File::create(file)?;
        let (pieces, to_write) = channel::<Vec<u8>>();
        let (give_back, written) = channel();
        let thread = std::thread::spawn(move || {
            for mut piece in to_write {
                out.write_all(&piece)?;
                piece.clear();
                // Nobody takes it back after the end.
                let _ = give_back.send(piece);
            }
            Ok(())
        });
        Ok(Self {
            piece: Vec::new(),
            pieces,
            written,
            thread,
        })
    }

    /// Writes what is left, and ends the thread.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        drop(self.pieces);
        let ended = self.thread.join();
        ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Write for BackgroundFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    /// Hands the collected bytes to the thread. The error of a failed thread is returned at the end.
    fn flush(&mut self) -> io::Result<()> {
        let empty = self.written.try_recv().unwrap_or_default();
        let _ = self.pieces.send(core::mem::replace(&mut self.piece, empty));
        Ok(())
    }
}

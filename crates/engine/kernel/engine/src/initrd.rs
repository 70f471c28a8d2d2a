//! Initial RAM disk: it holds the guest's program as init, and nothing else.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use cpio::newc;

/// Mode of a regular file that everybody may run.
const EXECUTABLE: u32 = 0o100_755;

/// Writes the archive of `guest` to `file`. Its bytes depend on the program alone.
pub(crate) fn write(guest: &Path, file: &Path) -> io::Result<()> {
    let program = std::fs::read(guest)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", guest.display())))?;
    let size = u32::try_from(program.len()).map_err(io::Error::other)?;
    let out = BufWriter::new(File::create(file)?);
    let mut entry = newc::Builder::new("init").mode(EXECUTABLE).write(out, size);
    entry.write_all(&program)?;
    newc::trailer(entry.finish()?)?.flush()
}

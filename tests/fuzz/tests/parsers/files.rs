//! Files of this repository that mutants are made from.

use std::path::{Path, PathBuf};

/// Longest file that serves as a source, bytes: short mutants are tried faster.
const MAX_LENGTH: u64 = 20_000;

/// Returns the contents of the files below a folder of the repository whose names end in `ending`.
pub fn below(folder: &str, ending: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    collect(&root.join(folder), ending, &mut files);
    // The order of a folder is that of the disk.
    files.sort();
    let contents: Vec<_> = files
        .iter()
        .map(|file| std::fs::read(file).expect("it can be read"))
        .collect();
    assert!(!contents.is_empty(), "{folder} has no files *{ending}");
    contents
}

fn collect(folder: &Path, ending: &str, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("the folder is in the repository") {
        let entry = entry.expect("it can be listed");
        let (path, about) = (entry.path(), entry.metadata().expect("it is there"));
        if about.is_dir() {
            collect(&path, ending, files);
        } else if about.len() <= MAX_LENGTH && path.to_string_lossy().ends_with(ending) {
            files.push(path);
        }
    }
}

//! Recordings of real networks: name and text of each file of a folder, if they are at hand.

use std::path::PathBuf;

pub fn recordings(folder: &str) -> Option<Vec<(String, String)>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../../shared/traces")
        .join(folder);
    let Ok(entries) = std::fs::read_dir(&root) else {
        println!("skipped: no recordings at {}", root.display());
        return None;
    };
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        (path.file_name().unwrap().to_str().unwrap().to_owned(), text)
    };
    Some(files.into_iter().map(read).collect())
}

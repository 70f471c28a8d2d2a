//! Digests of files: XXH3 with 128 bits, of a whole file or written into the file itself as a seal.
//!
//! A seal is the label `celltcp-digest` followed by `xxh3-128:` and 32 hexadecimal digits, anywhere in the file. The
//! digits are the digest of the file with zeros in their place. TOML has it in a comment, JSON in a field, Parquet in
//! its metadata. A digest detects damage and edits, not forgery.

use std::io::{self, Read};

use twox_hash::XxHash3_128;

/// Word before the digest in a sealed file.
pub const SEAL_LABEL: &str = "celltcp-digest";

/// Name of the hash, which is written before its digits.
const HASH: &[u8] = b"xxh3-128:";

/// Number of hexadecimal digits of a digest.
const DIGITS: usize = 32;

/// State of the seal of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Seal {
    /// The file has none: it was written by hand.
    Absent,
    /// The file is as it was written.
    Intact,
    /// The file was changed after it had been written.
    Broken,
}

/// Returns the digest of all that a reader yields, as `xxh3-128:` with 32 hexadecimal digits.
pub fn digest(mut reader: impl Read) -> io::Result<String> {
    let mut hash = XxHash3_128::new();
    let mut chunk = vec![0; 1 << 20];
    loop {
        match reader.read(&mut chunk)? {
            0 => break,
            length => hash.write(&chunk[..length]),
        }
    }
    Ok(format!("xxh3-128:{:0DIGITS$x}", hash.finish_128()))
}

/// Returns the placeholder of a digest in a file that is about to be sealed.
pub fn digest_placeholder() -> String {
    format!("xxh3-128:{:0DIGITS$}", 0)
}

/// Writes the digest of a file over its last [`digest_placeholder`]; returns whether it has one.
pub fn write_seal(file: &mut [u8]) -> bool {
    let Some(place) = end_of_last(file, HASH).filter(|place| place + DIGITS <= file.len()) else {
        return false;
    };
    let digits = digest_digits(file, place);
    file[place..place + DIGITS].copy_from_slice(digits.as_bytes());
    true
}

/// Returns a TOML text with a last line that seals it.
pub fn seal_text(text: &str) -> String {
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    let mut file = format!("{text}{end}# {SEAL_LABEL} {}\n", digest_placeholder()).into_bytes();
    write_seal(&mut file);
    String::from_utf8(file).unwrap_or_else(|error| unreachable!("text and digits: {error}"))
}

/// Compares a file with its seal.
pub fn seal_state(file: &[u8]) -> Seal {
    let has_label = end_of_last(file, SEAL_LABEL.as_bytes()).is_some();
    match end_of_last(file, HASH) {
        None if !has_label => Seal::Absent,
        Some(place) if has_label && place + DIGITS <= file.len() => {
            if file[place..place + DIGITS] == *digest_digits(file, place).as_bytes() {
                Seal::Intact
            } else {
                Seal::Broken
            }
        }
        // The label or the name of the hash was damaged.
        _ => Seal::Broken,
    }
}

/// Checks the seal of a text that users may edit.
///
/// # Errors
/// If the text was changed after celltcp had written it; the message says what to do if that was on purpose.
pub fn check_seal(text: &str) -> Result<(), String> {
    match seal_state(text.as_bytes()) {
        Seal::Absent | Seal::Intact => Ok(()),
        Seal::Broken => Err(format!(
            "damaged, or changed after celltcp wrote it: its digest is another one; make it again, or remove the line \
             \"# {SEAL_LABEL} ...\" at its end if it was changed on purpose"
        )),
    }
}

/// Returns the digest of a file, with zeros in place of the digits that begin at `place`.
fn digest_digits(file: &[u8], place: usize) -> String {
    let mut hash = XxHash3_128::new();
    hash.write(&file[..place]);
    hash.write(&[b'0'; DIGITS]);
    hash.write(&file[place + DIGITS..]);
    format!("{:0DIGITS$x}", hash.finish_128())
}

/// Returns the offset behind the last occurrence of `word`.
fn end_of_last(file: &[u8], word: &[u8]) -> Option<usize> {
    let place = file.windows(word.len()).rposition(|bytes| bytes == word)?;
    Some(place + word.len())
}

#[cfg(test)]
mod tests {
    use super::{Seal, check_seal, digest, seal_state, seal_text};

    /// The digest of no bytes in xxHash's own test vectors (seed 0).
    #[test]
    fn the_digest_is_xxh3() {
        let empty = digest(&b""[..]).expect("memory can be read");
        assert_eq!(empty, "xxh3-128:99aa06d3014798d86001c324468d497f");
    }

    #[test]
    fn a_sealed_text_is_intact_until_any_bit_of_it_flips() {
        let text = seal_text("name = \"mine\"\ndefault = \"cubic\"");
        assert_eq!(check_seal(&text), Ok(()));
        let bytes = text.as_bytes();
        for bit in 0..8 * bytes.len() {
            let mut flipped = bytes.to_vec();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(seal_state(&flipped), Seal::Broken, "bit {bit}");
        }
    }

    #[test]
    fn texts_written_by_hand_have_no_seal() {
        assert_eq!(seal_state(b"default = \"cubic\"\n"), Seal::Absent);
        assert_eq!(check_seal(""), Ok(()));
    }

    #[test]
    fn a_text_cut_short_within_its_seal_is_broken() {
        let text = seal_text("default = \"cubic\"\n");
        let cut = text.len() - 8;
        assert!(check_seal(&text[..cut]).is_err_and(|reason| reason.contains("digest")));
    }
}

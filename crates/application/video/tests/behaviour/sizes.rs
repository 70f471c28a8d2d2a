//! Files of segment sizes with drawn ladders: what goes together is read, contradictions are rejected or have a note.

use proptest::collection::vec;
use proptest::prelude::*;
use video::Manifest;

/// A drawn film, in which sizes and rates go together.
#[derive(Clone, Debug)]
struct Film {
    duration_ms: u64,
    kbps: Vec<f64>,
    /// Bits by segment and rate.
    sizes: Vec<Vec<f64>>,
}

impl Film {
    fn scaled(&self, factor: f64) -> Self {
        let mut film = self.clone();
        film.sizes
            .iter_mut()
            .flatten()
            .for_each(|bits| *bits *= factor);
        film
    }

    fn read(&self, more: &str) -> Result<Manifest, String> {
        let rows: Vec<Vec<u64>> = self
            .sizes
            .iter()
            .map(|row| {
                row.iter()
                    .map(|bits| bits.round().max(1.0) as u64)
                    .collect()
            })
            .collect();
        let text = format!(
            "{{\"segment_duration_ms\": {}, \"bitrates_kbps\": {:?}, \"segment_sizes_bits\": {rows:?}{more}}}",
            self.duration_ms, self.kbps
        );
        Manifest::from_json(&text, "film.json").map_err(|error| error.to_string())
    }

    /// The key with a resolution for each rate.
    fn resolutions(&self) -> String {
        format!(", \"resolutions\": {:?}", vec!["640x360"; self.kbps.len()])
    }

    fn fault(&self) -> String {
        self.read(&self.resolutions()).unwrap_err()
    }

    /// The lowest rate as errors name it.
    fn lowest(&self) -> String {
        self.read("").unwrap().representations()[0].rate.to_string()
    }
}

/// Draws films of one to five rates, each 1.5 to 3 times the one below, whose segments differ from them by a tenth.
fn films() -> impl Strategy<Value = Film> {
    let steps = vec(1.5..3.0, 0..5);
    (1_000_u64..10_000, 100.0..400.0, steps, 1_usize..20)
        .prop_flat_map(|(duration_ms, lowest, steps, rows)| {
            let mut kbps = vec![lowest];
            for step in steps {
                kbps.push(kbps[kbps.len() - 1] * step);
            }
            let kbps: Vec<f64> = kbps.iter().map(|one: &f64| one.round()).collect();
            let noise = vec(vec(0.9..1.1, kbps.len()), rows);
            (Just(duration_ms), Just(kbps), noise)
        })
        .prop_map(|(duration_ms, kbps, noise)| {
            let bits = |(kbps, noise): (&f64, &f64)| kbps * duration_ms as f64 * noise;
            let sizes = noise
                .iter()
                .map(|row| kbps.iter().zip(row).map(bits).collect())
                .collect();
            Film {
                duration_ms,
                kbps,
                sizes,
            }
        })
}

proptest! {
    #[test]
    fn what_goes_together_is_read_without_a_note(film in films()) {
        let manifest = film.read(&film.resolutions()).unwrap();
        prop_assert!(manifest.notes().is_empty(), "{:?}", manifest.notes());
    }

    #[test]
    fn without_resolutions_it_is_told_what_is_taken(film in films()) {
        let manifest = film.read("").unwrap();
        let [note] = manifest.notes() else { panic!("{:?}", manifest.notes()) };
        prop_assert!(note.contains("1920x1080") && note.contains("24 frames"), "{note}");
    }

    #[test]
    fn another_unit_is_rejected_with_the_remedy(film in films(), wobble in 0.8..1.2) {
        let start = format!("film.json:1: segment_sizes_bits: the sizes of {} have a mean of ", film.lowest());
        for (factor, remedy) in [
            (1.0 / 8.0, "they look like bytes: multiply the sizes by 8"),
            (8.0, "the bitrates look like kilobytes per second: multiply bitrates_kbps by 8"),
            (1.0 / 1_000.0, "they look like kilobits, or the bitrates like bit/s"),
            (1_000.0, "the bitrates look like Mbit/s, or the duration like seconds"),
            (60.0, "allowed: sizes in bits, bitrates in kbit/s, the duration in ms"),
        ] {
            let fault = film.scaled(factor * wobble).fault();
            prop_assert!(fault.starts_with(&start) && fault.contains(remedy), "{fault}");
        }
    }

    #[test]
    fn exchanged_columns_are_rejected(film in films(), one in 0_usize..5, other in 0_usize..5) {
        let (one, other) = (one % film.kbps.len(), other % film.kbps.len());
        prop_assume!(one != other);
        let mut exchanged = film;
        exchanged.sizes.iter_mut().for_each(|row| row.swap(one, other));
        let fault = exchanged.fault();
        prop_assert!(fault.contains("allowed: columns in the order of bitrates_kbps"), "{fault}");
    }

    /// Whatever the factor of a single column, more than half off is never passed over.
    #[test]
    fn a_column_that_is_off_is_rejected_or_told(
        film in films(), column in 0_usize..5, more in 1.7_f64..100.0, is_less in any::<bool>(),
    ) {
        let column = column % film.kbps.len();
        let factor = if is_less { 0.75 / more } else { more };
        let mut off = film;
        off.sizes.iter_mut().for_each(|row| row[column] *= factor);
        match off.read(&off.resolutions()) {
            Err(fault) => prop_assert!(fault.contains("segment_sizes_bits: the sizes of "), "{fault}"),
            Ok(manifest) => {
                let rate = manifest.representations()[column].rate.to_string();
                let note = &manifest.notes()[0];
                prop_assert!(note.contains("more than half off") && note.contains(&rate), "{note}");
            }
        }
    }
}

/// The numbers of an error and of a note by hand: segments of 4 s.
#[test]
fn faults_and_notes_have_what_was_found_and_what_was_expected() {
    let film = |sizes: [f64; 2]| Film {
        duration_ms: 4_000,
        kbps: vec![500.0, 2_000.0],
        sizes: vec![sizes.to_vec()],
    };
    assert_eq!(
        film([250_000.0, 1_000_000.0]).fault(),
        "film.json:1: segment_sizes_bits: the sizes of 500kbit/s have a mean of 250000 bits (expected 2000000 in 4 s), \
         and those of all bitrates are too small by a factor of about 8.0; they look like bytes: multiply the sizes by \
         8"
    );
    assert_eq!(
        film([8_000_000.0, 2_000_000.0]).fault(),
        "film.json:1: segment_sizes_bits: the sizes of 2Mbit/s have a mean of 2000000 bits (expected 8000000), less \
         than those of 500kbit/s, 8000000 bits (expected 2000000); allowed: columns in the order of bitrates_kbps"
    );
    let notes = |sizes| {
        let film = film(sizes);
        film.read(&film.resolutions()).unwrap().notes().to_vec()
    };
    assert_eq!(
        notes([2_000_000.0, 13_000_000.0]),
        [
            "the mean rate of the sizes is more than half off that of bitrates_kbps, by which qualities are chosen: \
             2Mbit/s has 3250kbit/s"
        ]
    );
    // Easy content, at whose higher rate the encoder has nothing to add.
    assert_eq!(
        notes([2_400_000.0, 2_300_000.0])[1],
        "the mean size of 2Mbit/s is not larger than that of 500kbit/s"
    );
}

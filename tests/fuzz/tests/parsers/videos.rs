//! Videos: files of segment sizes, and manifests that they make.

use video::Manifest;

const SIZES: &[&str] = &[
    r#"{
  "segment_duration_ms": 3000,
  "bitrates_kbps": [1000, 2000, 4000],
  "segment_sizes_bits": [
    [3000000, 6000000, 12000000],
    [3177800, 6311760, 12310936]
  ]
}"#,
    r#"{"segment_sizes_bits": [[800, 1600]], "frame_rate": 50, "audio_kbps": 8,
  "resolutions": ["640x360", "1280x720"], "bitrates_kbps": [1, 2], "segment_duration_ms": 1000}"#,
];

#[test]
fn videos() {
    let sources: Vec<_> = SIZES.iter().map(|text| text.as_bytes().to_vec()).collect();
    for text in SIZES {
        assert!(Manifest::from_json(text, "sizes.json").is_ok());
    }
    fuzz::fuzz("videos", &sources, |bytes| {
        if let Ok(manifest) = Manifest::from_json(&String::from_utf8_lossy(bytes), "sizes.json") {
            for quality in 0..manifest.representations().len() {
                assert!(manifest.mean_segment_bytes(quality) >= 0.0);
                let _ = (
                    manifest.rate(quality),
                    manifest.segment_bytes(usize::MAX / 2, quality),
                );
            }
        }
    });
}

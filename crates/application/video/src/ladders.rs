//! Built-in bitrate ladders: published bitrates, resolutions and segment sizes, with audio.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use strum::{EnumString, VariantNames};
use units::{Duration, Rate};

use crate::manifest::{Manifest, Representation};

/// Rate of the audio of all built-in ladders.
const AUDIO: Rate = Rate::from_bits_per_second(128_000);

/// Built-in bitrate ladder.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    Debug,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
    EnumString,
    VariantNames,
)]
pub enum Ladder {
    /// The film Big Buck Bunny: ten rates from 230 kbit/s to 6 Mbit/s, segments of 3 s with their published sizes. This and
    /// all others have audio at 128 kbit/s.
    #[default]
    #[serde(rename = "bbb")]
    #[strum(serialize = "bbb")]
    BigBuckBunny,
    /// Ten rates up to 1080p at 4.3 and 5.8 Mbit/s, segments of 4 s.
    #[serde(rename = "1080p")]
    #[strum(serialize = "1080p")]
    FullHd,
    /// The ladder of 1080p, and 4K at 8, 12 and 16 Mbit/s.
    #[serde(rename = "4k")]
    #[strum(serialize = "4k")]
    UltraHd,
}

/// Bitrate of a ladder with its resolution in pixels.
#[derive(Clone, Copy)]
struct Rung {
    kbps: u64,
    width: u32,
    height: u32,
}

const fn rung(kbps: u64, width: u32, height: u32) -> Rung {
    Rung {
        kbps,
        width,
        height,
    }
}

/// Rates and resolutions of "Per-Title Encode Optimization" (Netflix, 2015), the fixed ladder: the 1080p rates are
/// those that Hughes (2020) names.
const FULL_HD: [Rung; 10] = [
    rung(235, 320, 240),
    rung(375, 384, 288),
    rung(560, 512, 384),
    rung(750, 512, 384),
    rung(1_050, 640, 480),
    rung(1_750, 720, 480),
    rung(2_350, 1_280, 720),
    rung(3_000, 1_280, 720),
    rung(4_300, 1_920, 1_080),
    rung(5_800, 1_920, 1_080),
];

/// Rates of 4K within the range that Hughes (2020) names.
const ULTRA_HD: [Rung; 3] = [
    rung(8_000, 3_840, 2_160),
    rung(12_000, 3_840, 2_160),
    rung(16_000, 3_840, 2_160),
];

/// Rates of the ladder that evaluations of BOLA use. Each resolution is the one of the nearest rate in the public
/// encoding of the film for DASH, which has 30 frames per second.
const BIG_BUCK_BUNNY: [Rung; 10] = [
    rung(230, 320, 180),
    rung(331, 320, 180),
    rung(477, 320, 180),
    rung(688, 480, 270),
    rung(991, 640, 360),
    rung(1_427, 640, 360),
    rung(2_056, 768, 432),
    rung(2_962, 1_024, 576),
    rung(5_027, 1_280, 720),
    rung(6_000, 1_280, 720),
];

/// Bits of the first 16 segments of the film in that ladder; later segments repeat them.
#[rustfmt::skip]
const BIG_BUCK_BUNNY_BITS: [[u64; 10]; 16] = [
    [886_360, 1_180_512, 1_757_888, 2_321_704, 3_515_816, 5_140_704, 7_395_048, 10_097_056, 17_115_584, 20_657_480],
    [382_840, 662_120, 894_744, 1_794_368, 2_760_272, 3_959_816, 4_908_816, 8_067_960, 14_557_144, 16_600_640],
    [718_856, 1_097_088, 1_471_616, 1_927_704, 2_243_080, 3_321_576, 5_718_960, 8_491_768, 16_026_976, 19_364_840],
    [815_504, 1_163_296, 1_837_424, 2_716_824, 3_768_472, 5_587_928, 7_512_272, 9_855_896, 17_426_160, 21_276_360],
    [528_072, 756_424, 1_110_960, 1_573_944, 2_614_184, 3_511_864, 5_650_392, 8_308_192, 12_744_936, 14_478_896],
    [659_648, 909_296, 1_288_088, 1_786_632, 2_535_760, 3_659_008, 5_216_336, 7_633_744, 11_369_328, 13_733_608],
    [687_488, 1_029_752, 1_516_048, 2_312_896, 3_320_728, 5_017_224, 7_292_048, 10_496_896, 15_416_704, 18_471_904],
    [1_050_328, 1_528_440, 2_114_632, 2_823_608, 3_914_304, 5_456_776, 7_558_072, 10_415_824, 20_389_544, 25_779_480],
    [759_456, 1_012_736, 1_321_544, 1_783_880, 2_403_848, 3_356_280, 4_772_800, 6_886_152, 16_018_016, 19_039_864],
    [430_176, 648_888, 1_076_688, 1_803_944, 2_894_792, 4_138_696, 6_192_736, 9_247_176, 14_559_768, 17_118_568],
    [693_544, 1_057_136, 1_580_032, 2_270_928, 3_164_568, 4_476_592, 6_446_264, 9_253_528, 14_895_520, 17_204_176],
    [860_408, 1_119_992, 1_562_616, 2_129_944, 2_963_000, 4_124_704, 5_623_984, 8_116_376, 11_045_344, 12_150_296],
    [603_664, 888_264, 1_229_880, 1_806_048, 2_829_328, 4_282_760, 6_193_664, 8_955_336, 14_050_000, 16_382_336],
    [692_384, 990_624, 1_482_888, 2_168_568, 3_132_408, 4_570_208, 6_720_088, 9_414_264, 14_402_320, 17_781_504],
    [478_456, 886_120, 1_337_064, 2_080_024, 2_984_888, 4_453_336, 6_351_744, 8_968_984, 15_326_312, 18_299_928],
    [539_648, 757_096, 1_099_544, 1_621_424, 2_335_632, 3_382_648, 4_872_592, 6_998_736, 14_300_832, 17_278_080],
];

impl Ladder {
    /// Names of the ladders in settings.
    pub const NAMES: &[&str] = Self::VARIANTS;

    /// Returns the manifest of the ladder.
    ///
    /// # Panics
    /// Never: the ladders are in range.
    pub fn manifest(self) -> Manifest {
        let (segment, rows, frame_rate) = match self {
            Self::BigBuckBunny => (3, BIG_BUCK_BUNNY.to_vec(), 30.0),
            Self::FullHd => (4, FULL_HD.to_vec(), 24.0),
            Self::UltraHd => (4, [&FULL_HD[..], &ULTRA_HD[..]].concat(), 24.0),
        };
        let representation = |rung: Rung| Representation {
            rate: Rate::from_bits_per_second(rung.kbps * 1_000),
            width: rung.width,
            height: rung.height,
        };
        let representations = rows.into_iter().map(representation).collect();
        let bytes = |bits: &[u64; 10]| bits.iter().map(|bits| bits.div_ceil(8)).collect();
        let sizes = match self {
            Self::BigBuckBunny => BIG_BUCK_BUNNY_BITS.iter().map(bytes).collect(),
            Self::FullHd | Self::UltraHd => Vec::new(),
        };
        Manifest::constant(Duration::from_secs(segment), representations)
            .and_then(|manifest| manifest.with_sizes(sizes))
            .and_then(|manifest| manifest.with_audio(AUDIO).with_frame_rate(frame_rate))
            .expect("the built-in ladders are in range")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_a_ladder_can_be_read() {
        for word in Ladder::NAMES {
            let ladder: Ladder = serde_json::from_value((*word).into()).unwrap();
            assert_eq!(word.parse(), Ok(ladder));
            assert_eq!(serde_json::to_value(ladder).unwrap(), *word);
        }
    }

    #[test]
    fn the_sizes_of_the_film_have_about_the_mean_rates() {
        let manifest = Ladder::BigBuckBunny.manifest();
        for quality in 0..=manifest.top() {
            let rate = manifest.mean_segment_bytes(quality) * 8.0 / 3.0;
            let ratio = rate / manifest.rate(quality);
            assert!((0.9..1.1).contains(&ratio), "quality {quality}: {ratio}");
        }
    }

    #[test]
    fn the_ladders_have_the_published_tops() {
        let top = |ladder: Ladder| {
            ladder
                .manifest()
                .representations()
                .last()
                .unwrap()
                .rate
                .as_mbps()
        };
        assert_eq!(
            [Ladder::BigBuckBunny, Ladder::FullHd, Ladder::UltraHd].map(top),
            [6.0, 5.8, 16.0]
        );
    }
}

//! Manifest: the representations of a video, the duration of its segments and their sizes.

use config::{FieldError, check_number, check_positive, invalid_value};
use units::{Bytes, Duration, Rate};

/// One encoding of the video.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Representation {
    /// Mean rate of its video.
    pub rate: Rate,
    /// Width of the picture in pixels.
    pub width: u32,
    /// Height of the picture in pixels.
    pub height: u32,
}

/// Video as a server offers it. Qualities are numbers of representations, from the lowest rate, 0, to the highest.
/// Audio has a constant rate and is part of each segment.
#[derive(Clone, PartialEq, Debug)]
pub struct Manifest {
    segment: Duration,
    representations: Vec<Representation>,
    /// Bytes of video by segment and quality, repeated for longer videos; empty if every segment has the mean rate.
    sizes: Vec<Vec<u64>>,
    frame_rate: f64,
    audio: Rate,
    /// Warnings about the file: assumptions and unlikely sizes.
    notes: Vec<String>,
}

impl Manifest {
    /// Creates the manifest of a video whose segments all have the mean rates, without audio and with 24 frames per
    /// second.
    ///
    /// # Errors
    /// [`FieldError`] names the duration of segments or the representation that is out of range.
    pub fn constant(
        segment: Duration,
        representations: Vec<Representation>,
    ) -> Result<Self, FieldError> {
        check_positive("segment", segment)?;
        if representations.is_empty() {
            let message = "there is none; allowed: 1 or more".to_owned();
            return Err(FieldError::new("representations", message));
        }
        for (index, representation) in representations.iter().enumerate() {
            let field = |name| format!("representations.{index}.{name}");
            check_positive(field("rate"), representation.rate)?;
            if representation.width == 0 || representation.height == 0 {
                let size = format!("{}x{}", representation.width, representation.height);
                invalid_value(field("resolution"), size, "1x1 or more")?;
            }
            if index > 0 && representations[index - 1].rate >= representation.rate {
                let below = representations[index - 1].rate;
                invalid_value(
                    field("rate"),
                    representation.rate,
                    format!("more than {below}, the rate before it"),
                )?;
            }
        }
        Ok(Self {
            segment,
            representations,
            sizes: Vec::new(),
            frame_rate: 24.0,
            audio: Rate::ZERO,
            notes: Vec::new(),
        })
    }

    /// Sets the bytes of video of each segment, one row for each segment with one size for each representation.
    ///
    /// # Errors
    /// [`FieldError`] names the row without a size for each representation, or with a size of zero.
    pub fn with_sizes(mut self, sizes: Vec<Vec<u64>>) -> Result<Self, FieldError> {
        let columns = self.representations.len();
        for (index, row) in sizes.iter().enumerate() {
            let field = format!("sizes.{index}");
            if row.len() != columns {
                invalid_value(
                    &*field,
                    format!("{} sizes", row.len()),
                    format!("{columns}, one for each representation"),
                )?;
            }
            if row.contains(&0) {
                invalid_value(&*field, "a size of 0", "1 or more")?;
            }
        }
        self.sizes = sizes;
        Ok(self)
    }

    /// Sets the rate of the audio, which each segment carries besides its video.
    #[must_use]
    pub fn with_audio(self, audio: Rate) -> Self {
        Self { audio, ..self }
    }

    /// Sets the frames per second.
    ///
    /// # Errors
    /// If there are fewer than 1 or more than 240.
    pub(crate) fn with_frame_rate(self, frame_rate: f64) -> Result<Self, FieldError> {
        check_number("frame_rate", frame_rate, 1.0, 240.0)?;
        Ok(Self { frame_rate, ..self })
    }

    /// Sets the warnings about the file that it was read from.
    #[must_use]
    pub(crate) fn with_notes(self, notes: Vec<String>) -> Self {
        Self { notes, ..self }
    }

    /// Returns the warnings about the file that it was read from: assumptions and unlikely sizes.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the duration of a segment.
    pub fn segment_duration(&self) -> Duration {
        self.segment
    }

    /// Returns the representations, from the lowest rate to the highest.
    pub fn representations(&self) -> &[Representation] {
        &self.representations
    }

    /// Returns the frames per second.
    pub fn frame_rate(&self) -> f64 {
        self.frame_rate
    }

    /// Returns the rate of the audio; zero if there is none.
    pub fn audio(&self) -> Rate {
        self.audio
    }

    /// Returns the highest quality.
    pub fn top(&self) -> usize {
        self.representations.len() - 1
    }

    /// Returns the mean rate of a quality with its audio, bit/s.
    pub fn rate(&self, quality: usize) -> f64 {
        let video = self.representations[quality].rate.bits_per_second();
        (video + self.audio.bits_per_second()) as f64
    }

    /// Returns the highest quality whose mean rate is not above `rate` bit/s; the lowest if none is.
    pub fn highest_within(&self, rate: f64) -> usize {
        let within = |quality: &usize| self.rate(*quality) <= rate;
        (0..=self.top()).rev().find(within).unwrap_or(0)
    }

    /// Returns the bytes of video of a segment.
    pub fn video_bytes(&self, segment: usize, quality: usize) -> Bytes {
        match self.sizes.len() {
            0 => self.representations[quality].rate.bytes_in(self.segment),
            rows => Bytes::new(self.sizes[segment % rows][quality]),
        }
    }

    /// Returns the bytes of a segment, with its audio; at least one.
    pub fn segment_bytes(&self, segment: usize, quality: usize) -> Bytes {
        let audio = self.audio.bytes_in(self.segment).get();
        Bytes::new((self.video_bytes(segment, quality).get() + audio).max(1))
    }

    /// Returns the mean number of bytes of video of the segments of a quality.
    pub(crate) fn mean_video_bytes(&self, quality: usize) -> f64 {
        let rows = self.sizes.len().max(1);
        let bytes: u64 = (0..rows)
            .map(|row| self.video_bytes(row, quality).get())
            .sum();
        bytes as f64 / rows as f64
    }

    /// Returns the mean number of bytes of the segments of a quality, with audio.
    pub fn mean_segment_bytes(&self, quality: usize) -> f64 {
        let rows = self.sizes.len().max(1);
        let bytes: u64 = (0..rows)
            .map(|row| self.segment_bytes(row, quality).get())
            .sum();
        bytes as f64 / rows as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(kbps: u64) -> Representation {
        Representation {
            rate: Rate::from_bits_per_second(kbps * 1_000),
            width: 640,
            height: 360,
        }
    }

    #[test]
    fn segments_of_constant_rate_carry_their_rate_and_the_audio() {
        let segment = Duration::from_secs(2);
        let manifest = Manifest::constant(segment, vec![at(400), at(1_000)]).unwrap();
        assert_eq!(manifest.segment_bytes(7, 1), Bytes::new(250_000));
        let with_audio = manifest.with_audio(Rate::from_bits_per_second(64_000));
        assert_eq!(with_audio.segment_bytes(7, 1), Bytes::new(266_000));
        assert_eq!(with_audio.highest_within(1_050_000.0), 0);
        assert_eq!(with_audio.highest_within(1_064_000.0), 1);
    }

    #[test]
    fn listed_sizes_repeat_after_the_last_one() {
        let manifest =
            Manifest::constant(Duration::from_secs(1), vec![at(400), at(1_000)]).unwrap();
        let manifest = manifest
            .with_sizes(vec![vec![10, 20], vec![30, 50]])
            .unwrap();
        assert_eq!(manifest.segment_bytes(3, 0), Bytes::new(30));
        assert_eq!(manifest.mean_segment_bytes(1), 35.0);
    }

    #[test]
    fn representations_out_of_order_and_short_rows_are_rejected() {
        let segment = Duration::from_secs(1);
        let message = |result: Result<Manifest, FieldError>| result.unwrap_err().to_string();
        assert_eq!(
            message(Manifest::constant(segment, vec![at(900), at(400)])),
            "representations.1.rate: 400kbit/s is out of range; allowed: more than 900kbit/s, the rate before it"
        );
        let manifest = Manifest::constant(segment, vec![at(400), at(900)]).unwrap();
        assert_eq!(
            message(manifest.with_sizes(vec![vec![1, 2], vec![3]])),
            "sizes.1: 1 sizes is out of range; allowed: 2, one for each representation"
        );
    }
}

"""Ladder: representations and sizes of segments, from a file that both players use."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Ladder:
    """Representations of a video, from the lowest rate to the highest."""

    segment_s: float
    rates_kbps: tuple[float, ...]
    resolutions: tuple[tuple[int, int], ...]
    #: Bits of video, a row for each segment; longer videos repeat them.
    sizes_bits: tuple[tuple[int, ...], ...]
    frame_rate: float
    audio_kbps: float

    @staticmethod
    def read(file: Path) -> Ladder:
        """Reads a file of segment sizes, which celltcp checks before."""
        document: dict[str, Any] = json.loads(file.read_text("utf-8"))
        pairs = [tuple(map(int, text.split("x"))) for text in document["resolutions"]]
        return Ladder(
            segment_s=document["segment_duration_ms"] / 1e3,
            rates_kbps=tuple(document["bitrates_kbps"]),
            resolutions=tuple((width, height) for width, height in pairs),
            sizes_bits=tuple(map(tuple, document["segment_sizes_bits"])),
            frame_rate=document["frame_rate"],
            audio_kbps=document["audio_kbps"],
        )

    def video_bits(self, segment: int, quality: int) -> int:
        """Returns the bits of the video of a segment; both are counted from zero."""
        return self.sizes_bits[segment % len(self.sizes_bits)][quality]

    def size(self, segment: int, quality: int) -> int:
        """Returns the bytes of a segment with its audio, as celltcp counts them."""
        audio = int(self.audio_kbps * 1e3 * self.segment_s / 8)
        return -(-self.video_bits(segment, quality) // 8) + audio

    def manifest(self, segments: int) -> str:
        """Returns the manifest (MPD) of a video with so many segments."""
        rows = "\n".join(
            f'   <Representation id="{quality}" bandwidth="{round((kbps + self.audio_kbps) * 1e3)}" '
            f'width="{width}" height="{height}"/>'
            for quality, (kbps, (width, height)) in enumerate(
                zip(self.rates_kbps, self.resolutions, strict=True)
            )
        )
        return f"""<?xml version="1.0" encoding="utf-8"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" type="static"
  profiles="urn:mpeg:dash:profile:isoff-live:2011"
  mediaPresentationDuration="PT{segments * self.segment_s:g}S" minBufferTime="PT{self.segment_s:g}S">
 <Period>
  <AdaptationSet contentType="video" mimeType="video/mp4" codecs="avc1.42c01e"
   frameRate="{self.frame_rate:g}" segmentAlignment="true">
   <SegmentTemplate timescale="1000" duration="{round(self.segment_s * 1e3)}" startNumber="0"
    initialization="init.mp4" media="$RepresentationID$/$Number$.m4s"/>
{rows}
  </AdaptationSet>
 </Period>
</MPD>
"""

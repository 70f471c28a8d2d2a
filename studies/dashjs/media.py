"""Media: a test pattern in segments, padded to the sizes of a ladder.

The pattern is the same for all representations, so that a browser decodes little. A box `free` at
the end of a segment, which players skip, makes up for its size.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from ladder import Ladder

#: Bytes of the head of a box.
HEAD = 8


def encode(folder: Path, ladder: Ladder, segments: int) -> None:
    """Encodes the pattern with ffmpeg: `init.mp4` and `0.m4s` and so on."""
    folder.mkdir(parents=True, exist_ok=True)
    frames = round(ladder.segment_s * ladder.frame_rate)
    pattern = (
        f"testsrc2=size=160x90:rate={ladder.frame_rate:g}:duration={segments * ladder.segment_s:g}"
    )
    subprocess.run(
        [
            *("ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", pattern),
            *("-c:v", "libx264", "-preset", "veryfast", "-crf", "40", "-pix_fmt", "yuv420p"),
            *("-profile:v", "baseline", "-level", "3.0", "-bf", "0"),
            *("-g", str(frames), "-keyint_min", str(frames), "-sc_threshold", "0"),
            *("-f", "dash", "-seg_duration", f"{ladder.segment_s:g}", "-use_template", "1"),
            *("-use_timeline", "0", "-init_seg_name", "init.mp4"),
            *("-media_seg_name", "seg-$Number$.m4s", "pattern.mpd"),
        ],
        cwd=folder,
        check=True,
    )
    for number in range(segments):
        (folder / f"seg-{number + 1}.m4s").rename(folder / f"{number}.m4s")


def padded(segment: bytes, size: int) -> bytes:
    """Returns a segment of `size` bytes: the given one with a box `free` behind.

    Raises:
        ValueError: if the segment does not fit with the head of a box.
    """
    room = size - len(segment)
    if room == 0:
        return segment
    if room < HEAD:
        raise ValueError(f"a segment of {len(segment)} bytes cannot be padded to {size}")
    return segment + room.to_bytes(4, "big") + b"free" + bytes(room - HEAD)

"""What an evaluation has finished so far, kept so that an interrupted one goes on where it stopped."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from celltcp.results import UNFINISHED

#: Data frames of a scenario, by name.
Frames = dict[str, pd.DataFrame]


class Kept:
    """A folder with the data frames of each finished scenario; nothing is kept without a folder."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder / UNFINISHED if folder else None

    def key(self, parts: Iterable[str]) -> str:
        """Names what these texts describe."""
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]

    def place(self, name: str) -> Path | None:
        """Where runs of an unfinished scenario are kept."""
        return self._folder / name if self._folder else None

    def read(self, key: str) -> Frames | None:
        """The frames that were kept under the key, if they are whole."""
        if self._folder is None or not (self._folder / key).is_dir():
            return None
        try:
            files = sorted((self._folder / key).glob("*.parquet"))
            return {file.stem: pq.read_table(file).to_pandas() for file in files}
        except (pa.ArrowInvalid, OSError):
            shutil.rmtree(self._folder / key, ignore_errors=True)
            return None

    def write(self, key: str, frames: Frames) -> None:
        """Keeps the frames, all or none of them."""
        if self._folder is None:
            return
        partial = self._folder / f".{key}"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        for name, data in frames.items():
            pq.write_table(
                pa.Table.from_pandas(data, preserve_index=False), partial / f"{name}.parquet"
            )
        partial.rename(self._folder / key)

    def clear(self) -> None:
        """The evaluation is finished: its own tables hold everything."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

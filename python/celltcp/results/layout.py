"""Layout of a folder with folders of results: the coordinates of each, such as its scenario."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from celltcp.results.manifest import manifest_of

#: Kind of the results within a folder.
LayoutKind = Literal["sweep", "set", "video"]


@dataclass(frozen=True)
class Layout:
    """Folders of results within a folder, in their order."""

    kind: LayoutKind
    #: Names of the coordinates, such as `("scenario", "path.rtt")`.
    axes: tuple[str, ...]
    #: Coordinates of each folder by its name.
    folders: Mapping[str, tuple[str, ...]]
    #: Files of scenarios that could not be loaded, and why.
    left_out: tuple[str, ...] = field(default=())
    #: In a sweep: the scenario's own value of each field, if it has a single one.
    present: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_about(cls, about: Mapping[str, Any]) -> Layout | None:
        """Returns the layout in the manifest of a folder (`about`); None without one."""
        try:
            folders = {str(name): tuple(map(str, values)) for name, values in about["folders"]}
            axes = tuple(map(str, about["axes"]))
            present = {str(axis): str(value) for axis, value in about.get("present", {}).items()}
            return cls(about["layout"], axes, folders, tuple(map(str, about["left_out"])), present)
        except (AttributeError, KeyError, TypeError, ValueError):
            return None

    def to_about(self) -> dict[str, Any]:
        """Returns the layout for the manifest of the folder."""
        return {
            "layout": self.kind,
            "axes": list(self.axes),
            "folders": [[name, list(folder)] for name, folder in self.folders.items()],
            "left_out": list(self.left_out),
            **({"present": dict(self.present)} if self.present else {}),
        }

    def with_earlier(self, earlier: Layout | None) -> Layout:
        """Returns the layout with the further folders of an earlier one of the same kind and axes."""
        if earlier is None or (earlier.kind, earlier.axes) != (self.kind, self.axes):
            return self
        return replace(self, folders={**self.folders, **earlier.folders, **self.folders})


def layout_in(folder: Path) -> Layout | None:
    """Returns the layout of a folder; None if it has none, such as a folder of an earlier version.

    Raises:
        CelltcpError: if the manifest of the folder is damaged.
    """
    manifest = manifest_of(folder)
    return None if manifest is None else Layout.from_about(manifest.about)

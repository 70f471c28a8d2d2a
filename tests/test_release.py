"""Release: one version and one date in all files that have them."""

from __future__ import annotations

import re
import tomllib

from docs_pages import ROOT


def test_the_newest_release_has_the_version_of_the_code_and_of_the_citation() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text()
    versions = re.findall(r"^## (\d+\.\d+\.\d+), (\d{4}-\d\d-\d\d)$", changes, flags=re.MULTILINE)
    version, date = versions[0]
    citation = (ROOT / "CITATION.cff").read_text()
    assert f'\nversion: {version}\ndate-released: "{date}"\n' in citation
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]
    assert workspace["package"]["version"] == version


def test_lock_files_have_the_version_of_the_code() -> None:
    version = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    for lock in ("Cargo.lock", "examples/own-cca/Cargo.lock"):
        packages = tomllib.loads((ROOT / lock).read_text())["package"]
        own = {each["version"] for each in packages if each["name"].startswith("celltcp-")}
        assert own == {version}, lock

"""Building kernels, on a tiny source whose Makefile only pretends to compile."""

from __future__ import annotations

import errno
import io
import json
import os
import shutil
import subprocess
import tarfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from celltcp import CelltcpError
from celltcp.cli import main
from celltcp.kernel import build, builder, cache, clean, find, kernels, tarball, work
from celltcp.kernel.builder import environment
from celltcp.kernel.status import status
from celltcp.kernel.tools import check_tools
from celltcp.kernel.tree import apply_side, built_in_ccas

needs_debian = pytest.mark.skipif(shutil.which("apt-get") is None, reason="no apt here")

MAKEFILE = """\
VERSION = 9
kernelversion:
	@echo 9.8.7
allnoconfig:
	cp $(KCONFIG_ALLCONFIG) $(O)/.config
linux: $(O)/main.o
	@echo "  LINK    linux"
	$(RECIPE)
	cp /bin/true $(O)/linux
$(O)/main.o:
	@echo "  CC      init/main.o"
	date +%N > $@
"""
TREE = {
    "Makefile": MAKEFILE,
    "arch/um/Kconfig": "config X\n\tint\n\tdefault 100\n\nconfig HZ\n\tint\n\tdefault 100\n",
    "arch/um/drivers/Makefile": "obj-y += ubd.o\n",
    "arch/x86/um/user-offsets.c": "\tDEFINE_LONGS(HOST_FP_SIZE, 2696);\n",
    "net/ipv4/Makefile": "obj-$(CONFIG_TCP_CONG_BBR) += tcp_bbr.o\n"
    "obj-$(CONFIG_TCP_CONG_HSTCP) += tcp_highspeed.o\nobj-$(CONFIG_TCP_CONG_CDG) += tcp_cdg.o\n",
    "net/ipv4/tcp_bbr.c": 'static struct tcp_congestion_ops ops __data = {\n\t.name = "bbr",\n};\n'
    'static struct tcp_congestion_ops unused = {\n\t.name\t= "other",\n};\n'
    "tcp_register_congestion_control(&ops);\n",
    "net/ipv4/tcp_highspeed.c": "static struct tcp_congestion_ops hs = {\n\t.owner = THIS_MODULE,\n"
    '\t.name = "highspeed"\n};\ntcp_register_congestion_control(&hs);\n',
    "net/ipv4/tcp_cdg.c": 'struct tcp_congestion_ops cdg = { .name = "cdg" };\n'
    "tcp_register_congestion_control(&cdg);\n",
}


def pack(file: Path, files: dict[str, str], top: str = "linux-9.8.7/") -> Path:
    """A tarball, compressed as its name says."""
    with tarfile.open(file, "w:xz" if file.suffix == ".xz" else "w") as packed:
        for name, text in files.items():
            member = tarfile.TarInfo(top + name)
            member.size = len(text.encode())
            packed.addfile(member, io.BytesIO(text.encode()))
    return file


@pytest.fixture(autouse=True)
def side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kernel side and an empty cache."""
    folder = tmp_path / "kernel"
    (folder / "driver").mkdir(parents=True)
    (folder / "driver" / "Makefile").write_text("obj-y := wire.o\n")
    (folder / "driver" / "wire.c").write_text("int wire;\n")
    (folder / "config").write_text(
        "CONFIG_TCP_CONG_BBR=y\nCONFIG_TCP_CONG_HSTCP=y\nCONFIG_TCP_CONG_CDG=n\n"
    )
    monkeypatch.setattr(builder, "kernel_side", lambda: folder)
    monkeypatch.setattr("celltcp.kernel.status.kernel_side", lambda: folder)
    monkeypatch.setattr(builder, "check_machine", lambda: None)
    monkeypatch.setattr(builder, "check_tools", lambda _environment, **_: None)
    monkeypatch.setattr(work, "_UNPACKED_BYTES", 0)
    monkeypatch.setattr(work, "_COMPILED_BYTES", 0)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return pack(tmp_path / "linux-9.8.7.tar.xz", TREE)


class Steps(list[str]):
    """Keeps the steps of a build; `stop_at` interrupts there, as Ctrl-C does."""

    def __init__(self, stop_at: str | None = None) -> None:
        super().__init__()
        self.stop_at = stop_at

    def __call__(self, step: str, _done: float | None, detail: str) -> None:
        if step not in self:
            self.append(step)
        if self.stop_at and self.stop_at in f"{step} {detail}":
            raise KeyboardInterrupt


# Sources that are opened


@needs_debian
def test_the_tarball_within_a_package_is_unpacked(tmp_path: Path) -> None:
    (tmp_path / "deb" / "DEBIAN").mkdir(parents=True)
    (tmp_path / "deb" / "DEBIAN" / "control").write_text(
        "Package: linux-source-9.8\nVersion: 1\nArchitecture: all\nMaintainer: x\nDescription: x\n"
    )
    command = ["dpkg-deb", "--root-owner-group", "-b", str(tmp_path / "deb"), str(tmp_path / "k.deb")]
    subprocess.run(command, check=True, capture_output=True)
    with pytest.raises(CelltcpError, match=r"k\.deb: holds no tarball of a kernel"):
        tarball.unpack_package(tmp_path / "k.deb", tmp_path / "into", lambda _: None)
    (tmp_path / "deb" / "usr" / "src").mkdir(parents=True)
    pack(tmp_path / "deb" / "usr" / "src" / "linux-source-9.8.tar.xz", TREE)
    subprocess.run(command, check=True, capture_output=True)
    top = tarball.unpack_package(tmp_path / "k.deb", tmp_path / "into", lambda _: None)
    assert (top / "Makefile").read_text() == MAKEFILE


WRONG = {
    "no tarball": (None, "not a tarball, or cut short"),
    "no Makefile": ({"arch/um/drivers/Makefile": ""}, "no Makefile with VERSION"),
    "another Makefile": ({"Makefile": "all:\n"}, "no Makefile with VERSION"),
    "no user mode": ({"Makefile": MAKEFILE}, "no arch/um"),
    "two folders": ({"Makefile": MAKEFILE, "../other/x": ""}, "linux-9.8.7/../other/x lies beside"),
    "leads out": ({"Makefile": MAKEFILE, "../../x": ""}, "linux-9.8.7/../../x lies beside"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_tarball_is_refused_and_leaves_nothing(tmp_path: Path, case: str) -> None:
    files, message = WRONG[case]
    file = tmp_path / "wrong.tar"
    if files is None:
        file.write_text("no tarball")
    else:
        pack(file, files)
    with pytest.raises(CelltcpError, match=message):
        build(source=file)
    assert [entry.name for entry in cache.root().iterdir()] == [".lock"]


@pytest.mark.parametrize("filters", [True, False])
@pytest.mark.parametrize("link", ["../../x", "/etc/passwd"])
def test_a_link_that_leads_out_is_refused(
    tmp_path: Path, monkeypatch, link: str, filters: bool
) -> None:
    if not filters:
        monkeypatch.delattr(tarfile, "data_filter", raising=False)
    with tarfile.open(tmp_path / "l.tar", "w") as packed:
        for name, target in (("linux/inner", "./other"), ("linux/outer", link)):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            packed.addfile(member)
    with pytest.raises(CelltcpError, match="linux/outer"):
        build(source=tmp_path / "l.tar")
    assert cache.work_folders() == []


def test_a_tarball_that_was_cut_short_is_refused(source: Path) -> None:
    source.write_bytes(source.read_bytes()[:-100])
    with pytest.raises(CelltcpError, match="cut short"):
        build(source=source)


def test_the_kernel_side_is_put_in_once_and_touches_only_what_changed(
    side: Path, tmp_path: Path
) -> None:
    for name, text in TREE.items():
        (tmp_path / "t" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "t" / name).write_text(text)
    tree = tmp_path / "t"
    apply_side(side, tree)
    assert (tree / "arch/um/Kconfig").read_text().count("default 1000\n") == 1
    assert (tree / "arch/um/Kconfig").read_text().endswith("config HZ\n\tint\n\tdefault 1000\n")
    assert "HOST_FP_SIZE, 12288" in (tree / "arch/x86/um/user-offsets.c").read_text()
    for file in tree.rglob("*"):
        os.utime(file, (1, 1))
    (side / "driver" / "wire.c").unlink()
    (side / "driver" / "new.c").write_text("int new;\n")
    apply_side(side, tree)
    driver = tree / "arch/um/drivers/celltcp"
    assert sorted(file.name for file in driver.iterdir()) == ["Makefile", "new.c"]
    changed = [file.name for file in tree.rglob("*") if file.is_file() and file.stat().st_mtime != 1]
    assert changed == ["new.c"]
    assert (tree / "arch/um/drivers/Makefile").read_text() == "obj-y += ubd.o\nobj-y += celltcp/\n"


def test_a_kernel_without_the_place_of_an_edit_is_refused(tmp_path: Path) -> None:
    changed = TREE | {"arch/um/Kconfig": 'config HZ\n\tint "Ticks"\n'}
    with pytest.raises(CelltcpError, match="arch/um/Kconfig: cannot patch the default of HZ"):
        build(source=pack(tmp_path / "l.tar", changed))


def test_congestion_controls_are_named_as_the_kernel_registers_them(side: Path, tmp_path: Path) -> None:
    (tmp_path / "net/ipv4").mkdir(parents=True)
    for name, text in TREE.items():
        if name.startswith("net/"):
            (tmp_path / name).write_text(text)
    assert built_in_ccas(tmp_path, side / "config") == ["bbr", "highspeed", "reno"]


# Tools that a machine needs


def test_missing_tools_are_named_with_their_packages(tmp_path: Path) -> None:
    with pytest.raises(
        CelltcpError, match=r"missing: gcc, .*flex.*apt install .*binutils bison"
    ) as caught:
        check_tools({"PATH": str(tmp_path)}, needs_debian=False)
    assert "\n" not in str(caught.value)


def test_without_apt_a_tarball_is_asked_for(tmp_path: Path) -> None:
    with pytest.raises(CelltcpError, match="pass --source"):
        check_tools({"PATH": str(tmp_path)}, needs_debian=True)


def test_settings_of_the_user_do_not_reach_the_compiler(monkeypatch) -> None:
    for name in ("KCFLAGS", "ARCH", "CROSS_COMPILE", "O", "MAKEFLAGS", "KBUILD_OUTPUT"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("BISON_PKGDATADIR", "/here")
    kept = environment()
    assert "x" not in kept.values()
    assert kept["BISON_PKGDATADIR"] == "/here"


def test_a_disk_that_is_too_small_is_reported_before(source: Path, monkeypatch) -> None:
    monkeypatch.setattr(work, "_UNPACKED_BYTES", 2_000_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1e9))
    with pytest.raises(CelltcpError, match=r"needs 2\.0 GB of disk, of which 1\.0 GB are free"):
        build(source=source)


def test_a_disk_that_fills_up_while_compiling_is_reported(tmp_path: Path) -> None:
    recipe = "@echo cc1: No space left on device; exit 1"
    file = pack(tmp_path / "l.tar", TREE | {"Makefile": MAKEFILE.replace("$(RECIPE)", recipe)})
    with pytest.raises(CelltcpError, match=r"work-l-.*: no space is left on this disk"):
        build(source=file)


def test_a_disk_that_fills_up_while_unpacking_is_reported(source: Path, monkeypatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(tarfile.TarFile, "extract", full)
        with pytest.raises(CelltcpError, match="no space is left on this disk"):
            build(source=source)
    assert build(source=source).version == "9.8.7"


# A build


def test_a_build_leaves_the_kernel_and_what_is_known_of_it(source: Path) -> None:
    made = build(source=source)
    assert (made.version, made.ccas) == ("9.8.7", ("bbr", "highspeed", "reno"))
    assert subprocess.run([made.binary], check=False).returncode == 0
    assert made == find() == kernels()[0]
    assert made.about["source"]["file"] == "linux-9.8.7.tar.xz"
    assert {file.name for file in made.binary.parent.iterdir()} == {
        "linux",
        "config",
        "build.log",
        "about.json",
    }
    assert cache.work_folders() == []


def test_what_is_up_to_date_is_not_built_again(source: Path) -> None:
    made = build(source=source)
    steps = Steps()
    assert build(source=source, report=steps) == made
    assert steps == []
    assert status()["kernels"][0]["up_to_date"]
    build(source=source, force=True, report=steps)
    assert "unpack" in steps


def test_a_change_of_the_driver_makes_a_rebuild_due_which_uses_what_was_kept(
    side, source: Path
) -> None:
    build(source=source, keep_source=True)
    (kept,) = cache.work_folders()
    compiled = (kept / "out" / "main.o").read_text()
    (side / "driver" / "wire.c").write_text("int wire = 1;\n")
    assert not status()["kernels"][0]["up_to_date"]
    steps = Steps()
    build(source=source, keep_source=True, report=steps)
    assert "unpack" not in steps
    assert status()["kernels"][0]["up_to_date"]
    assert (kept / "out" / "main.o").read_text() == compiled


@pytest.mark.parametrize("place", ["unpack", "configure", "compile", "CC", "install"])
def test_an_interrupted_build_looks_unfinished_and_goes_on(source: Path, place: str) -> None:
    stop = Steps("init/main.o" if place == "CC" else place)
    with pytest.raises(KeyboardInterrupt):
        build(source=source, report=stop)
    assert kernels() == []
    steps = Steps()
    assert build(source=source, report=steps).version == "9.8.7"
    assert ("unpack" in steps) == (place == "unpack")
    assert cache.work_folders() == []


def test_an_interrupt_ends_the_compilers_as_well(tmp_path: Path) -> None:
    sleeps = TREE | {
        "Makefile": MAKEFILE.replace("$(RECIPE)", "echo $$$$ > $(O)/pid; echo '  CC  x.o'; sleep 600")
    }
    with pytest.raises(KeyboardInterrupt):
        build(source=pack(tmp_path / "l.tar", sleeps), report=Steps("x.o"))
    (unfinished,) = cache.work_folders()
    stat = Path("/proc") / (unfinished / "out" / "pid").read_text().strip() / "stat"
    assert not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z"


def test_an_interrupted_command_says_how_to_go_on(source: Path, monkeypatch, capsys) -> None:
    stop = Steps("compile")
    monkeypatch.setattr("celltcp.kernel.build", lambda **options: build(**options | {"report": stop}))
    monkeypatch.setattr("sys.argv", ["celltcp", "kernel", "build", "--source", str(source)])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 130
    assert "the same command goes on from here" in capsys.readouterr().err


def test_a_failure_shows_the_end_of_the_log_and_its_place(tmp_path: Path) -> None:
    broken = TREE | {
        "Makefile": MAKEFILE.replace("$(RECIPE)", "@echo wire.c:1: error: no wire; exit 1")
    }
    with pytest.raises(CelltcpError, match=r"compile: make failed with code 2") as caught:
        build(source=pack(tmp_path / "l.tar", broken))
    log = cache.work_folders()[0] / "build.log"
    assert str(log) in str(caught.value)
    assert "wire.c:1: error: no wire" in str(caught.value)
    assert "wire.c:1: error: no wire" in log.read_text()


def test_two_builds_do_not_collide(source: Path) -> None:
    with cache.lock() as held:
        with pytest.raises(CelltcpError, match=f"process {os.getpid()} is building"):
            build(source=source)
        orphan = subprocess.Popen(["sleep", "600"], pass_fds=[held])
    with pytest.raises(CelltcpError, match="is building or removing here"):
        clean()
    orphan.kill()
    orphan.wait()
    assert build(source=source).version == "9.8.7"


# Kernels that are there


def kernel_of(version: str) -> None:
    folder = cache.root() / version
    folder.mkdir(parents=True)
    shutil.copy("/bin/true", folder / "linux")
    (folder / "about.json").write_text(json.dumps({"version": version, "ccas": ["reno"]}))


def test_a_kernel_is_found_by_as_much_of_its_version_as_is_given() -> None:
    for version in ("7.10.1", "6.12.3", "7.3.4", "7.3.10", "7.11.0-rc2"):
        kernel_of(version)
    asked = (None, "7.3", "7.3.4", "6", "7.1", "7.11")
    result = [find(version).version if version != "7.1" else None for version in asked]
    assert result == ["7.11.0-rc2", "7.3.10", "7.3.4", "6.12.3", None, "7.11.0-rc2"]
    with pytest.raises(
        CelltcpError, match=r"kernel '7\.1': there are 6\.12\.3, 7\.3\.4, .* kernel build"
    ):
        find("7.1")


def test_without_kernels_the_command_is_named() -> None:
    with pytest.raises(CelltcpError, match=r"none is built .* `celltcp kernel build` builds one"):
        find()


def test_a_damaged_kernel_says_how_to_remove_it() -> None:
    kernel_of("7.3.4")
    (cache.root() / "7.3.4" / "about.json").write_text("{")
    with pytest.raises(
        CelltcpError, match=r"about\.json: missing or damaged; `celltcp kernel clean 7\.3\.4`"
    ):
        kernels()
    assert clean("7.3") == [cache.root() / "7.3.4"]
    assert kernels() == []


def test_the_command_lists_and_removes(celltcp, source: Path) -> None:
    assert "`celltcp kernel build` builds one" in celltcp("kernel", "status").stdout
    build(source=source, keep_source=True)
    kernel_of("7.3.4")
    refused = celltcp("kernel", "clean", "6.1", "--yes")
    assert (refused.returncode, "kernel '6.1'" in refused.stderr) == (2, True)
    assert celltcp("kernel", "clean", "9.8", "--yes").returncode == 0
    assert [entry.name for entry in cache.root().iterdir() if entry.name != ".lock"] == ["7.3.4"]
    assert celltcp("kernel", "clean", "--yes").returncode == 0
    listed = celltcp("kernel", "status", "--json")
    status = json.loads(listed.stdout)
    assert status.pop("other_builds") == []
    assert status == {"folder": str(cache.root()), "kernels": [], "work": []}


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("--debian", "linux-image"), ("--debian 'linux-image'", "linux-source-7.3")),
        (("--source", "none.tar.xz"), ("--source none.tar.xz", "No such file")),
        (("--source", "a", "--debian", "b"), ("--source and --debian",)),
    ],
)
def test_bad_input_is_one_line(celltcp, arguments: tuple[str, ...], parts) -> None:
    done = celltcp("kernel", "build", *arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert all(part in done.stderr for part in parts), done.stderr
    assert not cache.root().exists()

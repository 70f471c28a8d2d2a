"""Congestion controls of users: Python classes, and libraries in Rust."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

import celltcp as ct
from celltcp._core import describe_cca
from celltcp.cli import celltcp as command_line
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.trials.proposals import ProposedRemedy
from celltcp.comparison.tables import shares_table


class Steady(ct.CongestionControl):
    """Keeps as much in flight as the lowest RTT and the highest rate say, and paces at that rate."""

    name = "test-steady"
    interval = "20ms"
    reports: list[str] = []  # noqa: RUF012 - shared by all connections on purpose

    def __init__(self) -> None:
        self.rate = 0.0

    def report(self, report: ct.Report) -> ct.Decision | None:
        self.reports.append(report.cause)
        self.rate = max(self.rate, report.delivery_rate_mbps)
        if report.min_rtt_s is None or self.rate == 0:
            return None
        # A little more than the path holds, so that a higher rate shows itself.
        segments = 1.1 * self.rate * 1e6 / 8 / report.mss * report.min_rtt_s
        return ct.Decision(cwnd=max(4, segments + 2), pacing_rate_mbps=1.1 * self.rate)


@pytest.fixture
def steady() -> type[Steady]:
    Steady.reports = []
    return ct.register(Steady)


@pytest.mark.usefixtures("steady")
def test_a_class_controls_a_connection() -> None:
    result = ct.compare(
        "steady-20-68", cca=["test-steady", "reno"], runs=1, duration="20s", set={"path.buffer": "2bdp"}
    )
    mean = result.summary
    assert mean.loc["test-steady", ("goodput_mbps", "mean")] > 15
    # The queue of NewReno is that of a full buffer half of the time.
    own, reno = (mean.loc[cca, ("induced_delay_ms", "mean")] for cca in ("test-steady", "reno"))
    assert own < reno / 2


def test_reports_come_at_intervals_and_never_per_packet(steady: type[Steady]) -> None:
    ct.run("steady-20-68", "test-steady", duration="10s", samples="off")
    assert steady.reports[0] == "start"
    # 20 ms each, and only when an ACK comes.
    assert 350 <= steady.reports.count("interval") <= 500


def test_losses_are_reported_at_once(steady: type[Steady]) -> None:
    ct.run("steady-20-68", "test-steady", duration="10s", samples="off", set={"path.loss": 0.001})
    assert steady.reports.count("loss") >= 3


@pytest.mark.usefixtures("steady")
def test_the_same_seed_gives_the_same_run() -> None:
    once, again = (
        ct.compare("drive", cca="test-steady", runs=1, duration="10s").to_json() for _ in range(2)
    )
    assert once == again


def test_what_a_class_raises_ends_the_run() -> None:
    @ct.register
    class Broken(ct.CongestionControl):
        name = "test-broken"

        def report(self, report: ct.Report) -> ct.Decision | None:
            raise ZeroDivisionError(f"no idea at the {report.cause}")

    with pytest.raises(ZeroDivisionError, match="no idea at the start"):
        ct.run("steady-20-68", "test-broken", duration="2s")


def test_a_senseless_window_is_refused() -> None:
    @ct.register
    class Senseless(ct.CongestionControl):
        name = "test-senseless"

        def report(self, report: ct.Report) -> ct.Decision | None:
            return ct.Decision(cwnd=report.cwnd * float("nan"))

    with pytest.raises(ct.CelltcpError, match="test-senseless: cwnd NaN is not a number from 1 on"):
        ct.run("steady-20-68", "test-senseless", duration="2s")


@pytest.mark.parametrize(
    ("answer", "shown"),
    [("faster", "'faster'"), (7, "7"), (ct.Decision(cwnd="ten"), "Decision(cwnd='ten'")],  # type: ignore[arg-type]
)
def test_a_senseless_answer_is_refused(answer: object, shown: str) -> None:
    @ct.register
    class Nonsense(ct.CongestionControl):
        name = "test-nonsense"

        def report(self, report: ct.Report) -> ct.Decision | None:  # noqa: ARG002
            return answer  # type: ignore[return-value]

    with pytest.raises(ct.CelltcpError, match="test-nonsense: report answers") as refused:
        ct.compare("steady-20-68", "test-nonsense", 1, duration="2s")
    assert shown in str(refused.value)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("cubic", "is a built-in congestion control"),
        ("Big Name", "lower-case letters"),
        ("", "lower-case letters"),
    ],
)
def test_names_are_checked(name: str, message: str) -> None:
    namespace = {"name": name, "report": lambda _self, _report: None}
    with pytest.raises(ct.CelltcpError, match=message):
        ct.register(type("Own", (ct.CongestionControl,), namespace))


class Tuned(ct.CongestionControl):
    """Holds a window; its parameters have all types that there are."""

    name = "test-tuned"
    made: list[tuple[float, int, bool, str]] = []  # noqa: RUF012 - shared by all connections on purpose

    def __init__(
        self, share: float = 1, segments: int = 20, *, paced: bool = False, mood: str = "calm"
    ) -> None:
        self.made.append((share, segments, paced, mood))
        self.window = share * segments

    def report(self, report: ct.Report) -> ct.Decision | None:  # noqa: ARG002
        return ct.Decision(cwnd=self.window)


def test_arguments_of_a_class_are_parameters() -> None:
    ct.register(Tuned)
    Tuned.made.clear()
    lists = "test-tuned,test-tuned:share=0.5,test-tuned:segments=40,paced=on,mood=brave"
    # One run at a time: several make their connections in any order.
    result = ct.compare("steady-20-68", lists, 1, duration="3s", jobs=1)
    assert Tuned.made == [(1, 20, False, "calm"), (0.5, 20, False, "calm"), (1, 40, True, "brave")]
    assert result.ccas[1] == "test-tuned:share=0.5"
    half, plain, double = sorted(result.summary["goodput_mbps", "mean"])
    assert half < 0.6 * plain < 0.4 * double
    entry = {each["name"]: each for each in describe_cca("test-tuned")["parameters"]}
    assert (entry["share"]["default"], entry["share"]["allowed"]) == ("1", "numbers")
    assert entry["paced"]["allowed"] == "on, off"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("speed=2", 'test-tuned has no parameter "speed"; allowed: share, segments, paced, mood'),
        ("segments=2.5", '"2.5" is not a value of segments; allowed: whole numbers'),
        ("paced=maybe", '"maybe" is not a value of paced; allowed: on, off'),
    ],
)
def test_unknown_parameters_are_refused(given: str, message: str) -> None:
    ct.register(Tuned)
    with pytest.raises(ct.CelltcpError) as refused:
        ct.compare("steady-20-68", f"test-tuned:{given}", 1, duration="2s")
    assert message in str(refused.value)


def test_an_argument_without_a_default_is_refused() -> None:
    class Needy(ct.CongestionControl):
        name = "test-needy"

        def __init__(self, alpha) -> None:
            self.alpha = alpha

        def report(self, report: ct.Report) -> ct.Decision | None: ...

    with pytest.raises(ct.CelltcpError, match="Needy: the argument alpha of __init__ has no default"):
        ct.register(Needy)


def test_parameters_are_given_on_the_command_line(celltcp, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import celltcp as ct\n"
        "class Mine(ct.CongestionControl):\n"
        "    name = 'mine'\n"
        "    def __init__(self, alpha: float = 1.0):\n"
        "        self.alpha = alpha\n"
        "    def report(self, report):\n"
        "        return ct.Decision(cwnd=20 * self.alpha)\n"
    )
    command = ("compare", "steady-20-68", "--runs", "1", "--duration", "3s", "--cca-file", "mine.py")
    done = celltcp(*command, "--cca", "mine:alpha=2,cubic", "--json", "-")
    assert done.returncode == 0, done.stderr
    assert "mine:alpha=2" in done.stdout
    refused = celltcp(*command, "--cca", "mine:beta=2")
    assert refused.returncode == 2
    assert 'mine has no parameter "beta"; allowed: alpha' in refused.stderr


def test_the_completion_of_a_shell_does_not_run_the_file(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    complete = ShellComplete(command_line, {}, "celltcp", "_CELLTCP_COMPLETE").get_completions
    assert complete(["compare", "--cca-file", str(tmp_path / "mine.py")], "dri")
    assert not (tmp_path / "ran").exists()


def test_a_file_stands_in_one_table_with_built_in_ones(celltcp, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import celltcp as ct\n"
        "class Mine(ct.CongestionControl):\n"
        "    name = 'mine'\n"
        "    def report(self, report):\n"
        "        return ct.Decision(cwnd=20)\n"
    )
    command = ("compare", "steady-20-68", "--runs", "1", "--duration", "3s", "--cca", "mine,cubic")
    done = celltcp(*command, "--cca-file", "mine.py")
    assert done.returncode == 0, done.stderr
    assert "mine" in done.stdout
    assert "cubic" in done.stdout
    note = "mine.py: runs as code of celltcp, with all your rights\n"
    assert note in done.stderr
    # Wherever -q stands.
    assert celltcp(*command, "--cca-file", "mine.py", "-q").stderr == ""
    assert celltcp(*command, "-q", "--cca-file", "mine.py").stderr == ""
    described = celltcp("cca", "mine", "--cca-file", "mine.py")
    assert described.returncode == 0, described.stderr
    assert described.stdout.splitlines()[0] == "mine: mine, family user"
    (tmp_path / "broken.py").write_text("1 / 0\n")
    (tmp_path / "gentle.rs").write_text("pub struct Gentle;\n")
    (tmp_path / "empty.py").write_text("")
    for file, part in (
        ("broken.py", "broken.py: ZeroDivisionError"),
        ("empty.py", "has no class"),
        ("gentle.rs", "gentle.rs: is no Python file; allowed: one that ends in .py."),
        ("none.py", "no such file"),
    ):
        refused = celltcp(*command, "--cca-file", file)
        assert refused.returncode == 2
        assert part in refused.stderr
        assert "Traceback" not in refused.stderr


@pytest.fixture(scope="module")
def library() -> Path:
    """The library of the example, built as a user would."""
    top = Path(__file__).parents[1]
    target = Path(os.environ.get("CARGO_TARGET_DIR", top / "target"))
    example = top / "examples/own-cca/Cargo.toml"
    if shutil.which("cargo") is None:
        pytest.skip("needs cargo")
    build = (
        "cargo",
        "build",
        "--quiet",
        "--locked",
        "--manifest-path",
        example,
        "--target-dir",
        target,
    )
    # What is for debuggers and for builds that follow takes a quarter of the time.
    less = {"CARGO_PROFILE_DEV_DEBUG": "false", "CARGO_INCREMENTAL": "0"}
    subprocess.run(build, check=True, env={**os.environ, **less})
    return target / "debug" / f"libown_cca.{'dylib' if sys.platform == 'darwin' else 'so'}"


def test_a_file_that_is_no_library_is_refused(celltcp, tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("no library")
    refused = celltcp("compare", "steady-20-68", "--cca-file", "text.so", "--cca", "gentle")
    assert refused.returncode == 2
    assert "text.so: cannot be opened as a library: " in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.slow
def test_a_library_in_rust_stands_in_one_table_with_the_others(
    celltcp, tmp_path: Path, library: Path
) -> None:
    (tmp_path / "mine.py").write_text(
        "import celltcp as ct\n"
        "class Mine(ct.CongestionControl):\n"
        "    name = 'mine'\n"
        "    def report(self, report):\n"
        "        return ct.Decision(cwnd=20)\n"
    )
    own = ("--cca-file", str(library), "--cca-file", "mine.py")
    ccas = "gentle,gentle:keep=0.5,mine,cubic"
    command = ("compare", "steady-20-68", "--runs", "1", "--duration", "10s", *own, "--json", "-")
    done = celltcp(*command, "--cca", ccas)
    assert done.returncode == 0, done.stderr
    outcome = json.loads(done.stdout)
    assert [each["cca"] for each in outcome["summary"]] == ccas.split(",")
    short = ("--duration", "10s", "--set", "path.buffer=1bdp", "--out", "r")
    run = celltcp("run", "steady-20-68", "--cca", "gentle", "--cca-file", str(library), *short)
    assert run.returncode == 0, run.stderr
    modes = set(ct.load(tmp_path / "r").samples["mode"])
    assert modes == {"slow_start", "recovery", "gentle_growth"}
    described = json.loads(celltcp("cca", "gentle", "--json", "--cca-file", str(library)).stdout)
    assert described["title"] == "NewReno that gives up less"
    keep = described["parameters"][0]
    assert (keep["default"], keep["allowed"]) == ("0.8", "numbers from 0.1 to 0.9")
    for own, cca, part in (
        (str(library), "gentle:hold=1", 'no parameter "hold"; allowed: keep'),
        (str(library), "gentle:keep=2", "allowed: numbers from 0.1 to 0.9"),
    ):
        refused = celltcp(*command[:6], "--cca-file", own, "--cca", cca)
        assert refused.returncode == 2
        assert part in refused.stderr
        assert "Traceback" not in refused.stderr


@pytest.mark.usefixtures("steady")
def test_named_flows_are_told_apart_in_the_shares_and_advice_asks_for_the_file() -> None:
    changes = {"flows": [{"name": "ours"}, {"name": "other"}], "path.buffer": "4bdp"}
    line_ups = ["test-steady+test-steady", "test-steady+cubic"]
    result = ct.compare("steady-20-68", line_ups, 2, duration="20s", set=changes)
    table = shares_table(result)
    assert table is not None
    for row, other in zip(table.rows, ("test-steady", "cubic"), strict=True):
        assert re.fullmatch(rf"ours \(test-steady\) [^,]+, other \({other}\) [^,]+", row[1])
    remedy = Remedy("a standing queue", ("path.queue=fq-codel",))
    for cca in ("test-steady", "test-steady+cubic", "cubic", "bbr+auto"):
        options = ProposedRemedy("queue", remedy, (cca,), {}).options
        assert ("--cca-file FILE" in options) == ("test-steady" in cca)
        assert options.endswith(f"--cca {cca} --set path.queue=fq-codel")

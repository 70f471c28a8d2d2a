"""First page of reports: the answer in a sentence, the settings to apply, and the PDF of it."""

import json
import math
import re
import shutil
import subprocess
import zlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.comparison.lines.linux_lines import cca_line
from celltcp.comparison.lines.settings_lines import linux_commands, settings_blocks, systems
from celltcp.comparison.metrics import JAIN
from celltcp.comparison.report.front_page import _gap_text, answer_of, settings_section, several_answer
from celltcp.comparison.report.receive_window import WindowLimit
from celltcp.comparison.report.sweep import sweep_part
from celltcp.comparison.verdicts.choices import ccas_to_set, choices_of
from celltcp.files.replacing import FileKind
from celltcp.present.pdf import pdf_of
from celltcp.present.section import Block, Finding, Part, Section
from celltcp.present.style import figure, save
from celltcp.results.statistics import estimate
from celltcp.scenarios.ccas import catalogue
from workloads import DEEP_BUFFER, GAME


def _lines(blocks: Iterable[Block]) -> str:
    """Returns the lines of all blocks."""
    return "".join(block.text for block in blocks)


def test_linux_has_its_sysctls_and_a_route_and_bbr_the_queue_discipline_that_paces() -> None:
    lines = _lines(settings_blocks("bbr")).splitlines()
    assert "net.ipv4.tcp_congestion_control = bbr" in lines
    assert "net.core.default_qdisc = fq" in lines
    assert any(line.startswith("ip route change ") and line.endswith("congctl bbr") for line in lines)
    assert "net.core.default_qdisc = fq" not in _lines(settings_blocks("cubic")).splitlines()
    # The default of queue disciplines changes no interface that is up, and no name of one is made up.
    assert "tc qdisc replace dev INTERFACE root fq" in lines
    assert not any("eth0" in line or "192.0.2" in line for line in lines)
    # A CCA of all flows is one of the host.
    assert settings_blocks("cubic+cubic") == settings_blocks("cubic")
    assert settings_blocks("cubic+bbr") == ()


def test_a_middlebox_with_a_cca_of_its_own_has_the_line_of_its_host() -> None:
    mix = "bbr@split:at=node-1,cca=hybla@es"
    line = "# on the host of split:at=node-1,cca=hybla: sysctl -w net.ipv4.tcp_congestion_control=hybla"
    assert linux_commands(mix) == [*linux_commands("bbr"), line]
    *own, box = settings_blocks(mix)
    assert tuple(own) == settings_blocks("bbr")
    assert box.text == f"{line}\n"
    assert linux_commands("bbr@split:at=node-1") == linux_commands("bbr")


@pytest.mark.parametrize(
    ("cca", "command"),
    [
        ("cubic:hystart=off", "echo 0 > /sys/module/tcp_cubic/parameters/hystart"),
        ("cubic:hystart_detect=delay", "echo 2 > /sys/module/tcp_cubic/parameters/hystart_detect"),
        ("vegas:alpha=4,beta=8", "echo 8 > /sys/module/tcp_vegas/parameters/beta"),
        ("vegas:slow_start=hystart++", None),
        ("bbr:cwnd_gain=3", None),
    ],
)
def test_parameters_are_set_where_linux_has_them(cca: str, command: str | None) -> None:
    """Without the line for its parameter, another CCA would be set."""
    name = cca.partition(":")[0]
    pages = [_lines(settings_blocks(cca)).splitlines(), linux_commands(cca)]
    assert [command in page for page in pages] == [command is not None] * 2
    assert [bool(page) for page in pages] == [command is not None] * 2
    assert "netsh" not in _lines(settings_blocks(cca))
    assert (f"tcp_congestion_control={name}; " in cca_line(cca)) == (command is not None)


@pytest.mark.parametrize("cca", ["bbr", "cubic", "reno", "vegas", "dctcp"])
def test_lines_of_a_file_and_of_a_shell_are_apart(cca: str) -> None:
    """A file of sysctls takes assignments only, and a shell takes none of them."""
    assignment = re.compile(r"[a-z0-9_.]+ = \S+")
    for block in settings_blocks(cca):
        is_file = "/etc/sysctl.d/" in block.caption
        for line in block.text.splitlines():
            assert bool(assignment.fullmatch(line)) == is_file, line
            assert is_file or line.split()[0] in {"tc", "ip", "netsh", "kldload", "sysctl"}


def test_other_systems_have_lines_only_where_they_have_the_cca() -> None:
    assert "congestionprovider=newreno" in _lines(settings_blocks("reno"))
    assert "net.inet.tcp.cc.algorithm=newreno" in _lines(settings_blocks("reno"))
    assert "net.inet.tcp.cc.algorithm=vegas" in _lines(settings_blocks("vegas"))
    assert "netsh" not in _lines(settings_blocks("vegas"))
    for cca in ("copa", "copa:delta=0.5", "sprout", "auto:policy=rules"):
        assert settings_blocks(cca) == ()
    assert all(each["source"] for each in systems().values())


def test_names_of_other_systems_are_in_the_catalogue() -> None:
    known = {each["name"] for each in catalogue()}
    for system in ("windows", "freebsd"):
        assert set(systems()[system]["names"]) <= known
    assert set(systems()["linux"]["paced"]) <= known


def test_the_sentence_has_the_trade_off_and_the_line_sets_the_best_cca() -> None:
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="10s")
    document = result.to_json()
    best = document["verdicts"]["balanced"]["best"]
    assert best == "bbr"
    sentence = answer_of(result)
    for metric, unit, digits in (("goodput_mbps", "Mbit/s", 2), ("rtt_mean_ms", "ms", 1)):
        new, old = (estimate(result.values(cca, metric)).mean for cca in ("bbr", "cubic"))
        assert f"{new:.{digits}f} instead of {old:.{digits}f} {unit}" in sentence
    section = settings_section(result)
    assert section is not None
    assert f"net.ipv4.tcp_congestion_control = {best}\n" in _lines(section.blocks)


def test_an_application_decides_what_to_set() -> None:
    page = {"flows.0.workload": {"kind": "request-response", "response": "100kB"}}
    result = ct.compare("steady-5-18", ["cubic", "bbr"], 2, duration="10s", set=page)
    first = choices_of(result)[0]
    assert "response" in first.need
    assert "response" in answer_of(result)


def test_a_flow_for_which_all_are_as_good_needs_no_cca_of_its_own() -> None:
    video = {"kind": "frames", "size": "40kB", "interval": "16.7ms", "deadline": "50ms"}
    keys = {"kind": "frames", "size": "60B", "interval": "50ms", "deadline": "90ms"}
    flows = [
        {"name": "video", "workload": video},
        {"name": "input", "from": "phone", "to": "server", "workload": keys},
    ]
    changes = {"flows": flows, "path.down": "25Mbit/s", "path.rtt": "40ms"}
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 3, duration="10s", set=changes)
    (needs,) = ccas_to_set(result).values()
    assert [each.partition(" ")[0] for each in needs] == ["video", "input"]


def test_what_is_undecided_sets_nothing_and_has_bounds() -> None:
    result = ct.compare("drive", ["cubic", "reno"], 2, duration="3s")
    undecided = [name for name, each in result.verdicts.items() if each.undecided]
    assert "balanced" in undecided
    section = settings_section(result)
    assert section is not None
    assert section.blocks == ()
    assert "undecided among" in answer_of(result)
    from celltcp.comparison.report.findings import findings_of

    for finding in findings_of(result):
        if finding.question.removeprefix("Best for ") in undecided:
            assert re.search(r"With 95 % confidence .* at most [\d.e-]+", finding.confidence)


def _part() -> Part:
    finding = Finding("Best for goodput", "cubic", "by 5 %", "10 runs")
    front = Section("What to set", blocks=(Block("In a file:", "net.x = cubic\n"),), is_front=True)
    rest = Section("Scenario", code="a = 1\n" * 300)
    return Part("Title $x_1$", "Which?", (finding,), (rest, front), answer="Set cubic.")


def test_the_same_parts_give_the_same_pdf_with_the_answers_on_its_first_page(tmp_path: Path) -> None:
    content = pdf_of([_part()], "T", "celltcp report")
    assert content == pdf_of([_part()], "T", "celltcp report")
    assert content.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b", content)) > 3
    first = next(
        zlib.decompress(each)
        for each in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL)
    )
    assert first.count(b"BT") >= 6
    if shutil.which("pdftotext"):
        (tmp_path / "p.pdf").write_bytes(content)
        command = ["pdftotext", "-l", "1", str(tmp_path / "p.pdf"), "-"]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for words in ("Title $x_1$", "Set cubic.", "Best for goodput: cubic", "net.x = cubic"):
            assert words in text


@pytest.mark.slow
def test_the_report_as_pdf_replaces_no_other_file(celltcp, tmp_path: Path) -> None:
    arguments = ("steady-5-18", "--cca", "cubic,bbr", "--runs", "2", "--duration", "2s")
    done = celltcp("compare", *arguments, "--out", "o", "--json", "o.json")
    assert done.returncode == 0, done.stderr
    assert celltcp("report", "o", "--pdf", "p.pdf").returncode == 0
    assert not (tmp_path / "report.html").exists()
    (tmp_path / "own.txt").write_text("mine")
    assert celltcp("report", "o", "--pdf", "own.txt").returncode == 2
    assert (tmp_path / "own.txt").read_text() == "mine"
    # Nor is a PDF of another program replaced: not even one that matplotlib drew.
    picture = figure(2, 2)
    picture.add_subplot()
    save(picture, tmp_path / "own.pdf")
    own = (tmp_path / "own.pdf").read_bytes()
    assert celltcp("report", "o", "--pdf", "own.pdf").returncode == 2
    assert (tmp_path / "own.pdf").read_bytes() == own
    assert celltcp("report", "o").returncode == 0
    best = json.loads((tmp_path / "o.json").read_text())["verdicts"]["balanced"]["best"]
    page = (tmp_path / "report.html").read_text()
    assert f"net.ipv4.tcp_congestion_control = {best}" in page


def test_a_long_pdf_of_celltcp_is_known_by_its_creator(tmp_path: Path) -> None:
    file = tmp_path / "long.pdf"
    xref = b"0000000016 00000 n \n" * 3_000
    file.write_bytes(b"%PDF-1.4\n<< /Creator (celltcp 0.1) >>\n" + xref + b"trailer\n")
    assert FileKind("PDF", (b"%PDF",), end=b"/Creator (celltcp ").matches(file)
    assert not FileKind("PDF", (b"%PDF",), end=b"/Creator (other ").matches(file)


def test_the_answer_of_a_sweep_sets_the_cca_that_is_best_on_most_points() -> None:
    sweep = ct.sweep("steady-20-68", "path.buffer=1bdp,4bdp", ["cubic", "bbr"], 2, duration="10s")
    points = list(sweep.points.values())
    assert [each.verdicts["balanced"].best for each in points] == ["bbr", "bbr"]
    answer, section = several_answer(points, "point")
    assert (
        answer == "For a balance of throughput and delay, set bbr; best or tied of 2 points: bbr on 2."
    )
    assert section is not None
    assert "net.ipv4.tcp_congestion_control = bbr\n" in _lines(section.blocks)
    # Where each of two CCAs is best at one of two points, the finding names both.
    for point, best in zip(points, ("bbr", "cubic"), strict=True):
        alone = replace(point.verdicts["goodput"], leader=best, tied=(), undecided=())
        point.__dict__["_verdicts"] = {**point.verdicts, "goodput": alone}
    findings = {each.question: each for each in sweep_part(sweep).findings}
    assert findings["Best or tied for goodput"].answer == "cubic and bbr, at 1 of 2 each"
    assert findings["Best or tied for balanced"].answer == "bbr, at 2 of 2"
    reno = ct.compare("steady-20-68", ["cubic", "reno"], 2, duration="10s")
    answer, section = several_answer([points[0], reno], "scenario")
    assert section is None
    assert "no CCA is best on most" in answer


#: A game beside a download whose best CCA two runs leave undecided.
_MIXED = f"""
name = "mixed"
duration = "8s"
{DEEP_BUFFER}[[flows]]
name = "download"
[[flows]]
name = "game"
cca = "cubic"
workload = {GAME}
"""


def test_the_line_to_set_names_the_flow_whose_cca_it_is(tmp_path: Path) -> None:
    (tmp_path / "mixed.toml").write_text(_MIXED)
    result = ct.compare(tmp_path / "mixed.toml", "cubic,bbr", 3)
    answer = answer_of(result)
    assert answer.startswith(
        "For game (95th percentile of the response time), set bbr on download. Against cubic it has "
    )
    assert "goodput " in answer
    section = settings_section(result)
    assert section is not None
    assert section.text[0] == "For game (95th percentile of the response time): bbr on download."
    answer, _ = several_answer([result, result], "point")
    assert answer.startswith("For game (95th percentile of the response time), set bbr on download; ")


def test_of_those_tied_the_one_with_a_clearly_lower_rtt_is_to_be_set(tmp_path: Path) -> None:
    (tmp_path / "mixed.toml").write_text(_MIXED)
    result = ct.compare(tmp_path / "mixed.toml", "cubic,bbr", 3)
    (game,) = result.ranked_stakes
    tied = replace(game.verdict, leader="cubic", tied=("bbr",), undecided=())
    result.__dict__["stakes"] = [game._replace(verdict=tied)]
    answer = answer_of(result)
    assert "set bbr on download (tied with cubic; of these it has the lowest mean RTT). " in answer
    new, old = (estimate(result.values(cca, "rtt_mean_ms")).mean for cca in ("bbr", "cubic"))
    assert f"mean RTT {new:.1f} instead of {old:.1f} ms" in answer
    section = settings_section(result)
    assert section is not None
    assert "bbr on download (cubic as good)." in section.text[0]
    assert "net.ipv4.tcp_congestion_control = bbr\n" in _lines(section.blocks)
    # A leader whose RTT is the lower one stays, and so does one that no other is tied with.
    for verdict, best in (
        (replace(tied, leader="bbr", tied=("cubic",)), "bbr"),
        (replace(tied, tied=()), "cubic"),
    ):
        result.__dict__["stakes"] = [game._replace(verdict=verdict)]
        assert f"set {best} on download" in answer_of(result)
        assert "lowest mean RTT" not in answer_of(result)


def test_needs_stand_in_their_order_and_a_decided_one_after_an_undecided_one_is_answered(
    tmp_path: Path,
) -> None:
    (tmp_path / "mixed.toml").write_text(_MIXED)
    result = ct.compare(tmp_path / "mixed.toml", "cubic,bbr", 3)
    (game,) = result.ranked_stakes
    undecided = replace(game.verdict, tied=(), undecided=("cubic",))
    result.__dict__["stakes"] = [game._replace(flow="chat", verdict=undecided), game]
    choices = choices_of(result)
    assert [each.need.split(" ")[0] for each in choices[:2]] == ["chat", "game"]
    answer = answer_of(result)
    assert answer.startswith("For game (95th percentile of the response time), set bbr on download.")
    assert answer.endswith(" For chat (95th percentile of the response time) it is undecided.")
    section = settings_section(result)
    assert section is not None
    assert "net.ipv4.tcp_congestion_control = bbr" in _lines(section.blocks)
    assert section.text[0].startswith("For chat (95th percentile of the response time): undecided")


def test_a_figure_without_a_value_is_said_in_words() -> None:
    no_values = [math.nan, math.nan]
    load = "page_load_s"
    assert _gap_text(load, no_values, [2.0, 2.2]) == "page load mean no value instead of 2.100 s"
    assert _gap_text(load, [2.0, 2.2], no_values) == "page load mean 2.100 instead of no value"
    assert _gap_text(JAIN, [0.5, 0.5], [0.5, 0.5]) == "Jain's index 0.500 as well"


def test_a_receive_window_that_is_the_limit_comes_first_with_the_window_needed() -> None:
    changes = {"tcp.receive_window_max": "64kB", "path.rtt": "80ms"}
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 2, duration="10s", set=changes)
    section = settings_section(result)
    assert section is not None
    first = section.text[0]
    match = re.search(
        r"limit for (\d+) %.* (\d+) kB or more \(rate x RTT: ([\d.]+) .* ([\d.]+) ms", first
    )
    assert match is not None, first
    share, needed, rate, rtt = map(float, match.groups())
    assert share > 50
    assert needed == pytest.approx(rate * rtt / 8, rel=0.01)
    assert needed > 64
    lines = _lines(section.blocks).splitlines()
    assert "net.ipv4.tcp_window_scaling = 1" in lines
    # Linux's window is half of its buffer; its default of 6 MiB is never lowered.
    assert "net.ipv4.tcp_rmem = 4096 131072 6291456" in lines
    assert lines.index("net.ipv4.tcp_window_scaling = 1") == 0
    assert WindowLimit(0.9, 1000.0, 100.0).block.text.count(" 25000000\n") == 1
    # Without the limit, or with one that fills the path, there is no such text.
    for window in ("16MB", "2MB"):
        free = ct.compare(
            *("steady-20-68", ["cubic", "bbr"], 2),
            duration="5s",
            set={**changes, "tcp.receive_window_max": window},
        )
        section = settings_section(free)
        assert section is not None
        assert "receive window" not in section.text[0]
        assert "tcp_rmem" not in _lines(section.blocks)


def test_a_small_initial_window_has_its_lines_beside_those_of_the_cca() -> None:
    calls = {"kind": "request-response", "response": "40kB", "gap": "2s"}
    changes = {"path.rtt": "150ms", "flows.0.workload": calls}
    result = ct.compare("steady-100-18", ["cubic", "reno"], 2, duration="20s", set=changes)
    section = settings_section(result)
    assert section is not None
    assert "began after a pause that shrank the window" in section.text[0]
    lines = _lines(section.blocks).splitlines()
    # 28 segments hold a response.
    assert lines[0] == "sysctl -w net.ipv4.tcp_slow_start_after_idle=0"
    assert lines[1] == "ip route change default via GATEWAY dev INTERFACE initcwnd 28"
    # With one of them there is nothing left to say.
    changes |= {"tcp.initial_window": 28}
    again = settings_section(
        ct.compare("steady-100-18", ["cubic", "reno"], 2, duration="20s", set=changes)
    )
    assert again is not None
    assert not any("against the small window" in block.caption for block in again.blocks)
    assert "figures hold with" in again.blocks[-1].caption
    assert "initcwnd 28" in again.blocks[-1].text


def test_what_the_scenario_sets_at_hosts_has_its_lines() -> None:
    changes = {"tcp.initial_window": "32", "tcp.min_rto": "50ms", "tcp.notsent_lowat": "16kB"}
    result = ct.compare("steady-20-68", ["cubic", "bbr"], 1, duration="3s", set=changes)
    section = settings_section(result)
    assert section is not None
    block = section.blocks[-1]
    assert block.text.splitlines() == [
        "# sender",
        # Another line for the route would undo the first one.
        "ip route change default via GATEWAY dev INTERFACE initcwnd 32 rto_min 50ms",
        "sysctl -w net.ipv4.tcp_notsent_lowat=16000",
    ]
    assert "net.core.default_qdisc = fq" in _lines(section.blocks)
    usual = settings_section(ct.compare("steady-20-68", ["cubic", "bbr"], 1, duration="3s"))
    assert usual is not None
    assert "figures hold with" not in usual.blocks[-1].caption


def test_the_only_cca_of_responses_has_their_figure_and_not_that_of_the_network() -> None:
    from celltcp.comparison.report.findings import findings_of

    result = ct.compare("steady-20-68", "cubic", 2, duration="5s", set={"flows.0.workload": GAME})
    (finding,) = findings_of(result)
    assert finding.question == "cubic, for flow-1, by 95th percentile of the response time"
    assert finding.answer.startswith("response p95 ")
    assert finding.confidence.endswith("nothing to compare it with")

"""celltcp traces."""

import gzip
import json
from pathlib import Path

import pytest

import celltcp as ct


@pytest.mark.rendered
def test_a_generated_trace_is_described_converted_and_drawn(celltcp, tmp_path: Path) -> None:
    options = ("--mean", "12", "--duration", "60", "--outage-interval", "10", "--seed", "4")
    assert celltcp("traces", "generate", "x.csv", *options).returncode == 0
    assert celltcp("traces", "convert", "x.csv", "x.down").returncode == 0
    rates = ct.Trace.read(str(tmp_path / "x.csv"))
    opportunities = ct.Trace.read(str(tmp_path / "x.down"))
    assert abs(rates.mean_mbps / opportunities.mean_mbps - 1) < 0.02
    assert rates.longest_gap_s > 0
    described = celltcp("traces", "info", "x.down").stdout
    assert "longest gap" in described
    assert "50 % of 1 s bins" in described
    assert celltcp("traces", "plot", "x.down").returncode == 0
    assert (tmp_path / "x.down.png").stat().st_size > 5_000


def test_a_seed_is_a_trace() -> None:
    first, again, other = (ct.Trace.generate(10, 0.5, 2, 0, 1, 10, seed) for seed in (1, 1, 2))
    assert first.to_csv() == again.to_csv() != other.to_csv()


KBPS = "time_ms,throughput_kbps\n" + "".join(f"{100 * n},{8000 + n}\n" for n in range(50))
BOTH = "time_s;up_mbps;down_mbps\n" + "".join(f"{n};2,5;{8 + n % 2}\n" for n in range(30))


def test_units_of_a_table_are_read_and_told_before_anything_runs(celltcp, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(KBPS)
    told = 'time "time_ms" in ms, rate "throughput_kbps" in kbit/s'
    assert told in celltcp("traces", "info", "x.csv").stdout
    done = celltcp("compare", "x.csv", "--cca", "bbr", "--runs", "1", "--duration", "3s", "--json", "-")
    assert f"downlink {tmp_path / 'x.csv'}: table with commas: {told}; " in done.stderr
    assert "50 rows, 0.1 s apart: 5.0 s, mean 8.0" in done.stderr
    document = json.loads(done.stdout)
    (trace,) = document["traces"]
    assert trace["mean_mbps"] == pytest.approx(8.024, abs=1e-3)
    assert trace["duration_s"] == 5.0
    assert told in trace["read_as"]
    assert 4 < document["runs"][0]["goodput_mbps"] < 8.1


@pytest.mark.parametrize("name", ["x.txt", "x.csv.gz", "x.txt.gz", "x.tsv"])
def test_a_trace_goes_by_what_is_in_it_and_may_be_packed(celltcp, tmp_path: Path, name: str) -> None:
    text = KBPS.replace(",", "\t").encode()
    (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    assert "\nduration     5.000 s\n" in celltcp("traces", "info", name).stdout
    loaded = ct.load_scenario(tmp_path / name)
    assert [(each[1], each[3]) for each in loaded.traces] == [("down", 5.0)]


def test_the_direction_of_a_table_can_be_chosen(celltcp, tmp_path: Path) -> None:
    file = tmp_path / "x.csv"
    file.write_text(BOTH)
    assert ct.Trace.read(file).mean_mbps == pytest.approx(8.5)
    assert ct.Trace.read(file, direction="up").mean_mbps == pytest.approx(2.5)
    assert "mean         2.500" in celltcp("traces", "info", "x.csv", "--direction", "up").stdout
    loaded = ct.load_scenario(file, uplink=file)
    assert {each[1]: round(each[4], 1) for each in loaded.traces} == {"down": 8.5, "up": 2.5}
    other = ct.load_scenario(file, direction="up")
    assert other.traces[0][4] == pytest.approx(2.5)
    assert other.hash != loaded.hash


def test_a_log_of_the_uplink_alone_is_described_without_a_direction(celltcp, tmp_path: Path) -> None:
    rows = "".join(f"{n};{-90 - n % 7};{2.0 + n % 3}\n" for n in range(30))
    (tmp_path / "up.csv").write_text(f"time s;RSRP dBm;UL throughput Mbit/s\n{rows}")
    done = celltcp("traces", "info", "up.csv")
    assert done.returncode == 0
    assert "mean         3.000 Mbit/s" in done.stdout
    assert "UL throughput" in done.stdout
    # A simulation has to know which link it is for.
    done = celltcp("compare", "up.csv", "--runs", "1", "--duration", "2s")
    assert done.returncode == 2
    assert "--uplink FILE" in done.stderr


def test_columns_and_units_that_the_file_does_not_tell_are_asked_for(celltcp, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("".join(f"{n * 100},7,{9000 + n}\n" for n in range(30)))
    done = celltcp("compare", "x.csv", "--runs", "1", "--duration", "2s")
    assert done.returncode == 2
    assert "--column TIME,RATE" in done.stderr
    done = celltcp("traces", "info", "x.csv", "--column", "1,3")
    assert done.returncode == 2
    assert "--unit" in done.stderr
    done = celltcp("traces", "info", "x.csv", "--column", "1,3", "--unit", "ms,kbit/s")
    assert "mean         9.01" in done.stdout
    loaded = ct.load_scenario(tmp_path / "x.csv", column="1,3", unit="ms,kbit/s")
    assert loaded.traces[0][3] == 3.0
    with pytest.raises(ct.CelltcpError, match="is no link trace"):
        ct.load_scenario("drive", unit="kbit/s")


def test_recorded_logs_of_nyu_mets_are_read() -> None:
    folder = Path(__file__).parents[2] / "shared" / "traces" / "nyu-mets"
    if not folder.exists():
        pytest.skip("the recorded traces are not there: they are not part of the project")
    for file in sorted(folder.iterdir()):
        trace = ct.Trace.read(file)
        with gzip.open(file) as lines:
            rows = sum(1 for _ in lines)
        assert trace.how == f"NYU-METS, a line per second; {rows} rows, 1 s apart"
        assert 5 < trace.mean_mbps < 50
        assert trace.duration_s > 20_000


def test_the_uplink_beside_a_downlink_is_taken_and_told(celltcp, tmp_path: Path) -> None:
    for name, seconds in (("d.down", "5"), ("d.up", "7"), ("other.up", "9")):
        assert celltcp("traces", "generate", name, "--duration", seconds).returncode == 0
    command = ("run", "d.down", "--duration", "1s", "--samples", "off")
    done = celltcp(*command).stderr
    assert "d.up (matched to the downlink file): mahimahi" in done
    assert "7.0 s" in done
    done = celltcp(*command, "--uplink", "other.up").stderr
    assert "other.up: mahimahi" in done
    assert "(matched to" not in done
    assert "/d.up" not in celltcp(*command, "--set", "path.up.rate=5Mbit/s").stderr
    for name in ("d.down", "d.up"):
        (tmp_path / f"{name}.gz").write_bytes(gzip.compress((tmp_path / name).read_bytes()))
    assert "d.up.gz (matched to" in celltcp("run", "d.down.gz", *command[2:]).stderr


@pytest.mark.parametrize(
    ("options", "assumed"),
    [
        ((), "path.rtt=40ms, path.buffer=750packets"),
        (("--set", "path.rtt=20ms"), "path.buffer=750packets"),
        (("--set", "path.rtt=20ms", "--set", "path.buffer=1bdp"), ""),
        # The buffer of the downlink is one of ACKs only.
        (
            ("--set", "flows.0.from=phone", "--set", "flows.0.to=server"),
            "path.rtt=40ms, path.uplink_buffer=1000packets",
        ),
    ],
)
def test_settings_that_no_trace_has_are_said_to_be_assumed(
    celltcp, tmp_path: Path, options: tuple[str, ...], assumed: str
) -> None:
    (tmp_path / "x.csv").write_text("time_s,mbps\n0,5\n9,10\n")
    for command in (("run", "x.csv"), ("compare", "x.csv", "--runs", "1")):
        done = celltcp(*command, "--cca", "cubic", "--duration", "2s", *options)
        lines = [line for line in done.stderr.splitlines() if line.startswith("assumed")]
        expected = [f"assumed, as the trace has none of it (--set): {assumed}"] if assumed else []
        assert lines == expected


@pytest.mark.parametrize("with_rtt", [0, 1, 3])
def test_a_folder_says_once_what_its_traces_assume(celltcp, tmp_path: Path, with_rtt: int) -> None:
    for index in range(3):
        head, rtt = (",rtt_ms", ",50") if index < with_rtt else ("", "")
        rows = "".join(f"{second},{5 + second}{rtt}\n" for second in range(9))
        (tmp_path / f"x{index}.csv").write_text(f"time_s,mbps{head}\n{rows}")
    done = celltcp("compare", ".", "--runs", "1", "--cca", "cubic", "--duration", "2s")
    lines = [line for line in done.stderr.splitlines() if line.startswith("assumed")]
    has_all = with_rtt in (0, 3)
    expected = {
        f"assumed, as {'the' if has_all else f'{count} of 3'} traces have none of it (--set): {fields}"
        for count, fields in (
            (with_rtt, "path.buffer=750packets"),
            (3 - with_rtt, "path.rtt=40ms, path.buffer=750packets"),
        )
        if count
    }
    assert sorted(lines) == sorted(expected)

//! The program as a whole, with a stand-in for valgrind that counts what the test wants.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_celltcp-counts");

const CASES: [&str; 8] = [
    "wired",
    "wired-samples",
    "drive",
    "four-flows",
    "random-loss",
    "fq-codel",
    "static",
    "nine-cells",
];

/// Returns a fresh folder of a test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Puts a stand-in for valgrind into a folder; `script` makes a count from the name of a case in `$case`.
fn stand_in(folder: &Path, script: &str) {
    let text = format!(
        "#!/bin/sh\nfor each; do\ncase $each in --callgrind-out-file=*) file=${{each#*=}};; esac\n\
         [ \"$before\" = --case ] && case=$each\n[ \"$before\" = --times ] && times=$each\nbefore=$each\ndone\n\
         {script}\necho \"totals: $count\" > \"$file\"\n"
    );
    let file = folder.join("valgrind");
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Writes committed counts of a million each and returns the file.
fn committed(folder: &Path) -> PathBuf {
    let rows: String = CASES
        .iter()
        .map(|case| format!("{case},1000000\n"))
        .collect();
    let file = folder.join("counts.csv");
    fs::write(&file, format!("case,count\n{rows}")).unwrap();
    file
}

/// Runs the program with the folder as the only place of programs.
fn run(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.env("PATH", folder).args(arguments);
    command.output().unwrap()
}

fn status(output: &Output) -> (Option<i32>, String) {
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code(), told)
}

#[test]
fn counts_that_have_grown_are_named_and_exit_with_1() {
    let folder = folder("grown");
    stand_in(
        &folder,
        "count=1010000; [ $case = drive ] && count=1030000; [ $case = static ] && count=2000000",
    );
    let file = committed(&folder);
    let output = run(&folder, &["--file", file.to_str().unwrap()]);
    let table = String::from_utf8_lossy(&output.stdout);
    assert!(
        table.contains("wired                1010000   +1.00 %\n"),
        "{table}"
    );
    assert!(
        table.contains("static               2000000 +100.00 %\n"),
        "{table}"
    );
    let told = "celltcp-counts: too many instructions: drive, static\n".to_owned();
    assert_eq!(status(&output), (Some(1), told));
}

#[test]
fn written_counts_are_what_the_next_run_compares_with() {
    let folder = folder("written");
    stand_in(&folder, "count=$((1000 * times))");
    let file = folder.join("new.csv");
    let named = ["--file", file.to_str().unwrap()];
    let nothing = (Some(0), String::new());
    assert_eq!(
        status(&run(&folder, &[&named[..], &["--write"]].concat())),
        nothing
    );
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.ends_with("static,1000\nnine-cells,1000\n"), "{text}");
    assert_eq!(status(&run(&folder, &named)), nothing);

    let output = run(&folder, &[&named[..], &["--times", "2"]].concat());
    assert_eq!(status(&output), nothing);
    let table = String::from_utf8_lossy(&output.stdout);
    assert_eq!(table.matches("2000   x 2.000\n").count(), 8, "{table}");
}

#[test]
fn what_cannot_be_counted_is_told_and_exits_with_2() {
    let folder = folder("failures");
    let good = committed(&folder);
    let bad = folder.join("bad.csv");
    fs::write(&bad, "case,count\nwired,many\n").unwrap();
    let (good, bad) = (good.to_str().unwrap(), bad.to_str().unwrap());
    let expect = |arguments: &[&str], expected: &str| {
        let (code, told) = status(&run(&folder, arguments));
        assert_eq!(code, Some(2), "{told}");
        assert!(told.contains(expected), "{told}");
    };
    expect(&["--file", good], "the Debian package valgrind");
    stand_in(&folder, "echo no memory >&2; exit 7");
    expect(&["--file", good], "valgrind failed: no memory");
    stand_in(&folder, "count=0");
    expect(&["--file", good], "callgrind has counted nothing");
    expect(&["--file", bad], "bad.csv: line 2 is \"wired,many\"");
    expect(&["--file", "none.csv"], "none.csv: No such file");
    expect(
        &["--case", "wirde"],
        "\"wirde\" is no case; allowed: wired,",
    );
}

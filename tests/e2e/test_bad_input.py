# SPDX-License-Identifier: Apache-2.0
"""Whatever is wrong with the input or the machine: a message that names it, and the exit status."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.e2e.command import PKBENCH, ROOT, pkbench
from tests.e2e.processes import HUNG_S

HONEST = ROOT / "examples" / "001_allreduce.cu"
TINY = """#include <pkbench.h>
#include "problem.h"
extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    return 0;
}
"""


def evaluate(source, *arguments, **options):
    return pkbench("eval", source, "--device", "cpu", "--no-timing", *arguments, **options)


def demand(answer, status: int, *words: str):
    """The exit status, one line on stderr that has all words, and nothing on stdout."""
    assert answer.status == status, answer
    for word in words:
        assert word in answer.err, answer.err
    assert answer.out == "", answer.out


@pytest.fixture
def source(tmp_path) -> Path:
    path = tmp_path / "001_mine.cu"
    path.write_text(TINY)
    return path


# ---- the file ----


def test_missing_file(tmp_path):
    demand(evaluate(tmp_path / "001_no.cu"), 2, "001_no.cu", "No such file")


def test_directory(tmp_path):
    demand(evaluate(tmp_path, "-p", "1"), 2, str(tmp_path), "is a directory")


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_unreadable_file(source):
    source.chmod(0)
    demand(evaluate(source), 2, "001_mine.cu", "Permission denied")


def test_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "001_pipe.cu")
    demand(evaluate(tmp_path / "001_pipe.cu"), 2, "001_pipe.cu")


def test_what_standard_input_and_output_are_not_for(source, tmp_path):
    demand(evaluate("-", "-p", "1"), 2, "send it to pkbench worker")
    demand(evaluate(source, "-o", "-"), 2, "-o takes a file", "--json prints records")
    for verb in (["score"], ["compare", "-"], ["report"], ["export", "--csv", tmp_path / "a.csv"]):
        demand(pkbench(*verb, "-"), 2, "not from standard input")
    assert not Path("-").exists()


def test_too_large(source):
    source.write_text("/" * (1 << 20) + "/")
    demand(evaluate(source), 2, "001_mine.cu", "1048577 bytes", "1048576")


def test_binary(source):
    source.write_bytes(b"\x7fELF\0\0\0")
    demand(evaluate(source), 2, "001_mine.cu", "NUL")


@pytest.mark.parametrize("text", ["", " \n\t\r\n", "\ufeff\n"])
def test_empty_or_blank_is_no_code(source, text):
    source.write_text(text, encoding="utf-8")
    answer = evaluate(source, "--json")
    assert answer.status == 1
    assert answer.record["verdict"] == "NO_CODE"
    assert "sizes" not in answer.record
    assert "secret" not in answer.record


# ---- the problem and the world ----


def test_problem_from_the_file_name_is_needed(tmp_path):
    path = tmp_path / "mine.cu"
    path.write_text(TINY)
    demand(evaluate(path), 2, "mine.cu", "-p PROBLEM")


def test_unknown_problem_offers_the_nearest(source):
    demand(evaluate(source, "-p", "alreduce"), 2, "'alreduce'", "did you mean 001_allreduce")
    demand(evaluate(source, "-p", "999"), 2, "'999'")


def test_world_that_the_problem_does_not_allow(tmp_path):
    path = tmp_path / "026_mine.cu"
    path.write_text(TINY)
    demand(evaluate(path, "-n", "5", "--sizes", "pkb"), 2, "E % P == 0", "P = 5")
    demand(evaluate(path, "-n", "5", "--sizes", "all"), 2, "--sizes tiny,tiny_empty")


def test_unknown_size_and_grid(source):
    demand(evaluate(source, "--sizes", "huge"), 2, "'huge'", "tiny")
    demand(evaluate(source, "--grid", "tp3"), 2, "tp3", "leave --grid out")


# ---- options ----


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["-n", "0"], "'0'"),
        (["-n", "65"], "'65'"),
        (["-n", "two"], "'two'"),
        (["--seed", "-1"], "'-1'"),
        (["--seed", "1e3"], "'1e3'"),
        (["--timeout", "0"], "'0'"),
        (["--timeout", "nan"], "'nan'"),
        (["--nonsense"], "--nonsense"),
        (["another.cu"], "another.cu"),
        (["--sandbox", "loose"], "loose"),
    ],
)
def test_bad_option(source, options, word):
    demand(evaluate(source, *options), 2, word)


def test_devices(source):
    demand(pkbench("eval", source, "--device", "tpu"), 2, "'tpu'")
    if not Path("/dev/nvidiactl").exists():
        demand(pkbench("eval", source, "--device", "cuda"), 2, "no GPU found; use --device cpu")


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["eval", "x.cu", "--rnaks", "2"], "did you mean --ranks?"),
        (["eval", "x.cu", "--keep", "--no-timng"], "No such file"),  # the value of --keep
        (["eval", "--no-timng", "x.cu"], "'--no-timng'"),
        (["eval", "-n", "2", "--sede=3", "x.cu"], "'--sede'"),
        (["show", "13", "--jsn"], "did you mean --json?"),
        (["doctor", "--hlep"], "did you mean --help?"),
        (["show", "-z", "13"], "show has no option '-z' (see pkbench show --help)"),
        (["eval", "-n2", "-z", "x.cu"], "'-z'"),
        (["show", "-json", "13"], "did you mean --json?"),
        (["eval", "x.cu", "-p"], "-p wants a value: -p PROBLEM"),
        (["eval", "x.cu", "--seed"], "--seed wants a value: --seed N"),
        (["score", "--device", "gpu", "x"], "no device 'gpu'; --device takes cuda or cpu"),
        (["problems", "foo"], "'foo' is no number, range, name or category"),
        (["problems", "1", "2"], "1,2"),
        (["show", "tensor"], "pkbench problems tensor lists them"),
        (["prompt", "tensor"], "pkbench problems tensor"),
        (["new", "1-2"], "means 2 problems, and one is wanted"),
        (["doctor", "foo"], "'foo'"),
    ],
)
def test_mistyped_words_are_named(arguments, word):
    demand(pkbench(*arguments), 2, word)


def test_options_may_be_shortened_and_stand_anywhere():
    assert pkbench("show", "--js", "13").record["id"] == 13
    assert pkbench("show", "--he").out.startswith("Usage")
    assert pkbench("show", "-?").out == pkbench("show", "--help").out
    demand(pkbench("eval", "-n2", "-p", "13", "no.cu"), 2, "cannot open no.cu")


def test_help_and_version_have_the_usual_names():
    for word in ("help", "-h", "-?"):
        assert pkbench(word).out == pkbench("--help").out
    assert pkbench("help", "eval").out == pkbench("eval", "--help").out
    assert pkbench("-V").out == pkbench("--version").out
    demand(pkbench("help", "evla"), 2, "did you mean eval?")


def test_unknown_verb_offers_the_nearest():
    demand(pkbench("evla"), 2, "'evla'", "did you mean eval")
    demand(pkbench(), 2, "Usage")


VERBS = ["doctor", "problems", "show", "prompt", "new", "eval", "score", "compare"]
VERBS += ["export", "audit"]


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb):
    answer = pkbench(verb, "--help")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.startswith(f"Usage: pkbench {verb}")
    assert not [line for line in answer.out.splitlines() if line.isspace()]


@pytest.mark.parametrize("verb", ["show", "prompt", "new", "eval", "score", "compare", "export"])
def test_verbs_that_need_an_argument_say_so(verb):
    demand(pkbench(verb), 2, f"pkbench {verb}")


# ---- the other verbs ----


def test_new_never_overwrites(tmp_path):
    path = tmp_path / "mine.cu"
    assert pkbench("new", "13", "-o", path).status == 0
    text = path.read_text()
    demand(pkbench("new", "1", "-o", path), 2, str(path), "not overwritten")
    assert path.read_text() == text


def test_full_disk_is_noticed_by_every_printing_verb():
    for arguments in (["problems"], ["show", "13"], ["prompt", "13"], ["new", "13", "-o", "-"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PKBENCH, *arguments], stdout=full, stderr=subprocess.PIPE)
        assert done.returncode == 5, arguments
        assert b"standard output" in done.stderr


def test_prompt_is_the_same_each_time_and_names_no_path():
    first, again = pkbench("prompt", "13"), pkbench("prompt", "13", cwd="/")
    assert first.out == again.out
    assert str(ROOT) not in first.out
    assert "examples/" not in first.out
    line = pkbench("prompt", "13", "--json").record
    assert line["messages"][0]["content"] == first.out
    assert line["problem"] == "013_gemm_allreduce"


def test_output_is_plain_where_nobody_looks():
    for arguments in (["problems"], ["doctor"], ["show", "1"]):
        assert "\033" not in pkbench(*arguments, env={"TERM": "xterm"}).out


# ---- the machine ----


@pytest.fixture
def bare_path(tmp_path):
    """A PATH with links to all programs of the real one but those that are left out."""

    def make(*missing: str) -> dict[str, str]:
        folder = tmp_path / "bin"
        folder.mkdir()
        for place in os.environ["PATH"].split(":"):
            for program in Path(place).iterdir() if Path(place).is_dir() else ():
                link = folder / program.name
                if program.name not in missing and program.exists() and not link.exists():
                    link.symlink_to(program)
        return {"PATH": str(folder)}

    return make


@pytest.mark.parametrize("missing", ["mpirun", "gcc"])
def test_missing_program(source, bare_path, missing):
    package = {"mpirun": "openmpi-bin", "gcc": "gcc"}[missing]
    environment = bare_path(missing)
    demand(evaluate(source, env=environment), 3, package)
    doctor = pkbench("doctor", env=environment)
    assert doctor.status == 3
    assert package in doctor.out


def test_missing_bubblewrap(source, bare_path):
    """Full is not to be had then; a weaker level may be, and is never taken for full."""
    environment = bare_path("bwrap")
    demand(evaluate(source, "--sandbox", "full", env=environment), 3, "install bubblewrap")
    assert "bubblewrap" in pkbench("doctor", env=environment).out
    answer = evaluate(source, "--json", env=environment)
    assert answer.status == 3 or answer.record["sandbox"] == "restricted", answer


def test_missing_nvcc(source):
    environment = {"PKBENCH_NVCC": "/nowhere/nvcc"}
    demand(evaluate(source, env=environment), 3, "nvcc", "PKBENCH_NVCC")
    assert pkbench("doctor", env=environment).status == 3


def test_missing_python(source):
    environment = {"PKBENCH_PYTHON": "/nowhere/python"}
    demand(evaluate(source, env=environment), 3, "python", "PKBENCH_PYTHON")


def test_a_tool_that_was_killed_is_told_from_one_that_is_broken(source, tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nkill -9 $$\n")
    python.chmod(0o755)
    demand(evaluate(source, env={"PKBENCH_PYTHON": str(python)}), 3, "it was killed by SIGKILL")


def test_missing_torch(source, tmp_path):
    subprocess.run(
        ["python3", "-m", "venv", "--without-pip", tmp_path / "bare"], check=True, timeout=HUNG_S
    )
    environment = {"PKBENCH_PYTHON": str(tmp_path / "bare" / "bin" / "python")}
    demand(evaluate(source, env=environment), 3, "torch", "tools/setup.sh")
    lines = pkbench("doctor", "--json", env=environment).record
    assert [line["name"] for line in lines if not line["ok"]] == ["torch"]


def test_nothing_but_the_problems_is_needed_to_read_them(tmp_path):
    environment = {"PATH": str(tmp_path), "PKBENCH_PYTHON": "/nowhere", "PKBENCH_NVCC": "/nowhere"}
    for arguments in (["problems"], ["show", "13"], ["prompt", "13"], ["new", "13", "-o", "-"]):
        assert pkbench(*arguments, env=environment).status == 0


# ---- results that cannot be stored ----


def test_record_cannot_be_written(source):
    demand(evaluate(source, "-o", "/nowhere/r.jsonl"), 5, "/nowhere/r.jsonl")
    source.write_text("")
    answer = evaluate(source, "-o", "/dev/full")
    assert answer.status == 5
    assert "/dev/full" in answer.err


def test_no_file_of_records_without_a_record(source, tmp_path):
    records = tmp_path / "r.jsonl"
    demand(evaluate(source, "-o", records, "--sizes", "huge"), 2, "huge")
    assert not records.exists()
    answer = evaluate(source, "-o", records, env={"PKBENCH_PYTHON": "/bin/false"})
    assert answer.status in (2, 3), answer
    assert not records.exists()


def test_disk_full(source, tmp_path):
    if os.getuid() != 0:
        pytest.skip("only root can mount a small file system")
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8k", "tmpfs", folder], capture_output=True
    )
    if mounted.returncode != 0:
        pytest.skip(f"cannot mount a tmpfs: {mounted.stderr.decode().strip()}")
    try:
        (folder / "filler").write_bytes(b"x" * 4096)
        (folder / "r.jsonl").write_bytes(b"")
        source.write_text("")
        with (folder / "more").open("wb", buffering=0) as more:
            try:
                while more.write(b"x" * 512):
                    pass
            except OSError:
                pass
        demand(evaluate(source, "-o", folder / "r.jsonl"), 5, "r.jsonl", "No space left")
        assert (folder / "r.jsonl").read_bytes() == b""
    finally:
        subprocess.run(["umount", folder], check=True)


# ---- compiling ----


def test_compile_error_names_file_and_line(source):
    source.write_text(TINY.replace("return 0;", "return zero;"))
    answer = evaluate(source, "--json")
    assert answer.status == 1
    assert answer.record["verdict"] == "COMPILE_ERROR"
    assert answer.record["reason"].startswith("001_mine.cu(5): error: ")
    assert "zero" in answer.record["reason"]


def test_compiler_sees_no_files_of_the_host(source):
    source.write_text(f'#include "{ROOT}/README.md"\n' + TINY)
    answer = evaluate(source, "--json")
    assert answer.record["verdict"] == "COMPILE_ERROR"
    assert "No such file" in answer.record["reason"]


@pytest.mark.parametrize("said", [b"\x1b[2J\x1b]0;owned\x07", b"\xff\xfe", b"\xc2\x9b31m"])
def test_a_message_cannot_drive_the_terminal(source, said):
    source.write_bytes(b"#error <" + said + b">\n" + TINY.encode())
    for arguments in ([], ["--json"]):
        answer = evaluate(source, *arguments)
        assert answer.status == 1
        text = answer.out + answer.err
        assert "001_mine.cu(1): error" in text, text
        assert not [c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)], text


def test_a_file_name_cannot_drive_the_terminal(tmp_path):
    answer = evaluate(tmp_path / "001_\033[2J.cu")
    demand(answer, 2, "001_?[2J.cu")
    assert "\033" not in answer.err


def test_a_folder_name_cannot_drive_the_terminal(tmp_path):
    """Whatever tells of it: a run's end, a damaged file of records, a report, tables, an import."""
    name = "run \033[2J\u202e"
    folder = tmp_path / name
    lines = tmp_path / "replies.jsonl"
    lines.write_text('{"problem": 1, "completion": "none"}\n')

    def said(*arguments):
        answer = pkbench(*arguments)
        assert answer.status in (0, 6), answer.err
        assert "run ?[2J?" in answer.err
        assert not {"\033", "\u202e"} & set(answer.out + answer.err)

    said("import", lines, folder)
    said("eval", folder, "--device", "cpu")
    (records,) = (folder / "results").iterdir()
    for damage in ("no record\n", "{cut"):
        records.write_text(records.read_text() + damage)
        said("eval", folder, "--device", "cpu")
    said("report", folder, "-o", folder / "report.html")
    said("export", folder, "--csv", folder / "table.csv")
    said("new", "1", "-o", folder / "mine.cu")


def test_endless_compile_is_ended(source):
    source.write_text(
        "template <int N, int M> struct f { static const int v = f<N - 1, M>::v + "
        "f<N - 1, M + (1 << N)>::v; };\n"
        "template <int M> struct f<0, M> { static const int v = M; };\n"
        "static_assert(f<28, 0>::v != 1);\n" + TINY
    )
    start = time.monotonic()
    answer = evaluate(source, "--json", "--compile-timeout", "2")
    assert answer.status == 1
    assert answer.record["verdict"] == "COMPILE_TIMEOUT"
    assert "2 s" in answer.record["reason"]
    assert time.monotonic() - start < 20


def test_kept_files(source, tmp_path):
    source.write_text("int broken")
    kept = tmp_path / "kept"
    assert evaluate(source, "--keep", kept).status == 1
    assert (kept / "001_mine.cu").read_text() == "int broken"
    assert "struct pkb_args" in (kept / "problem.h").read_text()
    assert "error" in (kept / "compile.log").read_text()
    demand(evaluate(source, "--keep", kept), 2, str(kept), "not empty", "new folder")


def test_help_tells_of_every_exit_status_and_of_keep():
    text = " ".join(pkbench("eval", "--help").out.split())
    for word in ("5 that the record could not be stored", "130 that it was interrupted",
                 "keep all in DIR"):  # fmt: skip
        assert word in text


# ---- interruption ----


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("delay_s", [0.1, 0.6, 1.5])
def test_interrupt_leaves_nothing(tmp_path, number, delay_s):
    scratch = Path(f"/tmp/pkb-i{os.getpid()}")
    scratch.mkdir(exist_ok=True)
    run = subprocess.Popen(
        [PKBENCH, "eval", ROOT / "tests/zoo/001_hangs_on_host.cu", "--device", "cpu",
         "--no-cache", "--timeout", "60"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PKBENCH_TMPDIR": str(scratch)},
    )  # fmt: skip
    try:
        time.sleep(delay_s)
        run.send_signal(number)
        out, err = run.communicate(timeout=HUNG_S)
        assert run.returncode == 130, err
        assert b"interrupted" in err
        assert out == b""
        assert [p for p in scratch.rglob("*") if p.is_file()] == []
    finally:
        run.kill()
        shutil.rmtree(scratch)

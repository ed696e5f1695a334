# SPDX-License-Identifier: Apache-2.0
"""The whole command on two GPUs: verdicts of right and wrong attempts, and what is refused."""

import json
import re
from pathlib import Path

import pytest

from tests.e2e.command import ROOT, pkbench
from tests.e2e.test_zoo import demands

EXAMPLE = ROOT / "examples" / "001_allreduce.cu"
# One of each way to fail: a result, a system call, a kernel that never ends, host code, a kernel.
ZOO = [
    "001_does_nothing",
    "001_forks",
    "001_hangs_in_kernel",
    "001_host_dereference",
    "001_wild_pointer",
]

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not Path("/dev/nvidia1").exists(), reason="fewer than two GPUs here"),
    pytest.mark.timeout(200),
]


def judge(source, *options):
    return pkbench("eval", source, "--device", "cuda", "--json", *options, timeout_s=180)


def test_doctor_knows_the_gpus():
    answer = pkbench("doctor", "--json")
    rows = {row["name"]: row for row in json.loads(answer.out)}
    for name in ("NVIDIA driver", "GPU 0", "GPU 1", "peer access", "torch on GPUs"):
        assert rows[name]["ok"], rows[name]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-n", "64"], "64 ranks need a GPU each"),
        (["--gpus", "0"], "2 ranks need a GPU each"),
        (["--gpus", "0,63"], "no GPU 63"),
        (["--gpus", "0,0"], "--gpus wants"),
    ],
)
def test_what_cannot_be_is_a_usage_error(options, words):
    answer = judge(EXAMPLE, *options)
    assert answer.status == 2, answer.err
    assert words in answer.err


def test_the_example_is_correct():
    answer = judge(EXAMPLE, "--sizes", "tiny")
    record = answer.record
    assert record["verdict"] == "CORRECT", answer.out + answer.err
    assert record["device"] == "cuda"
    assert re.match(r"NVIDIA .* x 2, ", record["machine"]["class"])
    reference = record["reference"]
    assert reference["tf32"] is False
    assert re.fullmatch(r"\d+\.\d+\.\d+", reference["nccl"])
    assert "NCCL" in record["machine"]["class"]


def reused(record):
    return [size.get("reused_cell", False) for size in record["sizes"]]


def logs(folder):
    """What the judges noted about the cells."""
    return "".join(path.read_text() for path in sorted(folder.rglob("rank*.txt")))


def test_one_process_serves_all_sizes(tmp_path):
    answer = judge(EXAMPLE, "--keep", tmp_path)
    assert answer.record["verdict"] == "CORRECT", answer.out + answer.err
    assert reused(answer.record) == [False, True, True, True, True], logs(tmp_path)


PEER_ACCESS = """
extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    return cudaDeviceEnablePeerAccess(1, 0); /* an error where it is enabled already */
}
"""
LEFT_MEMORY = """
extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    return cudaMalloc(state, 1 << 30);
}
"""
HELD_MEMORY = """
extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    /* What is mapped there stays in use for as long as anybody has a handle. */
    int (*retain)(unsigned long long *handle, void *address);
    unsigned long long handle;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuMemRetainAllocationHandle", (void **)&retain, 12000,
                                     cudaEnableDefault, &found);
    return retain(&handle, pkb_symmetric_alloc(world, 256));
}
"""
LEFT_KERNEL = """
__global__ void spin()
{
    for (int i = 0; i < 60000; i++)
        __nanosleep(1000000);
}

extern "C" void pkb_teardown(pkb_world *world, void *state)
{
    cudaStream_t side;
    cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    spin<<<1, 1, 0, side>>>();
}
"""


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (PEER_ACCESS, ""),
        (LEFT_MEMORY, "MiB of its GPU's memory are left"),
        (HELD_MEMORY, "still holds memory of that size"),
        (LEFT_KERNEL, "could not be unloaded in time"),
    ],
)
def test_what_is_left_at_one_size_does_not_reach_the_next(tmp_path, more, why):
    source = tmp_path / "001_leaves.cu"
    source.write_text(EXAMPLE.read_text() + more)
    answer = judge(source, "--sizes", "tiny", "--no-timing", "--keep", tmp_path / "kept")
    assert answer.record["verdict"] == "CORRECT", answer.out + answer.err
    assert not any(reused(answer.record)), logs(tmp_path)
    assert why in logs(tmp_path)


def test_ranks_may_be_turned_round():
    answer = judge(EXAMPLE, "--sizes", "tiny", "--gpus", "1,0", "--no-timing")
    assert answer.record["verdict"] == "CORRECT", answer.out + answer.err


@pytest.mark.parametrize("name", ZOO)
def test_wrong_attempts_get_their_verdict(name):
    source = ROOT / "tests" / "zoo" / f"{name}.cu"
    answer = judge(source, "--sizes", "tiny", "--no-timing", "--timeout", "5")
    assert re.fullmatch(demands(source)["verdict"], answer.record["verdict"]), answer.out

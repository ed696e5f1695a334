# SPDX-License-Identifier: Apache-2.0
"""The runner: `python -m harness.runner --fd 3 --rank r --world P --device cpu`.

Started by a judge, obeys its messages (docs/protocol.md section 3) and ends with it.
"""

import argparse
import contextlib
import ctypes
import os
import signal
import socket
import sys

PR_SET_PDEATHSIG = 1
WAIT_NS = 1_000_000_000


def die_with_parent() -> None:
    """The kernel kills us when the judge's main thread ends, whatever we are doing."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def main(argv: list[str] | None = None) -> int:
    die_with_parent()
    parser = argparse.ArgumentParser(prog="python -m harness.runner", description=__doc__)
    parser.add_argument("--fd", type=int, default=3, help="socket to the judge")
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--world", type=int, required=True)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--gpu", type=int, default=0, help="by PCI address; with --device cuda")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for a collective")
    options = parser.parse_args(argv)
    os.set_inheritable(options.fd, False)
    channel = socket.socket(fileno=options.fd)
    os.environ["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"

    from harness.runner import protocol  # the slow imports, after the parent's death is covered
    from harness.runner.serve import Server

    protocol.watch_end(channel, lambda: os._exit(1))
    server = Server(channel, options)
    while not server.is_closed:
        if not server.serve_one():
            return 1
    return 0


if __name__ == "__main__":
    status = main()
    # Peers may have gone already: leave without taking the process group down politely.
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(status)

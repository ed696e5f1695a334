# SPDX-License-Identifier: Apache-2.0
"""python -m tests.gpu.measure.busy DEVICE: says "busy", then keeps all GPUs (or one core) so until
its standard input ends, as it does when whoever started it is gone.
"""

import select
import sys

import torch

ROWS = 4096  # of square matrices: a product lasts milliseconds on a GPU


def main(device: str) -> None:
    torch.set_num_threads(1)
    places = [f"cuda:{gpu}" for gpu in range(torch.cuda.device_count())]
    if device == "cpu":
        places = ["cpu"]
    rows = ROWS if device == "cuda" else ROWS // 8
    matrices = [torch.ones((rows, rows), device=place) for place in places]
    print("busy", flush=True)
    while not select.select([sys.stdin], [], [], 0)[0]:
        for matrix in matrices:
            matrix @ matrix
        for place in places if device == "cuda" else []:
            torch.cuda.synchronize(place)


if __name__ == "__main__":
    main(sys.argv[1])

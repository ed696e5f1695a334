/* SPDX-License-Identifier: Apache-2.0
 *
 * The fixed parts of a prompt; see prompt_text.h. A change here changes every prompt's hash.
 */
#include "evaluator/problem/prompt_text.h"

const char pkb_prompt_task[] =
    "Write one CUDA source file that replaces the PyTorch + NCCL reference below on several GPUs\n"
    "of one machine. It must be correct for every size listed and any number of ranks P that the\n"
    "problem allows, and as fast as you can make it: fuse computing with communication, overlap\n"
    "the two, move no more bytes than needed.\n";

const char pkb_prompt_reference[] =
    "`reference` is what your code is compared with in time, `oracle` (in float64, with the "
    "inputs\n"
    "of all ranks in one place) is what your results are compared with. `make_inputs` draws the\n"
    "inputs anew for each trial.\n";

const char pkb_prompt_interface[] =
    "Each rank is one process with one GPU. All ranks run the same file. It includes these "
    "headers\n"
    "and defines:\n"
    "```cpp\n"
    "extern \"C\" int pkb_setup(pkb_world *world, const pkb_args *args, void **state);\n"
    "extern \"C\" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t "
    "stream);\n"
    "extern \"C\" void pkb_teardown(pkb_world *world, void *state);\n"
    "```\n"
    "`pkb_run` is required, the other two are optional; 0 means success. `pkb_setup` and\n"
    "`pkb_teardown` run once per size and are not timed; in `pkb_setup` the shapes are known but\n"
    "data pointers are NULL. `pkb_run` is called many times, on different buffers, and only\n"
    "enqueues work on `stream`.\n"
    "\n"
    "Every tensor is dense, row-major and 256-byte aligned. Every argument of every rank is "
    "mapped\n"
    "into every process: `pkb_peer(peers, pointer, q)` turns a pointer to your own argument (or "
    "to\n"
    "memory from `pkb_symmetric_alloc`) into the address of rank q's, in kernels and on the host.\n"
    "Addresses differ between processes, so never send raw pointers to another rank.\n";

const char pkb_prompt_rules[] =
    "1. Start: when `pkb_run` is called, the arguments of the OTHER ranks may not be ready yet.\n"
    "   Before you read or write a peer's memory, meet it on the device, for example with\n"
    "   `pkb_block_barrier(peers)` at the start of the kernel.\n"
    "2. End: when the work on `stream` completes on a rank, its outputs are final, and no rank "
    "will\n"
    "   read or write its arguments any more. A kernel that reads peers therefore needs a barrier\n"
    "   at its end as well.\n"
    "3. Calls follow one another without host synchronisation, on other addresses and with other\n"
    "   data. What derives from an address may be kept between calls, what derives from content "
    "may\n"
    "   not: there are no constant arguments.\n"
    "4. Work on streams of your own must be joined to `stream` before `pkb_run` returns (events).\n"
    "   Do not synchronise with the host in `pkb_run`.\n"
    "5. Inputs (`in`, `host`) must not be changed, not even for a moment. Write every element of\n"
    "   every output, and nothing outside the arguments and your own memory.\n"
    "6. Shapes may be odd, empty, or different on each rank where the problem says so. Do not\n"
    "   assume alignment of rows, or a value of P.\n"
    "7. `pkb_barrier` needs all blocks resident (cooperative launch, or few enough blocks);\n"
    "   `pkb_block_barrier` needs the same grid on all ranks. All ranks must take part, also one\n"
    "   with nothing to do.\n"
    "8. CUDA runtime and device code only (CUDA 13, C++17, sm_90a, inline PTX is fine): no "
    "cuBLAS,\n"
    "   NCCL, NVSHMEM or other libraries, no processes, files or network, no multicast objects of\n"
    "   your own and no `multimem` instructions. `pkb_multicast` returns NULL unless the session\n"
    "   allows multicast.\n";

const char pkb_prompt_judging[] =
    "Correctness: several independent draws, among them integers, very small and very large "
    "values,\n"
    "outliers and ragged or empty cases where they apply. `exact` outputs are compared bit by "
    "bit.\n"
    "`float` outputs are compared with a float64 result: as a whole, per block of rows and at the\n"
    "largest element the error may be a small multiple of what honest rounding in the output's\n"
    "dtype gives. Being more accurate than the reference is fine; leaving out a rank, a tile or "
    "an\n"
    "element is not. `quantized` outputs are codes, exact but for true ties. Outputs hold garbage\n"
    "before each call, ranks are delayed at random, inputs are redrawn and buffers reused, so\n"
    "missing barriers and kept results are found.\n"
    "\n"
    "Time: from the moment at which all ranks may start `pkb_run` to the moment at which the last\n"
    "rank's outputs are complete, over batches of calls, beside the reference on the same "
    "buffers.\n"
    "The speed-up is the reference's time divided by yours.\n";

const char pkb_prompt_answer[] =
    "Plan in a few lines if you like, then give the complete file as exactly one block that "
    "starts\n"
    "with ```cuda and ends with ```, and nothing after it. No other code block may appear in your\n"
    "answer. The block becomes the file as it is. It is built once, for all ranks, with\n"
    "`nvcc -std=c++17 -O3 -lineinfo -shared -Xcompiler -fPIC`, on GPUs for their own architecture\n"
    "(such as `sm_90a`), on the CPU device as PTX for `compute_90a`.\n";

/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a skeleton attempt; see skeleton.h.
 */
#include "evaluator/problem/skeleton.h"

#include "evaluator/problem/explain.h"
#include "evaluator/problem/header.h"

enum { COLUMNS = 96 };

static void write_comment(pkb_buf *out, const pkb_problem *problem)
{
    pkb_buf_printf(out, "/* %s\n *\n", problem->full_name);
    pkb_explain_wrap(out, problem->statement[0] != '\0' ? problem->statement : problem->title,
                     " * ", COLUMNS);
    pkb_buf_append_string(
        out, " *\n * What the struct pkb_args of \"problem.h\" holds for this rank:\n *\n");
    for (size_t i = 0; i < problem->argument_count; i++) {
        pkb_buf_append_string(out, " *   ");
        pkb_problem_declare(out, &problem->arguments[i]);
        pkb_buf_printf(out, "  %s ", problem->arguments[i].role);
        pkb_header_shape(out, &problem->arguments[i]);
        pkb_buf_append_string(out, "\n");
    }
    for (size_t i = 0; i < problem->dim_count; i++)
        pkb_buf_printf(out, " *   int64_t %s\n", problem->dims[i]);
    pkb_buf_append_string(out, " */\n");
}

void pkb_skeleton_write(pkb_buf *out, const pkb_problem *problem)
{
    write_comment(out, problem);
    pkb_buf_append_string(
        out,
        "#include <pkbench.h>\n"
        "#include <pkbench_device.cuh>\n\n"
        "#include \"problem.h\"\n\n"
        "/* One block on every rank. Between the two barriers all ranks may read each other's\n"
        " * arguments: pkb_peer(peers, pointer, q) is rank q's buffer for your own `pointer`. */\n"
        "__global__ void compute(pkb_peer_table peers, pkb_args args)\n"
        "{\n"
        "    pkb_block_barrier(peers); /* the peers' arguments are ready */\n\n"
        "    /* TODO: compute the outputs of this rank. */\n\n"
        "    pkb_block_barrier(peers); /* nobody reads our arguments any more */\n"
        "}\n\n"
        "/* Called once per size, untimed: shapes are known, data is not. Allocate scratch memory\n"
        " * here (pkb_symmetric_alloc for memory that peers access) and keep it in *state. */\n"
        "extern \"C\" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)\n"
        "{\n"
        "    (void)world, (void)args;\n"
        "    *state = nullptr;\n"
        "    return 0;\n"
        "}\n\n"
        "/* Timed. Only enqueues work on `stream`; when that work is done on this rank, its "
        "outputs\n"
        " * are final and no rank reads or writes its arguments any more. */\n"
        "extern \"C\" int pkb_run(pkb_world *world, const pkb_args *args, void *state, "
        "cudaStream_t "
        "stream)\n"
        "{\n"
        "    (void)state;\n"
        "    compute<<<1, 256, 0, stream>>>(pkb_peers(world), *args);\n"
        "    return cudaGetLastError() == cudaSuccess ? 0 : 1;\n"
        "}\n\n"
        "extern \"C\" void pkb_teardown(pkb_world *world, void *state)\n"
        "{\n"
        "    (void)world, (void)state;\n"
        "}\n");
}

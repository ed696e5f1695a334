/* SPDX-License-Identifier: Apache-2.0
 *
 * The programs that judging needs: where they are, which version, how to get what lacks.
 */
#ifndef PKB_EVALUATOR_TOOL_H
#define PKB_EVALUATOR_TOOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"

typedef enum pkb_tool_id {
    PKB_TOOL_PYTHON, /* first, because nvcc may be in its environment */
    PKB_TOOL_TORCH,
    PKB_TOOL_NVCC,
    PKB_TOOL_CUDART, /* libcudart.so.13 of the same toolkit */
    PKB_TOOL_GCC,
    PKB_TOOL_MPIRUN,
    PKB_TOOL_TRANSLATOR,
    PKB_TOOL_JUDGE,
    PKB_TOOL_CELL,
    PKB_TOOL_COUNT
} pkb_tool_id;

typedef struct pkb_tool {
    const char *name, *remedy;
    char *path;        /* NULL = not found */
    char version[96];  /* "" where it has none of its own */
    char problem[640]; /* what is wrong with it; "" = fine */
} pkb_tool;

typedef struct pkb_toolbox {
    char *root;     /* the project */
    char *programs; /* folder of pkbench-judge and friends */
    char *toolkit;  /* CUDA's folder, with bin/nvcc; NULL = none */
    char nccl[32];  /* the version that PyTorch wants; "" where it comes without */
    pkb_tool tools[PKB_TOOL_COUNT];
} pkb_toolbox;

/* Looks for everything; what is missing is no error here. */
pkb_code pkb_toolbox_open(pkb_toolbox *out, pkb_error *err);
void pkb_toolbox_clear(pkb_toolbox *box);

bool pkb_tool_is_fine(const pkb_toolbox *box, pkb_tool_id id);
/* PKB_ERR_MISSING with the remedy for the first of the tools that is not fine. */
pkb_code pkb_toolbox_require(const pkb_toolbox *box, const pkb_tool_id *ids, size_t count,
                             pkb_error *err);

/* Is there a device file of an NVIDIA GPU? */
bool pkb_tool_has_gpu(void);

/* <root>/<relative>, which the caller frees. */
char *pkb_toolbox_path(const pkb_toolbox *box, const char *relative);

#endif

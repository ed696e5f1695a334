/* SPDX-License-Identifier: Apache-2.0
 *
 * Which problems there are: the files problems/NNN_name.json, in the order of their numbers.
 */
#ifndef PKB_EVALUATOR_CATALOGUE_H
#define PKB_EVALUATOR_CATALOGUE_H

#include <cjson/cJSON.h>
#include <stddef.h>

#include "base/error.h"

typedef struct pkb_catalogue {
    char *directory;
    char **names; /* "013_gemm_allreduce", ascending */
    size_t count;
} pkb_catalogue;

/* Reads <root>/problems; files that are not named like a problem are left out. */
pkb_code pkb_catalogue_open(pkb_catalogue *out, const char *root, pkb_error *err);
void pkb_catalogue_clear(pkb_catalogue *catalogue);

/* Finds by number ("13"), name ("gemm_allreduce") or both ("013_gemm_allreduce"). PKB_ERR_USAGE
 * names the nearest ones. `*name` is borrowed from the catalogue. */
pkb_code pkb_catalogue_find(const pkb_catalogue *catalogue, const char *word, const char **name,
                            pkb_error *err);
/* The same of the key "problem" of an object, a name or a number; PKB_ERR_FORMAT: it has none. */
pkb_code pkb_catalogue_find_key(const pkb_catalogue *catalogue, const cJSON *object,
                                const char **name, pkb_error *err);
/* The same by the number that a file's name begins with ("work/013_try2.cu", "13_try2.cu"); a name
 * that does not begin as 013_ does goes after its folder's ("samples/013_gemm_allreduce/1.cu"). */
pkb_code pkb_catalogue_find_file(const pkb_catalogue *catalogue, const char *path,
                                 const char **name, pkb_error *err);

/* "13" from "013_gemm_allreduce". */
int pkb_catalogue_number(const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers sources; see numbering.h.
 */
#include "evaluator/worker/numbering.h"

#include <search.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "evaluator/worker/worker.h"

/* In one of the two trees. */
typedef struct number {
    int64_t value;
    char key[];
} number;

static int compare(const void *a, const void *b)
{
    return strcmp(((const number *)a)->key, ((const number *)b)->key);
}

/* The number of that key, `value` where it was not there; NULL when out of memory. */
static number *get(void **tree, const char *key, int64_t value)
{
    const size_t bytes = strlen(key) + 1;
    number *made = malloc(sizeof *made + bytes);

    if (made == NULL)
        return NULL;
    made->value = value;
    memcpy(made->key, key, bytes);
    number **found = tsearch(made, tree, compare);
    number *result = found != NULL ? *found : NULL;
    if (result != made)
        free(made);
    return result;
}

/* `*sample` is its number if it has none yet. */
static pkb_code take(pkb_numbering *numbering, const char *problem, const char *sha256,
                     int64_t *sample, pkb_error *err)
{
    pkb_buf key = {0};

    pkb_buf_printf(&key, "%s/%s", problem, sha256);
    number *next = get(&numbering->next, problem, 0), *own = NULL;
    if (key.status == PKB_OK && next != NULL)
        own = get(&numbering->samples, pkb_buf_text(&key), *sample < 0 ? next->value : *sample);
    pkb_buf_clear(&key);
    if (own == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the number of a sample");
    if (own->value >= next->value)
        next->value = own->value + 1;
    *sample = own->value;
    return PKB_OK;
}

void pkb_numbering_see(void *numbering, const cJSON *record)
{
    pkb_numbering *all = numbering;
    const char *problem = pkb_json_string_or(record, "problem", "");
    const char *sha256 = pkb_json_string_or(record, "source_sha256", "");
    int64_t sample = 0;

    if (all->failure.code == PKB_OK &&
        strcmp(pkb_json_string_or(record, "run", ""), PKB_WORKER_RUN) == 0 &&
        pkb_json_get_i64(record, "sample", &sample, NULL) == PKB_OK && sample >= 0 &&
        sample < PKB_NUMBERING_MOST)
        take(all, problem, sha256, &sample, &all->failure);
}

pkb_code pkb_numbering_find(pkb_numbering *numbering, const char *problem, const char *sha256,
                            int64_t *sample, pkb_error *err)
{
    if (numbering->failure.code != PKB_OK) {
        *err = numbering->failure;
        return err->code;
    }
    *sample = -1;
    return take(numbering, problem, sha256, sample, err);
}

void pkb_numbering_clear(pkb_numbering *numbering)
{
    tdestroy(numbering->samples, free);
    tdestroy(numbering->next, free);
    *numbering = (pkb_numbering){0};
}

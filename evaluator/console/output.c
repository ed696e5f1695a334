/* SPDX-License-Identifier: Apache-2.0
 *
 * Standard output; see output.h.
 */
#include "evaluator/console/output.h"

#include <errno.h>

#include "base/json.h"

pkb_code pkb_output_json(const cJSON *value, pkb_error *err)
{
    char *text = pkb_json_line(value);
    if (text == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for a line of JSON");
    puts(text);
    cJSON_free(text);
    return pkb_output_flush(err);
}

/* A write that failed before says no longer why, unless what is left fails again. */
pkb_code pkb_output_flush_to(FILE *out, const char *name, pkb_error *err)
{
    if (fflush(out) != 0)
        return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot write %s", name);
    if (ferror(out))
        return pkb_error_set(err, PKB_ERR_DISK, 0, "a part of %s could not be written", name);
    return PKB_OK;
}

pkb_code pkb_output_flush(pkb_error *err)
{
    return pkb_output_flush_to(stdout, "standard output", err);
}

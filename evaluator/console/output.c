/* SPDX-License-Identifier: Apache-2.0
 *
 * Standard output; see output.h.
 */
#include "evaluator/console/output.h"

#include <errno.h>
#include <stdio.h>

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

pkb_code pkb_output_flush(pkb_error *err)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot write standard output");
    return PKB_OK;
}

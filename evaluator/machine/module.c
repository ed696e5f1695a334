/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a module; see module.h.
 */
#include "evaluator/machine/module.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "evaluator/machine/process.h"

enum { REFUSED = 2, ADDED_WORDS = 2 };

static pkb_code run(pkb_buf *output, const pkb_toolbox *tools, const char *const *words,
                    unsigned timeout_s, pkb_error *err)
{
    const pkb_process_options options = {.argv = words, .directory = tools->root};
    pkb_child_exit how = {0};

    pkb_code rc = pkb_process_run(&options, timeout_s * PKB_NS_PER_S, &how, output, err);
    if (rc != PKB_OK || (how.exited && how.status == 0))
        return rc;
    const char *text = pkb_buf_text(output);
    if (how.exited && how.status == REFUSED)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "%.*s", (int)strcspn(text, "\n"), text);
    while (strchr(text, '\n') != NULL && strchr(text, '\n')[1] != '\0')
        text = strchr(text, '\n') + 1; /* a traceback says what it is in its last line */
    return pkb_error_set(err, PKB_ERR_CHILD, how.status, "python -m %s: %.*s", words[ADDED_WORDS],
                         (int)strcspn(text, "\n"), text);
}

pkb_code pkb_module_run(pkb_buf *output, const pkb_toolbox *tools, const char *const *argv,
                        unsigned timeout_s, pkb_error *err)
{
    size_t count = 0;

    while (argv[count] != NULL)
        count++;
    const char **words = calloc(ADDED_WORDS + count + 1, sizeof *words);
    if (words == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory to run %s", argv[0]);
    words[0] = tools->tools[PKB_TOOL_PYTHON].path;
    words[1] = "-m";
    memcpy(words + ADDED_WORDS, argv, count * sizeof *words);
    pkb_code rc = run(output, tools, words, timeout_s, err);
    free(words);
    return rc;
}

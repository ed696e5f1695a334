/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds what a call works with; see setting.h.
 */
#include "evaluator/attempt/setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "evaluator/attempt/debug.h"

pkb_code pkb_setting_start(pkb_setting *setting, pkb_error *err)
{
    setting->wake_fd = -1;
    pkb_progress_start(&setting->progress);
    return pkb_eval_options_check(&setting->options, pkb_tool_has_gpu(), err);
}

static pkb_code choose_gpus(pkb_setting *setting, pkb_error *err)
{
    const pkb_eval_options *options = &setting->options;
    if (strcmp(options->device, "cuda") != 0)
        return PKB_OK;
    return pkb_eval_gpus_choose(&setting->gpus, options->gpus, options->world, err);
}

pkb_code pkb_setting_find(pkb_setting *setting, pkb_error *err)
{
    char *root = NULL;

    pkb_code rc = choose_gpus(setting, err);
    if (rc == PKB_OK)
        rc = pkb_fs_root(&root, err);
    if (rc == PKB_OK)
        rc = pkb_catalogue_open(&setting->catalogue, root, err);
    if (rc == PKB_OK)
        rc = pkb_toolbox_open(&setting->tools, err);
    free(root);
    return rc;
}

pkb_code pkb_setting_vary(pkb_setting *out, const pkb_setting *setting,
                          const pkb_eval_options *given, pkb_error *err)
{
    pkb_setting varied = *setting;

    varied.options = *given;
    varied.gpus = (pkb_eval_gpus){0};
    pkb_code rc = pkb_eval_options_check(&varied.options, pkb_tool_has_gpu(), err);
    if (rc == PKB_OK)
        rc = choose_gpus(&varied, err);
    if (rc == PKB_OK)
        *out = varied;
    return rc;
}

static pkb_code choose_level(pkb_setting *setting, pkb_error *err)
{
    const char *asked = setting->options.sandbox;
    pkb_sandbox_level found = PKB_SANDBOX_NONE;
    char why[256] = "";

    if (asked != NULL) {
        pkb_code rc = pkb_sandbox_level_parse(asked, &setting->level, err);
        if (rc != PKB_OK || setting->level == PKB_SANDBOX_NONE)
            return rc;
    }
    pkb_code rc = pkb_sandbox_probe(&found, why, sizeof why, err);
    if (rc != PKB_OK)
        return rc;
    if (asked == NULL)
        setting->level = found;
    else if (setting->level > found)
        return pkb_error_set(err, PKB_ERR_MISSING, 0,
                             "the sandbox level %s does not work here (%s); install bubblewrap and "
                             "allow user namespaces, or use --sandbox %s",
                             asked, why, pkb_sandbox_level_name(found));
    return PKB_OK;
}

pkb_code pkb_setting_require(pkb_setting *setting, pkb_error *err)
{
    /* gcc before nvcc, which cannot even say where it is without it */
    static const pkb_tool_id needed[] = {PKB_TOOL_PYTHON, PKB_TOOL_TORCH,      PKB_TOOL_MPIRUN,
                                         PKB_TOOL_GCC,    PKB_TOOL_NVCC,       PKB_TOOL_CUDART,
                                         PKB_TOOL_JUDGE,  PKB_TOOL_TRANSLATOR, PKB_TOOL_CELL};
    pkb_code rc =
        pkb_toolbox_require(&setting->tools, needed, sizeof needed / sizeof needed[0], err);
    if (rc == PKB_OK)
        rc = choose_level(setting, err);
    if (rc == PKB_OK && setting->options.has_debug)
        rc = pkb_debug_find(&setting->debugger, &setting->tools, err);
    return rc;
}

void pkb_setting_clear(pkb_setting *setting)
{
    pkb_progress_end(&setting->progress);
    pkb_catalogue_clear(&setting->catalogue);
    pkb_toolbox_clear(&setting->tools);
    free(setting->debugger);
}

pkb_code pkb_setting_secret(const pkb_setting *setting, char secret[PKB_HASH_HEX_BYTES],
                            pkb_error *err)
{
    char text[64];
    unsigned char random[32];

    if (!setting->options.has_seed) {
        pkb_code rc = pkb_random_bytes(random, sizeof random, err);
        return rc == PKB_OK ? pkb_hash_bytes(random, sizeof random, secret, err) : rc;
    }
    snprintf(text, sizeof text, "pkbench seed %llu", (unsigned long long)setting->options.seed);
    return pkb_hash_bytes(text, strlen(text), secret, err);
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench doctor: what this machine has and lacks, all at once.
 */
#include <cjson/cJSON.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "evaluator/console/arguments.h"
#include "evaluator/console/output.h"
#include "evaluator/console/terminal.h"
#include "evaluator/machine/process.h"
#include "evaluator/machine/tool.h"
#include "evaluator/verbs/doctor_gpu.h"
#include "evaluator/verbs/verb.h"
#include "harness/sandbox/sandbox.h"

enum { KEY_JSON = 0x100, MOST_GPU_ROWS = 68, MOST_ROWS = PKB_TOOL_COUNT + 1 + MOST_GPU_ROWS };

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    if (key == KEY_JSON)
        *(bool *)state->input = true;
    else if (key == ARGP_KEY_ARG)
        argp_error(state, "looks at the whole machine and takes no '%s'", value);
    else
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static pkb_doctor_row look_at_tool(const pkb_toolbox *tools, pkb_tool_id id)
{
    const pkb_tool *tool = &tools->tools[id];
    pkb_doctor_row found = {.is_fine = pkb_tool_is_fine(tools, id)};

    snprintf(found.name, sizeof found.name, "%s", tool->name);
    if (found.is_fine)
        snprintf(found.what, sizeof found.what, "%s%s%s", tool->version,
                 tool->version[0] != '\0' ? "  " : "", tool->path);
    else
        snprintf(found.what, sizeof found.what, "%s",
                 tool->path != NULL ? tool->problem : "not found");
    if (!found.is_fine)
        snprintf(found.remedy, sizeof found.remedy, "%s", tool->remedy);
    return found;
}

/* "bubblewrap 0.8.0", or nothing. */
static void ask_bubblewrap(pkb_buf *out)
{
    const char *const argv[] = {"bwrap", "--version", NULL};
    const pkb_process_options options = {.argv = argv};
    pkb_child_exit how;

    if (pkb_process_run(&options, 10 * PKB_NS_PER_S, &how, out, NULL) != PKB_OK)
        pkb_buf_reset(out);
    while (out->bytes > 0 && out->data[out->bytes - 1] == '\n')
        out->data[--out->bytes] = '\0';
}

static pkb_doctor_row look_at_sandbox(void)
{
    pkb_sandbox_level level = PKB_SANDBOX_NONE;
    char why[256] = "";
    pkb_error err = {0};
    pkb_doctor_row found = {.name = "sandbox"};

    if (pkb_sandbox_probe(&level, why, sizeof why, &err) != PKB_OK) {
        snprintf(found.what, sizeof found.what, "%s", why[0] != '\0' ? why : "does not work");
        snprintf(found.remedy, sizeof found.remedy, "%s", err.message);
        return found;
    }
    pkb_buf bubblewrap = {0};
    ask_bubblewrap(&bubblewrap);
    found.is_fine = true;
    if (level == PKB_SANDBOX_FULL) {
        snprintf(found.what, sizeof found.what, "full  %s", pkb_buf_text(&bubblewrap));
    } else {
        snprintf(found.what, sizeof found.what, "%s only: %s", pkb_sandbox_level_name(level), why);
        snprintf(found.remedy, sizeof found.remedy,
                 "for full, install bubblewrap and allow user namespaces");
    }
    pkb_buf_clear(&bubblewrap);
    return found;
}

static void print_finding(const pkb_doctor_row *found)
{
    printf("%s%-8s%s %-16s %s\n",
           pkb_terminal_start(stdout, found->is_fine ? PKB_STYLE_GOOD : PKB_STYLE_BAD),
           found->is_fine ? "ok" : "MISSING", pkb_terminal_end(stdout), found->name, found->what);
    if (found->remedy[0] != '\0')
        printf("%-25s -> %s\n", "", found->remedy);
}

static void print_json(const pkb_doctor_row *found, size_t count)
{
    cJSON *list = cJSON_CreateArray();
    for (size_t i = 0; i < count; i++) {
        cJSON *row = cJSON_CreateObject();
        cJSON_AddStringToObject(row, "name", found[i].name);
        cJSON_AddBoolToObject(row, "ok", found[i].is_fine);
        cJSON_AddStringToObject(row, "what", found[i].what);
        if (found[i].remedy[0] != '\0')
            cJSON_AddStringToObject(row, "remedy", found[i].remedy);
        cJSON_AddItemToArray(list, row);
    }
    char *text = pkb_json_line(list);
    puts(text != NULL ? text : "[]");
    cJSON_free(text);
    cJSON_Delete(list);
}

pkb_code pkb_verb_doctor(int argc, char **argv, int *status, pkb_error *err)
{
    static const struct argp_option table[] = {{"json", KEY_JSON, 0, 0, "print as JSON", 0}, {0}};
    static const struct argp argp = {
        .options = table,
        .parser = parse_option,
        .doc = "Says what this machine has and lacks, and how to get it. The exit status is 3 if "
               "something that judging needs is missing."};
    static pkb_doctor_row found[MOST_ROWS];
    pkb_toolbox tools = {0};
    bool wants_json = false, is_fine = true;

    pkb_arguments_parse(&argp, argc, argv, &wants_json);
    pkb_code rc = pkb_toolbox_open(&tools, err);
    if (rc != PKB_OK)
        return rc;
    for (pkb_tool_id id = 0; id < PKB_TOOL_COUNT; id++)
        found[id] = look_at_tool(&tools, id);
    found[PKB_TOOL_COUNT] = look_at_sandbox();
    size_t count = PKB_TOOL_COUNT + 1;
    count += pkb_doctor_gpus(&found[count], MOST_GPU_ROWS, &tools);
    for (size_t i = 0; i < count; i++) {
        is_fine &= found[i].is_fine;
        if (!wants_json)
            print_finding(&found[i]);
    }
    if (wants_json)
        print_json(found, count);
    *status = is_fine ? 0 : pkb_code_exit_status(PKB_ERR_MISSING);
    pkb_toolbox_clear(&tools);
    return pkb_output_flush(err);
}

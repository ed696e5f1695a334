/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds and stores records; see record.h.
 */
#include "evaluator/record/record.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/json.h"
#include "evaluator/compile/command.h"
#include "evaluator/console/clean.h"
#include "evaluator/machine/machine.h"
#include "evaluator/version.h"

static const char control_key[] = "control";

static cJSON *make_flags(const pkb_eval_options *options)
{
    cJSON *flags = cJSON_CreateObject();
    cJSON_AddStringToObject(flags, "sizes", options->sizes);
    if (options->grid != NULL)
        cJSON_AddStringToObject(flags, "grid", options->grid);
    cJSON_AddBoolToObject(flags, "timing", options->is_timed);
    cJSON_AddNumberToObject(flags, "timeout_s", options->timeout_s);
    if (options->has_seed)
        cJSON_AddNumberToObject(flags, "seed", (double)options->seed);
    if (options->has_debug) {
        cJSON *debug = cJSON_AddObjectToObject(flags, "debug");
        cJSON_AddNumberToObject(debug, "rank", options->debug_rank);
        cJSON_AddStringToObject(debug, "tool", options->debug_tool);
    }
    return flags;
}

static cJSON *make_versions(const pkb_toolbox *tools)
{
    static const struct {
        const char *key;
        pkb_tool_id id;
    } rows[] = {{"cuda", PKB_TOOL_NVCC},
                {"gcc", PKB_TOOL_GCC},
                {"mpi", PKB_TOOL_MPIRUN},
                {"python", PKB_TOOL_PYTHON},
                {"torch", PKB_TOOL_TORCH}};
    cJSON *versions = cJSON_CreateObject();

    cJSON_AddStringToObject(versions, "pkbench", PKB_VERSION);
    cJSON_AddNumberToObject(versions, "protocol", PKB_PROTOCOL_VERSION);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (tools->tools[rows[i].id].version[0] != '\0')
            cJSON_AddStringToObject(versions, rows[i].key, tools->tools[rows[i].id].version);
    if (tools->nccl[0] != '\0')
        cJSON_AddStringToObject(versions, "nccl", tools->nccl);
    return versions;
}

pkb_code pkb_record_judgement(char hex[PKB_HASH_HEX_BYTES], const pkb_record_facts *facts,
                              pkb_error *err)
{
    const int numbers[] = {PKB_RECORD_SCHEMA, PKB_PROTOCOL_VERSION, facts->options->world,
                           /* 20 s that were asked for are less than those of the default */
                           facts->options->has_timeout};
    const double compile_timeout_s = facts->options->compile_timeout_s;
    cJSON *flags = make_flags(facts->options);
    char *flag_text = pkb_json_line(flags);
    pkb_buf class = {0};
    pkb_hash *hash = NULL;

    cJSON_Delete(flags);
    pkb_machine_class(&class, facts->tools, facts->gpus);
    pkb_code rc = pkb_buf_check(&class, "the machine's class", err);
    if (rc == PKB_OK && flag_text == NULL)
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the record");
    if (rc == PKB_OK)
        rc = pkb_hash_create(&hash, err);
    if (rc == PKB_OK) {
        pkb_hash_add(hash, facts->attempt->source, facts->attempt->bytes);
        pkb_hash_add_text(hash, facts->problem);
        pkb_hash_add_text(hash, facts->definition != NULL ? facts->definition : "");
        pkb_hash_add(hash, numbers, sizeof numbers);
        pkb_hash_add(hash, &compile_timeout_s, sizeof compile_timeout_s);
        pkb_hash_add_text(hash, facts->options->device);
        pkb_hash_add_text(hash, facts->sandbox != NULL ? facts->sandbox : "");
        pkb_hash_add_text(hash, flag_text);
        pkb_hash_add_text(hash, pkb_buf_text(&class));
        if (facts->is_truncated)
            pkb_hash_add_text(hash, pkb_verdict_name(PKB_VERDICT_TRUNCATED));
        rc = pkb_hash_finish(hash, hex, err);
    }
    cJSON_free(flag_text);
    pkb_buf_clear(&class);
    return rc;
}

/* ---- names ---- */

void pkb_record_plain_name(pkb_buf *out, const char *name, size_t bytes)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

    for (size_t i = 0; i < bytes; i++) {
        bool is_plain = strchr(plain, name[i]) != NULL && (i > 0 || name[i] != '.');
        pkb_buf_append_byte(out, is_plain ? name[i] : '_');
    }
}

/* The file's name without folders. */
static const char *source_name(const pkb_record_facts *facts)
{
    const char *slash = strrchr(facts->file, '/');
    return slash != NULL ? slash + 1 : facts->file;
}

/* A single evaluation is a run of one attempt, named after its file. */
static void append_run(pkb_buf *out, const pkb_record_facts *facts)
{
    const char *name = facts->run != NULL ? facts->run : source_name(facts);
    const char *dot = facts->run != NULL ? NULL : strrchr(name, '.');
    const size_t bytes = dot != NULL && dot != name ? (size_t)(dot - name) : strlen(name);

    pkb_record_plain_name(out, name, bytes);
}

void pkb_record_id(pkb_buf *out, const pkb_record_facts *facts)
{
    append_run(out, facts);
    pkb_buf_printf(out, "/%s/%lld/%s/%d", facts->problem, (long long)facts->sample,
                   facts->options->device, facts->options->world);
}

static void add_identity(cJSON *record, const pkb_record_facts *facts)
{
    pkb_buf run = {0}, id = {0};

    append_run(&run, facts);
    pkb_record_id(&id, facts);
    cJSON_AddNumberToObject(record, "schema", PKB_RECORD_SCHEMA);
    cJSON_AddStringToObject(record, "id", pkb_buf_text(&id));
    cJSON_AddStringToObject(record, "judgement", ""); /* filled in at the end, stands here */
    cJSON_AddStringToObject(record, "run", pkb_buf_text(&run));
    pkb_buf_clear(&run);
    pkb_buf_clear(&id);
}

static void add_subject(cJSON *record, const pkb_record_facts *facts)
{
    cJSON_AddStringToObject(record, "problem", facts->problem);
    if (facts->definition != NULL && facts->definition[0] != '\0')
        cJSON_AddStringToObject(record, "definition", facts->definition);
    cJSON_AddNumberToObject(record, "sample", (double)facts->sample);
    cJSON_AddStringToObject(record, "source", source_name(facts));
    cJSON_AddStringToObject(record, "source_sha256", facts->attempt->sha256);
    cJSON_AddStringToObject(record, "device", facts->options->device);
    cJSON_AddNumberToObject(record, "world", facts->options->world);
    if (facts->sandbox != NULL)
        cJSON_AddStringToObject(record, "sandbox", facts->sandbox);
}

/* Milliseconds are plenty. */
static void add_cost(cJSON *costs, const char *key, double seconds)
{
    if (seconds >= 0)
        cJSON_AddNumberToObject(costs, key, round(seconds * 1e3) / 1e3);
}

/* The judges' parts between ours; both may have prepared. */
static void add_costs(cJSON *record, const pkb_record_facts *facts, const cJSON *event)
{
    static const char prepare[] = "prepare";
    cJSON *costs = cJSON_CreateObject();
    const cJSON *judged = cJSON_GetObjectItemCaseSensitive(event, "cost_s"), *item = NULL;
    const cJSON *prepared = cJSON_GetObjectItemCaseSensitive(judged, prepare);
    double prepare_s = facts->costs.prepare_s;

    if (prepared != NULL)
        prepare_s = (prepare_s > 0 ? prepare_s : 0) + prepared->valuedouble;
    add_cost(costs, "compile", facts->costs.compile_s);
    add_cost(costs, "start", facts->costs.start_s);
    add_cost(costs, prepare, prepare_s);
    cJSON_ArrayForEach(item, judged)
    {
        if (strcmp(item->string, prepare) != 0)
            add_cost(costs, item->string, item->valuedouble);
    }
    add_cost(costs, "total", facts->costs.total_s);
    cJSON_AddItemToObject(record, "cost_s", costs);
}

static pkb_code add_environment(cJSON *record, const pkb_record_facts *facts, pkb_error *err)
{
    char judgement[PKB_HASH_HEX_BYTES];
    pkb_buf host = {0}, class = {0};
    cJSON *machine = cJSON_CreateObject();

    pkb_machine_host(&host);
    pkb_machine_class(&class, facts->tools, facts->gpus);
    pkb_code rc = pkb_record_judgement(judgement, facts, err);
    if (rc == PKB_OK)
        cJSON_ReplaceItemInObjectCaseSensitive(record, "judgement", cJSON_CreateString(judgement));
    cJSON_AddStringToObject(machine, "host", pkb_buf_text(&host));
    cJSON_AddStringToObject(machine, "class", pkb_buf_text(&class));
    if (facts->sizes != NULL)
        cJSON_AddItemToObject(record, "sizes_asked", cJSON_Duplicate(facts->sizes, true));
    cJSON_AddItemToObject(record, "versions", make_versions(facts->tools));
    cJSON_AddItemToObject(record, "machine", machine);
    cJSON *flags = make_flags(facts->options);
    /* The verdict does not hang on it, so the judgement does not, either. */
    if (facts->options->has_neighbours && facts->options->is_timed)
        cJSON_AddStringToObject(flags, "neighbours", facts->options->timing);
    cJSON_AddItemToObject(record, "flags", flags);
    if (facts->secret != NULL)
        cJSON_AddStringToObject(record, "secret", facts->secret);
    pkb_buf_clear(&host);
    pkb_buf_clear(&class);
    return rc;
}

/* The place of the source in the sandbox, which line information repeats, tells a person nothing.
 */
static void put_reason(cJSON *object, const char *reason)
{
    static const char folder[] = PKB_BUILD_FOLDER "/";
    pkb_buf text = {0};

    for (const char *at = reason, *next; *at != '\0'; at = next) {
        const char *found = strstr(at, folder);
        next = found != NULL ? found + sizeof folder - 1 : at + strlen(at);
        pkb_buf_append(&text, at, (size_t)((found != NULL ? found : next) - at));
    }
    if (text.bytes > 0 && pkb_json_has(object, "reason"))
        cJSON_ReplaceItemInObjectCaseSensitive(object, "reason",
                                               cJSON_CreateString(pkb_buf_text(&text)));
    else if (text.bytes > 0)
        cJSON_AddStringToObject(object, "reason", pkb_buf_text(&text));
    pkb_buf_clear(&text);
}

/* What the judges found, as they sent it but for the wording of the reasons. */
static void add_findings(cJSON *record, const cJSON *event)
{
    static const char *const found[] = {"where", "sizes", "reference"};
    cJSON *size = NULL;

    for (size_t i = 0; i < sizeof found / sizeof found[0]; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(event, found[i]);
        if (value != NULL && !cJSON_IsNull(value))
            cJSON_AddItemToObject(record, found[i], cJSON_Duplicate(value, true));
    }
    cJSON_ArrayForEach(size, cJSON_GetObjectItemCaseSensitive(record, "sizes"))
        put_reason(size, pkb_json_string_or(size, "reason", ""));
}

/* `event` may be NULL: then there are only a verdict and a reason. */
static pkb_code build(cJSON **out, const pkb_record_facts *facts, const char *verdict,
                      const char *reason, const cJSON *event, pkb_error *err)
{
    cJSON *record = cJSON_CreateObject();
    if (record == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the record");

    add_identity(record, facts);
    add_subject(record, facts);
    cJSON_AddStringToObject(record, "verdict", verdict);
    put_reason(record, reason);
    add_findings(record, event);
    if (facts->control != NULL)
        cJSON_AddItemToObject(record, control_key, cJSON_Duplicate(facts->control, true));
    add_costs(record, facts, event);
    pkb_code rc = add_environment(record, facts, err);
    if (rc == PKB_OK)
        rc = pkb_clean_json(record, err);
    if (rc != PKB_OK) {
        cJSON_Delete(record);
        return rc;
    }
    *out = record;
    return PKB_OK;
}

pkb_code pkb_record_plain(cJSON **out, const pkb_record_facts *facts, pkb_verdict verdict,
                          const char *reason, pkb_error *err)
{
    return build(out, facts, pkb_verdict_name(verdict), reason, NULL, err);
}

pkb_code pkb_record_judged(cJSON **out, const pkb_record_facts *facts, const cJSON *event,
                           pkb_error *err)
{
    const char *name = NULL;
    pkb_verdict verdict;
    pkb_code rc = pkb_json_get_string(event, "verdict", &name, err);
    if (rc == PKB_OK)
        rc = pkb_verdict_parse(name, &verdict, err);
    if (rc != PKB_OK)
        return rc;
    return build(out, facts, name, pkb_json_string_or(event, "reason", ""), event, err);
}

pkb_code pkb_record_change(cJSON *record, pkb_verdict verdict, const char *reason, pkb_error *err)
{
    cJSON_ReplaceItemInObjectCaseSensitive(record, "verdict",
                                           cJSON_CreateString(pkb_verdict_name(verdict)));
    put_reason(record, reason);
    return pkb_clean_json(record, err);
}

pkb_code pkb_record_copy(cJSON **out, const cJSON *record, const pkb_record_facts *facts,
                         pkb_error *err)
{
    cJSON *copy = cJSON_Duplicate(record, true);
    pkb_buf id = {0}, run = {0};
    const char *original = pkb_json_string_or(record, "same_as", NULL);

    if (original == NULL)
        original = pkb_json_string_or(record, "id", "");
    pkb_record_id(&id, facts);
    append_run(&run, facts);
    const struct {
        const char *key, *text;
    } names[] = {
        {"id", pkb_buf_text(&id)}, {"run", pkb_buf_text(&run)}, {"source", source_name(facts)}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        cJSON_ReplaceItemInObjectCaseSensitive(copy, names[i].key,
                                               cJSON_CreateString(names[i].text));
    cJSON_ReplaceItemInObjectCaseSensitive(copy, "sample",
                                           cJSON_CreateNumber((double)facts->sample));
    cJSON_DeleteItemFromObjectCaseSensitive(copy, "cost_s");
    cJSON_DeleteItemFromObjectCaseSensitive(cJSON_GetObjectItemCaseSensitive(copy, control_key),
                                            "cost_s");
    cJSON_DeleteItemFromObjectCaseSensitive(copy, "same_as");
    cJSON_DeleteItemFromObjectCaseSensitive(copy, "revision");
    cJSON_AddStringToObject(copy, "same_as", original);
    pkb_buf_clear(&id);
    pkb_buf_clear(&run);
    pkb_code rc = copy == NULL ? pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the record")
                               : pkb_clean_json(copy, err);
    if (rc != PKB_OK) {
        cJSON_Delete(copy);
        return rc;
    }
    *out = copy;
    return PKB_OK;
}

static const char revision_key[] = "revision";

bool pkb_record_set_revision(cJSON *record, int64_t revision)
{
    cJSON_DeleteItemFromObjectCaseSensitive(record, revision_key);
    return revision == 0 || cJSON_AddNumberToObject(record, revision_key, (double)revision) != NULL;
}

int64_t pkb_record_revision(const cJSON *record)
{
    int64_t revision = 0;
    if (pkb_json_get_i64(record, revision_key, &revision, NULL) != PKB_OK || revision < 0)
        return 0;
    return revision < PKB_REVISION_MOST ? revision : PKB_REVISION_MOST;
}

pkb_code pkb_record_verdict(const cJSON *record, pkb_verdict *out, pkb_error *err)
{
    return pkb_verdict_parse(pkb_json_string_or(record, "verdict", ""), out, err);
}

pkb_code pkb_record_append(const cJSON *record, const char *path, pkb_error *err)
{
    char *text = pkb_json_line(record);
    pkb_buf line = {0};

    if (text != NULL)
        pkb_buf_printf(&line, "%s\n", text);
    cJSON_free(text);
    pkb_code rc = text == NULL ? pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the record")
                               : pkb_buf_check(&line, "the record", err);
    if (rc == PKB_OK)
        rc = pkb_fs_append(path, pkb_buf_text(&line), line.bytes, err);
    pkb_buf_clear(&line);
    return rc;
}

pkb_code pkb_record_check_file(const char *path, pkb_error *err)
{
    const int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK;
    int fd = open(path, flags | O_CREAT | O_EXCL, 0644);
    const bool is_new = fd >= 0;

    if (!is_new && errno == EEXIST)
        fd = open(path, flags | O_CREAT, 0644);
    if (fd < 0)
        return pkb_error_set_errno(err, PKB_ERR_DISK, "cannot append records to %s", path);
    if (is_new)
        unlink(path); /* it comes with the record */
    close(fd);
    return PKB_OK;
}

bool pkb_record_is_pending(const cJSON *record)
{
    pkb_verdict verdict = PKB_VERDICT_INFRA_ERROR;
    return pkb_record_verdict(record, &verdict, NULL) != PKB_OK ||
           verdict == PKB_VERDICT_INFRA_ERROR;
}

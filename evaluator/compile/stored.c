/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds in the cache; see stored.h. An entry holds the shared objects or a file with the verdict
 * in its first line and the reason behind it; and in both cases the compilers' log.
 */
#include "evaluator/compile/stored.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "evaluator/compile/command.h"

#define LOG_NAME "compile.log"
#define FAILURE_NAME "failure"

enum { LIMIT_BYTES = 16 << 20 };

static const char *const built_names[] = {LOG_NAME, PKB_HOST_NAME, PKB_DEVICE_NAME};
static const char *const failed_names[] = {LOG_NAME, FAILURE_NAME};
enum { FAILED_COUNT = sizeof failed_names / sizeof failed_names[0] };

/* For GPUs the host part holds the device code. */
static size_t built_count(const pkb_compile_options *options)
{
    const size_t all = sizeof built_names / sizeof built_names[0];
    return options->architecture != NULL ? all - 1 : all;
}

static bool read_file(pkb_buf *out, const char *directory, const char *name)
{
    char *path = pkb_fs_join(directory, name), *text = NULL;
    size_t bytes = 0;
    const bool is_read =
        path != NULL && pkb_fs_read(path, LIMIT_BYTES, &text, &bytes, NULL) == PKB_OK;

    if (is_read)
        pkb_buf_append(out, text, bytes);
    free(text);
    free(path);
    return is_read && out->status == PKB_OK;
}

static bool write_file(const char *directory, const char *name, const pkb_buf *text)
{
    char *path = pkb_fs_join(directory, name);
    const bool is_written =
        path != NULL && pkb_fs_write(path, pkb_buf_text(text), text->bytes, NULL) == PKB_OK;
    free(path);
    return is_written;
}

static bool read_failure(pkb_build *build, const char *directory)
{
    pkb_buf text = {0};
    pkb_verdict verdict;
    bool is_read = false;

    if (read_file(&text, directory, FAILURE_NAME)) {
        char *end = strchr(text.data, '\n');
        if (end != NULL) {
            *end = '\0';
            is_read = pkb_verdict_parse(text.data, &verdict, NULL) == PKB_OK;
        }
        if (is_read) {
            build->verdict = verdict;
            build->reason = strdup(end + 1);
        }
    }
    pkb_buf_clear(&text);
    return is_read && build->reason != NULL;
}

static bool fetch(pkb_build *build, const pkb_cache *cache, const char *key,
                  const pkb_compile_options *options)
{
    const char *directory = options->directory;

    build->is_built = pkb_cache_fetch(cache, key, directory, built_names, built_count(options));
    if (!build->is_built && (!pkb_cache_fetch(cache, key, directory, failed_names, FAILED_COUNT) ||
                             !read_failure(build, directory)))
        return false;
    return read_file(&build->log, directory, LOG_NAME);
}

bool pkb_stored_fetch(pkb_build *build, const pkb_cache *cache, const char *key,
                      const pkb_compile_options *options)
{
    const bool is_found = fetch(build, cache, key, options);
    if (!is_found)
        pkb_build_clear(build);
    return is_found;
}

/* Another try might end otherwise: the log speaks of a lack of the machine's, or of a compiler that
 * broke. To take a fault of the source for one of these costs another compilation, no more. */
static bool blames_machine(const pkb_build *build)
{
    static const char *const marks[] = {"signal",
                                        "memory",
                                        "No space left",
                                        "quota",
                                        "nternal compiler error",
                                        "nternal error",
                                        "Resource temporarily",
                                        "fork",
                                        "I/O error",
                                        "nput/output error",
                                        "Stale file handle",
                                        "Too many open files",
                                        "Permission denied",
                                        "open shared object",
                                        "bad_alloc",
                                        "cannot open output",
                                        "without a message"};

    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++)
        if (strstr(pkb_buf_text(&build->log), marks[i]) != NULL ||
            strstr(build->reason, marks[i]) != NULL)
            return true;
    return false;
}

/* Refusals of our own (forbidden, too large) follow from the source alone. */
static bool is_final(const pkb_build *build)
{
    if (build->is_built || build->verdict == PKB_VERDICT_FORBIDDEN_CALL)
        return true;
    return build->reason != NULL && build->verdict != PKB_VERDICT_COMPILE_TIMEOUT &&
           !build->was_killed && !blames_machine(build);
}

void pkb_stored_put(const pkb_build *build, const pkb_cache *cache, const char *key,
                    const pkb_compile_options *options)
{
    const char *directory = options->directory;
    pkb_buf failure = {0};

    if (!is_final(build) || !write_file(directory, LOG_NAME, &build->log))
        return;
    if (build->is_built) {
        pkb_cache_store(cache, key, directory, built_names, built_count(options), NULL);
        return;
    }
    pkb_buf_printf(&failure, "%s\n%s", pkb_verdict_name(build->verdict), build->reason);
    if (failure.status == PKB_OK && write_file(directory, FAILURE_NAME, &failure))
        pkb_cache_store(cache, key, directory, failed_names, FAILED_COUNT, NULL);
    pkb_buf_clear(&failure);
}

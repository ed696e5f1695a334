/* SPDX-License-Identifier: Apache-2.0
 *
 * Builds an attempt; see compile.h. The device chain (translator, then gcc) starts as soon as the
 * PTX is complete and runs beside nvcc's host half. nvcc calls fatbinary only after cicc and ptxas
 * have ended, so the first sign of a .fatbin file proves that the .ptx is final.
 */
#include "evaluator/compile/compile.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "evaluator/compile/cache.h"
#include "evaluator/compile/command.h"
#include "evaluator/compile/diagnostic.h"
#include "evaluator/compile/multicast.h"
#include "evaluator/compile/ptx_limit.h"
#include "evaluator/compile/stored.h"
#include "evaluator/machine/tree.h"

enum { TRIES = 2 };

#define STOP_NS (20 * PKB_NS_PER_S)

typedef struct chain {
    const pkb_compile_options *options;
    pkb_process nvcc;
    pkb_process process; /* of the current step */
    pkb_step step;       /* PKB_STEP_NVCC: not started yet */
    bool is_done, has_failed;
    pkb_child_exit how;
    pkb_buf output;
    char *sign; /* the file that says that the PTX is complete */
    char *ptx;
    pkb_buf too_large; /* why the PTX is not translated; nvcc is not waited for then */
    uint64_t deadline_ns;
} chain;

/* ---- compilers that stand still ---- */

static bool may_run(const chain *device)
{
    const pkb_compile_options *options = device->options;
    return options->may_run == NULL || options->may_run(options->may_run_context);
}

static void stop(const pkb_process *process)
{
    if (process->child.pid > 0)
        pkb_tree_stop(process->child.pid, STOP_NS); /* what does not stop sleeps in the kernel */
}

static void go_on(const pkb_process *process)
{
    if (process->child.pid > 0)
        pkb_tree_continue(process->child.pid);
}

/* As long as they must. */
static pkb_code rest(chain *device, pkb_error *err)
{
    const uint64_t start_ns = pkb_clock_now_ns();
    pkb_code rc = PKB_OK;

    if (may_run(device))
        return PKB_OK;
    stop(&device->nvcc);
    stop(&device->process);
    while (rc == PKB_OK && !may_run(device)) {
        pkb_clock_sleep_ns(PKB_TICK_MS / 2 * PKB_NS_PER_MS);
        rc = pkb_idle_tick(device->options->idle, err);
    }
    device->deadline_ns += pkb_clock_now_ns() - start_ns;
    go_on(&device->nvcc);
    go_on(&device->process);
    return rc;
}

static pkb_code tick_and_rest(void *context, pkb_error *err)
{
    chain *device = context;
    pkb_code rc = pkb_idle_tick(device->options->idle, err);
    return rc == PKB_OK ? rest(device, err) : rc;
}

/* ---- the device chain ---- */

static pkb_code start_step(chain *device, pkb_step step, pkb_error *err)
{
    device->step = step;
    return pkb_command_start(&device->process, step, device->options, err);
}

/* Ends the current step if it is over, and starts the next. */
static pkb_code advance(chain *device, bool waits, pkb_error *err)
{
    const pkb_idle idle = {.tick = tick_and_rest, .context = device};
    pkb_buf output = {0};
    pkb_code rc = PKB_OK;

    if (!waits) {
        rc = pkb_process_poll(&device->process, &device->how, &output, err);
        if (rc == PKB_ERR_TIMEOUT)
            return PKB_OK;
    } else {
        rc = pkb_process_finish(&device->process, &device->deadline_ns, &idle, &device->how,
                                &output, err);
    }
    pkb_buf_append(&device->output, pkb_buf_text(&output), output.bytes);
    pkb_buf_clear(&output);
    if (rc != PKB_OK)
        return rc;
    device->has_failed = !device->how.exited || device->how.status != 0;
    if (device->has_failed || device->step == PKB_STEP_GCC) {
        device->is_done = true;
        return PKB_OK;
    }
    return start_step(device, PKB_STEP_GCC, err);
}

static pkb_code check_ptx(chain *device, bool is_complete, pkb_error *err)
{
    if (!pkb_ptx_is_too_large(device->ptx, &device->too_large) &&
        (!is_complete || !pkb_ptx_has_large_arrays(device->ptx, &device->too_large)))
        return PKB_OK;
    return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the PTX is too large");
}

static pkb_code start_translator(chain *device, pkb_error *err)
{
    pkb_code rc = check_ptx(device, true, err);
    return rc == PKB_OK ? start_step(device, PKB_STEP_TRANSLATE, err) : rc;
}

static pkb_code tick(void *context, pkb_error *err)
{
    chain *device = context;
    pkb_code rc = tick_and_rest(device, err);

    if (rc != PKB_OK || device->is_done)
        return rc;
    if (device->step != PKB_STEP_NVCC)
        return advance(device, false, err);
    if (pkb_fs_exists(device->sign))
        return start_translator(device, err);
    return check_ptx(device, false, err);
}

static pkb_code finish_chain(chain *device, pkb_error *err)
{
    pkb_code rc = PKB_OK;
    if (!device->is_done && device->step == PKB_STEP_NVCC)
        rc = start_translator(device, err);
    while (rc == PKB_OK && !device->is_done)
        rc = advance(device, true, err);
    return rc;
}

static void say(pkb_build *build, pkb_verdict verdict, const char *reason)
{
    build->verdict = verdict;
    build->reason = strdup(reason);
}

static bool was_killed(const pkb_child_exit *how, const char *output)
{
    pkb_child_exit own = *how;
    pkb_child_exit_unwrap(&own); /* of the shell, the sandbox's monitor and nvcc's own shells */
    return (!own.exited && own.signal == SIGKILL) || pkb_diagnostic_tells_of_kill(output);
}

/* A step that did not end well. */
static void say_failure(pkb_build *build, const pkb_compile_options *options, pkb_verdict verdict,
                        const pkb_child_exit *how, const char *output)
{
    const char *const prefixes[] = {PKB_BUILD_FOLDER, PKB_INCLUDE_FOLDER, options->directory,
                                    options->tools->toolkit, options->tools->root};
    const pkb_diagnostic_place place = {.source = options->file_name,
                                        .prefixes = prefixes,
                                        .prefix_count = sizeof prefixes / sizeof prefixes[0]};
    pkb_buf reason = {0};

    pkb_diagnostic_shorten(&reason, output, &place);
    if (reason.bytes == 0) {
        char text[64];
        pkb_child_exit_text(how, text, sizeof text);
        pkb_buf_printf(&reason, "the compiler %s without a message", text);
    }
    say(build, verdict, pkb_buf_text(&reason));
    build->was_killed = was_killed(how, output);
    pkb_buf_clear(&reason);
}

static bool has_started(const pkb_compile_options *options)
{
    char *mark = pkb_fs_join(options->directory, PKB_STARTED_NAME);
    bool has_started = mark != NULL && pkb_fs_exists(mark);
    free(mark);
    return has_started;
}

static pkb_code run_nvcc(chain *device, pkb_build *out, bool *is_fine, pkb_error *err)
{
    const pkb_idle idle = {.tick = tick, .context = device};
    pkb_child_exit how = {0};
    const size_t start = out->log.bytes;

    pkb_code rc = rest(device, err);
    if (rc == PKB_OK)
        rc = pkb_command_start(&device->nvcc, PKB_STEP_NVCC, device->options, err);
    if (rc == PKB_OK)
        rc = pkb_process_finish(&device->nvcc, &device->deadline_ns, &idle, &how, &out->log, err);
    if (rc != PKB_OK)
        return rc;
    *is_fine = how.exited && how.status == 0;
    if (!*is_fine && !has_started(device->options))
        return pkb_error_set(err, PKB_ERR_CHILD, how.status, "the compiler's sandbox failed: %.*s",
                             (int)strcspn(pkb_buf_text(&out->log) + start, "\n"),
                             pkb_buf_text(&out->log) + start);
    if (!*is_fine)
        say_failure(out, device->options, PKB_VERDICT_COMPILE_ERROR, &how,
                    pkb_buf_text(&out->log) + start);
    return PKB_OK;
}

/* What was built is all right but for what no session allows. */
static void refuse_multicast(pkb_build *build, const chain *device)
{
    char *host = pkb_fs_join(device->options->directory, PKB_HOST_NAME);
    pkb_buf reason = {0};

    if (pkb_multicast_is_used(device->ptx, host, &reason)) {
        free(build->reason);
        say(build, PKB_VERDICT_FORBIDDEN_CALL, pkb_buf_text(&reason));
        build->is_built = false;
    }
    pkb_buf_clear(&reason);
    free(host);
}

/* What ends the build early and is a verdict all the same. */
static pkb_code say_early_end(pkb_build *build, const chain *device, pkb_code rc)
{
    pkb_buf reason = {0};

    if (device->too_large.bytes > 0) {
        say(build, PKB_VERDICT_UNSUPPORTED, pkb_buf_text(&device->too_large));
        return PKB_OK;
    }
    if (rc != PKB_ERR_TIMEOUT)
        return rc;
    pkb_buf_printf(&reason, "compiling took longer than %.0f s",
                   (double)device->options->timeout_ns / 1e9);
    say(build, PKB_VERDICT_COMPILE_TIMEOUT, pkb_buf_text(&reason));
    pkb_buf_clear(&reason);
    return PKB_OK;
}

static pkb_code run_steps(pkb_build *out, const pkb_compile_options *options, pkb_error *err)
{
    chain device = {.options = options,
                    .nvcc = PKB_PROCESS_NONE,
                    .process = PKB_PROCESS_NONE,
                    .step = PKB_STEP_NVCC,
                    .is_done = options->architecture != NULL, /* nvcc does it all */
                    .deadline_ns =
                        options->is_ahead ? UINT64_MAX : pkb_clock_now_ns() + options->timeout_ns};
    bool is_fine = false;
    pkb_code rc = PKB_OK;

    device.sign = pkb_command_kept(options, "fatbin");
    device.ptx = pkb_command_kept(options, "ptx");
    if (device.sign == NULL || device.ptx == NULL)
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the build");
    if (rc == PKB_OK)
        rc = run_nvcc(&device, out, &is_fine, err);
    if (rc == PKB_OK && is_fine)
        rc = finish_chain(&device, err);
    /* nvcc took it: that the translator or gcc does not is the CPU device's limit. */
    if (rc == PKB_OK && is_fine && device.has_failed)
        say_failure(out, options, PKB_VERDICT_UNSUPPORTED, &device.how,
                    pkb_buf_text(&device.output));
    if (rc == PKB_OK)
        out->is_built = is_fine && !device.has_failed;
    else
        rc = say_early_end(out, &device, rc);
    if (rc == PKB_OK && is_fine)
        refuse_multicast(out, &device);
    pkb_process_clear(&device.process);
    pkb_buf_append(&out->log, pkb_buf_text(&device.output), device.output.bytes);
    pkb_buf_clear(&device.output);
    pkb_buf_clear(&device.too_large);
    free(device.sign);
    free(device.ptx);
    return rc;
}

static pkb_code write_source(const pkb_compile_options *options, pkb_error *err)
{
    char *keep = pkb_fs_join(options->directory, "keep");
    char *source = pkb_fs_join(options->directory, options->file_name);
    char *header = pkb_fs_join(options->directory, "problem.h");
    pkb_code rc = PKB_OK;

    if (keep == NULL || source == NULL || header == NULL)
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the build's paths");
    if (rc == PKB_OK)
        rc = pkb_fs_make_directory(keep, 0700, err);
    if (rc == PKB_OK)
        rc = pkb_fs_write(source, options->source, options->source_bytes, err);
    if (rc == PKB_OK)
        rc = pkb_fs_write(header, options->header, strlen(options->header), err);
    free(keep);
    free(source);
    free(header);
    return rc;
}

static pkb_code build_from_source(pkb_build *out, const pkb_compile_options *options,
                                  pkb_error *err)
{
    pkb_code rc = write_source(options, err);
    return rc == PKB_OK ? run_steps(out, options, err) : rc;
}

/* What a killed build left, so that the next finds an empty folder. */
static pkb_code start_anew(pkb_build *out, const pkb_compile_options *options, pkb_error *err)
{
    pkb_build_clear(out);
    pkb_code rc = pkb_fs_remove_tree(options->directory, err);
    return rc == PKB_OK ? pkb_fs_make_directory(options->directory, 0700, err) : rc;
}

/* Who kills a compiler is mostly not the attempt, whose fault it is if it happens again. */
static pkb_code build_until_not_killed(pkb_build *out, const pkb_compile_options *options,
                                       pkb_error *err)
{
    pkb_code rc = PKB_OK;

    for (int try = 1; rc == PKB_OK; try++) {
        rc = build_from_source(out, options, err);
        if (!out->was_killed || try == TRIES)
            return rc;
        if (rc == PKB_OK)
            rc = start_anew(out, options, err);
    }
    return rc;
}

/* While another process builds the same, its result is waited for; who waits as long as a
 * compilation may take builds it, too. `*lock_fd` is closed by the caller. */
static pkb_code wait_for_lock(int *lock_fd, const pkb_cache *cache, const char *key,
                              const pkb_compile_options *options, pkb_error *err)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + options->timeout_ns;
    pkb_code rc = PKB_OK;

    while (!pkb_cache_lock(cache, key, lock_fd) && pkb_clock_left_ns(deadline_ns) > 0) {
        rc = pkb_idle_tick(options->idle, err);
        if (rc != PKB_OK)
            break;
        pkb_clock_sleep_ns(PKB_TICK_MS / 2 * PKB_NS_PER_MS);
    }
    return rc;
}

static pkb_code build_or_fetch(pkb_build *out, const pkb_compile_options *options,
                               const pkb_cache *cache, pkb_error *err)
{
    char key[PKB_HASH_HEX_BYTES];
    int lock_fd = -1;

    pkb_code rc = pkb_command_key(key, options, err);
    if (rc != PKB_OK)
        return rc;
    out->was_cached = pkb_stored_fetch(out, cache, key, options);
    if (out->was_cached)
        return PKB_OK;
    rc = wait_for_lock(&lock_fd, cache, key, options, err);
    if (rc == PKB_OK)
        out->was_cached = pkb_stored_fetch(out, cache, key, options);
    if (rc == PKB_OK && !out->was_cached) {
        rc = build_until_not_killed(out, options, err);
        if (rc == PKB_OK)
            pkb_stored_put(out, cache, key, options);
    }
    if (lock_fd >= 0)
        close(lock_fd);
    return rc;
}

static pkb_code complete(pkb_build *out, const pkb_compile_options *options, pkb_error *err)
{
    const bool has_device = options->architecture == NULL;

    if (out->is_built) {
        out->host = pkb_fs_join(options->directory, PKB_HOST_NAME);
        if (has_device)
            out->device = pkb_fs_join(options->directory, PKB_DEVICE_NAME);
    }
    const bool lacks_device = out->device == NULL && has_device;
    if (out->is_built ? out->host == NULL || lacks_device : out->reason == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the build's result");
    return PKB_OK;
}

/* A cache that cannot be used costs time, no verdict. */
pkb_code pkb_compile(pkb_build *out, const pkb_compile_options *options, pkb_error *err)
{
    pkb_cache cache = {0};
    *out = (pkb_build){0};

    pkb_code rc = options->uses_cache && pkb_cache_open(&cache, NULL) == PKB_OK
                      ? build_or_fetch(out, options, &cache, err)
                      : build_until_not_killed(out, options, err);
    pkb_cache_clear(&cache);
    return rc == PKB_OK ? complete(out, options, err) : rc;
}

pkb_code pkb_compile_ahead(const pkb_compile_options *options, pkb_error *err)
{
    char key[PKB_HASH_HEX_BYTES];
    pkb_build build = {0};
    pkb_cache cache = {0};
    int lock_fd = -1;

    pkb_code rc = pkb_cache_open(&cache, err);
    if (rc == PKB_OK)
        rc = pkb_command_key(key, options, err);
    /* No lock: somebody else builds it, or nothing can be written there. It may also have come just
     * before the lock was free. */
    if (rc == PKB_OK && !pkb_cache_has(&cache, key) && pkb_cache_lock(&cache, key, &lock_fd) &&
        lock_fd >= 0 && !pkb_cache_has(&cache, key)) {
        rc = build_from_source(&build, options, err);
        if (rc == PKB_OK)
            pkb_stored_put(&build, &cache, key, options);
    }
    if (lock_fd >= 0)
        close(lock_fd);
    pkb_build_clear(&build);
    pkb_cache_clear(&cache);
    return rc;
}

void pkb_build_clear(pkb_build *build)
{
    free(build->reason);
    free(build->host);
    free(build->device);
    pkb_buf_clear(&build->log);
    *build = (pkb_build){0};
}

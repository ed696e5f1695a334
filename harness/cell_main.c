/* SPDX-License-Identifier: Apache-2.0
 *
 * pkbench-cell: the process that holds an attempt. Started by a judge inside a sandbox with a
 * socket at descriptor 3; obeys a page of shared memory until it is told to exit or is killed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cell/attempt.h"
#include "harness/cell/canary.h"
#include "harness/cell/limits.h"
#include "harness/cell/restrict.h"
#include "harness/cell/session.h"
#include "harness/memory/cell_open.h"
#include "harness/sandbox/filter.h"
#include "harness/sandbox/sandbox.h"

enum { CORES_TO_SPIN = 3 };

static pkb_page *told_page; /* for the filter's handler, which takes no context */

typedef struct options {
    const char *host, *device; /* the attempt's .so files */
    bool is_debugged;          /* another program's libraries and files are in this process */
} options;

/* In a signal handler. */
static void note_forbidden_call(const char *name)
{
    strncpy(told_page->fault_kind, "system call", sizeof told_page->fault_kind - 1);
    strncpy(told_page->text, name, sizeof told_page->text - 1);
}

static pkb_code lock_up(pkb_session *session, const options *chosen, pkb_error *err)
{
    const pkb_device_limits limits = {.memory_bytes = session->opening.memory_limit_bytes,
                                      .rank_count = session->layout->world,
                                      .core_count = session->opening.cores};
    told_page = session->page;
    if (!session->device->keeps_descriptors && !chosen->is_debugged && session->socket_fd < 0)
        close_range(STDERR_FILENO + 1, ~0u, 0); /* everything is mapped */
    pkb_code rc = session->device->prepare(chosen->device, &limits, session->page, err);
    if (rc == PKB_OK && !chosen->is_debugged)
        rc = pkb_limits_set(session->opening.memory_limit_bytes, err);
    if (rc != PKB_OK || session->opening.sandbox_level == PKB_SANDBOX_NONE)
        return rc;
    rc = pkb_limits_hide_memory(err);
    if (rc == PKB_OK)
        rc = pkb_filter_install(note_forbidden_call, err);
    return rc;
}

static pkb_code serve(pkb_session *session, const options *chosen, pkb_error *err)
{
    pkb_attempt attempt = {.host_path = chosen->host, .device_path = chosen->device};
    const bool spin = session->opening.cores >= CORES_TO_SPIN * session->layout->world;
    pkb_page *page = session->page;
    uint32_t last = 0;
    pkb_code rc = PKB_OK;
    bool is_over = false;

    while (!is_over && rc == PKB_OK) {
        uint32_t go = pkb_page_wait_go(page, last, UINT64_MAX, spin);
        if (go == 0)
            continue;
        last = go;
        is_over = page->command == PKB_COMMAND_EXIT;
        pkb_attempt_obey(&attempt, session);
        pkb_page_finish(page, go);
        if (session->layout == NULL) /* vacated */
            rc = pkb_session_open(session, err);
    }
    return rc;
}

static int complain(pkb_code rc, const pkb_error *err)
{
    fprintf(stderr, "pkbench-cell: %s\n", err->message);
    return pkb_code_exit_status(rc);
}

static bool parse(int argc, char **argv, options *out)
{
    *out = (options){.host = "/pkb/attempt.so", .device = "/pkb/attempt.device.so"};
    for (int i = 1; i < argc; i++) {
        const bool has_value = i + 1 < argc;
        if (strcmp(argv[i], "--debugged") == 0)
            out->is_debugged = true;
        else if (has_value && strcmp(argv[i], "--host") == 0)
            out->host = argv[++i];
        else if (has_value && strcmp(argv[i], "--device") == 0)
            out->device = argv[++i];
        else
            return false;
    }
    return true;
}

int main(int argc, char **argv)
{
    static pkb_session session;
    options chosen;
    pkb_error err = {0};

    if (argc > 1 && strcmp(argv[1], "--canary") == 0)
        return pkb_canary_main(argc - 2, argv + 2);
    if (argc > 1 && strcmp(argv[1], "--restrict") == 0)
        return pkb_restrict_main(argc - 2, argv + 2);
    if (!parse(argc, argv, &chosen)) {
        fprintf(stderr, "pkbench-cell: started by pkbench-judge, not by hand\n");
        return pkb_code_exit_status(PKB_ERR_USAGE);
    }
    if (!chosen.is_debugged)
        close_range(PKB_CELL_SOCKET_FD + 1, ~0u, 0); /* whatever leaked in */
    pkb_code rc = pkb_session_start(&session, PKB_CELL_SOCKET_FD, &err);
    if (rc == PKB_OK)
        rc = pkb_session_open(&session, &err);
    if (rc == PKB_OK)
        rc = lock_up(&session, &chosen, &err);
    if (rc != PKB_OK)
        return complain(rc, &err);
    rc = serve(&session, &chosen, &err);
    if (rc != PKB_OK) {
        complain(rc, &err);
        _exit(pkb_code_exit_status(rc));
    }
    if (chosen.is_debugged)
        exit(0); /* the debugger's library says its last word */
    fflush(NULL);
    _exit(0); /* the attempt's destructors are not asked */
}

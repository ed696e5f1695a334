/* SPDX-License-Identifier: Apache-2.0
 *
 * Which sandbox works here: a canary in it tries what must fail; see pkb_sandbox_probe.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "harness/sandbox/child.h"
#include "harness/sandbox/sandbox.h"
#include "harness/sandbox/stray.h"

enum { CANARY_TIMEOUT_S = 20, PORT_TEXT_BYTES = 16, TRIES = 2 };

static const char lure_prefix[] = "pkbench-lure-";

/* What a canary would find if it could: a file, a UNIX socket and a TCP port. */
typedef struct lures {
    char file[PATH_MAX];
    char socket_name[64];
    char port[PORT_TEXT_BYTES];
    int file_fd, socket_fd, port_fd; /* -1 = none */
} lures;

/* Removes lures of calls that were killed, and their canaries: nobody holds their locks. */
static void sweep_lures(const char *folder)
{
    char pattern[PATH_MAX];
    glob_t found = {0};

    snprintf(pattern, sizeof pattern, "%s/%s*", folder, lure_prefix);
    if (glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
        for (size_t i = 0; i < found.gl_pathc; i++) {
            int fd = open(found.gl_pathv[i], O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
            if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
                pkb_stray_end(found.gl_pathv[i]);
                unlink(found.gl_pathv[i]);
            }
            if (fd >= 0)
                close(fd);
        }
    globfree(&found);
}

/* Another call may sweep the file before its lock is held. */
static bool hold_lure(const lures *lured)
{
    struct stat status;
    return flock(lured->file_fd, LOCK_EX) == 0 && fstat(lured->file_fd, &status) == 0 &&
           status.st_nlink > 0;
}

static pkb_code lure_with_file(lures *out, pkb_error *err)
{
    const char *folder = getenv("TMPDIR");
    folder = folder != NULL ? folder : "/tmp";

    sweep_lures(folder);
    do {
        if (out->file_fd >= 0)
            close(out->file_fd);
        snprintf(out->file, sizeof out->file, "%s/%sXXXXXX", folder, lure_prefix);
        out->file_fd = mkostemp(out->file, O_CLOEXEC);
        if (out->file_fd < 0)
            return pkb_error_set_errno(err, PKB_ERR_IO, "cannot make %s", out->file);
    } while (!hold_lure(out));
    return PKB_OK;
}

static pkb_code lure_with_sockets(lures *out, pkb_error *err)
{
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    struct sockaddr_in tcp = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t tcp_bytes = sizeof tcp;

    snprintf(out->socket_name, sizeof out->socket_name, "pkbench-lure-%d", (int)getpid());
    memcpy(local.sun_path + 1, out->socket_name, strlen(out->socket_name));
    out->socket_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (out->socket_fd < 0 ||
        bind(out->socket_fd, (struct sockaddr *)&local,
             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(out->socket_name))) <
            0 ||
        listen(out->socket_fd, 1) < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot listen for the canary");
    out->port_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (out->port_fd >= 0 && bind(out->port_fd, (struct sockaddr *)&tcp, sizeof tcp) == 0 &&
        listen(out->port_fd, 1) == 0)
        getsockname(out->port_fd, (struct sockaddr *)&tcp, &tcp_bytes);
    snprintf(out->port, sizeof out->port, "%u", ntohs(tcp.sin_port)); /* 0: no loopback here */
    return PKB_OK;
}

static void clear_lures(lures *lured)
{
    const int fds[] = {lured->file_fd, lured->socket_fd, lured->port_fd};

    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++) {
        if (fds[i] >= 0)
            close(fds[i]);
    }
    if (lured->file_fd >= 0) {
        pkb_stray_end(lured->file);
        unlink(lured->file);
    }
}

/* Reads a child's words until it ends or the deadline passes; one line is kept. */
static void read_line(int fd, char *out, size_t bytes, uint64_t deadline_ns)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    size_t used = 0;

    while (used + 1 < bytes && poll(&poll_fd, 1, pkb_clock_left_ms(deadline_ns)) > 0) {
        ssize_t got = read(fd, out + used, bytes - 1 - used);
        if (got <= 0)
            break;
        used += (size_t)got;
    }
    out[used] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

/* Killed by something else: the kernel for lack of memory, or a person. */
static bool was_killed(const pkb_child_exit *how)
{
    pkb_child_exit own = *how;
    pkb_child_exit_unwrap(&own);
    return !own.exited && own.signal == SIGKILL;
}

/* Runs one command with both outputs in a pipe; unless it ends with status 0, its words are the
 * error. `*is_answer`: false where it was cut off, and says nothing of the sandbox. */
static pkb_code run_canary(char *const *argv, bool *is_answer, pkb_error *err)
{
    const uint64_t deadline_ns = pkb_clock_now_ns() + CANARY_TIMEOUT_S * PKB_NS_PER_S;
    pkb_child child = PKB_CHILD_NONE;
    pkb_child_exit how = {0};
    char line[256] = "", end[64];
    int words[2] = {-1, -1};
    pkb_code rc = PKB_OK;

    *is_answer = true;
    if (pipe2(words, O_CLOEXEC) < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot make a pipe");
    const pkb_child_options options = {.argv = (const char *const *)argv,
                                       .stdin_fd = -1,
                                       .stdout_fd = words[1],
                                       .stderr_fd = words[1]};
    rc = pkb_child_start(&child, &options, err);
    close(words[1]);
    if (rc != PKB_OK)
        goto cleanup;
    read_line(words[0], line, sizeof line, deadline_ns);
    rc = pkb_child_wait(&child, pkb_clock_left_ns(deadline_ns), &how, err);
    *is_answer = rc == PKB_OK && !was_killed(&how);
    if (rc == PKB_OK && (!how.exited || how.status != 0)) {
        pkb_child_exit_text(&how, end, sizeof end);
        rc = pkb_error_set(err, PKB_ERR_CHILD, how.status, "%s", line[0] != '\0' ? line : end);
    }
cleanup:
    pkb_child_kill(&child);
    close(words[0]);
    return rc;
}

static pkb_code try_level(pkb_sandbox_level level, const lures *lured, const char *cell,
                          pkb_error *err)
{
    const pkb_sandbox_bind binds[] = {{.from = cell, .to = "/pkb/pkbench-cell"}};
    const pkb_sandbox_spec spec = {.level = level, .binds = binds, .bind_count = 1};
    const char *const command[] = {"/pkb/pkbench-cell",
                                   "--canary",
                                   pkb_sandbox_level_name(level),
                                   lured->file,
                                   lured->socket_name,
                                   lured->port,
                                   NULL};
    char **argv = NULL;
    bool is_answer = false;
    pkb_code rc = pkb_sandbox_argv(&argv, &spec, command, err);
    const bool has_command = rc == PKB_OK;

    /* A weaker sandbox must not come of a bad moment. */
    for (int try = 0; has_command && !is_answer && try < TRIES; try++) {
        *err = (pkb_error){.code = PKB_OK};
        rc = run_canary(argv, &is_answer, err);
    }
    pkb_argv_free(argv);
    return rc;
}

static pkb_code set_lures(lures *out, pkb_error *err)
{
    pkb_code rc = lure_with_file(out, err);
    return rc == PKB_OK ? lure_with_sockets(out, err) : rc;
}

pkb_code pkb_sandbox_probe(pkb_sandbox_level *out, char *why, size_t why_bytes, pkb_error *err)
{
    lures lured = {.file_fd = -1, .socket_fd = -1, .port_fd = -1};
    pkb_error full = {.message = ""}, restricted = {.message = ""};
    char *cell = NULL;
    pkb_code rc = pkb_sandbox_find_cell(&cell, err);

    if (rc == PKB_OK)
        rc = set_lures(&lured, err);
    if (rc != PKB_OK)
        goto cleanup;
    if (try_level(PKB_SANDBOX_FULL, &lured, cell, &full) == PKB_OK)
        *out = PKB_SANDBOX_FULL;
    else if (try_level(PKB_SANDBOX_RESTRICTED, &lured, cell, &restricted) == PKB_OK)
        *out = PKB_SANDBOX_RESTRICTED;
    else
        rc = pkb_error_set(err, PKB_ERR_MISSING, 0,
                           "no sandbox works here (full: %.150s; restricted: %.150s); install "
                           "bubblewrap and allow user namespaces, or pass --sandbox none for code "
                           "that you trust",
                           full.message, restricted.message);
    if (why != NULL)
        snprintf(why, why_bytes, "%s", full.message);
cleanup:
    clear_lures(&lured);
    free(cell);
    return rc;
}

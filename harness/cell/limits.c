/* SPDX-License-Identifier: Apache-2.0
 *
 * Resource limits; see limits.h.
 */
#include "harness/cell/limits.h"

#include <errno.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum {
    MAX_FILE_BYTES = 64 << 20,
    MAX_DESCRIPTORS = 1024 /* CUDA holds some for each GPU that it sees */,
    MAX_THREADS = 1024
};

/* Private writable memory in use: what RLIMIT_DATA counts. 0 when /proc does not tell. */
static uint64_t data_bytes(void)
{
    char line[256];
    unsigned long long kib = 0;
    FILE *file = fopen("/proc/self/status", "re");

    if (file == NULL)
        return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "VmData: %llu", &kib) == 1)
            break;
    }
    fclose(file);
    return kib * 1024;
}

static pkb_code limit(int resource, uint64_t value, const char *name, pkb_error *err)
{
    struct rlimit now;

    if (getrlimit((__rlimit_resource_t)resource, &now) < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot read %s", name);
    if (now.rlim_max != RLIM_INFINITY && value > now.rlim_max)
        value = now.rlim_max;
    const struct rlimit both = {.rlim_cur = value, .rlim_max = value};
    if (setrlimit((__rlimit_resource_t)resource, &both) < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot set %s", name);
    return PKB_OK;
}

pkb_code pkb_limits_set(uint64_t memory_bytes, pkb_error *err)
{
    pkb_code rc = limit(RLIMIT_CORE, 0, "RLIMIT_CORE", err);

    if (rc == PKB_OK)
        rc = limit(RLIMIT_FSIZE, MAX_FILE_BYTES, "RLIMIT_FSIZE", err);
    if (rc == PKB_OK)
        rc = limit(RLIMIT_NOFILE, MAX_DESCRIPTORS, "RLIMIT_NOFILE", err);
    if (rc == PKB_OK)
        rc = limit(RLIMIT_MSGQUEUE, 0, "RLIMIT_MSGQUEUE", err);
    if (rc == PKB_OK) /* of this user namespace since Linux 5.14; never of root */
        rc = limit(RLIMIT_NPROC, MAX_THREADS, "RLIMIT_NPROC", err);
    if (rc == PKB_OK && memory_bytes > 0)
        rc = limit(RLIMIT_DATA, data_bytes() + memory_bytes, "RLIMIT_DATA", err);
    return rc;
}

pkb_code pkb_limits_hide_memory(pkb_error *err)
{
    if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
        return pkb_error_set_errno(err, PKB_ERR_IO, "cannot make the process undumpable");
    return PKB_OK;
}

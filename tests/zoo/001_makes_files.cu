// verdict: RESOURCE_LIMIT
// reason: rank \d: holds \d+ files in pkb_setup, the limit is 4096
//
// Makes empty files as long as it can: they take no room, but memory of the kernel.
#include <fcntl.h>
#include <pkbench.h>
#include <stdio.h>
#include <unistd.h>

#include "problem.h"

extern "C" int pkb_setup(pkb_world *world, const pkb_args *args, void **state)
{
    char name[64];
    for (long i = 0;; i++) {
        snprintf(name, sizeof name, "/tmp/%ld", i);
        int fd = open(name, O_CREAT | O_WRONLY, 0600);
        if (fd >= 0)
            close(fd);
    }
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    return 0;
}

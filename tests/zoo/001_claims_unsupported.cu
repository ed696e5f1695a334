// verdict: CRASH
// reason: rank \d.*claims
//
// Does nothing, finds the page that its judge reads and writes there that the device cannot run it,
// with the same words planted in its device code: an attempt must not leave the count by itself.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problem.h"

#define CLAIM "wgmma.fence at 001_claims_unsupported.cu:9"
enum { UNSUPPORTED = 4, SLOTS = 512 };

__device__ char planted[] = CLAIM;

struct page { /* as in harness/memory/page.h, which an attempt may have read */
    unsigned go, done, command, call_count, slots[SLOTS];
    unsigned long long delay_ns[SLOTS];
    unsigned overwrite_byte;
    unsigned long long timeout_ns;
    unsigned answer, phase, phase_call;
    int return_value, cuda_error;
    char text[512];
};

static void claim(page *shared)
{
    shared->answer = UNSUPPORTED;
    strcpy(shared->text, "the CPU device does not support " CLAIM);
    shared->done = shared->go;
    pause();
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps != NULL && fgets(line, sizeof line, maps) != NULL)
        if (strstr(line, "pkb-page") != NULL)
            claim((page *)strtoull(line, NULL, 16));
    return 0;
}

// verdict: FORBIDDEN_CALL
// reason: rank \d.*\bkill\b
//
// A thread of its own undoes every stop of the process, so that it works on while its judge looks.
#include <pkbench.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "problem.h"

static void *go_on(void *nothing)
{
    for (;;)
        kill(getpid(), SIGCONT);
    return nothing;
}

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, go_on, NULL) != 0)
        return 1;
    sleep(60);
    return 0;
}

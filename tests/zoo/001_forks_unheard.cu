// verdict: FORBIDDEN_CALL
// reason: rank \d.*forbidden
//
// Blocks every signal before it starts another process, so that no handler can note the call.
#include <cuda_bf16.h>
#include <pkbench.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "problem.h"

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    syscall(SYS_fork);
    return 0;
}

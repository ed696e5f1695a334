// verdict: CRASH
// reason: rank \d.*SIGKILL.*pkb_run
//
// Sends itself SIGKILL, as the kernel does to what takes too much memory: judged twice, it is its
// own fault.
#include <csignal>
#include <pkbench.h>
#include <unistd.h>

#include "problem.h"

extern "C" int pkb_run(pkb_world *world, const pkb_args *args, void *state, cudaStream_t stream)
{
    return kill(getpid(), SIGKILL);
}

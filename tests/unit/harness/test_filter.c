/* SPDX-License-Identifier: Apache-2.0
 *
 * Under the filter forbidden things fail and needed ones work; each in a process of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/sandbox/filter.h"

static char *noted; /* shared with the child: what its handler was told */

static void note(const char *name)
{
    strncpy(noted, name, 63);
}

/* Exit status of `body` under the filter, or minus the signal that ended it. */
static int run(int (*body)(void))
{
    int status = 0;

    memset(noted, 0, 64);
    pid_t pid = fork();
    if (pid == 0) {
        if (pkb_filter_install(note, NULL) != PKB_OK)
            _exit(99);
        _exit(body());
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* ---- what reveals an intent ---- */

static int do_fork(void)
{
    return fork() == 0;
}

static int do_vfork(void)
{
    return (int)syscall(SYS_vfork);
}

static int do_raw_clone(void)
{
    return (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static int do_exec(void)
{
    return execl("/bin/true", "true", (char *)NULL);
}

static int do_system(void)
{
    return system("true");
}

static int do_socket(void)
{
    return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int do_ptrace(void)
{
    return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int do_kill_parent(void)
{
    return kill(getppid(), SIGCONT);
}

static int do_kill_group(void)
{
    return kill(0, SIGCONT);
}

static int do_kill_all(void)
{
    return kill(-1, SIGCONT);
}

static int do_continue(void)
{
    return kill(getpid(), SIGCONT);
}

static int do_continue_thread(void)
{
    return (int)syscall(SYS_tgkill, getpid(), gettid(), SIGCONT);
}

static int do_tgkill_parent(void)
{
    return (int)syscall(SYS_tgkill, getppid(), getppid(), SIGCONT);
}

static int do_io_uring(void)
{
    return (int)syscall(SYS_io_uring_setup, 8, NULL);
}

static int do_unshare(void)
{
    return unshare(CLONE_NEWUSER);
}

static int do_hidden_kill(void)
{
    /* The kernel sees its own pid's 32 bits only; garbage above must not hide another. */
    return (int)syscall(SYS_kill, (uint64_t)getppid() | (uint64_t)1 << 32, SIGCONT);
}

static void intents_die_by_sigsys_and_are_named(void **state)
{
    static const struct {
        int (*body)(void);
        const char *name;
    } cases[] = {
        {do_fork, "fork"},
        {do_vfork, "vfork"},
        {do_raw_clone, "fork"},
        {do_exec, "execve"},
        {do_system, ""}, /* it blocks all signals: dead, not named */
        {do_socket, "socket"},
        {do_ptrace, "ptrace"},
        {do_kill_parent, "kill"},
        {do_continue, "kill"},
        {do_continue_thread, "tgkill"},
        {do_kill_group, "kill"},
        {do_kill_all, "kill"},
        {do_tgkill_parent, "tgkill"},
        {do_io_uring, "io_uring_setup"},
        {do_unshare, "unshare"},
        {do_hidden_kill, "kill"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int status = run(cases[i].body);
        if (status != -SIGSYS || strcmp(noted, cases[i].name) != 0)
            fail_msg("case %zu, %s: status %d, noted \"%s\"", i, cases[i].name, status, noted);
    }
}

/* ---- the handler ---- */

static int ignore_and_fork(void)
{
    if (signal(SIGSYS, SIG_IGN) != SIG_ERR || signal(SIGSYS, SIG_DFL) != SIG_ERR)
        return 1;
    /* The same signal with garbage in the upper half of the argument. */
    if (syscall(SYS_rt_sigaction, (uint64_t)SIGSYS | (uint64_t)1 << 32, NULL, NULL, 8) == 0)
        return 2;
    return do_fork();
}

static int block_and_fork(void)
{
    sigset_t set;

    sigfillset(&set);
    sigprocmask(SIG_SETMASK, &set, NULL);
    return do_fork();
}

static void the_handler_cannot_be_replaced_or_dodged(void **state)
{
    (void)state;
    assert_int_equal(run(ignore_and_fork), -SIGSYS);
    assert_string_equal(noted, "fork");
    assert_int_equal(run(block_and_fork), -SIGSYS); /* unnamed, but dead */
}

static void *fork_in_thread(void *nothing)
{
    fork();
    return nothing;
}

static int fork_from_thread(void)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, fork_in_thread, NULL) != 0)
        return 1;
    pthread_join(thread, NULL);
    return 2;
}

static void threads_are_under_the_filter_too(void **state)
{
    (void)state;
    assert_int_equal(run(fork_from_thread), -SIGSYS);
    assert_string_equal(noted, "fork");
}

/* ---- what is refused ---- */

static int try_refused(void)
{
    struct rlimit limit = {.rlim_cur = 1 << 20, .rlim_max = 1 << 20};
    cpu_set_t cores;

    CPU_ZERO(&cores);
    CPU_SET(0, &cores);
    if (setrlimit(RLIMIT_DATA, &limit) == 0 || prlimit(getppid(), RLIMIT_CORE, NULL, &limit) == 0)
        return 1;
    if (sched_setaffinity(getppid(), sizeof cores, &cores) == 0)
        return 2;
    if (setpriority(PRIO_PROCESS, (id_t)getppid(), 19) == 0)
        return 3;
    if (prctl(PR_SET_DUMPABLE, 1) == 0 || prctl(PR_SET_PDEATHSIG, 0) == 0 ||
        prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0)
        return 4;
    if (fcntl(0, F_SETOWN, getppid()) == 0 || fcntl(0, F_SETSIG, SIGKILL) == 0)
        return 5;
    if (memfd_create("x", 0) >= 0)
        return 6;
    for (int flags = MAP_SHARED; flags <= MAP_SHARED_VALIDATE; flags += 2) {
        if (mmap(NULL, 4096, PROT_READ, flags | MAP_ANONYMOUS, -1, 0) != MAP_FAILED)
            return 9;
    }
    if (syscall(SYS_clone3, NULL, 0) != -1 || errno != ENOSYS)
        return 7;
    if (syscall(SYS_timer_create, 0, NULL, NULL) == 0 || chmod("/dev/null", 0600) == 0)
        return 8;
    return 0;
}

static void limits_priorities_and_others_stay_as_they_are(void **state)
{
    (void)state;
    assert_int_equal(run(try_refused), 0);
}

/* ---- what must work ---- */

static void *add_one(void *number)
{
    ++*(int *)number;
    return number;
}

static int use_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    int numbers[THREADS] = {0}, sum = 0;

    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, add_one, &numbers[i]) != 0)
            return 1;
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        sum += numbers[i];
    }
    return sum == THREADS ? 0 : 2;
}

static int use_files_and_memory(void)
{
    char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (memory == MAP_FAILED || mprotect(memory, 4096, PROT_NONE) < 0 ||
        munmap(memory, 1 << 20) < 0)
        return 1;
    if (fd < 0 || write(fd, "x", 1) != 1 || close(fd) < 0)
        return 2;
    free(malloc(50 << 20));
    if (sysconf(_SC_NPROCESSORS_ONLN) < 1 || isatty(0) > 1)
        return 3;
    struct sigaction action = {.sa_handler = SIG_IGN};
    return sigaction(SIGUSR1, &action, NULL) == 0 && raise(SIGUSR1) == 0 ? 0 : 4;
}

static int call_abort(void)
{
    abort();
}

static void ordinary_programs_do_not_notice(void **state)
{
    (void)state;
    assert_int_equal(run(use_threads), 0);
    assert_int_equal(run(use_files_and_memory), 0);
    assert_int_equal(run(call_abort), -SIGABRT);
    assert_string_equal(noted, "");
}

static int share_note(void **state)
{
    (void)state;
    noted = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return noted == MAP_FAILED ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(intents_die_by_sigsys_and_are_named),
        cmocka_unit_test(the_handler_cannot_be_replaced_or_dodged),
        cmocka_unit_test(threads_are_under_the_filter_too),
        cmocka_unit_test(limits_priorities_and_others_stay_as_they_are),
        cmocka_unit_test(ordinary_programs_do_not_notice),
    };
    return cmocka_run_group_tests(tests, share_note, NULL);
}

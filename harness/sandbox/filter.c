/* SPDX-License-Identifier: Apache-2.0
 *
 * The cell's system call filter; see filter.h. Three lists: what is allowed, what is allowed for
 * this process or this purpose only, and what gives an intent away. All else is ENOSYS, which
 * libraries take as "an older kernel" and fall back from.
 *
 * The kernel looks at 32 bits of an int argument, a filter at 64: every comparison of an int names
 * the exact values that are allowed, so that garbage in the upper half is refused, never ignored.
 */
#include "harness/sandbox/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

/* What the C library, a CUDA program and our own libraries do all the time. */
static const int allowed[] = {
    /* memory */
    SYS_munmap, SYS_mprotect, SYS_mremap, SYS_madvise, SYS_brk, SYS_mincore, SYS_mlock, SYS_munlock,
    SYS_get_mempolicy,
    /* threads and time */
    SYS_futex, SYS_set_robust_list, SYS_get_robust_list, SYS_rseq, SYS_set_tid_address, SYS_gettid,
    SYS_exit, SYS_exit_group, SYS_sched_yield, SYS_sched_getaffinity, SYS_sched_get_priority_min,
    SYS_sched_get_priority_max, SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_gettime,
    SYS_clock_getres, SYS_gettimeofday, SYS_time, SYS_times, SYS_getcpu, SYS_membarrier,
    SYS_arch_prctl,
    /* own signals */
    SYS_rt_sigprocmask, SYS_rt_sigreturn, SYS_rt_sigpending, SYS_sigaltstack, SYS_restart_syscall,
    /* files: the mount namespace decides which */
    SYS_read, SYS_pread64, SYS_readv, SYS_write, SYS_pwrite64, SYS_writev, SYS_open, SYS_openat,
    SYS_close, SYS_close_range, SYS_lseek, SYS_fstat, SYS_stat, SYS_lstat, SYS_newfstatat,
    SYS_statx, SYS_fstatfs, SYS_statfs, SYS_access, SYS_faccessat, SYS_faccessat2, SYS_readlink,
    SYS_readlinkat, SYS_getdents64, SYS_getcwd, SYS_dup, SYS_dup2, SYS_dup3, SYS_unlink, SYS_mkdir,
    SYS_pipe2, SYS_eventfd2, SYS_poll, SYS_ppoll, SYS_select, SYS_pselect6,
    /* who and where am I */
    SYS_getpid, SYS_getppid, SYS_getuid, SYS_geteuid, SYS_getgid, SYS_getegid, SYS_uname,
    SYS_sysinfo, SYS_getrandom, SYS_getrlimit, SYS_getrusage};

/* Only where the sandbox holds a GPU: its driver speaks ioctl, and a cell hears of its next size on
 * the socket that it was started with. */
static const int gpu_allowed[] = {SYS_ioctl, SYS_symlink, SYS_recvmsg};

/* Refused as not permitted, where ENOSYS would look like a broken system. (clone3 is in no list:
 * ENOSYS makes the C library use clone, whose flags a filter can see.) */
static const int refused[] = {SYS_sched_setaffinity,
                              SYS_sched_setscheduler,
                              SYS_sched_setparam,
                              SYS_setpriority,
                              SYS_setrlimit,
                              SYS_memfd_create,
                              SYS_chmod,
                              SYS_fchmod,
                              SYS_set_mempolicy,
                              SYS_mbind,
                              SYS_personality,
                              SYS_rt_sigqueueinfo,
                              SYS_rt_tgsigqueueinfo,
                              SYS_tkill,
                              SYS_pidfd_send_signal,
                              SYS_seccomp};

/* Nothing that computes a kernel's result needs these: the call itself is the finding. */
static const struct {
    int call;
    const char *name;
} intents[] = {
    {SYS_fork, "fork"},
    {SYS_vfork, "vfork"},
    {SYS_clone, "fork"}, /* without CLONE_THREAD */
    {SYS_execve, "execve"},
    {SYS_execveat, "execveat"},
    {SYS_ptrace, "ptrace"},
    {SYS_process_vm_readv, "process_vm_readv"},
    {SYS_process_vm_writev, "process_vm_writev"},
    {SYS_process_madvise, "process_madvise"},
    {SYS_pidfd_open, "pidfd_open"},
    {SYS_pidfd_getfd, "pidfd_getfd"},
    {SYS_kcmp, "kcmp"},
    {SYS_kill, "kill"},     /* of another process, or to go on after a stop */
    {SYS_tgkill, "tgkill"}, /* the same */
    {SYS_socket, "socket"},
    {SYS_socketpair, "socketpair"},
    {SYS_connect, "connect"},
    {SYS_bind, "bind"},
    {SYS_listen, "listen"},
    {SYS_accept, "accept"},
    {SYS_accept4, "accept4"},
    {SYS_sendmsg, "sendmsg"},
    {SYS_sendmmsg, "sendmmsg"},
    {SYS_sendto, "sendto"},
    {SYS_io_uring_setup, "io_uring_setup"},
    {SYS_io_uring_enter, "io_uring_enter"},
    {SYS_io_uring_register, "io_uring_register"},
    {SYS_userfaultfd, "userfaultfd"},
    {SYS_bpf, "bpf"},
    {SYS_perf_event_open, "perf_event_open"},
    {SYS_keyctl, "keyctl"},
    {SYS_add_key, "add_key"},
    {SYS_request_key, "request_key"},
    {SYS_mount, "mount"},
    {SYS_umount2, "umount"},
    {SYS_pivot_root, "pivot_root"},
    {SYS_chroot, "chroot"},
    {SYS_setns, "setns"},
    {SYS_unshare, "unshare"},
    {SYS_open_by_handle_at, "open_by_handle_at"},
    {SYS_setuid, "setuid"},
    {SYS_setgid, "setgid"},
    {SYS_setreuid, "setreuid"},
    {SYS_setresuid, "setresuid"},
    {SYS_capset, "capset"},
    {SYS_clock_settime, "clock_settime"},
    {SYS_settimeofday, "settimeofday"},
    {SYS_adjtimex, "adjtimex"},
    {SYS_modify_ldt, "modify_ldt"},
    {SYS_shmget, "shmget"},
    {SYS_shmat, "shmat"},
    {SYS_msgget, "msgget"},
    {SYS_mq_open, "mq_open"},
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- the handler ---- */

static void (*note_call)(const char *system_call);

static const char *intent_name(int call)
{
    for (size_t i = 0; i < COUNT(intents); i++) {
        if (intents[i].call == call)
            return intents[i].name;
    }
    return "a system call";
}

/* While SIGSYS is blocked, as it is in its own handler, another forbidden call kills outright. */
static void die_of_forbidden_call(int number, siginfo_t *info, void *context)
{
    (void)number;
    (void)context;
    if (note_call != NULL)
        note_call(intent_name(info->si_syscall));
    for (;;)
        syscall(SYS_ptrace, 0, 0, 0, 0);
}

static int handle_forbidden_calls(void)
{
    struct sigaction action = {.sa_sigaction = die_of_forbidden_call, .sa_flags = SA_SIGINFO};
    sigset_t forbidden;

    sigfillset(&action.sa_mask);
    sigemptyset(&forbidden);
    sigaddset(&forbidden, SIGSYS);
    if (sigaction(SIGSYS, &action, NULL) < 0)
        return errno;
    return sigprocmask(SIG_UNBLOCK, &forbidden, NULL) < 0 ? errno : 0;
}

/* ---- rules; each function returns 0 or a negative errno of libseccomp ---- */

static int add_lists(scmp_filter_ctx ctx, bool has_gpu)
{
    int rc = 0;

    for (size_t i = 0; i < COUNT(allowed) && rc == 0; i++)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, allowed[i], 0);
    for (size_t i = 0; has_gpu && i < COUNT(gpu_allowed) && rc == 0; i++)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, gpu_allowed[i], 0);
    for (size_t i = 0; i < COUNT(refused) && rc == 0; i++)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ERRNO(EPERM), refused[i], 0);
    for (size_t i = 0; i < COUNT(intents) && rc == 0; i++) {
        bool has_rules = intents[i].call == SYS_clone || intents[i].call == SYS_kill ||
                         intents[i].call == SYS_tgkill;
        if (!has_rules)
            rc = seccomp_rule_add(ctx, SCMP_ACT_TRAP, intents[i].call, 0);
    }
    return rc;
}

/* Threads of this process only: no process, no new namespace. */
static int add_clone(scmp_filter_ctx ctx)
{
    const uint64_t spaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC |
                            CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET;
    int rc = seccomp_rule_add(
        ctx, SCMP_ACT_ALLOW, SYS_clone, 1,
        SCMP_A0(SCMP_CMP_MASKED_EQ, (uint64_t)CLONE_THREAD | spaces, (uint64_t)CLONE_THREAD));

    if (rc == 0)
        rc = seccomp_rule_add(ctx, SCMP_ACT_TRAP, SYS_clone, 1,
                              SCMP_A0(SCMP_CMP_MASKED_EQ, (uint64_t)CLONE_THREAD, 0));
    return rc;
}

/* One that the judge has stopped must not undo it: SIGCONT takes a SIGSTOP back that no thread has
 * seen yet. `number` is the signal's argument. */
static int add_own_signals(scmp_filter_ctx ctx, int call, unsigned number)
{
    const uint64_t self = (uint64_t)getpid();
    int rc = seccomp_rule_add(ctx, SCMP_ACT_TRAP, call, 1, SCMP_A0(SCMP_CMP_NE, self));

    for (uint64_t signal = 0; signal < NSIG && rc == 0; signal++)
        rc = seccomp_rule_add(ctx, signal == SIGCONT ? SCMP_ACT_TRAP : SCMP_ACT_ALLOW, call, 2,
                              SCMP_A0(SCMP_CMP_EQ, self), SCMP_CMP(number, SCMP_CMP_EQ, signal));
    return rc;
}

/* raise() and abort() reach this process; nothing reaches another. */
static int add_signals(scmp_filter_ctx ctx)
{
    int rc = add_own_signals(ctx, SYS_kill, 1);

    if (rc == 0)
        rc = add_own_signals(ctx, SYS_tgkill, 2);
    /* Any handler may be set but that of SIGSYS, which is ours. */
    for (uint64_t number = 1; number < NSIG && rc == 0; number++) {
        if (number != SIGSYS)
            rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SYS_rt_sigaction, 1,
                                  SCMP_A0(SCMP_CMP_EQ, number));
    }
    return rc;
}

static int allow_values(scmp_filter_ctx ctx, int call, unsigned argument, const uint64_t *values,
                        size_t count)
{
    int rc = 0;
    for (size_t i = 0; i < count && rc == 0; i++)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, call, 1,
                              SCMP_CMP(argument, SCMP_CMP_EQ, values[i]));
    return rc;
}

/* Shared memory of one's own making is in no limit: neither RLIMIT_DATA nor private memory counts
 * it. What a judge shares is mapped before. But NVIDIA's driver maps its devices and makes pinned
 * memory so; there the judge has to look at RssShmem. */
static int add_mmap(scmp_filter_ctx ctx, bool has_gpu)
{
    if (has_gpu)
        return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SYS_mmap, 0);
    return seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SYS_mmap, 1,
                            SCMP_A3(SCMP_CMP_MASKED_EQ, (uint64_t)MAP_SHARED, 0));
}

/* Landlock hides nothing, it only keeps a file from being opened. */
static bool may_use_gpu(void)
{
    int fd = open("/dev/nvidiactl", O_RDWR | O_CLOEXEC);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static int add_by_argument(scmp_filter_ctx ctx, bool has_gpu)
{
    const uint64_t self = (uint64_t)getpid();
    const uint64_t own[] = {0, self};
    const uint64_t fcntls[] = {F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD,
                               F_GETFL, F_SETFL,         F_GETLK, F_GET_SEALS};
    const uint64_t prctls[] = {PR_SET_NAME, PR_GET_NAME};
    const uint64_t ioctls[] = {TCGETS, TIOCGWINSZ}; /* isatty() of stdio */
    int rc = 0;

    for (size_t i = 0; i < COUNT(own) && rc == 0; i++)
        rc = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SYS_prlimit64, 2, SCMP_A0(SCMP_CMP_EQ, own[i]),
                              SCMP_A2(SCMP_CMP_EQ, 0)); /* look, do not set */
    if (rc == 0)
        rc = allow_values(ctx, SYS_sched_getparam, 0, own, COUNT(own));
    if (rc == 0)
        rc = allow_values(ctx, SYS_sched_getscheduler, 0, own, COUNT(own));
    if (rc == 0)
        rc = allow_values(ctx, SYS_fcntl, 1, fcntls, COUNT(fcntls));
    if (rc == 0)
        rc = allow_values(ctx, SYS_prctl, 0, prctls, COUNT(prctls));
    if (rc == 0 && !has_gpu)
        rc = allow_values(ctx, SYS_ioctl, 1, ioctls, COUNT(ioctls));
    return rc;
}

static int set_attributes(scmp_filter_ctx ctx)
{
    int rc = seccomp_attr_set(ctx, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
    if (rc == 0)
        rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_TSYNC, 1); /* threads that already run */
    if (rc == 0)
        rc = seccomp_attr_set(ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a binary tree */
    return rc;
}

pkb_code pkb_filter_install(void (*note)(const char *system_call), pkb_error *err)
{
    const bool has_gpu = may_use_gpu();
    scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
    int rc = ctx == NULL ? -ENOMEM : 0;

    note_call = note;
    if (rc == 0)
        rc = -handle_forbidden_calls();
    if (rc == 0)
        rc = set_attributes(ctx);
    if (rc == 0)
        rc = add_lists(ctx, has_gpu);
    if (rc == 0)
        rc = add_clone(ctx);
    if (rc == 0)
        rc = add_mmap(ctx, has_gpu);
    if (rc == 0)
        rc = add_signals(ctx);
    if (rc == 0)
        rc = add_by_argument(ctx, has_gpu);
    if (rc == 0)
        rc = seccomp_load(ctx);
    if (ctx != NULL)
        seccomp_release(ctx);
    if (rc != 0)
        return pkb_error_set(err, PKB_ERR_CHILD, -rc, "cannot install the system call filter: %s",
                             strerror(-rc));
    return PKB_OK;
}

// SPDX-License-Identifier: Apache-2.0
//
// A conformance program is a list of cases, each run in a process of its own: so that one which
// ends with a device fault, or crashes, does not disturb the next. Prints "PASS name" or
// "FAIL name: what differed" (and "ALSO name: what else") for each; exit status 1 if any failed.
#ifndef PKB_CONFORMANCE_CHECK_CUH
#define PKB_CONFORMANCE_CHECK_CUH

#pragma nv_diag_suppress 550, 177 // set but not used, not used

#include <cmath>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>

enum { FAILURES_TOLD = 8 };

static bool case_failed;
static int failures;
static const char *case_name;

static void fail(const char *format, ...)
{
    va_list arguments;

    if (failures < FAILURES_TOLD) {
        printf("%s %s: ", case_failed ? "ALSO" : "FAIL", case_name);
        va_start(arguments, format);
        vprintf(format, arguments);
        va_end(arguments);
        printf("\n");
    }
    case_failed = true;
    failures++;
}

#define EXPECT(condition, ...) \
    do {                       \
        if (!(condition))      \
            fail(__VA_ARGS__); \
    } while (0)

#define EXPECT_CODE(call, wanted)                                          \
    do {                                                                   \
        cudaError_t code_ = (call);                                        \
        EXPECT(code_ == (wanted), "line %d: %s gives %s", __LINE__, #call, \
               cudaGetErrorName(code_));                                   \
    } while (0)

#define EXPECT_OK(call) EXPECT_CODE(call, cudaSuccess)

// What a case reads back goes to $PKB_DUMP/<case>.bin as well, where that is set: on_gpu.py
// compares the results of two devices. Before each array: 'f' or 'i', bytes of an element, their
// number.
static void dump(const void *elements, char kind, uint64_t bytes, uint64_t count)
{
    const char *folder = getenv("PKB_DUMP");
    char path[1024];

    if (folder == nullptr)
        return;
    snprintf(path, sizeof path, "%s/%s.bin", folder, case_name);
    FILE *file = fopen(path, "ab");
    const uint64_t head[] = {(uint64_t)kind, bytes, count};
    if (file == nullptr || fwrite(head, sizeof head, 1, file) != 1 ||
        fwrite(elements, bytes, count, file) != count || fclose(file) != 0)
        fail("cannot write %s", path);
}

// An array on the host and on the device.
template <class T> struct Array {
    size_t count;
    T *host, *device;

    explicit Array(size_t n) : count(n), host(static_cast<T *>(calloc(n, sizeof(T)))), device()
    {
        EXPECT_OK(cudaMalloc(&device, n * sizeof(T)));
    }
    ~Array()
    {
        cudaFree(device);
        free(host);
    }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;
    T &operator[](size_t i)
    {
        return host[i];
    }
    void up()
    {
        EXPECT_OK(cudaMemcpy(device, host, count * sizeof(T), cudaMemcpyHostToDevice));
    }
    void down()
    {
        EXPECT_OK(cudaMemcpy(host, device, count * sizeof(T), cudaMemcpyDeviceToHost));
        dump(host, std::is_floating_point<T>::value ? 'f' : 'i', sizeof(T), count);
    }
};

// Reproducible words; every eighth one is an edge.
static uint64_t random_word(uint64_t i)
{
    static const uint64_t edges[] = {
        0, 1, ~0ull, 0x80000000ull, 0x7fffffffull, 1ull << 63, ~0ull >> 1, 0xffffffffull};
    if (i % 8 == 0)
        return edges[i / 8 % 8];
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

// Equal, or both NaN.
static bool same_float(float a, float b)
{
    return bits_of(a) == bits_of(b) || (std::isnan(a) && std::isnan(b));
}

struct Case {
    const char *name;
    void (*run)();
};

static int run_cases(const Case *cases, size_t count, int argc, char **argv)
{
    int failed = 0;

    setvbuf(stdout, nullptr, _IOLBF, 0);
    for (size_t i = 0; i < count; i++) {
        int status = 0;
        if (argc > 1 && strcmp(argv[1], cases[i].name) != 0)
            continue;
        case_name = cases[i].name;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) {
            cases[i].run();
            if (!case_failed)
                printf("PASS %s\n", case_name);
            fflush(stdout);
            _exit(case_failed);
        }
        waitpid(child, &status, 0);
        if (WIFSIGNALED(status))
            printf("FAIL %s: killed by signal %d\n", case_name, WTERMSIG(status));
        failed += status != 0;
    }
    return failed != 0;
}

#define MAIN(...)                                                            \
    int main(int argc, char **argv)                                          \
    {                                                                        \
        static const Case cases[] = {__VA_ARGS__};                           \
        return run_cases(cases, sizeof cases / sizeof cases[0], argc, argv); \
    }
#define CASE(function)      \
    {                       \
#function, function \
    }

#endif

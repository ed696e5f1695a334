// SPDX-License-Identifier: Apache-2.0
// printf, malloc, assert and trap of device code.
#include "check.cuh"

#include <cassert>

__global__ void print_all(const char *text)
{
    printf("%d|%5d|%-5d|%05d|%+d|%x|%#X|%o|%u\n", -1, 42, 42, 42, 42, 255, 255, 8, 4000000000u);
    printf("%lld|%llu|%ld|%hd|%c|%s|%%|%10s|%-6s|%.2s\n", -5000000000ll, 18000000000000000000ull,
           -3l, (short)-7, 'x', "text", "right", "left", text);
    printf("%f|%.3f|%10.2e|%g|%G|%*d\n", 1.5, 2.0f / 3, 12345.678, 0.0001, 1e20, 6, 7);
    printf("plain\n");
}

// Runs f with stdout in a file and gives what was written.
template <class F> static void captured(char *out, size_t bytes, F f)
{
    FILE *file = tmpfile();
    int before = dup(1);

    fflush(stdout);
    dup2(fileno(file), 1);
    f();
    fflush(stdout);
    dup2(before, 1);
    close(before);
    rewind(file);
    out[fread(out, 1, bytes - 1, file)] = '\0';
    fclose(file);
}

static void printf_formats()
{
    static char got[4096], want[4096];
    Array<char> text(8);

    strcpy(text.host, "window");
    text.up();
    captured(got, sizeof got, [&] {
        print_all<<<1, 1>>>(text.device);
        cudaDeviceSynchronize();
    });
    int n = sprintf(want, "%d|%5d|%-5d|%05d|%+d|%x|%#X|%o|%u\n", -1, 42, 42, 42, 42, 255, 255, 8,
                    4000000000u);
    n += sprintf(want + n, "%lld|%llu|%ld|%hd|%c|%s|%%|%10s|%-6s|%.2s\n", -5000000000ll,
                 18000000000000000000ull, -3l, (short)-7, 'x', "text", "right", "left", "window");
    n += sprintf(want + n, "%f|%.3f|%10.2e|%g|%G|%*d\nplain\n", 1.5, 2.0f / 3, 12345.678, 0.0001,
                 1e20, 6, 7);
    EXPECT(strcmp(got, want) == 0, "printed\n%s instead of\n%s", got, want);
}

// Formats of C that CUDA's manual leaves out.
__global__ void print_more()
{
    printf("%hhu|%.*f\n", (unsigned char)200, 2, 3.14159);
}

static void printf_formats_of_c()
{
    static char got[4096];

    captured(got, sizeof got, [&] {
        print_more<<<1, 1>>>();
        cudaDeviceSynchronize();
    });
    EXPECT(strcmp(got, "200|3.14\n") == 0, "printed %s", got);
}

__global__ void print_much()
{
    for (int i = 0; i < 1000; i++)
        printf("thread %d of block %d prints line %d of a thousand\n", threadIdx.x, blockIdx.x, i);
}

static void printf_has_a_cap()
{
    static char got[3 << 20];
    captured(got, sizeof got, [] {
        print_much<<<20, 10>>>();
        cudaDeviceSynchronize();
    });
    EXPECT(strlen(got) < 2 << 20 && strlen(got) > 1 << 19, "%zu bytes", strlen(got));
    EXPECT(strstr(got, "limit") != nullptr, "nothing says that output is missing");
}

struct Node {
    Node *next;
    int value;
};

__global__ void lists(int *out, int n)
{
    Node *head = nullptr;
    for (int i = 0; i < n; i++) {
        Node *node = (Node *)malloc(sizeof(Node));
        node->next = head;
        node->value = i * threadIdx.x;
        head = node;
    }
    int sum = 0;
    while (head) {
        Node *next = head->next;
        sum += head->value;
        free(head);
        head = next;
    }
    int *array = new int[16];
    array[threadIdx.x % 16] = sum;
    out[threadIdx.x] = array[threadIdx.x % 16];
    delete[] array;
    void *huge = malloc(1ull << 40);
    if (huge != nullptr)
        out[threadIdx.x] = -1;
}

static void malloc_and_free()
{
    Array<int> out(64);
    lists<<<1, 64>>>(out.device, 50);
    out.down();
    for (int i = 0; i < 64; i++)
        EXPECT(out[i] == 1225 * i, "thread %d: %d", i, out[i]);
}

__global__ void asserts(int limit)
{
    assert((int)threadIdx.x < limit);
}

static void assert_that_holds()
{
    asserts<<<1, 64>>>(64);
    EXPECT_OK(cudaDeviceSynchronize());
}

static void assert_that_fails()
{
    asserts<<<1, 64>>>(60);
    EXPECT_CODE(cudaDeviceSynchronize(), cudaErrorAssert);
    EXPECT_CODE(cudaGetLastError(), cudaErrorAssert);
    void *p;
    EXPECT_CODE(cudaMalloc(&p, 4), cudaErrorAssert);
}

__global__ void traps(int *out)
{
    out[threadIdx.x] = 1;
    if (threadIdx.x == 5)
        __trap();
}

static void trap_is_a_launch_failure()
{
    int *out;
    EXPECT_OK(cudaMalloc(&out, 256));
    traps<<<1, 32>>>(out);
    EXPECT_CODE(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
}

MAIN(CASE(printf_formats), CASE(printf_formats_of_c), CASE(printf_has_a_cap), CASE(malloc_and_free),
     CASE(assert_that_holds), CASE(assert_that_fails), CASE(trap_is_a_launch_failure))

/* SPDX-License-Identifier: Apache-2.0
 *
 * The judge's own kernels: patterns, copies and comparisons of argument memory. They compute what
 * pattern.c and survey.c compute, and are tested against them.
 *
 * No kernel waits for another: each block writes a place of its own, or adds to an integer with an
 * atomic whose order does not matter. So the same memory always gives the same answer.
 */
#include "harness/judge/kernels.h"
#include "harness/judge/survey.h"

#include <cuda_fp16.h>

namespace
{
typedef unsigned long long word;

constexpr int threads = 256;

/* ---- patterns ---- */

__device__ word mix(word value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
    return value ^ (value >> 31);
}

__device__ word word_at(word key, word number)
{
    return mix(key + number * 0x9e3779b97f4a7c15ULL) | 0x0202020202020202ULL;
}

/* Which bytes of word `number` lie in the span. */
__device__ word mask_of(const pkb_kernel_span &span, word number)
{
    word mask = ~0ULL, begin = 8 * number, end = begin + 8;
    if (begin < span.begin)
        mask &= ~0ULL << 8 * (span.begin - begin);
    if (end > span.end)
        mask &= ~0ULL >> 8 * (end - span.end);
    return mask;
}

/* Words may reach beyond the memory that a span is part of: those are taken byte by byte. */
__device__ word load(word base, word number, word mask)
{
    if (mask == ~0ULL)
        return reinterpret_cast<const word *>(base)[number];
    word value = 0;
    const unsigned char *bytes = reinterpret_cast<const unsigned char *>(base) + 8 * number;
    for (int i = 0; i < 8; i++)
        if (mask >> 8 * i & 255)
            value |= static_cast<word>(bytes[i]) << 8 * i;
    return value;
}

__device__ void store(word base, word number, word mask, word value)
{
    if (mask == ~0ULL) {
        reinterpret_cast<word *>(base)[number] = value;
        return;
    }
    unsigned char *bytes = reinterpret_cast<unsigned char *>(base) + 8 * number;
    for (int i = 0; i < 8; i++)
        if (mask >> 8 * i & 255)
            bytes[i] = static_cast<unsigned char>(value >> 8 * i);
}

/* Calls visit(number, mask) for this thread's words of its span; how many these are. */
template <typename Visit> __device__ word each_word(const pkb_kernel_span &span, Visit visit)
{
    word step = static_cast<word>(gridDim.x) * threads, count = 0;
    if (span.end <= span.begin)
        return 0;
    for (word number = span.begin / 8 + blockIdx.x * threads + threadIdx.x;
         number < (span.end + 7) / 8; number += step, count++)
        visit(number, mask_of(span, number));
    return count;
}

/* *sum += what all threads of this block have. All of them have to call. */
__device__ void add_of_block(word *sum, word own)
{
    __shared__ word block_sum;
    if (threadIdx.x == 0)
        block_sum = 0;
    __syncthreads();
    if (own != 0)
        atomicAdd(&block_sum, own);
    __syncthreads();
    if (threadIdx.x == 0 && block_sum != 0)
        atomicAdd(sum, block_sum);
}

__device__ word first_byte(word number, word difference)
{
    return 8 * number + (__ffsll(static_cast<long long>(difference)) - 1) / 8;
}

/* ---- numbers ---- */

__device__ double load_part(const void *data, uint32_t dtype, word part)
{
    switch (dtype) {
    case PKB_BF16:
        return __uint_as_float(static_cast<unsigned>(static_cast<const uint16_t *>(data)[part])
                               << 16);
    case PKB_F16:
        return __half2float(static_cast<const __half *>(data)[part]);
    case PKB_F32:
        return static_cast<const float *>(data)[part];
    default:
        return static_cast<const double *>(data)[part];
    }
}

/* pkb_number_round: to nearest, ties to even, overflow to infinity. */
__device__ double round_part(double value, const pkb_kernel_output &o)
{
    if (o.dtype == PKB_F64 || !isfinite(value) || value == 0.0)
        return value;
    int exponent = 0, mantissa_bits = o.dtype == PKB_BF16 ? 7 : o.dtype == PKB_F16 ? 10 : 23;
    frexp(value, &exponent);
    double unit = ldexp(1.0, exponent - 1 - mantissa_bits);
    unit = unit < o.smallest_unit ? o.smallest_unit : unit;
    double rounded = rint(value / unit) * unit;
    if (fabs(rounded) <= o.top)
        return rounded;
    return copysign(static_cast<double>(INFINITY), value);
}

__device__ bool is_same_class(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

/* ---- surveys ---- */

__device__ word block_begin(const pkb_kernel_output &o, word block)
{
    return block >= o.blocks ? o.parts : o.rows * block / o.blocks * (o.parts / o.rows);
}

__device__ void add_size(double &sum, double &largest, uint64_t &largest_at, word at,
                         double difference)
{
    double size = fabs(difference);
    sum += size * size;
    if (size > largest) {
        largest = size;
        largest_at = at;
    }
}

__device__ void add_class(pkb_kernel_piece &piece, word at, double value, double expected)
{
    if (is_same_class(value, expected))
        return;
    if (piece.non_finite_count == 0 || at < piece.non_finite_at)
        piece.non_finite_at = at;
    piece.non_finite_count++;
}

__device__ void add_part(pkb_kernel_piece &piece, const pkb_kernel_output &o, word at)
{
    double oracle = reinterpret_cast<const double *>(o.oracle)[at], expected = oracle;
    double out = load_part(reinterpret_cast<const void *>(o.out), o.dtype, at);

    piece.part_count++;
    if (!(fabs(oracle) <= o.top))
        expected = round_part(oracle, o);
    if (!isfinite(expected)) {
        add_class(piece, at, out, expected);
        return;
    }
    piece.finite_count++;
    piece.oracle_sum += oracle * oracle;
    if (isfinite(out))
        add_size(piece.out_sum, piece.out_largest, piece.out_largest_at, at, out - oracle);
    else
        add_class(piece, at, out, expected);
    if (o.reference == 0)
        return;
    double reference = load_part(reinterpret_cast<const void *>(o.reference), o.dtype, at);
    if (isfinite(reference))
        add_size(piece.reference_sum, piece.reference_largest, piece.reference_largest_at, at,
                 reference - oracle);
}

/* The larger one, of equals the first. */
__device__ void join_largest(double &largest, uint64_t &at, double other, uint64_t other_at)
{
    if (other > largest || (other == largest && other > 0.0 && other_at < at)) {
        largest = other;
        at = other_at;
    }
}

__device__ void join(pkb_kernel_piece &piece, const pkb_kernel_piece &other)
{
    piece.out_sum += other.out_sum;
    piece.reference_sum += other.reference_sum;
    piece.oracle_sum += other.oracle_sum;
    piece.finite_count += other.finite_count;
    piece.part_count += other.part_count;
    join_largest(piece.out_largest, piece.out_largest_at, other.out_largest, other.out_largest_at);
    join_largest(piece.reference_largest, piece.reference_largest_at, other.reference_largest,
                 other.reference_largest_at);
    if (other.non_finite_count > 0 &&
        (piece.non_finite_count == 0 || other.non_finite_at < piece.non_finite_at))
        piece.non_finite_at = other.non_finite_at;
    piece.non_finite_count += other.non_finite_count;
}

/* ---- tallies ---- */

__device__ bool is_part_wrong(const pkb_kernel_output &o, word part)
{
    double oracle = reinterpret_cast<const double *>(o.oracle)[part];
    double out = load_part(reinterpret_cast<const void *>(o.out), o.dtype, part);
    double expected = round_part(oracle, o);
    if (o.rule == PKB_TALLY_BEYOND && isfinite(out) && isfinite(expected))
        return fabs(out - oracle) > o.limit;
    return !is_same_class(out, expected);
}

__device__ bool is_equal(word a, word b, word at, word bytes)
{
    for (word i = at; i < at + bytes; i++)
        if (reinterpret_cast<const char *>(a)[i] != reinterpret_cast<const char *>(b)[i])
            return false;
    return true;
}

__device__ bool is_wrong(const pkb_kernel_output &o, word element)
{
    if (o.rule == PKB_TALLY_CODE) {
        word at = element * o.element_bytes;
        return !is_equal(o.out, o.oracle, at, o.element_bytes) &&
               (o.alternative == 0 || !is_equal(o.out, o.alternative, at, o.element_bytes));
    }
    word part = element * o.parts_of_element;
    return is_part_wrong(o, part) || (o.parts_of_element == 2 && is_part_wrong(o, part + 1));
}
} // namespace

/* ---- kernels: one span a row of blocks (blockIdx.y) ---- */

extern "C" __global__ void pkb_fill_spans(const pkb_kernel_span *spans)
{
    const pkb_kernel_span span = spans[blockIdx.y];
    each_word(span, [&](word number, word mask) {
        store(span.base, number, mask, word_at(span.key, number));
    });
}

extern "C" __global__ void pkb_copy_spans(const pkb_kernel_span *spans)
{
    const pkb_kernel_span span = spans[blockIdx.y];
    each_word(span, [&](word number, word mask) {
        store(span.base, number, mask, load(span.other, number, mask));
    });
}

/* found[span] = its first wrong byte, all ones before; the number behind the last span's += words
 * looked at. */
extern "C" __global__ void pkb_find_damage(const pkb_kernel_span *spans, word *found)
{
    const pkb_kernel_span span = spans[blockIdx.y];
    word seen = each_word(span, [&](word number, word mask) {
        word difference = (load(span.base, number, mask) ^ word_at(span.key, number)) & mask;
        if (difference != 0)
            atomicMin(&found[blockIdx.y], first_byte(number, difference));
    });
    add_of_block(&found[gridDim.y], seen);
}

extern "C" __global__ void pkb_find_difference(const pkb_kernel_span *spans, word *found)
{
    const pkb_kernel_span span = spans[blockIdx.y];
    word seen = each_word(span, [&](word number, word mask) {
        word difference = load(span.base, number, mask) ^ load(span.other, number, mask);
        if (difference != 0)
            atomicMin(&found[blockIdx.y], first_byte(number, difference));
    });
    add_of_block(&found[gridDim.y], seen);
}

/* answer[0] += the digest; answer[1] += words looked at. */
extern "C" __global__ void pkb_digest_spans(const pkb_kernel_span *spans, word *answer)
{
    const pkb_kernel_span span = spans[blockIdx.y];
    word own = 0;
    word seen = each_word(span, [&](word number, word mask) {
        own += mix(load(span.base, number, mask) ^ word_at(span.key, number));
    });
    add_of_block(&answer[0], own);
    add_of_block(&answer[1], seen);
}

/* Piece blockIdx.x of block of rows blockIdx.y. */
extern "C" __global__ void pkb_survey_output(const pkb_kernel_output o, pkb_kernel_piece *pieces)
{
    __shared__ pkb_kernel_piece shared[threads];
    word begin = block_begin(o, blockIdx.y), count = block_begin(o, blockIdx.y + 1) - begin;
    word first = begin + count * blockIdx.x / gridDim.x;
    word end = begin + count * (blockIdx.x + 1) / gridDim.x;
    pkb_kernel_piece piece = {};

    for (word at = first + threadIdx.x; at < end; at += threads)
        add_part(piece, o, at);
    shared[threadIdx.x] = piece;
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            join(shared[threadIdx.x], shared[threadIdx.x + half]);
    }
    if (threadIdx.x == 0)
        pieces[blockIdx.y * gridDim.x + blockIdx.x] = shared[0];
}

extern "C" __global__ void pkb_tally_output(const pkb_kernel_output o, pkb_kernel_tally *tally)
{
    word count = 0, seen = 0, first = ~0ULL;
    for (word i = static_cast<word>(blockIdx.x) * threads + threadIdx.x; i < o.element_count;
         i += static_cast<word>(gridDim.x) * threads) {
        seen++;
        if (!is_wrong(o, i))
            continue;
        count++;
        first = first < i ? first : i;
    }
    add_of_block(reinterpret_cast<word *>(&tally->wrong_count), count);
    add_of_block(reinterpret_cast<word *>(&tally->element_count), seen);
    if (count > 0)
        atomicMin(reinterpret_cast<word *>(&tally->first), first);
}

/* Elements that are no 8 bytes long are zero-extended. Lasts as long as one load. */
extern "C" __global__ void pkb_look(const pkb_kernel_place *places, word count, word *samples)
{
    word i = static_cast<word>(blockIdx.x) * threads + threadIdx.x;
    if (i >= count)
        return;
    word address = places[i].element;
    switch (places[i].bytes) {
    case 1:
        samples[i] = *reinterpret_cast<const volatile uint8_t *>(address);
        break;
    case 2:
        samples[i] = *reinterpret_cast<const volatile uint16_t *>(address);
        break;
    case 4:
        samples[i] = *reinterpret_cast<const volatile uint32_t *>(address);
        break;
    default:
        samples[i] = *reinterpret_cast<const volatile word *>(address);
    }
}

/* The same amount of work each time. The sum is never zero, so nothing is left out. */
extern "C" __global__ void pkb_probe(uint32_t steps, word *sink)
{
    uint32_t value = blockIdx.x * threads + threadIdx.x;
    for (uint32_t i = 0; i < steps; i++)
        value = value * 1664525u + 1013904223u;
    if (value == steps)
        atomicAdd(sink, 1ULL);
}

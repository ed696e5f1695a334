// SPDX-License-Identifier: Apache-2.0
// Integer instructions against C on random words and edges.
#include "check.cuh"

enum { N = 4096 };

template <class Op> __global__ void kernel(const uint64_t *a, const uint64_t *b, uint64_t *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = Op::device(a[i], b[i]);
}

template <class Op> static void compare()
{
    Array<uint64_t> a(N), b(N), out(N);

    for (int i = 0; i < N; i++) {
        a[i] = random_word(i);
        b[i] = random_word(i / 8 * 13 + i % 64 * 8 % 63 + 7 * i);
    }
    a.up();
    b.up();
    kernel<Op><<<N / 128, 128>>>(a.device, b.device, out.device);
    out.down();
    for (int i = 0; i < N; i++) {
        uint64_t want = Op::host(a[i], b[i]);
        EXPECT(out[i] == want, "op(%llx, %llx) gives %llx, not %llx", (long long)a[i],
               (long long)b[i], (long long)out[i], (long long)want);
    }
}

#define OP(name, device_body, ...)                                \
    struct name##_op {                                            \
        static __device__ uint64_t device(uint64_t a, uint64_t b) \
        {                                                         \
            uint32_t x = a, y = b, r = 0;                         \
            (void)x, (void)y, (void)r;                            \
            device_body                                           \
        }                                                         \
        static uint64_t host(uint64_t a, uint64_t b)              \
        {                                                         \
            uint32_t x = a, y = b;                                \
            (void)x, (void)y;                                     \
            __VA_ARGS__                                           \
        }                                                         \
    };                                                            \
    static void name()                                            \
    {                                                             \
        compare<name##_op>();                                     \
    }

#define ASM2(text)                                       \
    asm(text " %0, %1, %2;" : "=r"(r) : "r"(x), "r"(y)); \
    return r;
typedef long long ll;
typedef unsigned __int128 u128;

OP(add_sub_mul_64, return (a + b) * 3 - (b * a);, return (a + b) * 3 - (b * a);)
OP(mul_hi_u32, return __umulhi(x, y);, return (uint64_t)x * y >> 32;)
OP(mul_hi_s32, return (uint32_t)__mulhi(x, y);, return (uint32_t)((ll)(int)x * (int)y >> 32);)
OP(mul_hi_u64, return __umul64hi(a, b);, return (uint64_t)((u128)a * b >> 64);)
OP(mul_hi_s64, return __mul64hi(a, b);, return (uint64_t)((__int128)(ll)a * (ll)b >> 64);)
OP(mul_wide, return (uint64_t)((ll)(int)x * (int)y) ^ (uint64_t)x * y;
   , return (uint64_t)((ll)(int)x * (int)y) ^ (uint64_t)x * y;)
OP(mad_lo_hi, asm("mad.hi.u32 %0, %1, %2, 7;"
                  : "=r"(r)
                  : "r"(x), "r"(y));
   return r + x * y;, return (uint32_t)(((uint64_t)x * y >> 32) + 7 + x * y);)
OP(div_rem_by_zero_and_int_min, uint32_t q; asm("div.s32 %0, %1, %2;"
                                                : "=r"(q)
                                                : "r"(x), "r"(y));
   asm("rem.s32 %0, %1, %2;"
       : "=r"(r)
       : "r"(x), "r"(y));
   return y == 0 ? 0 : (uint64_t)q << 32 | r;, if (y == 0) return 0;
   if (x == 0x80000000u && y == ~0u) return (uint64_t)x << 32;
   return (uint64_t)(uint32_t)((int)x / (int)y) << 32 | (uint32_t)((int)x % (int)y);)
OP(div_unsigned_by_zero_is_all_ones, asm("div.u32 %0, %1, %2;"
                                         : "=r"(r)
                                         : "r"(x), "r"(y));
   return r;, return y == 0 ? ~0u : x / y;)
OP(div_rem_64, return b == 0 ? 1 : a / b * 5 + a % b;, return b == 0 ? 1 : a / b * 5 + a % b;)
OP(shift_left_clamps, ASM2("shl.b32"), return y >= 32 ? 0 : x << y;)
OP(shift_right_clamps, uint32_t s; asm("shr.s32 %0, %1, %2;"
                                       : "=r"(s)
                                       : "r"(x), "r"(y));
   asm("shr.u32 %0, %1, %2;"
       : "=r"(r)
       : "r"(x), "r"(y));
   return (uint64_t)s << 32 | r;
   , return (uint64_t)(uint32_t)((int)x >> (y > 31 ? 31 : y)) << 32 | (y > 31 ? 0 : x >> y);)
OP(shift_64_clamps, uint64_t l; asm("shl.b64 %0, %1, %2;"
                                    : "=l"(l)
                                    : "l"(a), "r"(y & 127));
   return l;, uint32_t s = y & 127; return s > 63 ? 0 : a << s;)
OP(funnel_shift, return (uint64_t)__funnelshift_l(x, y, y) << 32 | __funnelshift_rc(x, y, x & 63);
   , uint32_t s = y & 31, c = (x & 63) > 32 ? 32 : x & 63; uint64_t v = (uint64_t)y << 32 | x;
   return (uint64_t)(uint32_t)(v << s >> 32) << 32 | (uint32_t)(c == 32 ? v >> 32 : v >> c);)
OP(bit_counts, return __popc(x) + 100 * __clz(x) + 10000 * __ffs(x) + 1000000ull * __popcll(a) +
                      1000000000ull * __clzll(b);
   , return __builtin_popcount(x) + 100 * (x ? __builtin_clz(x) : 32) + 10000 * __builtin_ffs(x) +
            1000000ull * __builtin_popcountll(a) + 1000000000ull * (b ? __builtin_clzll(b) : 64);)
OP(reverse_bits, return __brev(x);, uint32_t r = 0;
   for (int i = 0; i < 32; i++) r |= (x >> i & 1) << (31 - i); return r;)
OP(find_leading_bit, uint32_t s; asm("bfind.u32 %0, %1;"
                                     : "=r"(r)
                                     : "r"(x));
   asm("bfind.s32 %0, %1;"
       : "=r"(s)
       : "r"(y));
   return (uint64_t)s << 32 | r;, uint32_t z = (int)y < 0 ? ~y : y;
   uint64_t u = x ? 31 - __builtin_clz(x) : ~0u;
   return (uint64_t)(z ? 31 - __builtin_clz(z) : ~0u) << 32 | u;)
OP(permute_bytes, return __byte_perm(x, y, (uint32_t)(a >> 32) & 0x7777);
   , uint64_t v = (uint64_t)y << 32 | x; uint32_t s = (uint32_t)(a >> 32), r = 0;
   for (int i = 0; i < 4; i++) r |= (uint32_t)(v >> 8 * (s >> 4 * i & 7) & 255) << 8 * i; return r;)
OP(permute_replicates_sign, asm("prmt.b32 %0, %1, %2, 0xba98;"
                                : "=r"(r)
                                : "r"(x), "r"(y));
   return r;, uint32_t r = 0;
   for (int i = 0; i < 4; i++) r |= (x >> (8 * i + 7) & 1 ? 255u : 0) << 8 * i; return r;)
OP(extract_field_unsigned, asm("bfe.u32 %0, %1, %2, %3;"
                               : "=r"(r)
                               : "r"(x), "r"(y & 255), "r"(y >> 8 & 255));
   return r;, uint32_t p = y & 255, n = y >> 8 & 255, r = 0;
   for (uint32_t i = 0; i < 32; i++) if (i < n && p + i < 32) r |= (x >> (p + i) & 1) << i;
   return r;)
OP(extract_field_signed, asm("bfe.s32 %0, %1, %2, %3;"
                             : "=r"(r)
                             : "r"(x), "r"(y & 63), "r"(y >> 8 & 63));
   return r;, uint32_t p = y & 63, n = y >> 8 & 63, r = 0,
            top = n == 0 ? 0 : (p + n - 1 > 31 ? 31 : p + n - 1);
   uint32_t sign = n == 0 ? 0 : x >> top & 1;
   for (uint32_t i = 0; i < 32; i++) r |= (i < n && p + i < 32 ? x >> (p + i) & 1 : sign) << i;
   return r;)
OP(insert_field, asm("bfi.b32 %0, %1, %2, %3, %4;"
                     : "=r"(r)
                     : "r"(x), "r"(y), "r"(x & 31), "r"(y & 31));
   return r;, uint32_t p = x & 31, n = y & 31, r = y;
   for (uint32_t i = 0; i < n && p + i < 32; i++) r = (r & ~(1u << (p + i))) | (x >> i & 1)
                                                                                   << (p + i);
   return r;)
OP(logic_of_three, asm("lop3.b32 %0, %1, %2, %3, 0x96;"
                       : "=r"(r)
                       : "r"(x), "r"(y), "r"((uint32_t)(a >> 32)));
   uint32_t s; asm("lop3.b32 %0, %1, %2, %3, 0xca;"
                   : "=r"(s)
                   : "r"(x), "r"(y), "r"((uint32_t)(a >> 32)));
   return (uint64_t)s << 32 | r;, uint32_t z = a >> 32;
   return (uint64_t)((x & y) | (~x & z)) << 32 | (x ^ y ^ z);)
OP(carry_chain, uint32_t h;
   asm("add.cc.u32 %0, %2, %4;\n addc.u32 %1, %3, %5;"
       : "=r"(r), "=r"(h)
       : "r"(x), "r"((uint32_t)(a >> 32)), "r"(y), "r"((uint32_t)(b >> 32)));
   return (uint64_t)h << 32 | r;, return a + b;)
OP(borrow_chain, uint32_t h;
   asm("sub.cc.u32 %0, %2, %4;\n subc.u32 %1, %3, %5;"
       : "=r"(r), "=r"(h)
       : "r"(x), "r"((uint32_t)(a >> 32)), "r"(y), "r"((uint32_t)(b >> 32)));
   return (uint64_t)h << 32 | r;, return a - b;)
OP(min_max_abs,
   return (uint64_t)(uint32_t)min((int)x, (int)y) << 32 | max(x, y) ^ (uint32_t)abs((int)x);
   , uint32_t m = (int)x < (int)y ? x : y;
   return (uint64_t)m << 32 | (x > y ? x : y) ^ ((int)x < 0 ? 0 - x : x);)
OP(sum_of_differences, return __usad(x, y, 9) + (uint64_t)__sad((int)x, (int)y, 9u);
   , uint32_t u = x > y ? x - y : y - x, s = (int)x > (int)y ? x - y : y - x;
   return (uint64_t)(uint32_t)(u + 9) + (uint32_t)(s + 9);)
OP(
    dot_of_bytes, return (uint32_t)__dp4a((int)x, (int)y, 5) ^ (uint64_t)__dp4a(x, y, 5u) << 32;
    , int s = 5; uint32_t u = 5; for (int i = 0; i < 4; i++) {
        s += (int8_t)(x >> 8 * i) * (int8_t)(y >> 8 * i);
        u += (x >> 8 * i & 255) * (y >> 8 * i & 255);
    } return (uint32_t)s ^ (uint64_t)u << 32;)
OP(narrow_types, unsigned short p = x; unsigned short q = y; signed char c = (signed char)(a >> 8);
   return (uint64_t)(unsigned short)(p * q + c) << 16 | (unsigned char)(p / (q | 1));
   , unsigned short p = x, q = y; signed char c = (signed char)(a >> 8);
   return (uint64_t)(unsigned short)(p * q + c) << 16 | (unsigned char)(p / (q | 1));)
OP(saturating_add, asm("add.sat.s32 %0, %1, %2;"
                       : "=r"(r)
                       : "r"(x), "r"(y));
   return r;, ll s = (ll)(int)x + (int)y; return (uint32_t)(s > 0x7fffffff      ? 0x7fffffff
                                                            : s < -0x80000000ll ? -0x80000000ll
                                                                                : s);)

MAIN(CASE(add_sub_mul_64), CASE(mul_hi_u32), CASE(mul_hi_s32), CASE(mul_hi_u64), CASE(mul_hi_s64),
     CASE(mul_wide), CASE(mad_lo_hi), CASE(div_rem_by_zero_and_int_min),
     CASE(div_unsigned_by_zero_is_all_ones), CASE(div_rem_64), CASE(shift_left_clamps),
     CASE(shift_right_clamps), CASE(shift_64_clamps), CASE(funnel_shift), CASE(bit_counts),
     CASE(reverse_bits), CASE(find_leading_bit), CASE(permute_bytes), CASE(permute_replicates_sign),
     CASE(extract_field_unsigned), CASE(extract_field_signed), CASE(insert_field),
     CASE(logic_of_three), CASE(carry_chain), CASE(borrow_chain), CASE(min_max_abs),
     CASE(sum_of_differences), CASE(dot_of_bytes), CASE(narrow_types), CASE(saturating_add))

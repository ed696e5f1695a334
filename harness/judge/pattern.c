/* SPDX-License-Identifier: Apache-2.0
 *
 * Patterns in words of eight bytes; see pattern.h.
 */
#include "harness/judge/pattern.h"

#include <string.h>

static uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
    return value ^ (value >> 31);
}

/* The pattern's word with that number; the set bit keeps each byte from being 0 or 1. */
static uint64_t word_at(uint64_t key, uint64_t number)
{
    return mix(key + number * UINT64_C(0x9e3779b97f4a7c15)) | UINT64_C(0x0202020202020202);
}

void pkb_pattern_fill(void *base, uint64_t begin, uint64_t end, uint64_t key)
{
    char *bytes = base;
    for (uint64_t at = begin; at < end;) {
        uint64_t word = word_at(key, at / 8), skip = at % 8;
        uint64_t count = 8 - skip < end - at ? 8 - skip : end - at;
        memcpy(bytes + at, (const char *)&word + skip, count);
        at += count;
    }
}

void pkb_pattern_fill_words(void *out, uint64_t first, size_t count, uint64_t key)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word = word_at(key, first + i);
        memcpy((char *)out + 8 * i, &word, sizeof word);
    }
}

bool pkb_pattern_holds(const void *base, uint64_t begin, uint64_t end, uint64_t key, uint64_t *at)
{
    const char *bytes = base;
    for (uint64_t place = begin; place < end;) {
        uint64_t word = word_at(key, place / 8), skip = place % 8;
        uint64_t count = 8 - skip < end - place ? 8 - skip : end - place;
        const char *expected = (const char *)&word + skip;
        if (memcmp(bytes + place, expected, count) != 0) {
            while (bytes[place] == *expected++)
                place++;
            *at = place;
            return false;
        }
        place += count;
    }
    return true;
}

uint64_t pkb_pattern_digest(const void *base, uint64_t begin, uint64_t end, uint64_t key)
{
    uint64_t sum = 0;
    const char *bytes = base;
    for (uint64_t at = begin; at < end;) {
        uint64_t word = 0, skip = at % 8;
        uint64_t count = 8 - skip < end - at ? 8 - skip : end - at;
        memcpy((char *)&word + skip, bytes + at, count);
        sum += mix(word ^ word_at(key, at / 8));
        at += count;
    }
    return sum;
}

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

uint64_t pkb_pattern_digest(const void *data, uint64_t bytes, uint64_t key)
{
    uint64_t sum = key, word = 0;
    const char *from = data;
    for (uint64_t at = 0; at < bytes; at += 8) {
        word = 0;
        memcpy(&word, from + at, bytes - at < 8 ? bytes - at : 8);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 29;
    }
    return mix(sum ^ bytes);
}

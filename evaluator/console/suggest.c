/* SPDX-License-Identifier: Apache-2.0
 *
 * Nearest names by edit distance; see suggest.h.
 */
#include "evaluator/console/suggest.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

enum { WORD_BYTES = 128, SHOWN = 3 };

static size_t min3(size_t a, size_t b, size_t c)
{
    size_t least = a < b ? a : b;
    return least < c ? least : c;
}

static size_t lower(char out[WORD_BYTES], const char *word)
{
    size_t count = 0;
    for (; word[count] != '\0' && count + 1 < WORD_BYTES; count++)
        out[count] = (char)tolower((unsigned char)word[count]);
    out[count] = '\0';
    return count;
}

size_t pkb_suggest_distance(const char *left, const char *right)
{
    char a[WORD_BYTES], b[WORD_BYTES];
    size_t rows[3][WORD_BYTES];
    size_t a_count = lower(a, left), b_count = lower(b, right);

    for (size_t j = 0; j <= b_count; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_count; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *two_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_count; j++) {
            size_t replaced = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = min3(above[j] + 1, row[j - 1] + 1, replaced);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
                two_above[j - 2] + 1 < row[j])
                row[j] = two_above[j - 2] + 1;
        }
    }
    return rows[a_count % 3][b_count];
}

static const char *bare(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && name[digits] == '_' ? name + digits + 1 : name;
}

/* Smaller is nearer; SIZE_MAX is too far to be meant. A part of a name is near, too. */
static size_t farness(const char *word, const char *name)
{
    size_t length = strlen(word);
    size_t distance = pkb_suggest_distance(word, name);
    if (distance <= (length < 6 ? 2 : length / 3))
        return distance;
    if (length >= 3 && strcasestr(name, word) != NULL)
        return length;
    return SIZE_MAX;
}

void pkb_suggest(pkb_buf *out, const char *word, const char *const *names, size_t count)
{
    const char *best[SHOWN] = {NULL};
    size_t farnesses[SHOWN] = {SIZE_MAX, SIZE_MAX, SIZE_MAX};

    for (size_t i = 0; i < count; i++) {
        size_t far = farness(bare(word), bare(names[i]));
        size_t place = SHOWN;
        while (place > 0 && far < farnesses[place - 1])
            place--;
        for (size_t j = SHOWN; j-- > place + 1;) {
            best[j] = best[j - 1];
            farnesses[j] = farnesses[j - 1];
        }
        if (place < SHOWN) {
            best[place] = names[i];
            farnesses[place] = far;
        }
    }
    for (size_t i = 0; i < SHOWN && best[i] != NULL; i++) {
        const int is_last = i + 1 == SHOWN || best[i + 1] == NULL;
        pkb_buf_printf(out, "%s%s", i == 0 ? "; did you mean " : is_last ? " or " : ", ", best[i]);
    }
    if (best[0] != NULL)
        pkb_buf_append_byte(out, '?');
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of strings with open addresses; see names.h.
 */
#include "evaluator/record/names.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* FNV-1a. */
static size_t hash(const char *text)
{
    uint64_t value = UINT64_C(0xcbf29ce484222325);
    for (; *text != '\0'; text++)
        value = (value ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return (size_t)value;
}

/* Where the text stands, or the free place where it would. */
static char **find(const pkb_names *names, const char *text)
{
    size_t place = hash(text) % names->capacity;
    while (names->items[place] != NULL && strcmp(names->items[place], text) != 0)
        place = (place + 1) % names->capacity;
    return &names->items[place];
}

static bool grow(pkb_names *names)
{
    pkb_names larger = {.count = names->count, .capacity = 2 * names->capacity + 64};

    larger.items = calloc(larger.capacity, sizeof *larger.items);
    if (larger.items == NULL)
        return false;
    for (size_t i = 0; i < names->capacity; i++)
        if (names->items[i] != NULL)
            *find(&larger, names->items[i]) = names->items[i];
    free(names->items);
    *names = larger;
    return true;
}

const char *pkb_names_keep(pkb_names *names, const char *text)
{
    if (2 * names->count >= names->capacity && !grow(names))
        return NULL;
    char **place = find(names, text);
    if (*place == NULL) {
        *place = strdup(text);
        names->count += *place != NULL;
    }
    return *place;
}

void pkb_names_clear(pkb_names *names)
{
    for (size_t i = 0; i < names->capacity; i++)
        free(names->items[i]);
    free(names->items);
    *names = (pkb_names){0};
}

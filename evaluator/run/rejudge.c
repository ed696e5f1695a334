/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads what is to be judged again; see rejudge.h.
 */
#include "evaluator/run/rejudge.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "evaluator/console/suggest.h"
#include "evaluator/record/results_index.h"

enum { SAMPLE_DIGITS = 9, NAME_SLASHES = 1, ID_SLASHES = 4 };

static size_t count_slashes(const char *word)
{
    size_t count = 0;
    for (const char *c = word; *c != '\0'; c++)
        count += *c == '/';
    return count;
}

static bool read_verdict(uint32_t *verdicts, const char *word)
{
    pkb_verdict verdict = PKB_VERDICT_CORRECT;
    char upper[32] = "";

    for (size_t i = 0; word[i] != '\0' && i + 1 < sizeof upper; i++)
        upper[i] = (char)toupper((unsigned char)word[i]);
    if (pkb_verdict_parse(upper, &verdict, NULL) != PKB_OK)
        return false;
    *verdicts |= PKB_VERDICT_BIT(verdict);
    return true;
}

static pkb_code complain(const char *word, pkb_error *err)
{
    const char *names[PKB_VERDICT_COUNT];
    pkb_buf near = {0};

    for (int i = 0; i < PKB_VERDICT_COUNT; i++)
        names[i] = pkb_verdict_name((pkb_verdict)i);
    pkb_suggest(&near, word, names, PKB_VERDICT_COUNT);
    pkb_error_set(err, PKB_ERR_USAGE, 0,
                  "'%s' is no verdict, id or PROBLEM/SAMPLE; say for instance --rejudge TIMEOUT, "
                  "--rejudge 13/4 or --rejudge all%s",
                  word, pkb_buf_text(&near));
    pkb_buf_clear(&near);
    return PKB_ERR_USAGE;
}

/* "13/4". */
static pkb_code read_name(pkb_rejudge_item *item, const char *word, const pkb_catalogue *catalogue,
                          pkb_error *err)
{
    const char *number = strchr(word, '/') + 1;
    const size_t digits = strspn(number, "0123456789");
    char *problem = strndup(word, (size_t)(number - 1 - word));
    pkb_code rc = PKB_OK;

    if (problem == NULL)
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for --rejudge");
    else if (digits == 0 || digits > SAMPLE_DIGITS || number[digits] != '\0')
        rc = complain(word, err);
    else
        rc = pkb_catalogue_find(catalogue, problem, &item->problem, err);
    if (rc == PKB_OK)
        item->sample = strtoll(number, NULL, 10);
    free(problem);
    return rc;
}

static pkb_code read_word(pkb_rejudge *rejudge, const char *word, const pkb_catalogue *catalogue,
                          pkb_error *err)
{
    const size_t slashes = count_slashes(word);

    if (strcmp(word, "all") == 0) {
        rejudge->verdicts = PKB_VERDICTS_ALL;
        return PKB_OK;
    }
    if (slashes != NAME_SLASHES && slashes != ID_SLASHES)
        return read_verdict(&rejudge->verdicts, word) ? PKB_OK : complain(word, err);
    pkb_rejudge_item *item = &rejudge->items[rejudge->count++];
    item->word = strdup(word);
    if (slashes == ID_SLASHES)
        item->id = strdup(word);
    if (item->word == NULL || (slashes == ID_SLASHES && item->id == NULL))
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for --rejudge");
    return slashes == ID_SLASHES ? PKB_OK : read_name(item, word, catalogue, err);
}

pkb_code pkb_rejudge_parse(pkb_rejudge *out, const char *list, const pkb_catalogue *catalogue,
                           pkb_error *err)
{
    pkb_rejudge rejudge = {0};
    pkb_code rc = PKB_OK;
    char *rest = NULL;

    *out = rejudge;
    if (list == NULL)
        return PKB_OK;
    char *copy = strdup(list);
    rejudge.items = calloc(strlen(list) + 1, sizeof *rejudge.items);
    if (copy == NULL || rejudge.items == NULL) {
        free(copy);
        free(rejudge.items);
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for --rejudge");
    }
    for (char *word = strtok_r(copy, ", ", &rest); word != NULL && rc == PKB_OK;
         word = strtok_r(NULL, ", ", &rest))
        rc = read_word(&rejudge, word, catalogue, err);
    if (rc == PKB_OK && rejudge.verdicts == 0 && rejudge.count == 0)
        rc = complain("", err);
    free(copy);
    if (rc != PKB_OK) {
        pkb_rejudge_clear(&rejudge);
        return rc;
    }
    *out = rejudge;
    return PKB_OK;
}

void pkb_rejudge_clear(pkb_rejudge *rejudge)
{
    for (size_t i = 0; i < rejudge->count; i++) {
        free(rejudge->items[i].id);
        free(rejudge->items[i].word);
    }
    free(rejudge->items);
    *rejudge = (pkb_rejudge){0};
}

bool pkb_rejudge_item_names(const pkb_rejudge_item *item, const char *id, const char *problem,
                            int64_t sample)
{
    if (item->id != NULL)
        return strcmp(item->id, id) == 0;
    return sample == item->sample && strcmp(item->problem, problem) == 0;
}

uint32_t pkb_rejudge_kept(const pkb_rejudge *rejudge, const char *id, const char *problem,
                          int64_t sample)
{
    for (size_t i = 0; i < rejudge->count; i++)
        if (pkb_rejudge_item_names(&rejudge->items[i], id, problem, sample))
            return 0;
    return ~rejudge->verdicts;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Collected facts; see facts.h.
 */
#include "evaluator/report/facts.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "evaluator/console/clean.h"
#include "evaluator/report/words.h"

enum { NAME_BYTES = 80, VALUE_BYTES = 300 };

/* Hosts' names are nobody's business. */
static const char *const objects[] = {"versions", "reference", "flags"};
static const struct {
    const char *object, *member;
} scalars[] = {{NULL, "device"}, {NULL, "world"}, {NULL, "sandbox"}, {"machine", "class"}};

static pkb_code no_memory(pkb_error *err)
{
    return pkb_error_set(err, PKB_ERR_MEMORY, 0, "no memory for the report");
}

static pkb_fact *find(pkb_facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->count; i++)
        if (strcmp(facts->items[i].name, name) == 0)
            return &facts->items[i];
    if (facts->count == PKB_FACTS)
        return NULL;
    char *kept = strdup(name);
    if (kept == NULL)
        return NULL;
    facts->items[facts->count] = (pkb_fact){.name = kept};
    return &facts->items[facts->count++];
}

static pkb_code add_value(pkb_facts *facts, const char *name, const char *value, pkb_error *err)
{
    pkb_fact *fact = find(facts, name);

    if (fact == NULL)
        return facts->count == PKB_FACTS ? PKB_OK : no_memory(err);
    for (size_t i = 0; i < fact->count; i++)
        if (strcmp(fact->values[i], value) == 0)
            return PKB_OK;
    if (fact->count == PKB_FACT_VALUES) {
        fact->rest++;
        return PKB_OK;
    }
    fact->values[fact->count] = strdup(value);
    if (fact->values[fact->count] == NULL)
        return no_memory(err);
    fact->count++;
    return PKB_OK;
}

static pkb_code add(pkb_facts *facts, const char *object, const cJSON *item, pkb_error *err)
{
    pkb_buf name = {0}, value = {0};

    if (cJSON_IsString(item))
        pkb_clean_append(&value, item->valuestring, strlen(item->valuestring), VALUE_BYTES);
    else if (cJSON_IsNumber(item))
        pkb_buf_printf(&value, "%.15g", item->valuedouble);
    else if (cJSON_IsBool(item))
        pkb_buf_append_string(&value, cJSON_IsTrue(item) ? "on" : "off");
    else
        return PKB_OK;
    if (object != NULL)
        pkb_buf_printf(&name, "%s.", object);
    pkb_clean_append(&name, item->string, strlen(item->string), NAME_BYTES);
    pkb_code rc = pkb_buf_check(&name, "the report", err);
    if (rc == PKB_OK)
        rc = pkb_buf_check(&value, "the report", err);
    if (rc == PKB_OK)
        rc = add_value(facts, pkb_buf_text(&name), pkb_buf_text(&value), err);
    pkb_buf_clear(&name);
    pkb_buf_clear(&value);
    return rc;
}

pkb_code pkb_facts_add(pkb_facts *facts, const cJSON *record, pkb_error *err)
{
    pkb_code rc = PKB_OK;

    for (size_t i = 0; i < sizeof scalars / sizeof scalars[0] && rc == PKB_OK; i++) {
        const cJSON *from = scalars[i].object != NULL
                                ? cJSON_GetObjectItemCaseSensitive(record, scalars[i].object)
                                : record;
        const cJSON *item = cJSON_GetObjectItemCaseSensitive(from, scalars[i].member);
        if (item != NULL)
            rc = add(facts, scalars[i].object, item, err);
    }
    for (size_t i = 0; i < sizeof objects / sizeof objects[0]; i++) {
        const cJSON *item = NULL;
        cJSON_ArrayForEach(item, cJSON_GetObjectItemCaseSensitive(record, objects[i]))
        {
            if (rc == PKB_OK && item->string != NULL)
                rc = add(facts, objects[i], item, err);
        }
    }
    return rc;
}

void pkb_facts_json(pkb_buf *out, const pkb_facts *facts)
{
    pkb_buf_append_byte(out, '[');
    for (size_t i = 0; i < facts->count; i++) {
        const pkb_fact *fact = &facts->items[i];
        pkb_buf_append_string(out, i > 0 ? ",[" : "[");
        pkb_words_quote(out, fact->name);
        pkb_buf_append_string(out, ",[");
        for (size_t k = 0; k < fact->count; k++) {
            pkb_buf_append_string(out, k > 0 ? "," : "");
            pkb_words_quote(out, fact->values[k]);
        }
        pkb_buf_printf(out, "],%zu]", fact->rest);
    }
    pkb_buf_append_byte(out, ']');
}

void pkb_facts_clear(pkb_facts *facts)
{
    for (size_t i = 0; i < facts->count; i++) {
        free(facts->items[i].name);
        for (size_t k = 0; k < facts->items[i].count; k++)
            free(facts->items[i].values[k]);
    }
    *facts = (pkb_facts){0};
}

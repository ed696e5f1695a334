/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts in a list; see json_list.h.
 */
#include "base/json_list.h"

#include <string.h>

bool pkb_json_list_add_new(cJSON *list, const char *text, int most)
{
    const cJSON *item = NULL;

    if (list == NULL)
        return false;
    cJSON_ArrayForEach(item, list)
    {
        if (strcmp(item->valuestring, text) == 0)
            return true;
    }
    if (cJSON_GetArraySize(list) >= most)
        return true;
    cJSON *added = cJSON_CreateString(text);
    return added != NULL && cJSON_AddItemToArray(list, added);
}

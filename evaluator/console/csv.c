/* SPDX-License-Identifier: Apache-2.0
 *
 * Cells of CSV; see csv.h.
 */
#include "evaluator/console/csv.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "evaluator/console/clean.h"

/* Spreadsheets also take the wide forms of East Asian keyboards for the start of a formula. */
static bool looks_like_formula(const char *text)
{
    static const char *const wide[] = {"＝", "＋", "－", "＠"};

    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (strncmp(text, wide[i], strlen(wide[i])) == 0)
            return true;
    return text[0] != '\0' && strchr("=+-@", text[0]) != NULL;
}

pkb_code pkb_csv_text(FILE *out, const char *text, bool is_guarded, pkb_error *err)
{
    static const char cut[] = "…";
    pkb_buf clean = {0};

    if (!pkb_clean_append(&clean, text, strlen(text), PKB_CSV_TEXT_BYTES))
        pkb_buf_append_string(&clean, cut);
    pkb_code rc = pkb_buf_check(&clean, "a cell", err);
    if (rc == PKB_OK) {
        const char *at = pkb_buf_text(&clean);
        fputc('"', out);
        if (is_guarded && (at[0] == '\'' || looks_like_formula(at)))
            fputc('\'', out);
        for (; *at != '\0'; at++) {
            if (*at == '"')
                fputc('"', out);
            fputc(*at, out);
        }
        fputc('"', out);
    }
    pkb_buf_clear(&clean);
    return rc;
}

void pkb_csv_number(FILE *out, double number)
{
    enum { LEAST_DIGITS = 15, MOST_DIGITS = 17 };
    char text[40];

    for (int digits = LEAST_DIGITS; digits <= MOST_DIGITS; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if (strtod(text, NULL) == number)
            break;
    }
    fputs(text, out);
}

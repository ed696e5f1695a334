/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of tables; see text_row.h.
 */
#include "evaluator/console/text_row.h"

#include <stdarg.h>
#include <string.h>

enum { GAP = 2, CELL_BYTES = 256 };

static void put(pkb_text_row *row, int before, const char *text, int after)
{
    row->owed += before > 0 ? before : 0;
    if (text[0] != '\0') {
        fprintf(row->out, "%*s%s", row->owed, "", text);
        row->owed = 0;
    }
    row->owed += (after > 0 ? after : 0) + GAP;
}

void pkb_text_row_left(pkb_text_row *row, int columns, const char *format, ...)
{
    char text[CELL_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put(row, 0, text, columns - (int)strlen(text));
}

void pkb_text_row_right(pkb_text_row *row, int columns, const char *format, ...)
{
    char text[CELL_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put(row, columns - (int)strlen(text), text, 0);
}

void pkb_text_row_end(pkb_text_row *row)
{
    fputc('\n', row->out);
    row->owed = 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * Colours and widths; see terminal.h.
 */
#include "evaluator/console/terminal.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "evaluator/console/clean.h"

bool pkb_terminal_is_live(FILE *stream)
{
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && term != NULL && term[0] != '\0' && strcmp(term, "dumb") != 0;
}

bool pkb_terminal_has_colour(FILE *stream)
{
    const char *refused = getenv("NO_COLOR");
    return (refused == NULL || refused[0] == '\0') && pkb_terminal_is_live(stream);
}

int pkb_terminal_columns(FILE *stream)
{
    struct winsize size;
    if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col;
    return 80;
}

const char *pkb_terminal_start(FILE *stream, pkb_style style)
{
    static const char *const sequences[] = {[PKB_STYLE_GOOD] = "\033[32m",
                                            [PKB_STYLE_BAD] = "\033[31m",
                                            [PKB_STYLE_DIM] = "\033[2m",
                                            [PKB_STYLE_BOLD] = "\033[1m"};
    return pkb_terminal_has_colour(stream) ? sequences[style] : "";
}

const char *pkb_terminal_end(FILE *stream)
{
    return pkb_terminal_has_colour(stream) ? "\033[0m" : "";
}

void pkb_terminal_put(const char *word)
{
    pkb_buf text = {0};

    pkb_clean_append(&text, word, strlen(word), SIZE_MAX);
    fputs(pkb_buf_text(&text), stderr);
    pkb_buf_clear(&text);
}

void pkb_terminal_error(pkb_code code, const pkb_error *err)
{
    fprintf(stderr, "%spkbench:%s ", pkb_terminal_start(stderr, PKB_STYLE_BAD),
            pkb_terminal_end(stderr));
    pkb_terminal_put(err->message[0] != '\0' ? err->message : pkb_code_name(code));
    fputc('\n', stderr);
}

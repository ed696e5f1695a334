/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints a record; see result.h.
 */
#include "evaluator/record/result.h"

#include <string.h>

#include "base/json.h"
#include "evaluator/console/terminal.h"

static bool is_correct(const char *verdict)
{
    return strcmp(verdict, "CORRECT") == 0;
}

static void print_verdict(FILE *out, const char *verdict, int width)
{
    fprintf(out, "%s%-*s%s",
            pkb_terminal_start(out, is_correct(verdict) ? PKB_STYLE_GOOD : PKB_STYLE_BAD), width,
            verdict, pkb_terminal_end(out));
}

static void print_head(FILE *out, const cJSON *record)
{
    const char *verdict = pkb_json_string_or(record, "verdict", "?");
    const char *reason = pkb_json_string_or(record, "reason", "");
    int64_t world = 0;

    pkb_json_get_i64(record, "world", &world, NULL);
    print_verdict(out, verdict, 0);
    fprintf(out, "  %s, %d rank%s, %s\n", pkb_json_string_or(record, "problem", "?"), (int)world,
            world == 1 ? "" : "s", pkb_json_string_or(record, "device", "?"));
    if (reason[0] != '\0')
        fprintf(out, "  %s\n", reason);
}

/* "12.3 us", "4.56 ms"; "-" where it was not measured. */
static void print_time(FILE *out, const cJSON *times, const char *side)
{
    double us = 0;
    char text[32] = "-";
    if (times != NULL && pkb_json_get_double(times, side, &us, NULL) == PKB_OK)
        snprintf(text, sizeof text,
                 us < 1e3   ? "%.1f us"
                 : us < 1e6 ? "%.2f ms"
                            : "%.2f s",
                 us < 1e3   ? us
                 : us < 1e6 ? us / 1e3
                            : us / 1e6);
    fprintf(out, "  %11s", text);
}

/* The median of the paired ratios, which is not the ratio of the two medians beside it. */
static void print_speedup(FILE *out, const cJSON *size)
{
    const cJSON *eager = cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(size, "speedup"), "eager");
    bool is_unstable = false;
    double ratio = 0;

    if (eager == NULL || pkb_json_get_double(eager, "value", &ratio, NULL) != PKB_OK) {
        fprintf(out, "  %8s", "-");
        return;
    }
    pkb_json_get_bool(eager, "unstable", &is_unstable, NULL);
    fprintf(out, "  %7.2fx%s", ratio, is_unstable ? " (unstable)" : "");
}

static bool has_times(const cJSON *sizes)
{
    const cJSON *size = NULL;
    cJSON_ArrayForEach(size, sizes)
    {
        if (cJSON_GetObjectItemCaseSensitive(size, "time_us") != NULL)
            return true;
    }
    return false;
}

static void print_size(FILE *out, const cJSON *size, bool is_timed, bool is_scored)
{
    char name[96];
    const char *grid = pkb_json_string_or(size, "grid", "");
    const char *verdict = pkb_json_string_or(size, "verdict", "?");

    snprintf(name, sizeof name, "%s%s%s", pkb_json_string_or(size, "size", "?"),
             grid[0] != '\0' ? " " : "", grid);
    fprintf(out, "  %-20s  ", name);
    print_verdict(out, verdict, is_timed ? 16 : 0);
    if (is_timed) {
        const cJSON *times = cJSON_GetObjectItemCaseSensitive(size, "time_us");
        print_time(out, times, "attempt");
        print_time(out, times, "eager");
        if (is_scored)
            print_speedup(out, size);
    }
    fputc('\n', out);
}

static void print_sizes(FILE *out, const cJSON *record)
{
    const cJSON *sizes = cJSON_GetObjectItemCaseSensitive(record, "sizes"), *size = NULL;
    const bool is_timed = has_times(sizes);
    const bool is_cpu = strcmp(pkb_json_string_or(record, "device", ""), "cpu") == 0;

    if (cJSON_GetArraySize(sizes) == 0)
        return;
    if (is_timed)
        fprintf(out, "  %s%-20s  %-16s  %11s  %11s  %8s%s\n",
                pkb_terminal_start(out, PKB_STYLE_DIM), "size", "verdict", "attempt", "eager",
                is_cpu ? "CPU: times are no score" : "speed-up", pkb_terminal_end(out));
    cJSON_ArrayForEach(size, sizes) print_size(out, size, is_timed, !is_cpu);
}

static void print_costs(FILE *out, const cJSON *record, bool was_cached)
{
    const cJSON *costs = cJSON_GetObjectItemCaseSensitive(record, "cost_s"), *cost = NULL;
    const char *separator = "  took: ";

    fputs(pkb_terminal_start(out, PKB_STYLE_DIM), out);
    cJSON_ArrayForEach(cost, costs)
    {
        bool is_cached_compile = was_cached && strcmp(cost->string, "compile") == 0;
        fprintf(out, "%s%s %.2f s%s", separator, cost->string, cost->valuedouble,
                is_cached_compile ? " (cached)" : "");
        separator = ", ";
    }
    fputs(pkb_terminal_end(out), out);
    if (cJSON_GetArraySize(costs) > 0)
        fputc('\n', out);
}

static void print_printed(FILE *out, const pkb_result_notes *notes)
{
    if (notes->printed[0] != '\0')
        fprintf(out,
                "  the attempt printed: (the end of rank %d's output; --keep DIR has more)\n%s",
                notes->printed_rank, notes->printed);
}

void pkb_result_print(FILE *out, const cJSON *record, const pkb_result_notes *notes)
{
    print_head(out, record);
    print_printed(out, notes);
    print_sizes(out, record);
    print_costs(out, record, notes->was_cached);
}

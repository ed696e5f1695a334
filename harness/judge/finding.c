/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings and which of them counts; see finding.h.
 */
#include "harness/judge/finding.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pkb_finding_init(pkb_finding *finding, uint32_t rank)
{
    memset(finding, 0, sizeof *finding);
    finding->verdict = PKB_VERDICT_CORRECT;
    finding->rank = rank;
}

bool pkb_finding_is_clean(const pkb_finding *finding)
{
    return finding->verdict == PKB_VERDICT_CORRECT;
}

bool pkb_finding_set(pkb_finding *finding, pkb_verdict verdict, const char *format, ...)
{
    va_list arguments;

    if (verdict >= finding->verdict)
        return false;
    const bool was_killed = finding->was_killed;
    pkb_finding_init(finding, finding->rank);
    finding->was_killed = was_killed;
    finding->verdict = verdict;
    va_start(arguments, format);
    vsnprintf(finding->reason, sizeof finding->reason, format, arguments);
    va_end(arguments);
    return true;
}

void pkb_finding_place(pkb_finding *finding, const pkb_argument *argument, const uint64_t *shape,
                       uint64_t element)
{
    snprintf(finding->output, sizeof finding->output, "%s", argument->name);
    finding->index_count = argument->shape_count;
    finding->has_index = true;
    for (uint32_t axis = argument->shape_count; axis-- > 0;) {
        uint64_t length = shape[axis] == 0 ? 1 : shape[axis];
        finding->index[axis] = axis == 0 ? element : element % length;
        element /= length;
    }
}

void pkb_finding_place_text(const pkb_finding *finding, char *out, size_t bytes)
{
    int used = snprintf(out, bytes, "%s", finding->output);
    if (!finding->has_index || finding->index_count == 0)
        return;
    for (uint32_t axis = 0; axis < finding->index_count && (size_t)used < bytes; axis++)
        used += snprintf(out + used, bytes - (size_t)used, "%s%" PRIu64, axis == 0 ? "[" : ", ",
                         finding->index[axis]);
    if ((size_t)used < bytes)
        snprintf(out + used, bytes - (size_t)used, "]");
}

static void append(char *text, size_t bytes, const char *more)
{
    size_t used = strlen(text);
    if (used < bytes)
        snprintf(text + used, bytes - used, "; %s", more);
}

void pkb_finding_worst(pkb_finding *out, const pkb_finding *findings, size_t count)
{
    const pkb_finding *worst = &findings[0];
    for (size_t i = 1; i < count; i++)
        if (findings[i].verdict < worst->verdict)
            worst = &findings[i];
    *out = *worst;
    for (size_t i = 0; i < count; i++)
        out->was_killed = out->was_killed || findings[i].was_killed;
    for (size_t i = 0; out->verdict == PKB_VERDICT_TIMEOUT && i < count; i++)
        if (findings[i].waiting[0] != '\0')
            append(out->reason, sizeof out->reason - sizeof out->advice - 2, findings[i].waiting);
    if (out->advice[0] != '\0')
        append(out->reason, sizeof out->reason, out->advice);
}

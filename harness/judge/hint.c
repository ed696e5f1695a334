/* SPDX-License-Identifier: Apache-2.0
 *
 * From a cell's words and its end to a verdict; see hint.h. Nothing here can lead to CORRECT.
 */
#include "harness/judge/hint.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* cudaErrorIllegalAddress: the only error under which a fault counts as out of bounds. */
enum { CUDA_ERROR_ILLEGAL_ADDRESS = 700, SIGNAL_STATUS = 128 };

void pkb_hint_copy(char *out, size_t bytes, const char *text, size_t text_bytes)
{
    size_t used = 0;
    for (size_t i = 0; i < text_bytes && used + 1 < bytes; i++) {
        char c = text[i];
        if (c == '\0')
            break;
        out[used++] = c >= 0x20 && c < 0x7f ? c : ' ';
    }
    while (used > 0 && out[used - 1] == ' ')
        used--;
    out[used] = '\0';
}

static const char *command_name(pkb_command command)
{
    switch (command) {
    case PKB_COMMAND_NONE:
    case PKB_COMMAND_LOAD:
        return "loading";
    case PKB_COMMAND_SETUP:
        return "pkb_setup";
    case PKB_COMMAND_CLAIM:
        return "an empty kernel";
    case PKB_COMMAND_RUN:
    case PKB_COMMAND_CHAIN:
        return "pkb_run";
    case PKB_COMMAND_TEARDOWN:
        return "pkb_teardown";
    case PKB_COMMAND_EXIT:
    case PKB_COMMAND_VACATE:
        return "its end";
    }
    return "loading";
}

void pkb_hint_phase(pkb_hint_words *out, const pkb_page *page, const pkb_hint_step *step)
{
    char call[48] = "";
    uint32_t at = *(const volatile uint32_t *)&page->phase_call;
    bool is_run = step->command == PKB_COMMAND_RUN || step->command == PKB_COMMAND_CHAIN;
    bool is_calling = *(const volatile uint32_t *)&page->phase == PKB_PHASE_RUN;
    bool has_step = step->step != NULL;

    if (is_run && is_calling && step->call_count > 1 && at < step->call_count) /* from 0 */
        snprintf(call, sizeof call, ", call %u of %u", at + 1, step->call_count);
    snprintf(out->action, sizeof out->action, "%s%s", command_name(step->command), call);
    snprintf(out->step, sizeof out->step, "%s%.90s%s", has_step ? " (" : "",
             has_step ? step->step : "", has_step ? ")" : "");
    snprintf(out->phase, sizeof out->phase, "%.60s%s%.90s", out->action, has_step ? ", " : "",
             has_step ? step->step : "");
}

/* "kernel k, block (0,0,0), thread (1,0,0), at a.cu:12"; "" if nothing is known. */
static void place_text(char *out, size_t bytes, const pkb_place *shared)
{
    pkb_place place;
    char kernel[128], file[128], line[160] = "";

    memcpy(&place, shared, sizeof place);
    pkb_hint_copy(kernel, sizeof kernel, place.kernel, sizeof place.kernel);
    pkb_hint_copy(file, sizeof file, place.file, sizeof place.file);
    out[0] = '\0';
    if (place.counter == 0 || kernel[0] == '\0')
        return;
    if (file[0] != '\0' && place.line != 0)
        snprintf(line, sizeof line, ", at %s:%u", file, place.line);
    snprintf(out, bytes, "kernel %s, block (%u,%u,%u), thread (%u,%u,%u)%s", kernel, place.block[0],
             place.block[1], place.block[2], place.thread[0], place.thread[1], place.thread[2],
             line);
}

void pkb_hint_waiting(char *out, size_t bytes, const pkb_page *page, uint32_t rank)
{
    char place[360];
    place_text(place, sizeof place, &page->waiting);
    out[0] = '\0';
    if (place[0] != '\0')
        snprintf(out, bytes, "rank %u waits in %s", rank, place);
}

static void judge_cuda_error(pkb_finding *finding, const pkb_page *page,
                             const pkb_hint_words *words, const char *text)
{
    char kind[32], place[360];
    int error = *(const volatile int32_t *)&page->cuda_error;
    bool is_address = false;

    pkb_hint_copy(kind, sizeof kind, page->fault_kind, sizeof page->fault_kind);
    place_text(place, sizeof place, &page->fault);
    is_address = strcmp(kind, "illegal address") == 0 && error == CUDA_ERROR_ILLEGAL_ADDRESS;
    pkb_finding_set(finding, is_address ? PKB_VERDICT_OUT_OF_BOUNDS : PKB_VERDICT_CRASH,
                    "rank %u: CUDA error %d in %s%s: %s%s%s", finding->rank, error, words->action,
                    words->step, text, place[0] != '\0' ? "; " : "", place);
    finding->cuda_error = error;
}

static void judge_returned(pkb_finding *finding, const pkb_page *page, const pkb_hint_words *words,
                           const char *text)
{
    char kind[32];
    const char *why = ": ";

    pkb_hint_copy(kind, sizeof kind, page->fault_kind, sizeof page->fault_kind);
    if (strcmp(kind, "launch") == 0)
        why = "; a launch was refused: ";
    pkb_finding_set(finding, PKB_VERDICT_CRASH, "rank %u: %s returned %d%s%s%s", finding->rank,
                    words->action, *(const volatile int32_t *)&page->return_value, words->step,
                    text[0] != '\0' ? why : "", text);
}

static void judge_missing_symbol(pkb_finding *finding, const char *text)
{
    if (strcmp(text, "pkb_run") == 0)
        pkb_finding_set(finding, PKB_VERDICT_ABI_ERROR,
                        "the attempt exports no pkb_run: define it as extern \"C\"");
    else
        pkb_finding_set(finding, PKB_VERDICT_ABI_ERROR, "rank %u: it cannot be loaded: %s",
                        finding->rank, text);
}

void pkb_hint_judge_answer(pkb_finding *finding, const pkb_page *page, const pkb_hint_step *step)
{
    char text[320];
    pkb_hint_words words = {0};
    uint32_t rank = finding->rank;

    pkb_hint_copy(text, sizeof text, page->text, sizeof page->text);
    pkb_hint_phase(&words, page, step);
    switch (*(const volatile uint32_t *)&page->answer) {
    case PKB_ANSWER_OK:
        return;
    case PKB_ANSWER_NO_SYMBOL:
        judge_missing_symbol(finding, text);
        break;
    case PKB_ANSWER_RETURNED:
        judge_returned(finding, page, &words, text);
        break;
    case PKB_ANSWER_CUDA_ERROR:
        if (step->expired != NULL)
            pkb_hint_copy(text, sizeof text, step->expired, strlen(step->expired));
        judge_cuda_error(finding, page, &words, text);
        break;
    case PKB_ANSWER_UNSUPPORTED:
        pkb_finding_set(finding, PKB_VERDICT_UNSUPPORTED, "rank %u, %s: %s", rank, words.action,
                        text);
        break;
    default:
        pkb_finding_set(finding, PKB_VERDICT_CRASH, "rank %u: an unknown answer in %s%s", rank,
                        words.action, words.step);
        break;
    }
    snprintf(finding->phase, sizeof finding->phase, "%s", words.phase);
}

/* The sandbox's monitor ends with 128 + n where its child died of signal n. */
static int signal_of(const pkb_child_exit *how)
{
    if (!how->exited)
        return how->signal;
    return how->status > SIGNAL_STATUS && how->status < SIGNAL_STATUS + 65
               ? how->status - SIGNAL_STATUS
               : 0;
}

/* What makes an ending clearer; "" if nothing does. */
static void explain_end(char *out, size_t bytes, int number, const char *kind, const char *text)
{
    out[0] = '\0';
    if (number == SIGKILL)
        snprintf(out, bytes, " (out of memory?)");
    else if (strcmp(kind, "host fault") == 0)
        snprintf(out, bytes, ": host code used a device pointer: %s", text);
    else if (kind[0] != '\0' && text[0] != '\0')
        snprintf(out, bytes, ": %s", text);
}

void pkb_hint_judge_end(pkb_finding *finding, const pkb_page *page, const pkb_hint_step *step,
                        const pkb_child_exit *how)
{
    char text[320], kind[32], ending[64], more[400];
    pkb_hint_words words = {0};
    int number = signal_of(how);
    pkb_child_exit own = {.exited = number == 0, .status = how->status, .signal = number};

    pkb_hint_copy(text, sizeof text, page->text, sizeof page->text);
    pkb_hint_copy(kind, sizeof kind, page->fault_kind, sizeof page->fault_kind);
    pkb_hint_phase(&words, page, step);
    pkb_child_exit_text(&own, ending, sizeof ending);
    explain_end(more, sizeof more, number, kind, text);
    bool is_named = strcmp(kind, "system call") == 0 && text[0] != '\0';
    if (number == SIGSYS) /* only the filter sends it; with the signal blocked, without a name */
        pkb_finding_set(finding, PKB_VERDICT_FORBIDDEN_CALL,
                        "rank %u: the system call %s is forbidden to attempts, in %s%s",
                        finding->rank, is_named ? text : "(its name is unknown)", words.action,
                        words.step);
    else
        pkb_finding_set(finding, PKB_VERDICT_CRASH, "rank %u: %s in %s%s%s", finding->rank, ending,
                        words.action, words.step, more);
    finding->signal = number;
    finding->was_killed = finding->was_killed || number == SIGKILL;
    snprintf(finding->phase, sizeof finding->phase, "%s", words.phase);
}

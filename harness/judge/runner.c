/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts and drives the runner; see runner.h.
 */
#include "harness/judge/runner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "harness/memory/page.h"
#include "harness/sandbox/child.h"
#include "harness/sandbox/message.h"

/* A draw or a reference of a large size on a slow machine; a hang of ours, not of the attempt. */
#define ANSWER_TIMEOUT_NS (UINT64_C(600) * PKB_NS_PER_S)

struct pkb_runner {
    pkb_child child;
    int fd; /* socket; -1 = none */
    pkb_region page_region;
    pkb_page *page;
    pkb_message *message;
    const pkb_watch *watch;
    char *store; /* path of the FileStore */
};

static pkb_code start_child(pkb_runner *runner, const pkb_judge_options *options, int child_fd,
                            pkb_error *err)
{
    char rank[16], world[16], gpu[16];
    snprintf(rank, sizeof rank, "%u", options->rank);
    snprintf(world, sizeof world, "%u", options->world);
    snprintf(gpu, sizeof gpu, "%d", options->gpu);
    const char *const argv[] = {
        options->python, "-m",  "harness.runner", "--fd",          "3",     "--rank", rank,
        "--world",       world, "--device",       options->device, "--gpu", gpu,      NULL};
    const pkb_child_fd fds[] = {{.from = child_fd, .to = 3}};
    const pkb_child_options child = {.argv = argv,
                                     .directory = options->root,
                                     .stdin_fd = -1,
                                     .stdout_fd = STDERR_FILENO,
                                     .stderr_fd = STDERR_FILENO,
                                     .fds = fds,
                                     .fd_count = 1};
    return pkb_child_start(&runner->child, &child, err);
}

pkb_code pkb_runner_start(pkb_runner **out, const pkb_judge_options *options,
                          const pkb_watch *watch, pkb_error *err)
{
    int pair[2] = {-1, -1};
    pkb_code rc = PKB_OK;
    pkb_runner *runner = calloc(1, sizeof *runner);

    if (runner == NULL)
        return pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory for the runner");
    *runner = (pkb_runner){
        .child = PKB_CHILD_NONE, .fd = -1, .page_region = PKB_REGION_NONE, .watch = watch};
    if (asprintf(&runner->store, "%s/store.%d", options->work, (int)getppid()) < 0) {
        runner->store = NULL;
        rc = pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory for the runner");
        goto cleanup;
    }
    if ((rc = pkb_message_create(&runner->message, err)) != PKB_OK ||
        (rc = pkb_region_create(&runner->page_region, "pkb-runner", sizeof(pkb_page), err)) !=
            PKB_OK ||
        (rc = pkb_socket_pair(pair, 0, err)) != PKB_OK)
        goto cleanup;
    runner->page = runner->page_region.address;
    runner->fd = pair[0];
    if ((rc = start_child(runner, options, pair[1], err)) != PKB_OK)
        goto cleanup;
    *out = runner;
    runner = NULL;
cleanup:
    if (pair[1] >= 0)
        close(pair[1]);
    pkb_runner_free(runner);
    return rc;
}

void pkb_runner_free(pkb_runner *runner)
{
    if (runner == NULL)
        return;
    pkb_child_kill(&runner->child);
    if (runner->fd >= 0)
        close(runner->fd);
    pkb_region_clear(&runner->page_region);
    pkb_message_free(runner->message);
    free(runner->store);
    free(runner);
}

int pkb_runner_fd(const pkb_runner *runner)
{
    return runner->fd;
}

/* ---- messages ---- */

static pkb_code receive(pkb_runner *runner, pkb_error *err)
{
    uint64_t deadline_ns = pkb_clock_now_ns() + ANSWER_TIMEOUT_NS;
    pkb_child_exit how;
    char text[64];
    pkb_code rc = PKB_OK;

    for (;;) {
        rc = pkb_message_receive(runner->fd, runner->message, PKB_WATCH_SLICE_NS, err);
        if (rc == PKB_ERR_CHILD &&
            pkb_child_wait(&runner->child, PKB_NS_PER_S, &how, err) == PKB_OK) {
            pkb_child_exit_text(&how, text, sizeof text);
            return pkb_error_set(err, PKB_ERR_CHILD, 0, "the runner %s", text);
        }
        if (rc != PKB_ERR_TIMEOUT || pkb_clock_left_ns(deadline_ns) == 0)
            return rc;
        if ((rc = pkb_watch_check(runner->watch, err)) != PKB_OK)
            return rc;
    }
}

/* The answer to the last request; the runner's complaint becomes our error. */
static pkb_code receive_answer(pkb_runner *runner, const char *verb, cJSON **out, pkb_error *err)
{
    cJSON *answer = NULL;
    pkb_code rc = receive(runner, err);

    if (rc == PKB_OK)
        rc = pkb_json_parse(&answer, runner->message->data, runner->message->bytes,
                            "the runner's answer", err);
    if (rc != PKB_OK)
        return rc;
    if (!cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(answer, "ok"))) {
        const cJSON *error = cJSON_GetObjectItemCaseSensitive(answer, "error");
        rc = pkb_error_set(err, PKB_ERR_CHILD, 0, "the runner failed to %s: %s", verb,
                           pkb_json_string_or(error, "message", "no reason given"));
        fprintf(stderr, "%s\n", pkb_json_string_or(error, "traceback", ""));
        cJSON_Delete(answer);
        return rc;
    }
    *out = answer;
    return PKB_OK;
}

/* Sends `request` (freed here) and takes the answer; `answer` may be NULL. */
static pkb_code ask(pkb_runner *runner, cJSON *request, const int *fds, size_t fd_count,
                    cJSON **answer, pkb_error *err)
{
    cJSON *received = NULL;
    const char *verb = pkb_json_string_or(request, "verb", "?");
    char *line = pkb_json_line(request);
    pkb_code rc = line == NULL
                      ? pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory")
                      : pkb_message_send(runner->fd, line, strlen(line), fds, fd_count, err);
    if (rc == PKB_OK)
        rc = receive_answer(runner, verb, &received, err);
    cJSON_free(line);
    cJSON_Delete(request);
    if (rc == PKB_OK && answer != NULL)
        *answer = received;
    else
        cJSON_Delete(received);
    return rc;
}

static cJSON *request_named(const char *verb)
{
    cJSON *request = cJSON_CreateObject();
    cJSON_AddStringToObject(request, "verb", verb);
    return request;
}

static void add_number(cJSON *object, const char *key, uint64_t value)
{
    cJSON_AddNumberToObject(object, key, (double)value);
}

static void add_layout(cJSON *request, const pkb_layout *layout)
{
    cJSON *object = cJSON_AddObjectToObject(request, "layout");
    add_number(object, "slots_bytes", layout->slots_bytes);
    add_number(object, "slot_stride", layout->slot_stride);
    add_number(object, "slot_count", layout->slot_count);
    add_number(object, "pool_bytes", layout->pool_bytes);
    add_number(object, "entry_stride", layout->entry_stride);
    add_number(object, "entry_count", layout->entry_count);
    add_number(object, "reference_offset", layout->reference_offset);
    add_number(object, "oracle_offset", layout->oracle_offset);
    add_number(object, "page_bytes", sizeof(pkb_page));
    cJSON *list = cJSON_AddArrayToObject(object, "arguments");
    for (uint32_t i = 0; i < layout->argument_count; i++) {
        cJSON *item = cJSON_CreateObject();
        cJSON_AddStringToObject(item, "name", layout->arguments[i].name);
        add_number(item, "offset", layout->arguments[i].offset);
        add_number(item, "oracle_offset", layout->arguments[i].oracle_offset);
        cJSON_AddItemToArray(list, item);
    }
}

pkb_code pkb_runner_open(pkb_runner *runner, const pkb_plan *plan, const pkb_plan_size *size,
                         const pkb_memory *memory, const char *secret, pkb_error *err)
{
    const int fds[3] = {memory->slots.fd, memory->pool.fd, runner->page_region.fd};
    cJSON *request = request_named("open");

    cJSON_AddStringToObject(request, "problem_file", plan->file);
    cJSON_AddStringToObject(request, "size", size->name);
    cJSON_AddStringToObject(request, "grid", size->grid);
    cJSON_AddStringToObject(request, "secret", secret);
    cJSON_AddStringToObject(request, "store", runner->store);
    add_layout(request, &memory->layout);
    return ask(runner, request, fds, 3, NULL, err);
}

pkb_code pkb_runner_release(pkb_runner *runner, pkb_error *err)
{
    return ask(runner, request_named("release"), NULL, 0, NULL, err);
}

pkb_code pkb_runner_trim(pkb_runner *runner, pkb_error *err)
{
    return ask(runner, request_named("trim"), NULL, 0, NULL, err);
}

pkb_code pkb_runner_describe(pkb_runner *runner, cJSON **out, pkb_error *err)
{
    cJSON *answer = NULL;
    pkb_code rc = ask(runner, request_named("describe"), NULL, 0, &answer, err);

    if (rc != PKB_OK)
        return rc;
    *out = cJSON_DetachItemFromObjectCaseSensitive(answer, "reference");
    cJSON_Delete(answer);
    if (*out == NULL)
        return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the runner does not describe itself");
    return PKB_OK;
}

/* ---- draws ---- */

static pkb_code read_scalars(const cJSON *answer, const pkb_layout *layout, pkb_draw *draw,
                             pkb_error *err)
{
    const cJSON *scalars = cJSON_GetObjectItemCaseSensitive(answer, "scalars");
    for (uint32_t i = 0; i < layout->argument_count; i++) {
        const pkb_argument *argument = &layout->arguments[i];
        if (argument->role != PKB_ROLE_SCALAR)
            continue;
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(scalars, argument->name);
        if (!cJSON_IsNumber(value))
            return pkb_error_set(err, PKB_ERR_FORMAT, 0, "the runner drew no number for scalar %s",
                                 argument->name);
        int64_t whole = (int64_t)value->valuedouble;
        if (pkb_dtype_is_float(argument->dtype))
            memcpy(&draw->values.scalars[i], &value->valuedouble, sizeof(double));
        else
            memcpy(&draw->values.scalars[i], &whole, sizeof whole);
    }
    return PKB_OK;
}

static void read_dims(const cJSON *answer, const pkb_layout *layout, pkb_draw *draw)
{
    const cJSON *dims = cJSON_GetObjectItemCaseSensitive(answer, "dims");
    for (uint32_t i = 0; i < layout->dim_count; i++) {
        const cJSON *value = cJSON_GetObjectItemCaseSensitive(dims, layout->dim_names[i]);
        draw->values.dims[i] =
            cJSON_IsNumber(value) ? (int64_t)value->valuedouble : layout->dims[layout->rank][i];
    }
}

/* A drawn shape lies within the layout's, so it can only shrink what an argument uses. */
static pkb_code read_shape(const cJSON *list, const pkb_argument *argument, uint32_t rank,
                           uint64_t *shape, pkb_error *err)
{
    for (uint32_t axis = 0; axis < argument->shape_count; axis++) {
        shape[axis] = argument->shape[rank][axis];
        if (list == NULL)
            continue;
        const cJSON *length = cJSON_GetArrayItem(list, (int)axis);
        if (!cJSON_IsNumber(length) || length->valuedouble < 0.0 ||
            length->valuedouble > (double)shape[axis])
            return pkb_error_set(err, PKB_ERR_FORMAT, 0,
                                 "the runner drew a shape for %s beyond its maximum",
                                 argument->name);
        shape[axis] = (uint64_t)length->valuedouble;
    }
    return PKB_OK;
}

static pkb_code read_shapes(const cJSON *answer, const pkb_layout *layout, pkb_draw *draw,
                            pkb_error *err)
{
    const cJSON *shapes = cJSON_GetObjectItemCaseSensitive(answer, "shapes");
    for (uint32_t i = 0; i < layout->argument_count; i++) {
        const pkb_argument *argument = &layout->arguments[i];
        if (argument->role == PKB_ROLE_SCALAR)
            continue;
        const cJSON *list = cJSON_GetObjectItemCaseSensitive(shapes, argument->name);
        pkb_code rc = read_shape(list, argument, layout->rank, draw->shape[i], err);
        if (rc != PKB_OK)
            return rc;
        uint64_t bytes = pkb_dtype_bytes(argument->dtype);
        for (uint32_t axis = 0; axis < argument->shape_count; axis++)
            bytes *= draw->shape[i][axis];
        draw->bytes[i] = argument->present[layout->rank] ? bytes : 0;
    }
    return PKB_OK;
}

pkb_code pkb_runner_draw(pkb_runner *runner, pkb_memory *memory, const pkb_plan_size *size,
                         uint32_t entry, uint64_t trial, uint32_t family, pkb_error *err)
{
    pkb_draw *draw = &memory->draws[entry];
    cJSON *request = request_named("draw"), *answer = NULL;

    add_number(request, "entry", entry);
    add_number(request, "trial", trial);
    cJSON_AddStringToObject(request, "family", size->families[family]);
    pkb_code rc = ask(runner, request, NULL, 0, &answer, err);
    if (rc != PKB_OK)
        return rc;
    memset(draw, 0, sizeof *draw);
    draw->family = family;
    read_dims(answer, &memory->layout, draw);
    rc = read_scalars(answer, &memory->layout, draw, err);
    if (rc == PKB_OK)
        rc = read_shapes(answer, &memory->layout, draw, err);
    cJSON_Delete(answer);
    return rc;
}

pkb_code pkb_runner_expect(pkb_runner *runner, uint32_t entry, pkb_error *err)
{
    cJSON *request = request_named("expect");
    add_number(request, "entry", entry);
    return ask(runner, request, NULL, 0, NULL, err);
}

/* ---- batches ---- */

pkb_code pkb_runner_batch(pkb_runner *runner, const uint32_t *slots, const uint32_t *entries,
                          size_t count, pkb_error *err)
{
    cJSON *request = request_named("batch");
    cJSON *slot_list = cJSON_AddArrayToObject(request, "slots");
    cJSON *entry_list = cJSON_AddArrayToObject(request, "entries");
    for (size_t i = 0; i < count; i++) {
        cJSON_AddItemToArray(slot_list, cJSON_CreateNumber(slots[i]));
        cJSON_AddItemToArray(entry_list, cJSON_CreateNumber(entries[i]));
    }
    return ask(runner, request, NULL, 0, NULL, err);
}

static pkb_code go(pkb_runner *runner, pkb_command command, bool spin, uint64_t *go_ns,
                   pkb_error *err)
{
    pkb_page *page = runner->page;
    pkb_child_exit how;
    cJSON *ignored = NULL;
    pkb_code rc = PKB_OK;

    page->command = command;
    page->answer = PKB_ANSWER_OK;
    uint64_t begin_ns = pkb_clock_now_ns(), deadline_ns = begin_ns + ANSWER_TIMEOUT_NS;
    uint32_t value = pkb_page_start(page);
    while (!pkb_page_wait_done(page, value, PKB_WATCH_SLICE_NS, spin)) {
        if ((rc = pkb_watch_check(runner->watch, err)) != PKB_OK)
            return rc;
        if (pkb_child_wait(&runner->child, 0, &how, err) == PKB_OK)
            return pkb_error_set(err, PKB_ERR_CHILD, 0, "the runner ended during a batch");
        if (pkb_clock_left_ns(deadline_ns) == 0)
            return pkb_error_set(err, PKB_ERR_TIMEOUT, 0, "the reference did not end");
    }
    *go_ns = begin_ns;
    if (page->answer == PKB_ANSWER_EXCEPTION)
        return receive_answer(runner, "run the reference", &ignored, err);
    return PKB_OK;
}

pkb_code pkb_runner_batch_claim(pkb_runner *runner, pkb_error *err)
{
    uint64_t ignored_ns = 0;
    return go(runner, PKB_COMMAND_CLAIM, false, &ignored_ns, err);
}

pkb_code pkb_runner_batch_run(pkb_runner *runner, bool spin, uint64_t *go_ns, pkb_error *err)
{
    return go(runner, PKB_COMMAND_RUN, spin, go_ns, err);
}

pkb_code pkb_runner_batch_end(pkb_runner *runner, pkb_error *err)
{
    uint64_t ignored_ns = 0;
    return go(runner, PKB_COMMAND_EXIT, false, &ignored_ns, err);
}

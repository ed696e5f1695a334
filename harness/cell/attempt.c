/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests of the judge; see attempt.h.
 */
#include "harness/cell/attempt.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static void enter(pkb_page *page, pkb_cell_phase phase, uint32_t call)
{
    page->phase_call = call;
    page->phase = (uint32_t)phase;
}

/* ---- answers ---- */

static void clear_answer(pkb_page *page)
{
    page->answer = PKB_ANSWER_OK;
    page->return_value = 0;
    page->cuda_error = 0;
    page->text[0] = '\0';
    page->fault_kind[0] = '\0';
    atomic_store(&page->fault.counter, 0);
    atomic_store(&page->waiting.counter, 0);
}

/* A device that cannot run the attempt is the better reason than what the attempt made of it; so is
 * a fault of its kernel. Returns whether all is well. */
static bool judge_calls(pkb_session *session, int cuda_error, int return_value)
{
    pkb_page *page = session->page;

    if (cuda_error == PKB_CUDA_SUCCESS && return_value == 0)
        return true;
    page->return_value = return_value;
    page->cuda_error = cuda_error;
    bool is_unsupported = session->device->explain(page);
    if (is_unsupported)
        page->answer = PKB_ANSWER_UNSUPPORTED;
    else if (cuda_error != PKB_CUDA_SUCCESS)
        page->answer = PKB_ANSWER_CUDA_ERROR;
    else
        page->answer = PKB_ANSWER_RETURNED;
    if (page->text[0] == '\0' && cuda_error != PKB_CUDA_SUCCESS)
        snprintf(page->text, sizeof page->text, "%s: %s", session->runtime.error_name(cuda_error),
                 session->runtime.error_text(cuda_error));
    return false;
}

/* ---- LOAD ---- */

static void find(void *library, const char *name, void *into)
{
    void *function = dlsym(library, name);
    memcpy(into, &function, sizeof function);
}

static void load(pkb_attempt *attempt, pkb_session *session)
{
    pkb_page *page = session->page;

    enter(page, PKB_PHASE_LOAD, 0);
    attempt->library = dlopen(attempt->host_path, RTLD_NOW | RTLD_LOCAL);
    if (attempt->library == NULL) {
        page->answer = PKB_ANSWER_NO_SYMBOL;
        snprintf(page->text, sizeof page->text, "%s", dlerror());
        return;
    }
    find(attempt->library, "pkb_setup", &attempt->setup);
    find(attempt->library, "pkb_run", &attempt->run);
    find(attempt->library, "pkb_teardown", &attempt->teardown);
    if (attempt->run == NULL) {
        page->answer = PKB_ANSWER_NO_SYMBOL;
        snprintf(page->text, sizeof page->text, "pkb_run");
    }
}

/* ---- SETUP, TEARDOWN ---- */

static void setup(pkb_attempt *attempt, pkb_session *session)
{
    pkb_call_args args;
    int returned = 0;

    enter(session->page, PKB_PHASE_SETUP, 0);
    pkb_world_reset_symmetric(&session->world);
    if (attempt->setup == NULL)
        return;
    pkb_world_setup_args(&session->world, &args);
    session->world.is_in_setup = true;
    returned = attempt->setup(&session->world, &args, &attempt->state);
    session->world.is_in_setup = false;
    judge_calls(session, session->runtime.take_error(), returned);
}

static void teardown(pkb_attempt *attempt, pkb_session *session)
{
    enter(session->page, PKB_PHASE_TEARDOWN, 0);
    if (attempt->teardown != NULL)
        attempt->teardown(&session->world, attempt->state);
    attempt->state = NULL;
    pkb_world_reset_symmetric(&session->world);
    judge_calls(session, session->runtime.take_error(), 0);
}

/* ---- VACATE ---- */

static bool is_loaded(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
    if (library != NULL)
        dlclose(library);
    return library != NULL;
}

static void decline(pkb_page *page, const char *why)
{
    page->answer = PKB_ANSWER_RETURNED;
    snprintf(page->text, sizeof page->text, "%s", why);
}

/* The next size begins with a library as it lies in its file. Some cannot be unloaded: those with
 * symbols that are unique in a process, for instance. */
static void vacate(pkb_attempt *attempt, pkb_session *session)
{
    pkb_page *page = session->page;
    pkb_error err = {0};

    enter(page, PKB_PHASE_TEARDOWN, 0);
    if (session->socket_fd < 0) {
        decline(page, "this process is for one size");
        return;
    }
    if (!judge_calls(session, session->runtime.device_synchronize(), 0))
        return;
    if (attempt->library != NULL)
        dlclose(attempt->library);
    *attempt = (pkb_attempt){.host_path = attempt->host_path, .device_path = attempt->device_path};
    if (is_loaded(attempt->host_path) || is_loaded(attempt->device_path))
        decline(page, "its library cannot be unloaded");
    else if (pkb_session_close(session, &err) != PKB_OK)
        decline(page, err.message);
}

/* ---- RUN, CHAIN ---- */

static bool call_attempt(pkb_attempt *attempt, pkb_session *session, uint32_t call,
                         const pkb_call_args *args)
{
    enter(session->page, PKB_PHASE_RUN, call);
    int returned = attempt->run(&session->world, args, attempt->state, session->stream);
    return judge_calls(session, session->runtime.take_error(), returned);
}

static bool synchronise(pkb_session *session, uint32_t calls)
{
    enter(session->page, PKB_PHASE_SYNCHRONISE, calls);
    int error = session->runtime.stream_synchronize(session->stream);
    int last = session->runtime.take_error();
    return judge_calls(session, error != PKB_CUDA_SUCCESS ? error : last, 0);
}

typedef enum copy_way { STAGING_TO_SLOT, SLOT_TO_STAGING } copy_way;

static bool copy_arguments(pkb_session *session, uint32_t slot, copy_way way)
{
    const pkb_layout *layout = session->layout;
    int error = PKB_CUDA_SUCCESS;

    for (uint32_t i = 0; i < layout->argument_count && error == PKB_CUDA_SUCCESS; i++) {
        const pkb_argument *argument = &layout->arguments[i];
        bool is_wanted = way == STAGING_TO_SLOT ? pkb_role_is_tensor(argument->role)
                                                : pkb_role_is_output(argument->role);
        if (!is_wanted || argument->bytes[layout->rank] == 0)
            continue;
        uint64_t in_slot = pkb_world_argument_address(&session->world, slot, argument);
        uint64_t staged = session->staging + slot * layout->slot_stride + argument->offset;
        uint64_t to = way == STAGING_TO_SLOT ? in_slot : staged;
        uint64_t from = way == STAGING_TO_SLOT ? staged : in_slot;
        error = session->runtime.copy_async((void *)(uintptr_t)to, (const void *)(uintptr_t)from,
                                            argument->bytes[layout->rank],
                                            PKB_CUDA_DEVICE_TO_DEVICE, session->stream);
    }
    return judge_calls(session, error, 0);
}

static bool overwrite_arguments(pkb_session *session, uint32_t slot, uint32_t byte)
{
    const pkb_layout *layout = session->layout;
    int error = PKB_CUDA_SUCCESS;

    for (uint32_t i = 0; i < layout->argument_count && error == PKB_CUDA_SUCCESS; i++) {
        const pkb_argument *argument = &layout->arguments[i];
        if (!pkb_role_is_tensor(argument->role) || argument->bytes[layout->rank] == 0)
            continue;
        uint64_t address = pkb_world_argument_address(&session->world, slot, argument);
        error = session->runtime.fill_async((void *)(uintptr_t)address, (int)(byte & 0xff),
                                            argument->bytes[layout->rank], session->stream);
    }
    return judge_calls(session, error, 0);
}

typedef struct request { /* the page's, read once */
    uint32_t count, overwrite_byte;
    uint32_t slots[PKB_MAX_SLOTS];
    uint64_t delay_ns[PKB_MAX_SLOTS];
} request;

static bool read_request(request *out, pkb_session *session)
{
    const pkb_page *page = session->page;

    out->count = page->call_count;
    out->overwrite_byte = page->overwrite_byte;
    memcpy(out->slots, page->slots, sizeof out->slots);
    memcpy(out->delay_ns, page->delay_ns, sizeof out->delay_ns);
    if (out->count > PKB_MAX_SLOTS)
        return false;
    for (uint32_t i = 0; i < out->count; i++) {
        if (out->slots[i] >= session->layout->slot_count)
            return false;
    }
    return true;
}

/* One link of the chain: this rank's inputs, and outputs full of poison, appear on the stream just
 * before the call and vanish right after it, so a peer that comes too early or too late reads
 * something else, and what it writes too early is lost. */
static bool link_call(pkb_attempt *attempt, pkb_session *session, const request *asked,
                      uint32_t call, const pkb_call_args *args)
{
    const uint32_t slot = asked->slots[call];

    if (asked->delay_ns[call] > 0)
        pkb_clock_sleep_ns(asked->delay_ns[call]);
    return copy_arguments(session, slot, STAGING_TO_SLOT) &&
           call_attempt(attempt, session, call, args) &&
           copy_arguments(session, slot, SLOT_TO_STAGING) &&
           overwrite_arguments(session, slot, asked->overwrite_byte);
}

static void run(pkb_attempt *attempt, pkb_session *session, bool is_chain)
{
    static pkb_call_args args[PKB_MAX_SLOTS]; /* stays valid while the work is under way */
    request asked;
    bool is_well = true;

    if (!read_request(&asked, session)) {
        session->page->answer = PKB_ANSWER_RETURNED;
        snprintf(session->page->text, sizeof session->page->text, "malformed request");
        return;
    }
    for (uint32_t i = 0; i < asked.count; i++)
        pkb_world_run_args(&session->world, asked.slots[i], &args[i]);
    for (uint32_t i = 0; i < asked.count && is_well; i++)
        is_well = is_chain ? link_call(attempt, session, &asked, i, &args[i])
                           : call_attempt(attempt, session, i, &args[i]);
    if (is_well)
        synchronise(session, asked.count);
}

/* ---- CLAIM ---- */

static void claim(pkb_session *session)
{
    int error = PKB_CUDA_SUCCESS;

    if (session->device->claim != NULL)
        error = session->device->claim(session->stream);
    if (judge_calls(session, error, 0))
        synchronise(session, 0);
}

static bool needs_attempt(pkb_command command)
{
    return command != PKB_COMMAND_LOAD && command != PKB_COMMAND_EXIT &&
           command != PKB_COMMAND_NONE && command != PKB_COMMAND_VACATE;
}

void pkb_attempt_obey(pkb_attempt *attempt, pkb_session *session)
{
    pkb_page *page = session->page;
    const pkb_command command = (pkb_command)page->command;

    clear_answer(page);
    session->world.timeout_ns = page->timeout_ns;
    session->runtime.set_device(0); /* an attempt may leave another one current */
    if (attempt->run == NULL && needs_attempt(command)) {
        page->answer = PKB_ANSWER_NO_SYMBOL;
        snprintf(page->text, sizeof page->text, "nothing is loaded");
        return;
    }
    switch (command) {
    case PKB_COMMAND_LOAD:
        load(attempt, session);
        break;
    case PKB_COMMAND_SETUP:
        setup(attempt, session);
        break;
    case PKB_COMMAND_RUN:
        run(attempt, session, false);
        break;
    case PKB_COMMAND_CHAIN:
        run(attempt, session, true);
        break;
    case PKB_COMMAND_TEARDOWN:
        teardown(attempt, session);
        break;
    case PKB_COMMAND_CLAIM:
        claim(session);
        break;
    case PKB_COMMAND_VACATE:
        vacate(attempt, session);
        break;
    case PKB_COMMAND_NONE:
    case PKB_COMMAND_EXIT:
        break;
    }
    enter(page, PKB_PHASE_IDLE, 0);
}

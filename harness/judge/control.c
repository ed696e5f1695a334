/* SPDX-License-Identifier: Apache-2.0
 *
 * Requests and events; see control.h.
 */
#include "harness/judge/control.h"

#include <stdio.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"

pkb_code pkb_control_open(pkb_control *control, const char *work, uint32_t rank, pkb_error *err)
{
    char path[sizeof((struct sockaddr_un *)0)->sun_path];
    int length = snprintf(path, sizeof path, "%s/control.sock", work);
    pkb_code rc = PKB_OK;

    *control = (pkb_control){.fd = -1, .rank = rank};
    if (length < 0 || (size_t)length >= sizeof path)
        return pkb_error_set(err, PKB_ERR_USAGE, 0, "%s is too long for a socket's path", work);
    if ((rc = pkb_message_create(&control->message, err)) != PKB_OK ||
        (rc = pkb_socket_connect(&control->fd, path, 10 * PKB_NS_PER_S, err)) != PKB_OK)
        return rc;
    cJSON *hello = pkb_control_event("hello");
    cJSON_AddNumberToObject(hello, "pid", (double)getpid());
    return pkb_control_send(control, hello, err);
}

void pkb_control_close(pkb_control *control)
{
    if (control->fd >= 0)
        close(control->fd);
    control->fd = -1;
    pkb_message_free(control->message);
    control->message = NULL;
}

pkb_code pkb_control_receive(pkb_control *control, const pkb_watch *watch, cJSON **out,
                             pkb_error *err)
{
    pkb_code rc = PKB_OK;
    for (;;) {
        rc = pkb_message_receive(control->fd, control->message, 10 * PKB_WATCH_SLICE_NS, err);
        if (rc == PKB_OK)
            return pkb_json_parse(out, control->message->data, control->message->bytes,
                                  "a request of the evaluator", err);
        if (rc == PKB_ERR_CHILD)
            return pkb_error_set(err, PKB_ERR_INTERRUPTED, 0, "the evaluator is gone");
        if (rc != PKB_ERR_TIMEOUT)
            return rc;
        if ((rc = pkb_watch_check(watch, err)) != PKB_OK)
            return rc;
    }
}

cJSON *pkb_control_event(const char *name)
{
    cJSON *event = cJSON_CreateObject();
    cJSON_AddStringToObject(event, "event", name);
    return event;
}

pkb_code pkb_control_send(pkb_control *control, cJSON *event, pkb_error *err)
{
    cJSON_AddNumberToObject(event, "rank", control->rank);
    char *line = pkb_json_line(event);
    pkb_code rc = line == NULL ? pkb_error_set(err, PKB_ERR_MEMORY, 0, "out of memory for an event")
                               : pkb_message_send(control->fd, line, strlen(line), NULL, 0, err);
    cJSON_free(line);
    cJSON_Delete(event);
    return rc;
}

pkb_code pkb_control_progress(pkb_control *control, const char *size, const char *step,
                              pkb_error *err)
{
    cJSON *event = pkb_control_event("progress");
    cJSON_AddStringToObject(event, "size", size);
    cJSON_AddStringToObject(event, "step", step);
    return pkb_control_send(control, event, err);
}

void pkb_control_complain(pkb_control *control, const pkb_error *failure)
{
    if (control->fd < 0)
        return;
    cJSON *event = pkb_control_event("error");
    cJSON_AddStringToObject(event, "code", pkb_code_name(failure->code));
    if (failure->detail != 0)
        cJSON_AddNumberToObject(event, "detail", failure->detail);
    cJSON_AddStringToObject(event, "message", failure->message);
    pkb_control_send(control, event, NULL);
}

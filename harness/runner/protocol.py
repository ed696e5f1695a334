# SPDX-License-Identifier: Apache-2.0
"""Messages between judge and runner: one JSON object a packet, descriptors attached."""

import json
import os
import socket
import threading
import traceback
from collections.abc import Callable
from select import POLLRDHUP, poll

MAX_MESSAGE_BYTES = 192 * 1024
MAX_DESCRIPTORS = 8
MAX_TRACEBACK = 16 * 1024


class ProtocolError(RuntimeError):
    """A message is not what docs/protocol.md says; `code` goes into the answer."""

    def __init__(self, message: str, code: str = "message"):
        super().__init__(message)
        self.code = code


def send(channel: socket.socket, message: dict, descriptors: tuple[int, ...] = ()) -> None:
    data = json.dumps(message).encode()
    if len(data) > MAX_MESSAGE_BYTES:
        raise ProtocolError(f"a message of {len(data)} bytes is over {MAX_MESSAGE_BYTES}")
    if descriptors:
        socket.send_fds(channel, [data], list(descriptors))
    else:
        channel.sendall(data)


def receive(channel: socket.socket) -> tuple[dict, list[int]] | None:
    """The next message and its descriptors, which become the caller's; None at end of file."""
    data, descriptors, flags, _ = socket.recv_fds(
        channel, MAX_MESSAGE_BYTES, MAX_DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
    )
    if not data:
        return None
    try:
        return _message(data, flags), descriptors
    except ProtocolError:
        for descriptor in descriptors:
            os.close(descriptor)
        raise


def _message(data: bytes, flags: int) -> dict:
    if flags & (socket.MSG_TRUNC | socket.MSG_CTRUNC):
        raise ProtocolError("a message or its descriptors were cut off")
    try:
        message = json.loads(data)
    except ValueError as error:
        raise ProtocolError(f"a message is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise ProtocolError("a message is not a JSON object")
    return message


def failure(error: BaseException) -> dict:
    """The answer that reports an exception: one sentence, and the traceback for a log."""
    text = " ".join(str(error).split()) or type(error).__name__
    if not isinstance(error, ProtocolError | ValueError):
        text = f"{type(error).__name__}: {text}"
    return {
        "ok": False,
        "error": {
            "code": getattr(error, "code", "exception"),
            "message": text[:1000],
            "traceback": "".join(traceback.format_exception(error))[-MAX_TRACEBACK:],
        },
    }


def watch_end(channel: socket.socket, at_end: Callable[[], None]) -> None:
    """Calls `at_end` from a thread once the other side has closed, even while we compute or wait
    in a collective."""

    def wait() -> None:
        poller = poll()
        poller.register(channel.fileno(), POLLRDHUP)
        poller.poll()
        at_end()

    threading.Thread(target=wait, name="watch_end", daemon=True).start()

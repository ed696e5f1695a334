# SPDX-License-Identifier: Apache-2.0
"""The go/done page (harness/memory/page.h) as a ctypes structure, and the worker's side of it."""

import ctypes

from harness.runner.memory import library

MAX_SLOTS = 512

COMMAND_CLAIM, COMMAND_RUN, COMMAND_EXIT = 3, 4, 7
ANSWER_OK, ANSWER_RETURNED, ANSWER_EXCEPTION = 0, 2, 5


class Place(ctypes.Structure):
    """pkb_place"""

    _fields_ = (
        ("counter", ctypes.c_uint64),
        ("block", ctypes.c_uint32 * 3),
        ("thread", ctypes.c_uint32 * 3),
        ("line", ctypes.c_uint32),
        ("kernel", ctypes.c_char * 128),
        ("file", ctypes.c_char * 128),
    )


class Page(ctypes.Structure):
    """pkb_page; tests/python compares every offset with the C compiler's."""

    _fields_ = (
        ("go", ctypes.c_uint32),
        ("done", ctypes.c_uint32),
        ("command", ctypes.c_uint32),
        ("call_count", ctypes.c_uint32),
        ("slots", ctypes.c_uint32 * MAX_SLOTS),
        ("delay_ns", ctypes.c_uint64 * MAX_SLOTS),
        ("overwrite_byte", ctypes.c_uint32),
        ("timeout_ns", ctypes.c_uint64),
        ("answer", ctypes.c_uint32),
        ("phase", ctypes.c_uint32),
        ("phase_call", ctypes.c_uint32),
        ("return_value", ctypes.c_int32),
        ("cuda_error", ctypes.c_int32),
        ("text", ctypes.c_char * 512),
        ("fault_kind", ctypes.c_char * 32),
        ("fault", Place),
        ("waiting", Place),
    )


class Worker:
    """Obeys the page at `address` (mapped, of sizeof(Page) bytes or more)."""

    BYTES = ctypes.sizeof(Page)

    def __init__(self, address: int, spin: bool):
        self.page = Page.from_address(address)
        self._spin = spin
        self._wait_go = library().pkb_page_wait_go
        self._wait_go.argtypes = [
            ctypes.POINTER(Page),
            ctypes.c_uint32,
            ctypes.c_uint64,
            ctypes.c_bool,
        ]
        self._wait_go.restype = ctypes.c_uint32
        self._finish = library().pkb_page_finish
        self._finish.argtypes = [ctypes.POINTER(Page), ctypes.c_uint32]
        self._finish.restype = None
        self._last = self.page.go

    def ready(self) -> None:
        """From here on a change of `go` is a request; to be called before the judge is told."""
        self._last = self.page.go

    def wait(self, timeout_ns: int = 1_000_000_000) -> int:
        """Waits for the next request without holding the GIL. Returns its number for `finish`, or
        0 after `timeout_ns`."""
        number = self._wait_go(ctypes.byref(self.page), self._last, timeout_ns, self._spin)
        if number:
            self._last = number
        return number

    def finish(self, number: int, answer: int = ANSWER_OK, text: str = "") -> None:
        """Answers request `number`. `text` is one sentence, cut to what the page holds."""
        self.page.answer = answer
        self.page.text = text.encode("utf-8", "replace")[: Page.text.size - 1]
        self._finish(ctypes.byref(self.page), number)

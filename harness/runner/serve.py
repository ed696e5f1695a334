# SPDX-License-Identifier: Apache-2.0
"""The verb loop of a runner: one message in, one answer out; in a batch the page leads."""

import argparse
import gc
import os
import socket
from collections.abc import Callable

import torch

from harness.runner import page, protocol
from harness.runner.groups import Groups
from harness.runner.protocol import ProtocolError
from harness.runner.session import Session


def describe(device: str) -> dict[str, str | bool | int]:
    """What the reference runs on, as this process finds it now."""
    facts = {"torch": torch.__version__, "threads": torch.get_num_threads()}
    if device == "cuda":
        facts["cuda"] = str(torch.version.cuda)
        facts["nccl"] = ".".join(map(str, torch.cuda.nccl.version()))
        precise = torch.get_float32_matmul_precision() == "highest"
        facts["tf32"] = not precise or torch.backends.cudnn.allow_tf32
    return facts


class Server:
    """State of one runner's life: the process groups, and the size that is open."""

    def __init__(self, channel: socket.socket, options: argparse.Namespace):
        """`options`: rank, world, device, gpu, timeout (seconds for a collective)."""
        torch.set_num_threads(1)  # every rank is a process of its own
        gc.disable()  # never under the clock, but when a size is let go and before a batch
        gc.freeze()  # torch and all that is there stays: no collection has to look at it
        if options.device == "cuda":
            torch.cuda.set_device(options.gpu)
            torch.set_float32_matmul_precision("highest")  # no TF32: float32 means float32
            torch.backends.cudnn.allow_tf32 = False
        self.is_closed = False
        self._channel = channel
        self._options = options
        self._groups: Groups | None = None
        self._session: Session | None = None
        self._verbs = {
            "open": self._open,
            "draw": self._draw,
            "expect": self._expect,
            "batch": self._batch,
            "trim": self._trim,
            "release": self._release,
            "describe": self._describe,
            "close": self._close,
        }

    def serve_one(self) -> bool:
        """Handles one message; a failure is an answer, and the runner lives on. False at end."""
        after: Callable[[], None] | None = None
        fds: list[int] = []
        try:
            received = protocol.receive(self._channel)
            if received is None:
                return False
            request, fds = received
            answer, after = self._verb(request)(request, fds)
        except Exception as error:
            answer = protocol.failure(error)
        finally:
            for fd in fds:
                os.close(fd)
        protocol.send(self._channel, answer)
        if after is not None:
            after()
        return True

    def _verb(self, request: dict) -> Callable:
        verb = request.get("verb")
        if verb not in self._verbs:
            known = ", ".join(self._verbs)
            raise ProtocolError(f"there is no verb {verb!r}, only {known}", "verb")
        return self._verbs[verb]

    def _open(self, request: dict, fds: list[int]) -> tuple[dict, None]:
        self._drop()
        options = self._options
        session = Session(request, fds, options.rank, options.world, options.device)
        if self._groups is None:
            self._groups = Groups(
                options.rank, options.world, request["store"], options.timeout, options.device
            )
        session.connect(self._groups)
        self._session = session
        return {"ok": True}, None

    def _draw(self, request: dict, _: list[int]) -> tuple[dict, None]:
        session = self._opened()
        drawn = session.draw(request["entry"], request["trial"], request["family"])
        return {"ok": True, **drawn}, None

    def _expect(self, request: dict, _: list[int]) -> tuple[dict, None]:
        self._opened().expect(request["entry"])
        return {"ok": True}, None

    def _batch(self, request: dict, _: list[int]) -> tuple[dict, Callable[[], None]]:
        session = self._opened()
        run = session.batch(request["slots"], request["entries"])
        session.worker.ready()
        return {"ok": True}, lambda: self._obey(session, run)

    def _trim(self, request: dict, _: list[int]) -> tuple[dict, None]:
        self._opened().trim()
        return {"ok": True}, None

    def _release(self, request: dict, _: list[int]) -> tuple[dict, None]:
        self._drop()
        return {"ok": True}, None

    def _describe(self, request: dict, _: list[int]) -> tuple[dict, None]:
        return {"ok": True, "reference": describe(self._options.device)}, None

    def _drop(self) -> None:
        if self._session is not None:
            self._session.close()
        self._session = None
        gc.collect()  # a reference's module and its functions hold each other

    def _close(self, request: dict, _: list[int]) -> tuple[dict, None]:
        self.is_closed = True
        return {"ok": True}, None

    def _opened(self) -> Session:
        if self._session is None:
            raise ProtocolError("nothing is open", "not_open")
        return self._session

    def _obey(self, session: Session, run: Callable[[], None]) -> None:
        """Runs a batch at each go until EXIT. An exception ends the batch: the page says so at
        once, and a message with the details follows."""
        worker = session.worker
        while True:
            number = worker.wait()
            if number == 0:
                continue  # the socket's watcher ends us if the judge is gone
            if worker.page.command == page.COMMAND_EXIT:
                worker.finish(number)
                return
            try:
                session.claim() if worker.page.command == page.COMMAND_CLAIM else run()
            except Exception as error:
                answer = protocol.failure(error)
                worker.finish(number, page.ANSWER_EXCEPTION, answer["error"]["message"])
                protocol.send(self._channel, answer)
                return
            worker.finish(number)

"""The model in a process of its own, so that training never delays an answer.

The code that learns is loaded there alone.
"""

import itertools
import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any

from mercer.app.studio.engine import Snapshot, Told
from mercer.app.studio.opening import Grow, Open
from mercer.app.studio.refused import RefusedError

if TYPE_CHECKING:
    from mercer.app.tables.session import Session
    from mercer.judging.estimate import Interval

REPLY_SECONDS = 120.0
LOOK_SECONDS = 0.3  # between two looks whether somebody still waits
_NICER = 5  # the page comes first


class ProcessEngine:
    """A `ModelEngine` in another process, seen as if it were here.

    What it takes is that of `ModelEngine`; `opened` is called in the other process.
    """

    def __init__(
        self,
        opened: Open | None,
        told: Callable[[], Told],
        changed: Callable[[], None] = lambda: None,
        grow: Grow | None = None,
    ) -> None:
        self.snapshot = Snapshot()
        self.session: Session | None = None  # it is in the other process
        self._opened, self._told, self._changed = opened, told, changed
        self._grow = grow
        self._wake = threading.Event()
        self._stopping = False
        self._numbers = itertools.count()
        self._replies: dict[int, Any] = {}
        self._replied = threading.Condition()
        self._sending = threading.Lock()

    def start(self) -> None:
        """Start the process and the threads that talk to it."""
        context = get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=work,
            args=(theirs, self._opened, self._told(), self._grow),
            daemon=True,
        )
        self._process.start()
        theirs.close()
        self._threads = [
            threading.Thread(target=target, daemon=True)
            for target in (self._send_told, self._receive)
        ]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the process at once: it holds nothing that is not in the store."""
        self._stopping = True
        self._wake.set()
        self._process.terminate()
        self._process.join()
        for thread in self._threads:
            thread.join()
        self._pipe.close()

    def wake(self) -> None:
        """Take note that answers have changed."""
        self._wake.set()

    def why(self, row: int, n: int) -> list[tuple[int, int, float]]:
        """Return labelled rows that pull a row, the class pulled to, how strongly."""
        said: list[tuple[int, int, float]] = self._ask("why", row, n) or []
        return said

    def similar(self, row: int, n: int) -> list[int]:
        """Return the rows most similar to one, itself first; none without a kernel."""
        said: list[int] = self._ask("similar", row, n) or []
        return said

    def file(
        self,
        kind: str,
        names: Mapping[int, str],
        found: "Interval | None",
        tell: Callable[[str], None],
    ) -> bytes:
        """Return a file for what people have said so far, with names of classes."""
        made: bytes = self._ask("file", kind, names, found, tell=tell)
        return made

    def _ask(
        self, name: str, *arguments: Any, tell: Callable[[str], None] | None = None
    ) -> Any:
        """Call a method there and wait for its value; its stages are told.

        Where nobody is told, waiting has an end, and there may be no value.
        """
        if not self.snapshot.ready:
            return None
        number, stage = next(self._numbers), ""
        end = time.monotonic() + (REPLY_SECONDS if tell is None else math.inf)
        self._send((name, number, arguments))
        try:
            while time.monotonic() < end:
                with self._replied:
                    self._replied.wait_for(
                        lambda: number in self._replies, LOOK_SECONDS
                    )
                    kind, said = self._replies.pop(number, ("stage", stage))
                if isinstance(said, Exception):
                    raise said
                if kind == "reply":
                    return said
                if tell is None and self.snapshot.error:
                    return None
                if self.snapshot.error:
                    raise RefusedError(self.snapshot.error, 409)
                stage = said
                if tell is not None:
                    tell(stage)
            return None
        finally:
            self._send(("forget", number, ()))

    def _send(self, message: Any) -> None:
        with self._sending:
            try:
                self._pipe.send(message)
            except (OSError, ValueError):
                return  # it has ended, which _receive notices

    def _send_told(self) -> None:
        while True:
            self._wake.wait()
            if self._stopping:
                return
            self._wake.clear()
            self._send(("told", 0, self._told()))

    def _receive(self) -> None:
        while True:
            try:
                kind, number, value = self._pipe.recv()
            except (EOFError, OSError):
                if not self._stopping:
                    msg = (
                        "the model has ended; answers are kept. Start the studio again."
                    )
                    self.snapshot = replace(self.snapshot, error=msg)
                    with self._replied:
                        self._replied.notify_all()
                    self._changed()
                return
            if kind == "changes":
                self.snapshot = replace(self.snapshot, **value)
                self._changed()
            else:
                with self._replied:
                    self._replies[number] = kind, value
                    self._replied.notify_all()


def work(
    pipe: Connection,
    opened: Open | None,
    told: Told,
    grow: Grow | None = None,
) -> None:
    """Run a model until the other end of the pipe is closed.

    Only what changed in a snapshot is sent: the map of many points is large and seldom
    new.
    """
    from mercer._base.threads import using_threads
    from mercer.app.studio.model_engine import ModelEngine

    os.nice(_NICER)
    held, sending, sent = [told], threading.Lock(), [Snapshot()]

    def tell(message: Any) -> None:
        with sending:
            pipe.send(message)

    def changed() -> None:
        now, before = engine.snapshot, sent[0]
        names = Snapshot.__dataclass_fields__
        new = {
            name: getattr(now, name)
            for name in names
            if getattr(now, name) is not getattr(before, name)
        }
        sent[0] = now
        tell(("changes", 0, new))

    wanted = set[int]()  # numbers of what somebody waits for

    def answer(number: int, name: str, *arguments: Any) -> None:
        def at(stage: str) -> None:
            if number not in wanted:
                raise InterruptedError
            tell(("stage", number, stage))

        told = (at,) if name == "file" else ()
        try:
            value = getattr(engine, name)(*arguments, *told)
        except InterruptedError:
            return
        except MemoryError as error:
            value = error
        except Exception as error:  # said to the person, as the model goes on
            value = RefusedError(f"{type(error).__name__}: {error}", 409)
        if number in wanted:
            tell(("reply", number, value))

    engine = ModelEngine(opened, lambda: held[0], changed, grow)
    try:
        with using_threads(1):
            engine.start()
            while True:
                name, number, arguments = pipe.recv()
                if name == "told":
                    held[0] = arguments
                    engine.wake()
                elif name == "forget":
                    wanted.discard(number)
                else:
                    wanted.add(number)
                    what = (number, name, *arguments)
                    threading.Thread(target=answer, args=what, daemon=True).start()
    except (EOFError, OSError, KeyboardInterrupt):
        os._exit(0)  # whatever is being computed, nobody waits for it

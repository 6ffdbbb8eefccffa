"""Start the studio and print where it is."""

import socket
import threading
from collections.abc import Callable
from typing import Any

import uvicorn

from mercer.app.studio.guard import LOOPBACK
from mercer.app.studio.server import make_app
from mercer.app.studio.service import Studio

EVERYWHERE = ("0.0.0.0", "::")
# Of the range kept for documentation: nothing is ever sent there.
_FAR_AWAY = ("192.0.2.1", 9)


def own_addresses() -> tuple[str, ...]:
    """Return the names of this machine for others, the one to print first."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect(_FAR_AWAY)  # chooses an interface, and sends nothing
            first = [str(asking.getsockname()[0])]
        except OSError:
            first = []
    name = socket.gethostname()
    try:
        more = [str(found[4][0]) for found in socket.getaddrinfo(name, None)]
    except OSError:
        more = []
    return tuple(dict.fromkeys([*first, name, *more]))


class _Server(uvicorn.Server):
    """A server that ends the streams of its pages before it stops.

    They would be cut off after a second otherwise, with a page of errors.
    """

    def __init__(self, config: uvicorn.Config, studio: Studio) -> None:
        super().__init__(config)
        self._studio = studio

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._studio.is_over = True
        self._studio.announce()
        await super().shutdown(sockets)


class Running:
    """A studio that listens; in a thread of its own if asked.

    Parameters
    ----------
    studio : Studio
    host : str, default="127.0.0.1"
        Address to listen on.
    port : int, default=0
        0 takes a free one.
    names : tuple of str, default=()
        Further names by which browsers may address it.
    token : str, optional
        By default that of the store: links stay good when the studio starts again.
    guard : dict
        Passed on to `Guard`.
    """

    def __init__(
        self,
        studio: Studio,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        names: tuple[str, ...] = (),
        token: str | None = None,
        **guard: Any,
    ) -> None:
        self.studio = studio
        self.token = token or studio.store.token
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.socket(family)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.socket.bind((host, port))
        self.port = self.socket.getsockname()[1]
        own = own_addresses() if host in EVERYWHERE else (host,)
        shown = tuple(f"[{one}]" if ":" in one else one for one in own)
        self.address = f"http://{shown[0]}:{self.port}"
        hosts = (*LOOPBACK, *shown, *names)
        app = make_app(studio, self.token, hosts=hosts, **guard)
        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=1,
        )
        self.server = _Server(config, studio)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Where the page is. The part after # is never sent, so no log can hold it."""
        return f"{self.address}/#token={self.token}"

    def serve(self, ready: Callable[[], None] = lambda: None) -> None:
        """Work until interrupted."""
        self.studio.engine.start()
        self.socket.listen(128)
        ready()
        try:
            self.server.run(sockets=[self.socket])
        finally:
            self.close()

    def start(self) -> None:
        """Work in the background."""
        self.studio.engine.start()
        self.socket.listen(128)
        self._thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True
        )
        self._thread.start()

    def stop(self) -> None:
        """End what `start` began."""
        self.server.should_exit = True
        if self._thread is not None:
            self._thread.join()
        self.close()

    def close(self) -> None:
        """Let go of the model, the store and the port."""
        self.studio.engine.stop()
        self.studio.store.close()
        self.socket.close()

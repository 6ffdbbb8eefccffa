"""Who may talk to the studio, how much, and what a browser may do with its pages."""

import asyncio
import base64
import binascii
import hmac
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from mercer.app.studio.refused import RefusedError

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MOST_BODY = 64 * 1024
# Whole tables come here: files, and all tasks of a project of Label Studio.
LARGE = ("/api/import", "/api/bulk", "/ml/predict")
BODY_SECONDS = 60.0
MOST_IMPORT = 64 * 1024 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' blob: data:; media-src blob:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors {ancestors}"
)


class Bucket:
    """Lets a number of requests through at once, and then a fixed number per second."""

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, name: str, now: float | None = None) -> bool:
        """Tell whether one more request of this name is within the limit.

        Examples
        --------
        >>> bucket = Bucket(rate=1.0, burst=2.0)
        >>> [bucket.take("ann", now=0.0) for _ in range(3)], bucket.take("ann", now=1.0)
        ([True, True, False], True)
        """
        now = time.monotonic() if now is None else now
        if len(self._left) > 10_000:
            self._left.clear()
        left, since = self._left.get(name, (self.burst, now))
        left = min(self.burst, left + (now - since) * self.rate)
        allowed = left >= 1
        self._left[name] = (left - allowed, now)
        return allowed


class Guard:
    """Checks host, origin, token, size and rate of requests, then passes them on.

    The token travels in a header that only the page sets. There are no cookies, so a
    page of another site has no authority to borrow; that the Host is one of ours
    keeps out names that were rebound to this machine, and the Origin, where a browser
    sends it, must be the page's own.

    The studio may be addressed by the names `hosts`, without port; `framed` means that
    other pages on this machine, such as a notebook, may show it. One person may send
    `rate` requests per second for long, and a body must have come within `patience`
    seconds.
    """

    def __init__(
        self,
        app: Any,
        *,
        token: str,
        hosts: tuple[str, ...] = LOOPBACK,
        framed: bool = False,
        rate: float = 60.0,
        patience: float = BODY_SECONDS,
    ) -> None:
        self.patience = patience
        self.app, self.token, self.hosts = app, token, hosts
        ancestors = "http://localhost:* http://127.0.0.1:*" if framed else "'none'"
        self.headers = {
            "Content-Security-Policy": POLICY.format(ancestors=ancestors),
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
        if not framed:
            self.headers["X-Frame-Options"] = "DENY"
        self._requests = Bucket(rate, 4 * rate)
        self._failures = Bucket(0.5, 20)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or answer why not."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is not None:
            status, message = refusal
            response = JSONResponse({"error": message}, status_code=status)
            await response(scope, receive, self._with_headers(send))
            return
        most = MOST_IMPORT if scope["path"].startswith(LARGE) else MOST_BODY
        await self.app(
            scope, _limited(receive, most, self.patience), self._with_headers(send)
        )

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if host.rpartition(":")[0] not in self.hosts and host not in self.hosts:
            return 421, "this host name is not allowed; pass it with --name."
        origin = headers.get("origin")
        if origin is not None and origin.partition("://")[2] != host:
            return 403, "the request comes from another site."
        if not scope["path"].startswith(("/api/", "/ml/")):
            return None
        client = (scope.get("client") or ("unknown", 0))[0]
        if not self._is_known(headers):
            if not self._failures.take(client):
                return 429, "too many wrong tokens; wait a minute."
            return 401, "the token is missing or wrong; open the link that was printed."
        if not self._requests.take(f"{client} {headers.get('x-mercer-who', '')[:64]}"):
            return 429, "too many requests; slow down."
        if scope["method"] == "POST":
            kind = headers.get("content-type", "").partition(";")[0].strip()
            if kind != "application/json":
                return 415, "the body must be JSON."
        return None

    def _is_known(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "basic":  # Label Studio: the token as password
            given = _password(given)
        return hmac.compare_digest(given.encode(), self.token.encode())

    def _with_headers(self, send: Send) -> Send:
        async def sending(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                extra = [(k.encode(), v.encode()) for k, v in self.headers.items()]
                message["headers"] = [*message.get("headers", []), *extra]
            await send(message)

        return sending


def _limited(receive: Receive, most: int, seconds: float) -> Receive:
    seen, has_ended, end = 0, False, time.monotonic() + seconds

    async def receiving() -> MutableMapping[str, Any]:
        nonlocal seen, has_ended
        if has_ended:  # what comes now is the end of the connection
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), end - time.monotonic())
        except TimeoutError as error:
            msg = "the request did not come to its end; send it again."
            raise RefusedError(msg, 408) from error
        has_ended = not message.get("more_body", False)
        seen += len(message.get("body", b""))
        if seen > most:
            msg = "the request is too large."
            raise RefusedError(msg, 413)
        return message

    return receiving


def _password(encoded: str) -> str:
    try:
        return base64.b64decode(encoded).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""

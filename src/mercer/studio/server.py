"""The studio over HTTP: what the page may ask, and what it gets."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from importlib.resources import files
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from mercer.studio.guard import Guard, TooLargeError
from mercer.studio.hub import RefusedError, Studio

KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
HEARTBEAT_SECONDS = 15.0

Handler = Callable[[Request], Awaitable[Response]]


def make_app(studio: Studio, token: str, **guard: Any) -> Guard:
    """Return the ASGI application.

    Parameters
    ----------
    studio : Studio
    token : str
        Without it nothing but the empty page is served.
    guard : dict
        Passed on to `Guard`.
    """
    app = Starlette(
        routes=[
            *_pages(),
            Route("/api/state", _get(lambda request: studio.state())),
            Route("/api/events", _events(studio)),
            Route("/api/item/{row:int}", _get(lambda r: _item(studio, r))),
            Route("/api/image/{row:int}", _image(studio)),
            Route("/api/why/{row:int}", _get(lambda r: _why(studio, r))),
            *(
                Route(f"/api/{name}", _post(studio, act), methods=["POST"])
                for name, act in ACTS.items()
            ),
        ],
        exception_handlers={
            RefusedError: _refused,
            TooLargeError: _too_large,
            SQLAlchemyError: _not_saved,
        },
    )
    return Guard(app, token=token, **guard)


def _next(studio: Studio, said: dict[str, Any]) -> Any:
    return {"question": studio.next(said["who"])}


def _answer(studio: Studio, said: dict[str, Any]) -> Any:
    row = studio.check_row(said.get("row"), said.get("data"))
    label = said.get("label")
    if type(label) is not int:
        msg = "label must be the number of a class."
        raise RefusedError(msg)
    return {"question": studio.answer(said["who"], said["token"], row, label)}


def _skip(studio: Studio, said: dict[str, Any]) -> Any:
    row = studio.check_row(said.get("row"), said.get("data"))
    return {"question": studio.skip(said["who"], said["token"], row)}


def _undo(studio: Studio, said: dict[str, Any]) -> Any:
    return {"question": studio.undo(said["who"], said["token"])}


def _reask(studio: Studio, said: dict[str, Any]) -> Any:
    studio.reask(said["who"], said["token"])
    return {}


def _class(studio: Studio, said: dict[str, Any]) -> Any:
    name = str(said.get("name", ""))
    return {"label": studio.add_class(said["who"], said["token"], name)}


def _rename(studio: Studio, said: dict[str, Any]) -> Any:
    label, name = said.get("label"), str(said.get("name", ""))
    if type(label) is not int:
        msg = "label must be the number of a class."
        raise RefusedError(msg)
    studio.rename_class(said["who"], said["token"], label, name)
    return {}


Act = Callable[[Studio, dict[str, Any]], Any]
ACTS: dict[str, Act] = {
    "next": _next,
    "answer": _answer,
    "skip": _skip,
    "undo": _undo,
    "reask": _reask,
    "class": _class,
    "rename": _rename,
}


def _post(studio: Studio, act: Act) -> Handler:
    async def handle(request: Request) -> Response:
        said = await _body(request)
        return JSONResponse(await run_in_threadpool(act, studio, said))

    return handle


async def _body(request: Request) -> dict[str, Any]:
    try:
        said = json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        msg = "the body is no JSON."
        raise RefusedError(msg) from error
    if not isinstance(said, dict):
        msg = "the body must be an object."
        raise RefusedError(msg)
    for name in ("who", "token"):
        value = said.setdefault(name, "" if name == "who" else None)
        is_needed = name == "who" or request.url.path != "/api/next"
        if is_needed and not (isinstance(value, str) and 0 < len(value) <= 64):
            msg = f"{name} must be a text of 1 to 64 characters."
            raise RefusedError(msg)
    return said


def _get(read: Callable[[Request], Any]) -> Handler:
    async def handle(request: Request) -> Response:
        return JSONResponse(await run_in_threadpool(read, request))

    return handle


def _row(studio: Studio, request: Request) -> int:
    return studio.check_row(
        request.path_params["row"], request.query_params.get("data")
    )


def _item(studio: Studio, request: Request) -> Any:
    return studio.question(_row(studio, request), "picked")


def _why(studio: Studio, request: Request) -> Any:
    return studio.why(_row(studio, request))


def _image(studio: Studio) -> Handler:
    async def handle(request: Request) -> Response:
        row = _row(studio, request)
        picture = await run_in_threadpool(studio.items.image, row)
        return Response(picture, media_type="image/png")

    return handle


def _events(studio: Studio) -> Handler:
    """Stream a line whenever something has changed."""

    def wait(seen: int) -> int:
        with studio.changed:
            studio.changed.wait_for(
                lambda: studio.snapshot.version != seen, HEARTBEAT_SECONDS
            )
        return studio.snapshot.version

    async def stream(request: Request) -> AsyncIterator[str]:
        seen = -1
        while not await request.is_disconnected():
            seen = await asyncio.to_thread(wait, seen)
            yield f"data: {seen}\n\n"

    async def handle(request: Request) -> Response:
        return StreamingResponse(stream(request), media_type="text/event-stream")

    return handle


def _pages() -> list[Route]:
    """Serve the files of the page, read once: no path of a client is opened."""
    routes = []
    for file in files("mercer.studio").joinpath("static").iterdir():
        ending = "." + file.name.rpartition(".")[2]
        if ending in KINDS:
            body = file.read_bytes()
            path = "/" if file.name == "index.html" else f"/{file.name}"
            routes.append(Route(path, _page(body, KINDS[ending])))
    return routes


def _page(body: bytes, kind: str) -> Handler:
    async def handle(request: Request) -> Response:
        return Response(body, media_type=kind)

    return handle


async def _refused(request: Request, error: Exception) -> Response:
    status = error.status if isinstance(error, RefusedError) else 400
    return JSONResponse({"error": str(error)}, status_code=status)


async def _too_large(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "the request is too large."}, status_code=413)


async def _not_saved(request: Request, error: Exception) -> Response:
    reason = str(getattr(error, "orig", None) or error).splitlines()[0]
    message = f"not saved: {reason}. The answer is still here; try again."
    return JSONResponse({"error": message}, status_code=507)

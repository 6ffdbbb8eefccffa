"""The studio over HTTP: what the page may ask, and what it gets."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from importlib.resources import files
from typing import Any

import numpy as np
from sqlalchemy.exc import SQLAlchemyError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from mercer._base.memory import give_back
from mercer.app.studio import backend, views
from mercer.app.studio.actions import ACTS, Act, check_object, check_said
from mercer.app.studio.exports import EXPORTS
from mercer.app.studio.guard import Guard
from mercer.app.studio.interop import IMPORTS, take_in
from mercer.app.studio.items import FULL_SIDE, IMAGE_SIDE
from mercer.app.studio.learned_files import learned_file
from mercer.app.studio.media import sound_at
from mercer.app.studio.parsing import parsed, whole
from mercer.app.studio.queue import ahead
from mercer.app.studio.reasons import why
from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio
from mercer.app.studio.table_view import (
    Where,
    blind_rows,
    certainty,
    predictions,
    table_page,
)
from mercer.app.studio.worker import LOOK_SECONDS
from mercer.app.studio.written_files import FILES

KINDS = {".html": "text/html", ".js": "text/javascript", ".css": "text/css"}
HEARTBEAT_SECONDS = 15.0

# What Label Studio reads to see whether its backend is there.
_HEALTH = {"status": "UP", "model_class": "UnifiedKernelMachine"}


def make_app(studio: Studio, token: str, **guard: Any) -> Guard:
    """Return the ASGI application.

    Without the token nothing but the empty page is served; other keywords are passed on
    to `Guard`.
    """
    gets: dict[str, Callable[[Request], Any]] = {
        "state": lambda request: studio.state(),
        "accuracy": lambda request: views.accuracy(studio),
        "review": lambda request: views.review(studio),
        "table": partial(_table, studio),
        "item/{row}": partial(_item, studio),
        "ahead": lambda r: ahead(studio, r.query_params.get("who", "")),
        "history": lambda r: views.history(studio, r.query_params.get("who", "")),
        "cell/{row}": partial(_cell, studio),
        "why/{row}": lambda r: why(studio, _row(studio, r)),
    }
    app = Starlette(
        routes=[
            *_pages(),
            *(Route(f"/api/{path}", _get(read)) for path, read in gets.items()),
            *(
                _post(f"/api/{name}", studio, act, partial(check_said, needs_token=n))
                for name, (act, n) in ACTS.items()
            ),
            Route("/api/events", partial(_events, studio)),
            Route("/api/image/{row}", partial(_image, studio)),
            Route("/api/sound/{row}", partial(_sound, studio)),
            Route("/api/map", lambda request: _binary(_map(studio))),
            Route("/api/colours", lambda request: _binary(_colours(studio))),
            Route("/api/export/{kind}", partial(_export, studio)),
            Route("/api/import/{kind}", partial(_import, studio), methods=["POST"]),
            Route("/ml/health", _get(lambda request: _HEALTH)),
            _post("/ml/setup", studio, backend.version, check_object),
            _post("/ml/predict", studio, backend.predict, check_object),
            _post("/ml/webhook", studio, backend.webhook, check_object),
        ],
        exception_handlers={RefusedError: _refused, SQLAlchemyError: _not_saved},
    )
    return Guard(app, token=token, **guard)


def _post(
    path: str, studio: Studio, act: Act, check: Callable[[Any], dict[str, Any]]
) -> Route:
    async def handle(request: Request) -> Response:
        said = check(parsed(await request.body()))
        return JSONResponse(await run_in_threadpool(act, studio, said) or {})

    return Route(path, handle, methods=["POST"])


def _get(read: Callable[[Request], Any]) -> Callable[[Request], Response]:
    return lambda request: JSONResponse(read(request))


def _binary(body: bytes) -> Response:
    return Response(body, media_type="application/octet-stream")


def _row(studio: Studio, request: Request) -> int:
    row = whole(request.path_params["row"])
    return studio.check_row(row, request.query_params.get("data"))


def _item(studio: Studio, request: Request) -> Any:
    """Return a row that a person opened; one that checks the model still does."""
    row = _row(studio, request)
    purpose = "check" if row in blind_rows(studio) else "picked"
    return studio.question(row, purpose)


def _table(studio: Studio, request: Request) -> Any:
    asked = dict(request.query_params)
    page = whole(asked.pop("page", "0"))
    if page is None:
        msg = "page must be a number."
        raise RefusedError(msg)
    return table_page(studio, Where.read(asked, studio.items.columns), page)


def _cell(studio: Studio, request: Request) -> Any:
    row, column = _row(studio, request), request.query_params.get("column", "")
    if column not in studio.items.columns:
        msg = f"there is no column {column[:100]!r} to show."
        raise RefusedError(msg, 404)
    return {"value": studio.items.cell(row, column)}


def _image(studio: Studio, request: Request) -> Response:
    row = _row(studio, request)
    if not studio.items.has_images:
        msg = f"{studio.items.table.source} has no images."
        raise RefusedError(msg, 404)
    is_full = request.query_params.get("size") == "full"
    picture = studio.items.image(row, FULL_SIDE if is_full else IMAGE_SIDE)
    return Response(picture, media_type="image/png")


def _sound(studio: Studio, request: Request) -> Response:
    row, column = _row(studio, request), request.query_params.get("column", "")
    found = sound_at(studio.items, row, column)
    if found is None:
        msg = "there is no such sound file in the folder of the table."
        raise RefusedError(msg, 404)
    source, kind = found
    if isinstance(source, bytes):
        return Response(source, media_type=kind)
    return FileResponse(source, media_type=kind)


def _map(studio: Studio) -> bytes:
    """Return the places of all rows as pairs of little-endian float32."""
    xy = studio.snapshot.map
    return b"" if xy is None else np.asarray(xy, dtype="<f4").tobytes()


def _colours(studio: Studio) -> bytes:
    """Return two bytes for each row: its class or 255, and how sure that is."""
    codes, _ = studio.labels()
    best = np.where(codes >= 0, codes, predictions(studio.snapshot, len(codes)))
    best[(best < 0) | (best > 255)] = 255
    # 255 only where a person or the file said so
    sure = np.where(codes >= 0, 255, 254 * certainty(studio.snapshot, len(codes)))
    return np.column_stack([best, sure]).astype(np.uint8).tobytes()


async def _export(studio: Studio, request: Request) -> Response:
    kind = request.path_params["kind"]
    if kind in FILES:
        name, media = FILES[kind]
        body = await _learned(studio, kind, request)
    elif kind in EXPORTS:
        name, media, write = EXPORTS[kind]
        body = await run_in_threadpool(write, studio)
        await run_in_threadpool(give_back)
    else:
        msg = f"export one of {', '.join([*EXPORTS, *FILES])}."
        raise RefusedError(msg, 404)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(body, media_type=media, headers=headers)


async def _learned(studio: Studio, kind: str, request: Request) -> bytes:
    """Learn for an export, for as long as the page waits for it."""
    await request.body()  # what comes after it is the end of the connection
    gone = threading.Event()
    work = asyncio.ensure_future(
        run_in_threadpool(learned_file, studio, kind, lambda: not gone.is_set())
    )
    while not work.done():
        await asyncio.wait({work}, timeout=LOOK_SECONDS)
        if await request.is_disconnected():
            gone.set()
    return await work


async def _import(studio: Studio, request: Request) -> Response:
    kind = request.path_params["kind"]
    if kind not in IMPORTS:
        msg = f"import one of {', '.join(IMPORTS)}."
        raise RefusedError(msg, 404)
    body = await request.body()
    read = IMPORTS[kind]
    taken = await run_in_threadpool(lambda: take_in(studio, read(body)))
    return JSONResponse(taken)


def _events(studio: Studio, request: Request) -> Response:
    """Stream a line whenever something has changed, and now and then without cause."""

    async def stream() -> AsyncIterator[str]:
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def hear() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(changed.set)

        studio.listeners.add(hear)
        try:
            while not (studio.is_over or await request.is_disconnected()):
                changed.clear()
                yield f"data: {studio.snapshot.version} {studio.store.ledger.seq}\n\n"
                with suppress(TimeoutError):
                    await asyncio.wait_for(changed.wait(), HEARTBEAT_SECONDS)
        finally:
            studio.listeners.discard(hear)

    return StreamingResponse(stream(), media_type="text/event-stream")


def _pages() -> list[Route]:
    """Serve the files of the page, read once: no path of a client is opened."""
    routes = []
    for file in files("mercer.app.studio").joinpath("static").iterdir():
        ending = "." + file.name.rpartition(".")[2]
        if ending in KINDS:
            body = file.read_bytes()
            path = "/" if file.name == "index.html" else f"/{file.name}"
            routes.append(Route(path, partial(_page, body, KINDS[ending])))
    return routes


def _page(body: bytes, kind: str, request: Request) -> Response:
    return Response(body, media_type=kind)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, RefusedError)
    said = {"error": str(error), "label": error.label}
    headers = {"Connection": "close"} if error.status == 408 else None
    return JSONResponse(said, status_code=error.status, headers=headers)


async def _not_saved(request: Request, error: Exception) -> Response:
    reason = str(getattr(error, "orig", None) or error).splitlines()[0]
    message = f"not saved: {reason}. The answer is still here; try again."
    return JSONResponse({"error": message}, status_code=507)

"""Report and model of the present labels, from the model behind the page."""

import time
from collections.abc import Callable

import numpy as np

from mercer.app.studio.refused import RefusedError
from mercer.app.studio.service import Studio
from mercer.app.studio.views import curve_of
from mercer.app.studio.worker import LOOK_SECONDS


def learned_file(
    studio: Studio, kind: str, is_wanted: Callable[[], bool] = lambda: True
) -> bytes:
    """Return the model or the report that `mercer learn` writes.

    They are made where the model is, which has learned already. The stage of the work
    is in `Studio.exporting` meanwhile, and it ends once it is not wanted any more.
    """
    codes = studio.told().codes
    if studio.votes is None and len(np.unique(codes[codes >= 0])) < 2:
        msg = (
            "label rows of two classes first; with one class there is nothing to learn."
        )
        raise RefusedError(msg, 409)

    def tell(stage: str) -> None:
        if studio.is_over or not is_wanted():
            msg = "given up."
            raise RefusedError(msg, 409)
        if stage != studio.exporting:
            studio.exporting = stage
            studio.announce()

    try:
        while not studio.snapshot.ready and not studio.snapshot.error:
            tell(studio.snapshot.stage)
            time.sleep(LOOK_SECONDS)
        if studio.snapshot.error:
            raise RefusedError(studio.snapshot.error, 409)
        curve = curve_of(studio)
        found = None if curve is None else curve.at(curve.now)
        names = dict(studio.store.ledger.classes)
        return studio.engine.file(kind, names, found, tell)
    except MemoryError as error:
        msg = "there is not enough memory to make this file."
        raise RefusedError(msg, 507) from error
    finally:
        studio.exporting = ""

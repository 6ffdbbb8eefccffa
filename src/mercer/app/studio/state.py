"""What the page shows around a question."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mercer.app.studio.classes import without_sizes

if TYPE_CHECKING:
    from mercer.app.studio.service import Studio


def state_of(studio: "Studio") -> dict[str, Any]:
    """Return what the page shows around the question."""
    studio.store.sync()
    snapshot, ledger = studio.snapshot, studio.store.ledger
    codes, _ = studio.labels()
    counts = np.bincount(codes[codes >= 0], minlength=1)
    sizes = {} if without_sizes(studio) else studio.class_sizes
    return {
        "data": studio.items.fingerprint,
        "source": studio.items.table.source,
        "rows": len(studio.items),
        "images": studio.items.has_images,
        "lines": studio.items.lines,
        "names": studio.items.names,
        "labelled": int((codes >= 0).sum()),
        "skipped": len(ledger.skips),
        "classes": [
            {
                "label": label,
                "name": name,
                "count": int(counts[label]) if label < len(counts) else 0,
                "size": sizes.get(label),
                "said": ledger.sizes.get(label),
                **ledger.looks.get(label, {}),
            }
            for label, name in sorted(ledger.classes.items(), key=ledger.place_of)
        ],
        "guide": ledger.guide,
        "goal": ledger.goal,
        "people": ledger.people(),
        "version": snapshot.version,
        "seq": ledger.seq,
        "map": snapshot.map_version,
        "doubts": sum(
            not ledger.is_confirmed(studio.items.keys[row])
            for row, _, _ in snapshot.suspicious
        )
        + len(ledger.disagreements()),
        "sources": len(studio.items.task.sources),
        "notices": notices_of(studio),
        "stage": snapshot.stage,
        "exporting": studio.exporting,
        "error": snapshot.error,
        "trained": snapshot.proba is not None,
        "model_labels": snapshot.n_labels,
    }


def notices_of(studio: "Studio") -> list[str]:
    """Return what a person should know about the table and the store."""
    return [
        *studio.changes,
        *studio.items.changed_on_disk(),
        *without_sizes(studio),
        *studio.snapshot.notes,
    ]

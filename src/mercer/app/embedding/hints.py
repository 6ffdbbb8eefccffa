"""Hints that embeddings could help, where nobody asked for them."""

from importlib.util import find_spec

from mercer.app.embedding.embedder import embedded_name
from mercer.app.embedding.file_cells import holds_images, holds_sounds
from mercer.app.embedding.models import LIGHT, USUAL
from mercer.app.tables.columns import ngrams_of
from mercer.app.tables.table import Table


def hints(table: Table, texts: list[str]) -> tuple[str, ...]:
    """Return what to say of columns of texts and images that are not embedded.

    The columns `texts` hold texts.
    """
    said = []
    paths = [c for c in table.frame.columns if files_of(table, c)[0]]
    made = {embedded_name(c) for c in table.columns}
    given = [c for c in table.vectors if c not in made and c not in table.images]
    if given and texts:
        said.append(
            f"Column {given[0]!r} holds vectors, which new rows must bring as well. If "
            f"they are embeddings of {texts[0]!r}, leave them out (--drop) and pass "
            f"--embed {texts[0]!r}: the model then needs the texts alone."
        )
    for name in [c for c in texts if c not in paths and not given][:1]:
        how = "" if find_spec(LIGHT) else ' (pip install "mercer[embed]")'
        parts, asked = "words", f"--embed {name!r}{how}, in Python embed={name!r}"
        if ngrams_of(table.frame[name])["analyzer"] != "word":
            parts = "characters"
            asked = f"--embed '{name}=MODEL' with a model of its language"
        said.append(
            f"Column {name!r} is compared by its {parts}. To compare texts by meaning "
            f"as well, pass {asked}; docs/guides/texts.md shows what that brings."
        )
    if paths:
        what, how = files_of(table, paths[0])
        said.append(
            f"Column {paths[0]!r} holds paths of {what}, and only their names are "
            f"compared. To compare the {what}, {how}."
        )
    if "sound" in table.images and "sound" in table.vectors:
        said.append(
            "Recordings are compared by the loudness of their pitches. To compare what "
            f"is heard, {_sounds('sound')}."
        )
    if "image" in table.images and "image" in table.vectors:
        said.append(
            "Images are compared pixel by pixel, at a small size. To compare what they "
            f"show, {_images('image')}."
        )
    return tuple(said)


def files_of(table: Table, column: str) -> tuple[str, str]:
    """Return what the paths in a column lead to, and how to compare that.

    Both are "" for columns without paths.
    """
    cells = table.frame[column].head(100).tolist()
    if any(isinstance(c, str) for c in cells):
        if holds_images(cells):
            return "images", _images(column)
        if holds_sounds(cells):
            return "recordings", _sounds(column)
    return "", ""


def _sounds(column: str) -> str:
    return (
        f"pass --embed '{column}=MODEL' (a model of sound of transformers, such as "
        f'{USUAL["sound"]}: pip install "mercer[sound]", then mercer fetch)'
    )


def _images(column: str) -> str:
    return (
        f"pass --embed {column!r} (a vision model, such as {USUAL['image']}, 88 MB: "
        f'pip install "mercer[images]", then mercer fetch {USUAL["image"]})'
    )

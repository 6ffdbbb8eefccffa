"""The page: safe, whole, and readable by itself."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from mercer.report.page import render
from mercer.report.story import (
    Bin,
    Contestant,
    Fact,
    Map,
    Picture,
    Quality,
    Row,
    Story,
)
from mercer.report.svg import png_uri

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
VOID = {"meta", "img", "br", "line", "circle", "rect", "image"}


def story(name: str = "cat") -> Story:
    """Return a small story in which every word from the table is `name`."""
    rng = np.random.default_rng(0)
    row = Row(name, name, name, 0.6, name, 0.3, name)
    ours = Contestant("Mercer", 0.9, 0.8, 0.95, 0.9, 0.0, -0.05, 0.05)
    theirs = Contestant("random forest", 0.7, 0.6, 0.8, 0.7, 0.2, 0.1, 0.3)
    return Story(
        source=name,
        target=name,
        made="today",
        n_rows=100,
        classes=(name, "dog"),
        n_given=np.array([6, 4]),
        n_predicted=np.array([60, 40]),
        n_pairs=0,
        quality=Quality(
            contestants=(ours, theirs),
            bins=(Bin(0.8, 0.7, 0.5, 0.9, 10),),
            calibration_error=0.1,
            confusion=np.array([[5.0, 1.0], [0.5, 3.5]]),
            n_tested=10,
            n_splits=5,
            n_repeats=2,
            doubtful=(row,),
        ),
        next_rows=(row, row),
        map=Map(
            rng.standard_normal((9, 2)),
            np.arange(9) % 2,
            np.arange(9) < 3,
            tuple(name for _ in range(9)),
        ),
        picture=Picture(np.eye(6), np.array([0, 0, 0, 1, 1, 1])),
        values=np.arange(4.0),
        weights=np.array([4.0, 3.0, 0.0, 1.0]),
        choices=((name, 0.7), ("linear", 0.3)),
        columns=((name, name, name, 3),),
        facts=(Fact(name, name, name, name),),
        warnings=(name,),
        memory=name,
    )


class Reader(HTMLParser):
    """Collects tags and checks that they close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def test_tags_close_in_order_and_ids_are_unique() -> None:
    tags = read(render(story())).tags
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = {attrs["href"] for tag, attrs in tags if tag == "a"}
    assert targets <= {f"#{name}" for name in ids}


def test_nothing_comes_from_outside() -> None:
    page = render(story())
    for _, attrs in read(page).tags:
        for name in ("src", "href", "action", "data", "srcset"):
            value = attrs.get(name) or "#"
            assert value.startswith(("#", "data:image/png"))
    assert "@import" not in page
    assert not re.search(r"url\((?!data:)", page)
    assert "default-src 'none'" in page


def test_cells_cannot_become_markup() -> None:
    plain = [tag for tag, _ in read(render(story())).tags]
    page = render(story(EVIL))
    evil = read(page)
    assert [tag for tag, _ in evil.tags] == plain
    assert not any("onerror" in attrs for _, attrs in evil.tags)
    assert evil.text.count("alert(2)") >= 15  # shown, as words


def test_only_our_script_may_run() -> None:
    from base64 import b64encode
    from hashlib import sha256

    page = render(story(EVIL))
    script = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    assert len(script) == 1
    digest = b64encode(sha256(script[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in page


def test_light_dark_and_paper() -> None:
    page = render(story())
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0.1, 0.3, "clearly better than random forest"),
        (-0.3, -0.1, "Do not use these predictions as they are"),
        (-0.1, 0.1, "cannot be told apart from random forest"),
    ],
)
def test_the_verdict_follows_the_interval(low: float, high: float, words: str) -> None:
    plain = story()
    assert plain.quality is not None
    rival = plain.quality.contestants[1]._replace(lead_low=low, lead_high=high)
    quality = replace(plain.quality, contestants=(plain.quality.contestants[0], rival))
    assert words in render(replace(plain, quality=quality))


def test_without_a_check_nothing_is_claimed() -> None:
    page = render(replace(story(), quality=None))
    assert "nothing could be checked" in page
    assert "right on hidden labels" not in page
    read(page)


def test_many_classes_share_a_colour_and_list_their_confusions() -> None:
    plain = story()
    assert plain.quality is not None
    names = tuple(f"class {k}" for k in range(30))
    confusion = np.eye(30) * 3
    confusion[4, 17] = 2
    page = render(
        replace(
            plain,
            classes=names,
            n_given=np.full(30, 3),
            n_predicted=np.full(30, 5),
            quality=replace(plain.quality, confusion=confusion),
        )
    )
    assert "20 other classes" in page
    assert "2 of 5" in page


def test_the_picture_is_a_png_with_the_matrix_as_opacity() -> None:
    import base64
    import io

    from PIL import Image

    strength = np.array([[0.0, 1.0], [0.5, 0.25]])
    data = base64.b64decode(png_uri(strength).split(",")[1])
    with Image.open(io.BytesIO(data)) as image:
        alpha = np.asarray(image)[..., 3]
    np.testing.assert_array_equal(alpha, [[0, 255], [128, 64]])

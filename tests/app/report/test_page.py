"""The page: safe, whole, and readable by itself."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from mercer.app.report.page import render
from mercer.app.report.story import (
    Evidence,
    Influence,
    Listed,
)
from mercer.app.report.svg import image_uri, png_uri
from mercer.app.tables.row_text import name_of
from mercer.judging.outlook import Outlook
from story_at_hand import story

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'&"
VOID = {"meta", "img", "input", "br", "line", "circle", "rect", "image"}


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
    as_long = re.sub(r"\S", "c", EVIL)  # long names of classes take another place
    plain = [tag for tag, _ in read(render(story(as_long))).tags]
    page = render(story(EVIL))
    evil = read(page)
    assert [tag for tag, _ in evil.tags] == plain
    assert not any("onerror" in attrs for _, attrs in evil.tags)
    assert evil.text.count("alert(2)") >= 15  # shown, as words


def test_confusions_of_long_names_take_the_width_of_the_page() -> None:
    def beside(*classes: str) -> bool:
        page = render(replace(story(), classes=classes))
        return page.index("Which classes get confused") < page.index("Can you trust")

    assert beside("cat", "dog")
    # Names break between words.
    assert beside("tropical depression", "big storm")
    assert not beside("extratropicalcyclone", "tropicaldepression")


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
        (0.1, 0.3, "the unlabelled rows helped"),
        (-0.3, -0.1, "Do not use them as they are"),
        (-0.1, 0.1, "the difference may be chance"),
    ],
)
def test_the_verdict_follows_the_interval(low: float, high: float, words: str) -> None:
    plain = story()
    assert plain.quality is not None
    rival = replace(plain.quality.contestants[1], lead_low=low, lead_high=high)
    quality = replace(plain.quality, contestants=(plain.quality.contestants[0], rival))
    assert words in render(replace(plain, quality=quality))


@pytest.mark.parametrize(
    ("accuracy", "words"),
    [(0.846, "about 85% of the predictions"), (1.0, "nearly all predictions")],
)
def test_the_headline_and_the_tile_say_the_same(accuracy: float, words: str) -> None:
    """ "About 8 in 10" stood beside 85%."""
    plain = story()
    assert plain.quality is not None
    ours, rival = plain.quality.contestants
    both = (replace(ours, accuracy=accuracy), rival)
    page = render(replace(plain, quality=replace(plain.quality, contestants=both)))
    assert f"Expect {words} to be correct" in page
    assert f"<b>{accuracy:.0%}</b><span>expected correct" in page


def test_pictures_are_read_aloud_with_their_figures() -> None:
    labels = [a["aria-label"] for t, a in read(render(story())).tags if t == "svg"]
    said = "Share correct by predicted probability: 80% predicted, 70% correct"
    assert said in labels
    assert any(str(label).endswith("cat 70%, linear 30%") for label in labels)
    assert not any("below" in str(label) for label in labels)


def test_without_a_check_nothing_is_claimed() -> None:
    page = render(replace(story(), quality=None))
    assert "nothing could be checked" in page
    assert "expected correct" not in page
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


def test_the_headline_says_what_it_hides() -> None:
    plain = story()
    assert plain.quality is not None
    names = ("often", "rarely", "never", "untested")
    confusion = np.array([[9.0, 1, 0, 0], [3, 2, 1, 0], [4, 0, 0, 0], [0, 0, 0, 0]])
    page = render(
        replace(
            plain,
            classes=names,
            n_given=np.array([10, 6, 4, 1]),
            n_predicted=np.full(4, 25),
            quality=replace(plain.quality, confusion=confusion),
        )
    )
    assert (
        "half of the cases: “rarely” (2 of 6 labels), “never” (0 of 4 labels)" in page
    )
    assert "one label only: “untested”. The figures say nothing about it." in page
    assert "“often” (" not in page
    assert "of the labels: the largest class" in page


@pytest.mark.parametrize(
    ("outlook", "words"),
    [
        (Outlook(20, 0.8, 0.85, 0.82, 0.88), "would add about 5 points (2 to 8)"),
        (Outlook(20, 0.8, 0.81, 0.8, 0.83), "would add about 1 point (0 to 3)"),
        (
            Outlook(20, 0.8, 0.803, 0.8, 0.83),
            "would add less than 1 point, at most 3 points",
        ),
        (
            Outlook(20, 0.8, 0.8, 0.79, 0.805),
            "unlikely to change the share that is right",
        ),
    ],
)
def test_what_more_labels_would_bring(outlook: Outlook, words: str) -> None:
    page = render(replace(story(), outlook=outlook))
    assert words in page
    labelling, using = (
        page.index("Label these 2 rows"),
        page.index("<li>Use "),
    )
    assert (labelling < using) == ("add about" in words)


def test_whole_texts_are_in_the_page_on_lines_of_their_own() -> None:
    page = render(story("word "))
    assert "word " * 300 in read(page).text
    plain = story()
    row = plain.next_rows[0]._replace(cells=(("a", "1"), ("b", "two\nlines")))
    page = render(replace(plain, next_rows=(row,)))
    assert "<div><dt>a</dt>" in page
    assert '<div class="text"><dt>b</dt>' in page


def test_means_of_two_rounds_are_said_to_be_means() -> None:
    page = render(story())  # 3.5 of 4 dogs were found
    assert '<td class="num">5 of 6</td>' in page
    assert '<td class="num">3 or 4 of 4</td>' in page
    assert "Counts are means of 2 rounds" in page


def test_a_large_picture_is_thinned_out() -> None:
    small, large = (np.random.default_rng(0).random((n, n, 1)) for n in (256, 1024))
    assert len(image_uri(large)) < 2 * len(image_uri(small))


def test_no_folder_of_the_machine_is_in_the_page() -> None:
    assert name_of("/home/ada/wines.csv") == "wines.csv"
    assert name_of("C:\\data\\wines.csv") == "wines.csv"


def test_the_list_of_predictions_is_there_for_the_script_and_without_it() -> None:
    import json

    rows = tuple(Listed(f"row {k}", "cat", 0.5, "dog", "") for k in range(60))
    page = render(replace(story(), predictions=rows))
    data = re.search(r'id="rows">(.*?)</script>', page)
    assert data is not None
    assert [row[0] for row in json.loads(data[1])] == [f"row {k}" for k in range(60)]
    assert page.count("<td>row ") == 25
    assert "All rows" not in page  # the story has 100


def test_what_decided_is_said_in_words() -> None:
    said = render(story())
    assert "Links between neighbouring rows counted most (70%)." in said
    raised = "raised the share of links between neighbouring rows from 50% to 70%"
    assert raised in said
    mixed = (Evidence("direct", 0.55, 0.5), Evidence("graphs", 0.45, 0.5))
    said = render(replace(story(), evidence=mixed))
    both = "direct comparison (55%) and links between neighbouring rows (45%)"
    assert f"What counted: {both}." in said
    assert "hardly moved the usual shares" in said
    assert "No class has two labels" in render(replace(story(), n_weighed=0))
    assert "What the predictions rest on" not in render(replace(story(), evidence=()))


@pytest.mark.parametrize(
    ("losses", "words"),
    [
        ([0.1, 0.0, -0.1], "2 other columns: no loss."),
        ([0.1] * 13, "1 other column: less."),
        ([0.0, -0.1], "No column shows a loss by itself."),
    ],
)
def test_columns_without_a_loss_are_counted(losses: list[float], words: str) -> None:
    found = tuple(Influence(f"c{k}", x, x, x) for k, x in enumerate(losses))
    page = render(replace(story(), influences=found))
    assert words in page
    assert ("Points of probability lost" in page) == (losses[0] > 0)


def test_the_page_says_how_many_rows_have_one_possible_class() -> None:
    said = "For 70 of 100 rows one class is possible at 90%"
    assert said in render(story())
    assert "possible at 90%" not in render(replace(story(), n_sure=None))


def test_labels_that_look_wrong_come_with_their_false_alarms() -> None:
    whole = story()
    assert whole.quality is not None
    row = whole.next_rows[0]
    some = replace(whole.quality, doubtful=(row,) * 5, false_alarms=0.22)
    said = render(replace(whole, quality=some))
    assert "Expect about 2 in 10 of these 5 labels to be right after all" in said
    one = replace(whole.quality, doubtful=(row,), false_alarms=0.22)
    said = render(replace(whole, quality=one))
    assert "The chance that this label is right after all is 22%" in said
    none = replace(whole.quality, doubtful=(), first=(row,))
    said = render(replace(whole, quality=none))
    assert "No label is likely to be wrong" in said
    section = said.split('id="doubtful"', 1)[1].split("</section>", 1)[0]
    assert "look at first" in section
    assert row.id in section
    assert "right after all" not in said
    both = replace(
        whole.quality,
        doubtful=(row._replace(wrong=0.62),),
        first=(row._replace(wrong=0.17), row._replace(wrong=0.004)),
    )
    section = render(replace(whole, quality=both)).split('id="doubtful"', 1)[1]
    section = section.split("</section>", 1)[0]
    for odds in ("62%", "17%", "under 1%", "Next in the ranking"):
        assert odds in section


def test_a_shift_of_the_accuracies_is_told() -> None:
    whole = story()
    assert whole.quality is not None

    def said(shift: float) -> str:
        return render(replace(whole, quality=replace(whole.quality, shift=shift)))

    assert "raised by 6 points" in said(0.06)
    assert "lowered by 3 points" in said(-0.03)
    assert "to allow for it" not in said(0.01)


def test_the_navigation_links_to_every_section_that_is_there() -> None:
    def links(page: str) -> list[str]:
        nav = page.split("<nav", 1)[1].split("</nav>", 1)[0]
        return re.findall('href="#([a-z]+)"', nav)

    whole = render(story())
    sections = re.findall('<section id="([a-z]+)"', whole)
    assert links(whole) == [name for name in sections if name != "certificates"]
    unchecked = render(replace(story(), quality=None, next_rows=(), sources=()))
    assert links(unchecked)[0] == "predictions"


def test_the_report_says_which_columns_decided() -> None:
    said = render(story())
    assert "Which columns decided" in said
    assert "What counts most: cat (80%)." in said
    only = (Evidence("all", 1.0, 1.0),)
    for views in ((), only):
        assert "Which columns decided" not in render(replace(story(), views=views))


def test_the_report_says_how_reliable_sources_are() -> None:
    said = read(render(story("llm"))).text
    assert "Sources of labels" in said
    assert "80%70% to 90%50%10%12" in said
    assert "a label tells much: llm, 7." in said
    assert "Sources of labels" not in render(replace(story(), sources=()))


def test_columns_that_say_the_same_are_named() -> None:
    pairs = (("girth <b>", "veins", 0.934), ("a", "b", -1.0))
    said = render(replace(story(), same_columns=pairs))
    assert "“girth &lt;b&gt;” and “veins” (+0.93), “a” and “b” (-1.00)." in said
    assert "much the same" not in render(story())

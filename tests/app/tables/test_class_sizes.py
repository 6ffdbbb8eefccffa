"""What a person knows of the classes: how labels were drawn, and sizes."""

import html
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from mercer import Session, UnifiedKernelMachine, learn, persist
from mercer.app.cli.main import main
from mercer.app.report.page import render
from mercer.app.tables.class_sizes import (
    check_room,
    parse_sizes,
    size_advice,
    sizes_by_class,
    sizes_matter,
)
from mercer.app.tables.story import story_of
from mercer.app.tables.table import TableError
from mercer.evidence.labels import Labels
from mercer.fewlabels import LeaveOneOutRLS
from tables_at_hand import two_groups, uneven

SIZES = {"no": 0.9, "yes": 0.1}


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


def estimator(session: Session, **told: Any) -> np.ndarray:
    """Return the probabilities of the estimator on the same points."""
    machine = LeaveOneOutRLS(**told)
    model = UnifiedKernelMachine(machine=machine, random_state=0)
    return model.fit(session.rows.points, session.y).training_proba()


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("uneven")
    uneven()[0].to_csv(folder / "t.csv", index=False)
    words = ("--id", "code", "--class-sizes", "yes=10,no=90")
    done = run("learn", folder / "t.csv", *words, "--out", folder / "told")
    assert done.exit_code == 0, done.output
    return folder


def test_told_sizes_are_those_of_the_predictions() -> None:
    frame, truth = uneven()
    plain = learn(frame, id="code")
    told = learn(frame, id="code", class_sizes={"yes": 12, "no": 108})
    share = (told.predictions["prediction"] == "yes").mean()
    assert share == pytest.approx(0.1, abs=0.02)
    right = [np.mean(r.predictions["prediction"] == truth) for r in (plain, told)]
    assert right[1] > right[0] + 0.03
    assert told.session.class_sizes == pytest.approx(SIZES)
    said = "<p>Class sizes as you gave them: no 90%, yes 10%.</p>"
    assert said in told._repr_html_()
    assert said not in plain._repr_html_()
    # What is expected is about the rows, not about the labels.
    assert told.check is not None
    assert told.check.scores[0].accuracy == pytest.approx(right[1], abs=0.06)


@pytest.mark.parametrize(
    "told",
    [
        {},
        {"labels_drawn": "per class"},
        {"labels_drawn": "at random"},
        {"class_sizes": SIZES},
        {"class_sizes": SIZES, "labels_drawn": "per class"},
    ],
)
def test_a_table_and_the_estimator_told_the_same_agree(told: Any) -> None:
    session = Session.open(uneven()[0], id="code", **told).fit()
    np.testing.assert_array_equal(session.proba, estimator(session, **told))


def test_the_reliability_is_that_of_the_rows() -> None:
    """Of twelve hidden labels one half says yes, and one row in ten."""
    result = learn(uneven()[0], id="code", class_sizes=SIZES)
    check, story = result.check, story_of(result, rng=np.random.default_rng(0))
    assert check is not None
    assert story.quality is not None
    (only,) = story.quality.bins  # as there are few labels
    right = check.proba.argmax(axis=1) == check.codes
    found = [right[check.codes == c].mean() for c in (0, 1)]
    assert found[0] != pytest.approx(found[1])
    assert only.accuracy == pytest.approx(0.9 * found[0] + 0.1 * found[1])
    assert only.low < only.accuracy < only.high or only.accuracy in (0, 1)


def test_how_labels_were_drawn_is_passed_on() -> None:
    frame, _ = uneven(per_class=12)
    frame.loc[frame.index[frame["label"] == "yes"][3:], "label"] = None
    drawn = {
        way: Session.open(frame, id="code", labels_drawn=way).fit().proba
        for way in ("at random", "per class")
    }
    assert np.abs(drawn["at random"] - drawn["per class"]).max() > 0.01


def test_ask_and_tell_keep_the_sizes() -> None:
    frame, truth = uneven()
    session = Session.open(frame, id="code", class_sizes=SIZES).fit()
    rows = session.ask(3)
    session.tell(rows, truth[rows])
    expected = estimator(session, class_sizes=SIZES)
    np.testing.assert_allclose(session.proba, expected, atol=1e-9)
    assert np.abs(estimator(session) - expected).max() > 0.01
    before = session.y.copy()
    with pytest.raises(TableError, match="'maybe' is a class without a size"):
        session.tell(rows[:1], ["maybe"])
    assert (session.y == before).all()


def test_the_command_line_and_a_new_process_keep_the_sizes(folder: Path) -> None:
    frame = pd.read_csv(folder / "t.csv")
    session = Session.open(frame, id="code", class_sizes=SIZES).fit()
    said = pd.read_parquet(folder / "told" / "predictions.parquet")
    np.testing.assert_array_equal(said["probability yes"], session.proba[:, 1])
    model = folder / "told" / "model.skops"
    loaded = persist.load(model)
    assert loaded.model.machine.class_sizes == pytest.approx(SIZES)
    assert "no 90.0%, yes 10.0%" in loaded._repr_html_()
    words = ("predict", model, folder / "t.csv", "--out", folder / "again.parquet")
    command = [sys.executable, "-m", "mercer", *map(str, words)]
    subprocess.run(command, check=True, capture_output=True)
    again = pd.read_parquet(folder / "again.parquet")
    np.testing.assert_allclose(
        again["probability yes"], said["probability yes"], atol=1e-6
    )


def test_answers_and_sizes_go_together(folder: Path, tmp_path: Path) -> None:
    asked = pd.read_csv(folder / "told" / "to_label.csv", dtype=str)["code"].tolist()
    lines = ["code,label", *(f"{code},no" for code in asked[:4])]
    (tmp_path / "a.csv").write_text("\n".join(lines))
    words = ("learn", folder / "t.csv", "--id", "code", "--out", tmp_path / "o")
    told = ("--answers", tmp_path / "a.csv", "--class-sizes", "yes=10%,no=90%")
    done = run(*words, *told)
    assert done.exit_code == 0, done.output
    frame = pd.read_csv(folder / "t.csv")
    frame.loc[frame["code"].isin(asked[:4]), "label"] = "no"
    session = Session.open(frame, id="code", class_sizes=SIZES).fit()
    said = pd.read_parquet(tmp_path / "o" / "predictions.parquet")
    np.testing.assert_array_equal(said["probability yes"], session.proba[:, 1])
    # A further class has no size.
    (tmp_path / "a.csv").write_text(f"code,label\n{asked[0]},maybe\n")
    done = run(*words, *told)
    assert done.exit_code == 2
    assert "class sizes lack a number for 'maybe'" in done.stderr


def test_answers_to_questions_are_not_drawn_at_random(
    folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text("code,label\nr050,yes\n")
    words = ("learn", folder / "t.csv", "--id", "code", "--out", tmp_path / "o")
    told = ("--labels-drawn", "at random")
    said = "Rows that Mercer asked about are not drawn at random."
    assert said in run(*words, *told, "--answers", tmp_path / "a.csv").stdout
    assert said not in run(*words, *told).stdout


@pytest.mark.parametrize(
    ("texts", "sizes"),
    [
        ((), None),
        (["yes=10,no=90"], {"yes": 10, "no": 90}),
        (["yes=10", "no=90"], {"yes": 10, "no": 90}),
        (["yes = 10 %, no = 90 %"], {"yes": 0.1, "no": 0.9}),
        (["a, b=.5,c=1e-1"], {"a, b": 0.5, "c": 0.1}),
        (["a=b=5,x=1=3"], {"a=b": 5, "x=1": 3}),
        (["0=1,1=-2"], {"0": 1, "1": -2}),
    ],
)
def test_sizes_are_read_as_written(texts: list[str], sizes: Any) -> None:
    assert parse_sizes(texts) == sizes


@pytest.mark.parametrize(
    "text", ["", "yes", "yes=", "=5", "yes=ten", "yes=1,000,no=9,000", "yes=0,1,no=0,9"]
)
def test_what_is_no_size_is_shown(text: str) -> None:
    with pytest.raises(TableError, match=r"such as yes=10,no=90, got"):
        parse_sizes([text])


def test_sizes_have_room_for_the_labels() -> None:
    """Six labels of a class of one row in a thousand, of 120 rows."""
    frame, _ = uneven()
    with pytest.raises(TableError, match="about 0 of 120 rows are of the class 'yes'"):
        learn(frame, id="code", class_sizes={"yes": 1, "no": 999})
    learn(frame, id="code", class_sizes={"yes": 5, "no": 115})  # rounded, six labels
    # A tenth more and one row may be rounding: 12 labels of 10 rows, not 13.
    twelve, thirteen = (
        Labels.read(["a"] * n + ["b"] * n, min_classes=2) for n in (12, 13)
    )
    check_room({"a": 0.1, "b": 0.9}, twelve, 100)
    with pytest.raises(TableError, match="about 10 of 100 rows are of the class 'a'"):
        check_room({"a": 0.1, "b": 0.9}, thirteen, 100)


def test_percentages_and_counts_are_not_mixed() -> None:
    with pytest.raises(TableError, match="with and without %"):
        parse_sizes(["yes=10%", "no=900"])


def test_a_class_is_named_once() -> None:
    with pytest.raises(TableError, match="names the class 'yes' twice"):
        parse_sizes(["yes=1,no=2", "yes=3"])
    with pytest.raises(TableError, match="name the class 'yes' twice"):
        sizes_by_class({"yes": 1, "YES": 2, "no": 3}, ["no", "yes"])


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ({"yes": 1, "no": 2, "maybe": 3}, "name the class 'maybe'; the labels are of"),
        ({"yes": 1}, "lack a number for 'no'; the labels are of 'no', 'yes'"),
        ({"yes": -1, "no": 2}, "class 'yes' must be a number above 0.*got -1"),
        ({"yes": 0, "no": 2}, "class 'yes' must be a number above 0"),
        ({"yes": np.nan, "no": 2}, "class 'yes' must be a number above 0"),
        ({"yes": "many", "no": 2}, "got 'many'"),
        ([0.1, 0.9], "must name the classes"),
    ],
)
def test_wrong_sizes_are_refused_before_anything_is_computed(
    sizes: Any, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mercer.app.tables.rows.TableEncoder", None)
    with pytest.raises(TableError, match=said):
        learn(uneven()[0], class_sizes=sizes)


def test_names_are_read_as_in_the_target() -> None:
    labels = ["Yes", "no"]
    series = pd.Series({"yes": 1, " no ": 3})
    assert sizes_by_class(series, labels) == {"Yes": 0.25, "no": 0.75}
    with pytest.raises(TableError, match="name the class 'yes'"):
        sizes_by_class(series, labels, as_written=True)
    for named in ({"0": 1, "1": 3}, {0: 1, 1: 3}, {0.0: 1, 1.0: 3}):
        assert sizes_by_class(named, [0, 1]) == {0: 0.25, 1: 0.75}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--labels-drawn", "somehow"], "must be 'at random' or 'per class'"),
        (
            ["--labels-drawn", "at random", "--class-sizes", "yes=1,no=9"],
            "leave out --labels-drawn or --class-sizes",
        ),
        (["--class-sizes", "yes=1,perhaps=2"], "name the class 'perhaps'"),
        (["--class-sizes", "yes=1"], "lack a number for 'no'"),
        (["--class-sizes", "yes=-1,no=2"], "must be a number above 0"),
        (["--target", "size", "--class-sizes", "low=1,high=2"], "Is it a measurement?"),
    ],
)
def test_the_command_line_says_what_is_wrong(
    folder: Path, tmp_path: Path, options: list[str], said: str
) -> None:
    done = run("learn", folder / "t.csv", *options, "--out", tmp_path / "o", "--json")
    assert done.exit_code == 2
    assert said in json.loads(done.stdout)["error"]
    assert not (tmp_path / "o").exists()


def report_of(folder: Path) -> tuple[dict[str, Any], str]:
    data = json.loads((folder / "result.json").read_text())["report"]
    return data, (folder / "report.html").read_text()


def test_terminal_report_and_json_say_what_was_told(
    folder: Path, tmp_path: Path
) -> None:
    data, page = report_of(folder / "told")
    assert data["class_sizes"] == pytest.approx([0.9, 0.1])
    assert data["labels_drawn"] == ""
    assert "Class sizes as you gave them: no 90%, yes 10%." in page
    assert "rows by your sizes" in page
    assert "by the sizes that you gave" in page
    words = ("learn", folder / "t.csv", "--id", "code", "--out", tmp_path / "o")
    done = run(*words, "--class-sizes", "yes=1,no=9")
    assert "Class sizes as you gave them: no 90%, yes 10%." in done.stdout
    assert ADVICE not in done.stdout
    done = run(*words)
    assert "The last run was told class sizes (--class-sizes)" in done.stdout
    data, page = report_of(tmp_path / "o")
    assert data["class_sizes"] == []
    assert "as you gave them" not in page
    assert "rows by your sizes" not in page
    assert "The last run was told class sizes" in page
    done = run(*words, "--labels-drawn", "per class")
    assert "drawn per class, as you said" in done.stdout
    assert "last run was told" not in done.stdout
    assert report_of(tmp_path / "o")[0]["labels_drawn"] == "per class"


ADVICE = "--class-sizes no=NUMBER,yes=NUMBER"


def test_advice_where_labels_do_not_tell_and_the_model_does_not_know() -> None:
    frame, _ = uneven()
    for told in ({}, {"labels_drawn": "per class"}):
        result = learn(frame, id="code", **told)  # type: ignore[arg-type]
        assert sum(ADVICE in note for note in result.warnings) == 1
        page = render(story_of(result, rng=np.random.default_rng(0)))
        assert "predicted). Every class has the same weight in this" in page
        assert "expected correct, each class weighted equally, " in page
        assert ", each class weighted equally)." in repr(result)
    assert "(6)" in result.warnings[-1]


@pytest.mark.parametrize(
    "told", [{"class_sizes": SIZES}, {"labels_drawn": "at random"}]
)
def test_no_advice_where_it_was_told(told: Any) -> None:
    result = learn(uneven()[0], id="code", **told)
    assert not any("--class-sizes" in note for note in result.warnings)
    page = render(story_of(result, rng=np.random.default_rng(0)))
    assert "alike" not in page.split('id="quality"')[0]
    assert "alike" not in repr(result)


def test_no_advice_where_labels_differ_in_number() -> None:
    frame, _ = uneven()
    frame.loc[frame.index[frame["label"] == "yes"][3:], "label"] = None
    result = learn(frame, id="code")
    assert not any("--class-sizes" in note for note in result.warnings)


def test_no_advice_where_the_model_knows() -> None:
    result = learn(two_groups(), id="code")  # equal numbers, clear groups
    assert not any("--class-sizes" in note for note in result.warnings)


def test_when_sizes_matter() -> None:
    unsure = np.where(np.arange(99)[:, None] % 2 == [0, 1], 0.6, 0.4)
    even = np.eye(2)[np.arange(99) % 2]
    rare = np.eye(2)[(np.arange(99) % 9 > 0).astype(int)]
    equal = np.array([10, 10])
    assert sizes_matter(equal, unsure)
    assert sizes_matter(np.array([10, 12]), unsure)
    assert not sizes_matter(np.array([10, 13]), unsure)
    assert not sizes_matter(equal, even)
    assert sizes_matter(equal, rare)
    # As sure as 0.85, or with half of an even share in every class, the model knows.
    assert sizes_matter(equal, 0.68 * even + 0.16)
    assert not sizes_matter(equal, 0.72 * even + 0.14)
    for every, matters in ((5, True), (3, False)):  # 20% or 33% of the rows
        one_in = np.eye(2)[(np.arange(99) % every > 0).astype(int)]
        assert sizes_matter(equal, one_in) is matters
    assert not sizes_matter(np.array([25, 25]), unsure)  # half of all rows
    three = np.where(np.arange(99)[:, None] % 3 == [0, 1, 2], 0.5, 0.25)
    assert sizes_matter(np.array([3, 10, 10]), three)  # there were no more of the first
    assert not sizes_matter(np.array([3, 4, 10]), three)
    assert size_advice(np.array([3, 10, 10]), np.arange(3)).startswith(
        "Most classes have about as many labels each (10)"
    )
    said = size_advice(np.array([1, 1]), np.array(["a b", "c"]))
    assert "--class-sizes 'a b=NUMBER,c=NUMBER'," in said
    four = size_advice(np.full(4, 9), np.arange(4))
    assert four.startswith("The classes have about as many labels each (9)")
    assert "--class-sizes 0=NUMBER,1=NUMBER,2=NUMBER,...," in four


@pytest.mark.parametrize(
    ("texts", "sizes"),
    [
        (["yes=20%"], {"yes": 0.2}),
        (["yes=5%-20%"], {"yes": (0.05, 0.2)}),
        (["yes=few,no=.5 - .9"], {"yes": "few", "no": (0.5, 0.9)}),
        (["x-1=1-2e-3"], {"x-1": (1, 2e-3)}),
        (["no > yes"], "no > yes"),
    ],
)
def test_sizes_known_in_part_are_read_as_written(texts: list[str], sizes: Any) -> None:
    assert parse_sizes(texts) == sizes


@pytest.mark.parametrize("given", [{"yes": (0.05, 0.12)}, {"yes": "few"}, "no > yes"])
def test_sizes_known_in_part_reach_the_model(given: Any) -> None:
    frame, _ = uneven()
    result = learn(frame, id="code", class_sizes=given)
    plain = given if isinstance(given, str) else {"yes": next(iter(given.values()))}
    same = estimator(Session.open(frame, id="code"), class_sizes=plain)
    np.testing.assert_array_equal(result.proba, same)
    story = story_of(result, rng=np.random.default_rng(0))
    assert story.class_sizes == ()
    said = f"Class sizes as far as you gave them: {story.sizes_in_part}."
    assert said in html.unescape(render(story))
    assert said in html.unescape(result._repr_html_())
    assert result.counts_alike  # in the figures, since the sizes are still open
    assert not [w for w in result.warnings if "give them" in w]


def test_the_share_of_one_of_two_classes_gives_the_other() -> None:
    frame, _ = uneven()
    part, whole = (
        learn(frame, id="code", class_sizes=sizes)
        for sizes in ({"YES": 0.1}, {"yes": 0.1, "no": 0.9})
    )
    np.testing.assert_allclose(part.proba, whole.proba, atol=1e-9)
    assert part.check is not None
    assert whole.check is not None
    assert part.check.scores[0].accuracy == pytest.approx(
        whole.check.scores[0].accuracy
    )
    assert not part.counts_alike
    assert part.session.told.known_sizes == pytest.approx({"no": 0.9, "yes": 0.1})


@pytest.mark.parametrize("given", [{"yes": 0.1}, {"yes": "few"}, "no > yes"])
def test_sizes_known_in_part_may_come_before_labels(given: Any) -> None:
    frame, truth = uneven()
    session = Session.open(frame.assign(label=None), id="code", class_sizes=given)
    rows = [*np.flatnonzero(truth == "yes")[:3], *np.flatnonzero(truth == "no")[:3]]
    session.fit().tell(rows, truth[rows].tolist())
    assert np.mean(session.predictions == "yes") < 0.25


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"YES": "few", "yes": 0.1}, "twice"),
        ("yes > YES", "twice"),
        ({}, "lack a number"),
    ],
)
def test_impossible_sizes_in_part_are_named(given: Any, words: str) -> None:
    with pytest.raises(TableError, match=words):
        Session.open(uneven()[0], id="code", class_sizes=given)


def test_a_page_refuses_sizes_that_are_known_in_part(tmp_path: Path) -> None:
    pytest.importorskip("sqlalchemy")
    session = Session.open(uneven()[0], id="code", class_sizes="no > yes").fit()
    with pytest.raises(TableError, match="a number for each class"):
        session.label(store=tmp_path / "a.db")


def test_the_command_line_takes_sizes_known_in_part(
    folder: Path, tmp_path: Path
) -> None:
    words = ("learn", folder / "t.csv", "--id", "code", "--out", tmp_path / "o")
    done = run(*words, "--class-sizes", "yes=5%-12%")
    assert "Class sizes as far as you gave them: yes 0.05 to 0.12." in done.stdout
    share = pd.read_parquet(tmp_path / "o/predictions.parquet")["prediction"] == "yes"
    assert share.mean() < 0.13
    model = persist.load(tmp_path / "o" / "model.skops")
    assert np.allclose(model.model.machine.class_sizes.high, [1, 0.12])
    done = run(*words)
    assert "The last run was told class sizes (--class-sizes)" in done.stdout
    done = run(*words, "--class-sizes", "yes=70%-90%,no=50%-60%")
    assert done.exit_code == 2
    assert "leave no share for every class" in done.stderr
    done = run("label", folder / "t.csv", "--class-sizes", "no > yes", "--no-open")
    assert done.exit_code == 2
    assert "the studio takes a number for each class" in done.stderr


def test_answers_of_further_classes_share_the_rest() -> None:
    session = Session.open(uneven()[0], id="code", class_sizes={"yes": 0.1}).fit()
    machine = session.tell(0, ["maybe"]).model.machine
    assert machine.class_sizes.low.tolist() == [0, 0, 0.1]  # maybe, no, yes
    assert machine.class_sizes.high.tolist() == [1, 1, 0.1]


def test_classes_of_votes_without_a_size_are_named() -> None:
    frame, _ = uneven()
    frame["bot"] = np.where(np.arange(len(frame)) % 3, "no", "maybe")
    sizes = {"yes": 0.1, "no": 0.9}
    result = learn(frame, id="code", class_sizes=sizes, sources="bot")
    said = "Sources name 'maybe', which your class sizes leave out"
    assert len([w for w in result.warnings if w.startswith(said)]) == 1
    session = Session.open(frame, id="code", class_sizes=sizes, sources="bot")
    with pytest.warns(UserWarning, match=said):
        session.fit()
    result = learn(frame, id="code", class_sizes={"yes": 0.1}, sources="bot")
    assert not [w for w in result.warnings if w.startswith(said)]
    assert result.session.model.machine.class_sizes.high[2] == 0.1  # of "yes"

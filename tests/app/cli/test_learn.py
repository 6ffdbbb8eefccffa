"""`mercer learn`, `predict` and `next`, as a person runs them."""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result
from PIL import Image
from threadpoolctl import threadpool_info, threadpool_limits

from mercer.app.cli.jobs import is_first_run
from mercer.app.cli.learn import describe
from mercer.app.cli.main import main
from mercer.app.report.story import Story
from mercer.app.tables.table import TableError
from tables_at_hand import two_groups


def run(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("learned")
    two_groups().to_csv(folder / "things.csv", index=False)
    result = run(
        *("learn", folder / "things.csv", "--id", "code", "--out", folder / "out")
    )
    assert result.exit_code == 0, result.output
    order = ["reading", "GiB of memory", "neighbours and directions", "files"]
    places = [result.stderr.index(words) for words in order]
    assert places == sorted(places)
    return folder


def test_writes_report_predictions_and_model(learned: Path) -> None:
    files = sorted(path.name for path in (learned / "out").iterdir())
    assert files == [
        "model.skops",
        "predictions.csv",
        "predictions.parquet",
        "report.html",
        "result.json",
        "to_label.csv",
        "to_label.xlsx",
    ]
    said = pd.read_parquet(learned / "out" / "predictions.parquet")
    assert said["id"].tolist() == two_groups()["code"].tolist()
    assert said["prediction"].tolist() == ["small", "big"] * 20
    assert said["labelled"].tolist() == [True] * 10 + [False] * 30
    total = said["probability big"] + said["probability small"]
    assert total.sub(1).abs().max() < 1e-6
    assert said["possible at 90%"].tolist() == ["small", "big"] * 20
    lead = (said["probability big"] - said["probability small"]).abs()
    assert (said["margin"] - lead).abs().max() < 1e-6
    text = pd.read_csv(learned / "out" / "predictions.csv", dtype={"id": str})
    pd.testing.assert_frame_equal(text, said, check_dtype=False, rtol=1e-6)


def test_the_terminal_says_what_the_figure_hides() -> None:
    quality = {
        "confusion": [[9, 1, 0], [3, 1.5, 1.5], [0, 0, 0]],
        "doubtful": [{"id": "7"}, {"id": "9"}],
    }
    report: dict[str, Any] = {"classes": ["a", "b", "c"], "changes": []}
    report |= {"told": "Class sizes as you gave them.", "counts_alike": False}
    said: dict[str, Any] = {"rows": 90, "labels": 17, "classes": ["a", "b", "c"]}
    said |= {"accuracy": {}, "warnings": [], "files": {}}
    text = describe(said | {"report": report | {"quality": quality}})
    assert (
        "On average found in fewer than half of the cases: b (1 or 2 of 6 labels)."
        in text
    )
    assert "2 labels look wrong: rows 7, 9. See the report." in text
    assert "Class sizes as you gave them." in text
    assert "alike" not in text
    accuracy = {"Mercer": {"share": 0.5, "low": 0.4, "high": 0.6}}
    uneven = report | {"quality": quality, "counts_alike": True}
    text = describe(said | {"report": uneven, "accuracy": accuracy})
    assert "(40.0% to 60.0%)\nEvery class has the same weight" in text
    text = describe(said | {"report": report | {"quality": None}})
    assert "Nothing could be checked: no class has two labels." in text


def test_the_saved_model_predicts_new_rows_of_the_same_table(learned: Path) -> None:
    new = pd.DataFrame({"size": [6.5, 0.1], "weight": [4.2, -0.3]})
    new["colour"] = ["red", "green"]  # a colour never seen before
    new.to_csv(learned / "new.csv", index=False)
    out = learned / "new-predictions.csv"
    model = learned / "out" / "model.skops"
    result = run("predict", model, learned / "new.csv", "--out", out)
    assert result.exit_code == 0, result.output
    said = pd.read_csv(out)
    assert said["prediction"].tolist() == ["big", "small"]
    assert said["id"].tolist() == [1, 2]


def test_training_rows_are_predicted_the_same_by_the_saved_model(learned: Path) -> None:
    out = learned / "again.parquet"
    model = learned / "out" / "model.skops"
    assert run("predict", model, learned / "things.csv", "--out", out).exit_code == 0
    before = pd.read_parquet(learned / "out" / "predictions.parquet")
    again = pd.read_parquet(out)
    pd.testing.assert_frame_equal(
        again, before.drop(columns=["labelled", "possible at 90%"]), atol=1e-6
    )


def test_predict_names_a_lacking_column(learned: Path) -> None:
    two_groups().drop(columns="weight").to_csv(learned / "lacks.csv", index=False)
    result = run("predict", learned / "out" / "model.skops", learned / "lacks.csv")
    assert result.exit_code == 2
    assert "lacks the column 'weight'" in result.output


def test_next_names_unlabelled_rows_only(learned: Path) -> None:
    result = run(
        *("next", learned / "out" / "model.skops", learned / "things.csv"),
        *("-n", 3, "--json"),
    )
    assert result.exit_code == 0, result.output
    rows = json.loads(result.output)["rows"]
    assert len(rows) == 3
    assert {row["id"] for row in rows} <= set(two_groups()["code"][10:])


@pytest.mark.parametrize("n_labels", [10, 4])
def test_next_names_the_rows_of_the_sheet(tmp_path: Path, n_labels: int) -> None:
    """With one label of most classes, both look for classes that are not there yet."""
    rng = np.random.default_rng(0)
    kinds = np.array([f"kind {k}" for k in range(5)], dtype=object)
    codes = np.where(np.arange(80) < 5, np.arange(80), rng.integers(0, 5, 80))
    frame = pd.DataFrame(rng.standard_normal((80, 3)), columns=list("xyz"))
    frame["x"] += 3.0 * codes
    frame["colour"] = rng.choice(["red", "blue"], 80)
    frame["label"] = np.where(np.arange(80) < n_labels, kinds[codes], None)
    path = tmp_path / "kinds.csv"
    frame.to_csv(path, index=False)
    out = tmp_path / "out"
    told = run("learn", path, "--out", out, "--json", "--seed", 3)
    assert told.exit_code == 0, told.output
    said = run("next", out / "model.skops", path, "--json")
    rows = [row["id"] for row in json.loads(said.output)["rows"]]
    assert rows == json.loads(told.output)["next"]


def test_a_foreign_file_is_no_model(learned: Path) -> None:
    result = run("predict", learned / "things.csv", learned / "things.csv")
    assert result.exit_code == 2
    assert "things.csv is not a file of" in result.output


def test_json_has_the_figures_and_nothing_else_is_printed(tmp_path: Path) -> None:
    two_groups().to_csv(tmp_path / "t.csv", index=False)
    result = run("learn", tmp_path / "t.csv", "--out", tmp_path / "o", "--json")
    said = json.loads(result.output)
    assert (said["rows"], said["labels"]) == (40, 10)
    assert set(said["accuracy"]) == {"Mercer", "logistic regression", "random forest"}
    assert Path(said["files"]["report.html"]).exists()
    kinds = {note["name"]: note["kind"] for note in said["report"]["columns"]}
    assert kinds["size"] == "number"
    assert kinds["colour"] == "category"
    assert kinds["code"] == "left out"


def test_json_carries_all_that_the_report_shows(learned: Path) -> None:
    data = json.loads((learned / "out" / "result.json").read_text())["report"]
    assert set(data) == {field.name for field in fields(Story)}
    page = (learned / "out" / "report.html").read_text()
    assert data["quality"]["contestants"][1]["name"] in page
    assert len(data["map"]["tips"]) == 40
    assert [row["id"] for row in data["next_rows"]]
    assert len(data["predictions"]) == 40
    assert str(learned) not in page
    assert str(learned) not in json.dumps(data)


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_sheet_goes_out_and_comes_back(
    learned: Path, tmp_path: Path, kind: str
) -> None:
    out = tmp_path / "out"
    shutil.copytree(learned / "out", out)
    path = out / f"to_label.{kind}"
    read = pd.read_csv if kind == "csv" else partial(pd.read_excel, engine="openpyxl")
    filled = read(path, dtype={"code": str})
    assert filled.columns[:4].tolist() == ["code", "label", "best guess", "probability"]
    assert {"size", "weight", "colour"} <= set(filled.columns)
    assert filled["label"].isna().all()
    filled["label"] = filled["label"].astype(object)
    filled.loc[:3, "label"] = filled["best guess"][:4]
    back = tmp_path / f"filled.{kind}"
    write = filled.to_csv if kind == "csv" else filled.to_excel
    write(back, index=False)
    words = ("learn", learned / "things.csv", "--id", "code", "--out", out)
    done = run(*words, "--answers", back)
    assert done.exit_code == 0, done.output
    assert "4 new labels from your answers" in done.output
    assert "Labels: 14 (+4)." in done.output
    history = pd.read_csv(out / "answers.csv", dtype=str)
    assert history["id"].tolist() == filled["code"][:4].tolist()
    report = json.loads((out / "result.json").read_text())["report"]
    assert sum(report["n_given"]) == 14
    assert "Labels: 14 (+4)." in (out / "report.html").read_text()
    # A second sheet adds to the first; an answer may be taken back.
    again = filled.iloc[[0, 5]].copy()
    again["label"] = ["small", "big"]
    write = again.to_csv if kind == "csv" else again.to_excel
    write(back, index=False)
    done = run(*words, "--answers", back, "--json")
    report = json.loads(done.output)["report"]
    assert sum(report["n_given"]) == 15
    history = pd.read_csv(out / "answers.csv", dtype=str)
    assert len(history) == 5 + (filled["best guess"][0] != "small")


def test_answers_of_before_are_used_or_it_is_said(
    learned: Path, tmp_path: Path
) -> None:
    """A run without --answers forgot fifteen answers, silently."""
    out = tmp_path / "out"
    shutil.copytree(learned / "out", out)
    words = ("learn", learned / "things.csv", "--id", "code", "--out", out)
    for name, code in (("a.csv", "020"), ("b.csv", "021")):
        (tmp_path / name).write_text(f"code,label\n{code},big\n")
        done = run(*words, "--answers", tmp_path / name)
    assert (
        "1 new label from your answers, besides 1 from earlier sheets." in done.output
    )
    done = run(*words)
    history = out / "answers.csv"
    said = "holds 2 answers that this run did not use."
    assert said in done.output
    assert said in (out / "report.html").read_text()
    done = run(*words, "--answers", history)
    assert "Labels: 12 (+2)." in done.output
    assert "did not use" not in done.output
    assert len(pd.read_csv(history)) == 2
    done = run(*words, "--answers", history)
    assert "Nothing changed: the same labels, predictions and figures." in done.output


def test_columns_that_were_left_out_need_not_be_right(tmp_path: Path) -> None:
    """A model learned with --drop could not predict the file it had learned from."""
    numbers = [f"{k / 8}" for k in range(40)]
    frame = two_groups().assign(dose=["<0.1", *numbers[1:]])
    for name in ("t.csv", "t.parquet"):
        (frame.to_csv if name == "t.csv" else frame.to_parquet)(
            tmp_path / name, index=False
        )
    words = ("learn", tmp_path / "t.csv", "--id", "code", "--out", tmp_path / "o")
    refused = run(*words)
    assert "row 1 has '<0.1'" in refused.stderr
    assert "`mercer learn` leaves the column out with --drop 'dose'." in refused.stderr
    assert run(*words, "--drop", "dose").exit_code == 0
    model = tmp_path / "o" / "model.skops"
    for name in ("t.csv", "t.parquet"):
        out = tmp_path / f"{name}.predicted.csv"
        done = run("predict", model, tmp_path / name, "--out", out)
        assert done.exit_code == 0, done.output
        assert pd.read_csv(out)["prediction"].tolist() == ["small", "big"] * 20
    assert run("next", model, tmp_path / "t.csv").exit_code == 0
    # A column that the model needs is not skipped.
    frame["size"] = ["x", *frame["size"].astype(str)[1:]]
    frame.to_csv(tmp_path / "wrong.csv", index=False)
    refused = run("predict", model, tmp_path / "wrong.csv")
    assert "column 'size' holds numbers, but row 1 has 'x'" in refused.stderr


def test_new_rows_in_other_units_are_noticed(learned: Path, tmp_path: Path) -> None:
    model, said = learned / "out" / "model.skops", "Do they have the same unit?"
    out = tmp_path / "p.csv"
    frame = two_groups().drop(columns="label")
    frame.assign(size=100 * frame["size"]).to_csv(tmp_path / "cm.csv", index=False)
    done = run("predict", model, tmp_path / "cm.csv", "--out", out)
    assert done.exit_code == 0, done.output
    assert "the numbers in column 'size' are far from those that" in done.output
    assert done.output.count(said) == 1
    assert run("next", model, tmp_path / "cm.csv").output.count(said) == 1
    frame.assign(size=np.nan).to_csv(tmp_path / "none.csv", index=False)
    for path in (tmp_path / "none.csv", learned / "things.csv"):
        done = run("predict", model, path, "--out", out)
        assert done.exit_code == 0, done.output
        assert said not in done.output


def test_no_rows_and_one_row(learned: Path, tmp_path: Path) -> None:
    model, out = learned / "out" / "model.skops", tmp_path / "p.csv"
    frame = two_groups().drop(columns="label")
    frame.iloc[:0].to_csv(tmp_path / "none.csv", index=False)
    for command in ("predict", "next"):
        done = run(command, model, tmp_path / "none.csv")
        assert done.exit_code == 2
        assert "none.csv has no rows." in done.stderr
    frame.iloc[:1].to_csv(tmp_path / "one.csv", index=False)
    done = run("predict", model, tmp_path / "one.csv", "--out", out)
    assert "1 row predicted." in done.output


def test_results_of_another_file_are_not_replaced_silently(
    learned: Path, tmp_path: Path
) -> None:
    """things.csv and things.tsv.gz have the same folder by default."""
    out = tmp_path / "out"
    shutil.copytree(learned / "out", out)
    frame = pd.read_csv(learned / "things.csv", dtype=str)
    frame.to_csv(tmp_path / "things.tsv.gz", sep="\t", index=False)
    done = run("learn", tmp_path / "things.tsv.gz", "--id", "code", "--out", out)
    assert done.exit_code == 0, done.output
    said = "These results replace those of things.csv in the same folder"
    assert said in done.output
    assert said in (out / "report.html").read_text()


def test_results_of_a_file_of_the_same_name_are_not_replaced_silently(
    learned: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(learned / "out", out)
    shutil.copy(learned / "things.csv", tmp_path)
    (tmp_path / "sub").mkdir()
    shutil.copy(learned / "things.csv", tmp_path / "sub")
    said = "replace those of another things.csv in the same folder; give another folder"
    for file, is_other in (("things.csv", False), ("sub/things.csv", True)):
        done = run("learn", tmp_path / file, "--id", "code", "--out", out)
        assert done.exit_code == 0, done.output
        assert (said in done.output) == is_other
    assert str(tmp_path) not in (out / "result.json").read_text()


def test_answers_for_rows_that_are_not_there(learned: Path, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("code,label\n999,big\n")
    words = ("learn", learned / "things.csv", "--id", "code", "--out", tmp_path / "o")
    said = run(*words, "--answers", tmp_path / "a.csv")
    assert said.exit_code == 2
    assert "a.csv: row 1 names '999'; the table has no such row" in said.stderr
    (tmp_path / "a.csv").write_text("code,kind\n001,big\n")
    said = run(*words, "--answers", tmp_path / "a.csv")
    assert "has no column 'label'" in said.stderr


def test_next_writes_a_sheet(learned: Path, tmp_path: Path) -> None:
    model = learned / "out" / "model.skops"
    done = run("next", model, learned / "things.csv", "-n", 3, "--out", tmp_path / "s")
    assert done.exit_code == 0, done.output
    path = tmp_path / "s" / "to_label.xlsx"
    frame = pd.read_excel(path, dtype={"code": str}, engine="openpyxl")
    assert len(frame) == 3
    assert {"code", "label", "size"} <= set(frame.columns)


def test_next_where_every_row_is_labelled(learned: Path, tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    two_groups().assign(label=["small", "big"] * 20).to_csv(path, index=False)
    words = ("next", learned / "out" / "model.skops", path, "--out", tmp_path / "s")
    done = run(*words)
    assert done.exit_code == 0, done.output
    assert "Every row is labelled." in done.stdout
    assert json.loads(run(*words, "--json").stdout)["rows"] == []


def test_next_does_not_ask_what_was_answered(learned: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(learned / "out", out)
    asked = pd.read_csv(out / "to_label.csv", dtype=str)["code"].tolist()
    lines = [f"{code},big" for code in asked]
    (tmp_path / "a.csv").write_text("\n".join(["code,label", *lines]))
    table = learned / "things.csv"
    words = ("learn", table, "--id", "code", "--out", out)
    run(*words, "--answers", tmp_path / "a.csv")
    done = run("next", out / "model.skops", table, "-n", 40, "--json")
    named = [row["id"] for row in json.loads(done.output)["rows"]]
    assert len(named) == 40 - 10 - len(asked)
    assert not set(asked) & set(named)
    # Of new rows that are not labelled, one has an answer: of one class only.
    new = pd.read_csv(table, dtype=str).drop(columns="label").iloc[20:30]
    new.to_csv(tmp_path / "new.csv", index=False)
    (out / "answers.csv").write_text("id,label\n025,big\n")
    done = run("next", out / "model.skops", tmp_path / "new.csv", "--json")
    assert done.exit_code == 0, done.output
    named = {row["id"] for row in json.loads(done.output)["rows"]}
    assert named == set(new["code"]) - {"025"}


def test_pairs_are_evidence(tmp_path: Path) -> None:
    two_groups().to_csv(tmp_path / "t.csv", index=False)
    lines = ["a,b,link", "010,012,must", "010,011,cannot", "013,015,must"]
    (tmp_path / "pairs.csv").write_text("\n".join(lines))
    result = run(
        *("learn", tmp_path / "t.csv", "--id", "code", "--out", tmp_path / "o"),
        *("--pairs", tmp_path / "pairs.csv"),
    )
    assert result.exit_code == 0, result.output
    report = (tmp_path / "o" / "report.html").read_text()
    assert "pairs given" in report
    assert "PairwiseKernel" in report


@pytest.mark.parametrize(("sent", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_leaves_nothing_behind(tmp_path: Path, sent: str, code: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((4000, 5))
    np.savez(tmp_path / "t.npz", X=X, label=np.r_[np.arange(40) % 2, np.full(3960, -1)])
    words = ["learn", str(tmp_path / "t.npz"), "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        [sys.executable, "-m", "mercer", *words], stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "neighbours and directions" in line:
            process.send_signal(getattr(signal, sent))
            break
    process.communicate()
    assert process.returncode == code
    assert [path.name for path in tmp_path.iterdir()] == ["t.npz"]


def test_a_folder_of_images_is_predicted_at_the_size_it_was_learned(
    tmp_path: Path,
) -> None:
    rng = np.random.default_rng(0)
    for name, light in (("dark", 40), ("bright", 200)):
        for folder, n, size in (("old", 8, 8), ("new", 2, 20)):
            place = tmp_path / folder / (name if folder == "old" else "")
            place.mkdir(parents=True, exist_ok=True)
            for k in range(n):
                pixels = light + 10 * rng.standard_normal((size, size))
                image = Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))
                image.save(place / f"{name}{k}.png")
    learned = run("learn", tmp_path / "old", "--out", tmp_path / "out", "--quiet")
    assert (learned.exit_code, learned.output) == (0, "")
    model = tmp_path / "out" / "model.skops"
    out = tmp_path / "said.csv"
    quiet = run("predict", model, tmp_path / "new", "--out", out, "--quiet")
    assert (quiet.exit_code, quiet.output) == (0, "")
    said = pd.read_csv(out, index_col="id")["prediction"]
    assert all(prediction in file for file, prediction in said.items())


def swallow(number: int) -> None:
    """Send a signal where Python has to ignore what its handler raises."""

    class Gone:
        def __del__(self) -> None:
            signal.raise_signal(number)

    Gone()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("stage", "told"),
    [("check_writable", "nothing was written"), ("save_result", "had been written")],
)
def test_an_interrupt_that_python_swallows_still_stops(
    stage: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mercer.app.tables import saving, writing

    home = writing if stage == "check_writable" else saving
    works = getattr(home, stage)

    def interrupted(*words: object, **more: object) -> object:
        done = works(*words, **more)
        swallow(signal.SIGINT)
        return done

    monkeypatch.setattr(home, stage, interrupted)
    two_groups().to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "out"
    result = run("learn", tmp_path / "t.csv", "--id", "code", "--out", out)
    assert result.exit_code == 130
    assert told in result.output
    assert (out / "report.html").exists() == (stage == "save_result")


def test_an_interrupt_at_the_start_prints_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nraise SystemExit(3)"
    )
    found = subprocess.run(
        [sys.executable, "-m", "mercer", "--help"],
        env=os.environ
        | {"PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True,
        check=False,
    )
    assert (found.returncode, found.stdout, found.stderr) == (130, b"", b"")


def test_tables_are_learned_with_one_thread_of_blas(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two threads took three times the CPU time of one with 2,000 rows."""
    seen: list[int] = []

    def look(*args: Any, **options: Any) -> None:
        seen.extend(pool["num_threads"] for pool in threadpool_info())
        raise TableError("seen")

    monkeypatch.setattr("mercer.app.tables.learning.learn_task", look)
    two_groups().to_csv(tmp_path / "t.csv", index=False)
    with threadpool_limits(2):
        run("learn", tmp_path / "t.csv", "--out", tmp_path / "out")
    assert max(seen) == 1


def test_the_first_run_says_that_it_compiles(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_first_run(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "f.nbi").touch()
    assert not is_first_run(tmp_path)
    for first in (True, False):
        monkeypatch.setattr(
            "mercer.app.cli.learn.is_first_run", lambda first=first: first
        )
        said = run("learn", tmp_path / "none.csv").stderr
        assert ("First run: some functions are compiled" in said) is first


def test_a_negative_seed_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    said = run("learn", tmp_path / "none.csv", "--seed", "-1")
    assert said.exit_code == 2
    assert "-1 is not in the range x>=0" in said.output


def test_next_reads_the_sheet_that_was_named(learned: Path, tmp_path: Path) -> None:
    things = pd.read_csv(learned / "things.csv")
    with pd.ExcelWriter(tmp_path / "things.xlsx") as book:
        things.head(1).to_excel(book, sheet_name="first", index=False)
        things.to_excel(book, sheet_name="all", index=False)
    model = learned / "out" / "model.skops"
    result = run("next", model, tmp_path / "things.xlsx", "--sheet", "all", "-n", 2)
    assert result.exit_code == 0, result.output

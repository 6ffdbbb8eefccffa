"""Tables in many Parquet files, through Dask."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from mercer import UnifiedKernelMachine, persist
from mercer.app.cli.main import main
from mercer.app.tables.parquet_parts import Parts, is_pattern, learn_parts
from mercer.app.tables.table import TableError
from mercer.app.tables.task import Task
from mercer.app.tables.votes import read_sources
from mercer.fewlabels import LeaveOneOutRLS
from mercer.fewlabels.pools.dask import RowsAtHand
from tables_at_hand import uneven

da = pytest.importorskip("dask.array", reason="needs the extra dask")
pytestmark = pytest.mark.filterwarnings("ignore")

N = 900


@pytest.fixture(scope="module", name="rows")
def _rows():
    rng = np.random.default_rng(0)
    truth = np.arange(N) % 3
    mixed = (truth + (rng.random(N) < 0.1)) % 3
    frame = pd.DataFrame(
        {
            "name": [f"row {i}" for i in range(N)],
            "size": rng.normal(size=N) + 8.0 * truth,
            "weight": rng.normal(size=N) - 8.0 * truth,
            "kind": np.array(["red", "green", "blue"])[mixed],
            "label": [f"class {c}" for c in truth],
        }
    )
    frame.loc[12:, "label"] = None
    frame.loc[500, "label"] = "unknown"
    return frame, truth


@pytest.fixture(scope="module", name="pattern")
def _pattern(rows, tmp_path_factory):
    folder = tmp_path_factory.mktemp("parts")
    for i, start in enumerate(range(0, N, 300)):
        rows[0][start : start + 300].to_parquet(
            folder / f"part-{i}.parquet", row_group_size=100, index=False
        )
    return str(folder / "part-*.parquet")


def all_predictions(folder):
    files = sorted(folder.glob("predictions-*.parquet"))
    return len(files), pd.concat(map(pd.read_parquet, files), ignore_index=True)


def test_a_pattern_is_learned_and_every_row_predicted(rows, pattern, tmp_path):
    frame, truth = rows
    found = CliRunner().invoke(
        main, ["learn", pattern, "--id", "name", "--out", str(tmp_path), "--json"]
    )
    assert found.exit_code == 0, found.output
    said = json.loads(found.stdout)
    assert said["labels"] == 12
    assert "of 900 rows" in said["warnings"][0]
    assert "predictions.csv" not in said["files"]
    n_files, predicted = all_predictions(tmp_path)
    assert n_files == 9  # one per row group
    assert predicted["id"].tolist() == frame["name"].tolist()
    names = np.array([f"class {c}" for c in truth])
    assert np.mean(predicted["prediction"] == names) > 0.97
    model = persist.load(tmp_path / "model.skops")
    again = model.predict(frame.drop(columns="label"))
    assert (again == predicted["prediction"]).all()


def test_class_sizes_are_told_to_a_model_of_many_files(tmp_path, monkeypatch):
    frame, _ = uneven(600)
    for i in range(2):
        frame[300 * i : 300 * (i + 1)].to_parquet(tmp_path / f"p-{i}.parquet")
    pattern = str(tmp_path / "p-*.parquet")
    result, _ = learn_parts(pattern, Task(id="code", class_sizes={"yes": 1, "no": 9}))
    machine = LeaveOneOutRLS(class_sizes={"yes": 0.1, "no": 0.9})
    model = UnifiedKernelMachine(machine=machine, random_state=0)
    session = result.session
    at_hand = RowsAtHand(np.arange(600), session.rows.points, session.y)
    model.fit(da.from_array(session.rows.points, chunks=(300, -1)), at_hand)
    np.testing.assert_allclose(model.training_proba(), result.proba, atol=1e-9)
    plain, _ = learn_parts(pattern, Task(id="code"))
    assert (plain.predictions["prediction"] == "yes").mean() > 0.15
    assert (result.predictions["prediction"] == "yes").mean() < 0.12
    assert any("--class-sizes" in note for note in plain.warnings)
    assert not any("--class-sizes" in note for note in result.warnings)
    words = ["--id", "code", "--class-sizes", "yes=10,no=90", "--out", str(tmp_path)]
    found = CliRunner().invoke(main, ["learn", pattern, *words])
    assert found.exit_code == 0, found.output
    _, predicted = all_predictions(tmp_path)
    assert (predicted["prediction"] == result.predictions["prediction"]).all()
    # Six of 600 rows are labelled yes, and fewer rows come here.
    monkeypatch.setattr("mercer.fewlabels.pools.dask.LOCAL_ROWS", 100)
    learn_parts(pattern, Task(id="code", class_sizes={"yes": 6, "no": 594}))
    with pytest.raises(TableError, match="about 1 of 600 rows are of the class 'yes'"):
        learn_parts(pattern, Task(id="code", class_sizes={"yes": 1, "no": 599}))
    with pytest.raises(TableError, match="name the class 'maybe'"):
        learn_parts(pattern, Task(class_sizes={"maybe": 1, "no": 9}))
    drawn, _ = learn_parts(pattern, Task(id="code", labels_drawn="at random"))
    assert drawn.session.model.machine_.labels_drawn == "at random"


def test_only_labelled_and_drawn_rows_come_here(rows, pattern, monkeypatch):
    monkeypatch.setattr("mercer.fewlabels.pools.dask.LOCAL_ROWS", 200)
    result, parts = learn_parts(pattern, Task(id="name"))
    assert len(parts) == N
    assert len(result.table) <= 212
    assert len(result.labels.labeled) == 12
    named = result.table.frame["name"].iloc[result.next_rows]
    assert (result.ids[result.next_rows] == named).all()
    assert result.session.plan.reason.endswith("in a Dask array")
    # The kernel is that of all rows.
    assert result.session.model.basis_.certificate_ is not None
    numbered, _ = learn_parts(pattern, Task(drop=["name"]))
    first = int(numbered.ids[-1])
    frame, _ = rows
    assert numbered.table.frame["size"].iloc[-1] == frame["size"].iloc[first - 1]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda f: f.rename(columns={"label": "Label"}), "did you mean 'Label'"),
        (
            lambda f: f[["label"]].assign(text="a text about the " + f["name"]),
            "texts alone",
        ),
    ],
)
def test_what_cannot_be_learned_is_refused(rows, tmp_path, change, said):
    frame = change(rows[0])
    frame.to_parquet(tmp_path / "a-0.parquet")
    with pytest.raises(TableError, match=said):
        learn_parts(str(tmp_path / "a-*.parquet"), Task())


def test_options_are_checked_before_files_are_read():
    with pytest.raises(TableError, match="must be 'at random' or 'per class'"):
        learn_parts("none-*.parquet", Task(labels_drawn="by me"))
    with pytest.raises(TableError, match="pairs"):
        learn_parts("none-*.parquet", Task(pairs="pairs.csv"))
    with pytest.raises(TableError, match="sources"):
        learn_parts("none-*.parquet", Task(sources=read_sources("bot")))


def test_too_many_labels_are_refused(pattern, monkeypatch):
    monkeypatch.setattr("mercer.app.tables.parquet_parts.MOST_LABELS", 5)
    with pytest.raises(TableError, match="12 rows have a label"):
        learn_parts(pattern, Task())


def test_files_that_are_missing_or_of_another_kind_are_named(tmp_path):
    with pytest.raises(TableError, match="no file matches"):
        Parts.find(str(tmp_path / "none-*.parquet"))
    (tmp_path / "b-1.parquet").write_text("no parquet")
    with pytest.raises(TableError, match=r"b-1.parquet cannot be read"):
        Parts.find(str(tmp_path / "b-*.parquet"))
    (tmp_path / "a[1].csv").write_text("x")
    assert not is_pattern(str(tmp_path / "a[1].csv"))


def test_answers_are_for_one_table(pattern, tmp_path):
    sheet = tmp_path / "to_label.csv"
    sheet.write_text("id,label\n")
    found = CliRunner().invoke(
        main,
        ["learn", pattern, "--answers", str(sheet), "--out", str(tmp_path / "out")],
    )
    assert found.exit_code == 2
    assert "not for many files" in found.output


def test_features_of_a_dask_array_are_lazy(rows):
    X = rows[0][["size", "weight"]].to_numpy()
    y = np.where(np.arange(N) < 12, rows[1], -1)
    model = UnifiedKernelMachine(random_state=0).fit(X, y)
    lazy = model.transform(da.from_array(X, chunks=(300, 2)))
    assert lazy.shape == model.transform(X).shape
    np.testing.assert_allclose(lazy[:20].compute(), model.transform(X[:20]), atol=1e-9)

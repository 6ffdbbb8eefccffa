"""`mercer learn`, `predict` and `next`, as a person runs them."""

import json
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner, Result

from mercer.cli.main import main
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
    return folder


def test_writes_report_predictions_and_model(learned: Path) -> None:
    files = sorted(path.name for path in (learned / "out").iterdir())
    assert files == [
        "model.skops",
        "predictions.csv",
        "predictions.parquet",
        "report.html",
    ]
    said = pd.read_parquet(learned / "out" / "predictions.parquet")
    assert said["id"].tolist() == two_groups()["code"].tolist()
    assert said["prediction"].tolist() == ["small", "big"] * 20
    assert said["labelled"].tolist() == [True] * 10 + [False] * 30
    total = said["probability big"] + said["probability small"]
    assert total.sub(1).abs().max() < 1e-6
    lead = (said["probability big"] - said["probability small"]).abs()
    assert (said["margin"] - lead).abs().max() < 1e-6
    text = pd.read_csv(learned / "out" / "predictions.csv", dtype={"id": str})
    pd.testing.assert_frame_equal(text, said, check_dtype=False, rtol=1e-6)


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
    pd.testing.assert_frame_equal(again, before.drop(columns="labelled"), atol=1e-6)


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
    kinds = {note["column"]: note["kind"] for note in said["columns"]}
    assert kinds["size"] == "number"
    assert kinds["colour"] == "category"


def test_quiet_prints_nothing(tmp_path: Path) -> None:
    two_groups().to_csv(tmp_path / "t.csv", index=False)
    result = run("learn", tmp_path / "t.csv", "--out", tmp_path / "o", "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_stages_and_memory_are_told_on_the_way(tmp_path: Path) -> None:
    two_groups().to_csv(tmp_path / "t.csv", index=False)
    told = run("learn", tmp_path / "t.csv", "--out", tmp_path / "o").stderr
    order = ["reading", "GiB of memory", "neighbours and directions", "files"]
    places = [told.index(words) for words in order]
    assert places == sorted(places)


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

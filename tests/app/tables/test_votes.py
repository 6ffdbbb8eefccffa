"""Sources of labels in a table: columns, confidences and rules."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import mercer
from mercer.app.cli.main import main
from mercer.app.tables.session import Session
from mercer.app.tables.table import TableError
from mercer.app.tables.votes import read_sources

N = 120


@pytest.fixture(scope="module")
def truth():
    return np.random.default_rng(0).choice(["Billing", "Support"], N)


@pytest.fixture(scope="module")
def table(truth):
    rng = np.random.default_rng(1)
    is_billing = truth == "Billing"
    other = np.where(is_billing, "Support", "Billing")
    llm = np.where(rng.random(N) < 0.85, truth, other)
    anna = np.where(rng.random(N) < 0.9, truth, other)
    return pd.DataFrame(
        {
            "amount": is_billing * 1.5 + rng.standard_normal(N),
            "length": rng.standard_normal(N),
            "llm": [v.lower() for v in llm],
            "sure": np.where(llm == truth, 0.9, 0.55),
            "anna": np.where(rng.random(N) < 0.5, anna, None),
            "team": np.where(np.arange(N) < 10, truth, None),
        }
    )


RULES = {
    "llm": "sure",
    "anna": True,
    "dear": ("Billing", "amount > 2"),
    "cheap": lambda row: "Support" if row["amount"] < -1 else None,
}


@pytest.fixture(scope="module")
def result(table):
    return mercer.learn(table, target="team", sources=RULES)


def right(result, truth):
    said = result.predictions["prediction"].to_numpy()
    return float(np.mean(said[10:] == truth[10:]))


def test_columns_and_rules_are_sources_and_not_columns_to_learn_from(
    table, truth, result
):
    plain = mercer.learn(table[["amount", "length", "team"]], target="team")
    assert right(result, truth) > right(plain, truth) + 0.1
    votes = result.session.told.sources
    assert votes.names == ("llm at 0.55", "llm at 0.9", "anna", "dear", "cheap")
    assert votes.classes.tolist() == ["Billing", "Support"]  # billing is Billing
    said = {note.column: note.done for note in result.session.rows.notes}
    for column in ("llm", "sure", "anna"):
        assert said[column] == "a source of labels"
    assert {n.column for n in result.session.rows.encoder.notes_} == {
        "amount",
        "length",
    }


def test_the_rules_fire_where_they_say(table, result):
    votes = result.session.told.sources
    dear, cheap = votes.of(3).toarray().ravel(), votes.of(4).toarray().ravel()
    np.testing.assert_array_equal(dear > 0, table["amount"] > 2)
    np.testing.assert_array_equal(cheap > 0, table["amount"] < -1)


def test_votes_that_a_source_is_sure_of_count_more(truth, result):
    unsure, sure = result.sources.sources[:2]
    assert unsure.accuracy < 0.5 < 0.9 < sure.accuracy
    assert unsure.coverage + sure.coverage == pytest.approx(1.0)


def test_a_table_without_a_label_is_learned_from_sources(table, truth):
    found = mercer.learn(
        table.drop(columns="team"), target="team", sources=["anna", "llm=sure"]
    )
    assert found.check is None
    assert "without a true label" in found.sources.rests_on
    said = found.predictions["prediction"].to_numpy()
    assert np.mean(said == truth) > 0.95


def test_votes_and_labels_are_told_later_and_the_other_ones_stay(table, truth):
    session = Session.open(table, "team", sources=["llm=sure", "anna"]).fit()
    rows = session.ask(2)
    session.tell(rows, truth[rows])
    assert session.told.sources.names == ("llm at 0.55", "llm at 0.9", "anna")
    session.tell([20, 21], ["Billing", "Support"], source="second")
    assert session.told.sources.names == (
        *("llm at 0.55", "llm at 0.9", "anna"),
        "second",
    )
    assert session.model.sources_.n_votes[3] == 2
    assert len(session.labels.labeled) == 12
    assert session.source_report().n_true == 12


def test_a_session_without_sources_takes_votes_later(table, truth):
    plain = table[["amount", "length", "team"]]
    session = Session.open(plain, "team").fit()
    before = float(np.mean(session.predictions == truth))
    session.tell(np.arange(N), table["anna"].tolist(), source="anna")
    assert float(np.mean(session.predictions == truth)) > before


def test_the_command_line_takes_sources_and_reports_them(table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    said = CliRunner().invoke(
        main,
        [
            "learn",
            str(tmp_path / "t.csv"),
            "--target=team",
            "--source=llm=sure",
            "--source=anna",
            f"--out={tmp_path / 'out'}",
            "--json",
        ],
    )
    assert said.exit_code == 0, said.output
    stored = json.loads((tmp_path / "out" / "result.json").read_text())
    assert [s["name"] for s in stored["report"]["sources"]] == [
        "llm at 0.55",
        "llm at 0.9",
        "anna",
    ]
    assert "Sources of labels" in (tmp_path / "out" / "report.html").read_text()


def test_classes_that_only_a_source_names_are_said(table):
    odd = table.assign(llm=table["llm"].replace({}).where(table.index != 40, "no idea"))
    found = Session.open(odd, "team", sources=["llm"])
    notes = found.rows.screened.notes
    assert any("'no idea'" in note and "1 row" in note for note in notes)


@pytest.mark.parametrize(
    ("sources", "match"),
    [
        (["lm"], "no column 'lm'"),
        (["llm", "llm"], "given twice"),
        (["team"], "cannot be a source"),
        ([""], "takes COLUMN or COLUMN=CONFIDENCE"),
        ({"llm": 3}, "give True for a column"),
        (["llm=anna"], "give numbers from 0 to 1"),
        (["anna=amount"], "between 0 and 1"),
        ({"x": ("Billing", "nothing > 2")}, "source 'x' failed"),
        ({"x": ("Billing", "amount + 2")}, "true or false for every row"),
        ({"x": ("Billing", "llm")}, "true or false for every row"),
        ({"x": lambda row: row["nothing"]}, "KeyError"),
        ({"x": lambda row: row["team"]}, "'team' .rules see all columns but the tar"),
        ({"x": ("Billing", "team == 'Billing'")}, "'team' is not defined"),
    ],
)
def test_bad_sources_are_refused_in_words(table, sources, match):
    with pytest.raises(TableError, match=match):
        Session.open(table, "team", sources=sources)


def test_sources_of_one_class_and_no_label_are_refused(table):
    with pytest.raises(TableError, match="one class only, 'Billing'"):
        Session.open(
            table.drop(columns="team"), "team", sources={"x": ("Billing", "amount > 0")}
        )


def test_labels_of_one_class_and_votes_of_others_are_learned(table, truth):
    own = np.where((np.arange(N) < 20) & (truth == "Billing"), "Billing", None)
    found = mercer.learn(table.assign(team=own), "team", sources=["llm"])
    assert found.check is None
    assert found.labels.classes.tolist() == ["Billing", "support"]


def test_without_a_label_their_numbers_are_not_spoken_of(table):
    odd = table.assign(amount=0.0, llm=table["llm"].where(table.index < 4, None))
    found = mercer.learn(odd.drop(columns="team"), "team", sources=["llm"])
    assert found.proba.max(axis=1).mean() < 0.9  # unsure, so sizes would matter
    assert not any("labels each" in said for said in found.warnings)


def test_classes_that_sources_alone_name_have_sizes(table):
    odd = table.assign(llm=table["llm"].where(table.index < 100, "Sales"))
    sizes = {"Billing": 5, "Support": 4, "Sales": 1}
    found = Session.open(odd, "team", sources=["llm"], class_sizes=sizes)
    assert found.told.known_sizes == {"Billing": 0.5, "Sales": 0.1, "Support": 0.4}
    two = {"Billing": 1, "Support": 1}
    other = Session.open(odd, "team", sources=["llm"], class_sizes=two)
    assert other.told.known_sizes is None  # how many are of Sales is not known
    with pytest.raises(TableError, match="name the class 'Legal'"):
        Session.open(odd, "team", sources=["llm"], class_sizes=two | {"Legal": 1})


def test_what_a_person_writes_becomes_sources():
    one, two = read_sources(["llm = sure", "anna"])
    assert (one.name, one.confidence) == ("llm", "sure")
    assert one.columns == ("llm", "sure")
    assert two.columns == ("anna",)
    assert read_sources(None) == ()
    assert read_sources(read_sources("anna"))[0].name == "anna"


@pytest.mark.parametrize("is_right", [1.0, 0.8])
def test_a_source_that_votes_on_labelled_rows_alone_is_left_out(truth, is_right):
    """Hidden labels would be easy to predict, and the other rows no easier."""
    rng = np.random.default_rng(2)
    known = np.arange(N) < 40
    other = np.where(truth == "Billing", "Support", "Billing")
    frame = pd.DataFrame(
        {
            "noise": rng.standard_normal(N),
            "more": rng.standard_normal(N),
            "anna": np.where(
                known, np.where(rng.random(N) < is_right, truth, other), None
            ),
            "team": np.where(known, truth, None),
        }
    )
    plain = mercer.learn(frame.drop(columns="anna"), target="team")
    found = mercer.learn(frame, target="team", sources="anna")
    assert found.check.scores[0].accuracy == plain.check.scores[0].accuracy < 0.7
    assert found.session.told.sources is None
    assert any("'anna' was left out" in note for note in found.warnings)
    frame.loc[40, "anna"] = "Billing"  # somebody who looked at other rows, too
    kept = mercer.learn(frame, target="team", sources="anna")
    assert kept.session.told.sources.names == ("anna",)

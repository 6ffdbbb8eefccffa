"""A small story for tests of the report."""

import numpy as np

from mercer.app.report.story import (
    Bin,
    Column,
    Evidence,
    Fact,
    Influence,
    Listed,
    Map,
    Picture,
    Quality,
    Row,
    Story,
)
from mercer.judging.hiding import Score
from mercer.judging.outlook import Outlook
from mercer.judging.sources import SourceJudged


def story(name: str = "cat") -> Story:
    """Return a small story in which every word from the table is `name`."""
    rng = np.random.default_rng(0)
    row = Row(name, name, name, 0.6, name, 0.3, ((name, name), ("b", 300 * name)))
    ours = Score("Mercer", 0.9, 0.8, 0.95, 0.9, 0.0, -0.05, 0.05)
    theirs = Score("random forest", 0.7, 0.6, 0.8, 0.7, 0.2, 0.1, 0.3)
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
            n_tried=5,
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
        evidence=(Evidence("graphs", 0.7, 0.5), Evidence("direct", 0.3, 0.4)),
        views=(Evidence(name, 0.8, 0.5), Evidence("other columns", 0.2, 0.5)),
        n_weighed=10,
        n_sure=70,
        columns=(Column(name, name, name, 3, name, (0.2, 0.8)),),
        facts=(Fact(name, name, name, name),),
        warnings=(name,),
        method=name,
        predictions=(
            Listed(name, name, 0.6, name, ""),
            Listed(name, name, 0.7, "", name),
        ),
        influences=(Influence(name, 0.1, 0.05, 0.15),),
        outlook=Outlook(20, 0.9, 0.93, 0.91, 0.95),
        changes=(name,),
        sources=(SourceJudged(name, 0.8, 0.7, 0.9, 50, 0.5, 0.1, 9, 12, 0.5, ()),),
        rests_on=name,
        disputed=(name, "7"),
    )

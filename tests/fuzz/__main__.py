"""Random input to every estimator and file reader: `make fuzz SECONDS=60`.

Prints how many inputs were tried, refused and answered, and each broken promise with
the smallest input that shows it.
"""

import argparse
import time
from collections import Counter
from functools import partial
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

from .cases import cases
from .promises import jobs, keeps_promises
from .readers import files, loads_or_refuses, model_files, reads_or_refuses

N_PER_ROUND = 40
# What is tried besides estimators and kernels: files.
FILES = {
    "table files": (files, reads_or_refuses),
    "model files": (model_files(), loads_or_refuses),
}


def try_one(name: str, round_: int, counts: Counter[str]) -> BaseException | None:
    """Give one estimator or reader a round of inputs; return what it broke first."""
    inputs, check = FILES.get(name, (cases, partial(keeps_promises, name)))

    @hypothesis.seed(round_)
    @settings(
        max_examples=N_PER_ROUND,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(case=inputs)
    def run(case: Any) -> None:
        counts["tried"] += 1
        counts[check(case)] += 1

    try:
        run()
    except Exception as error:
        return error
    return None


def main() -> None:
    """Run rounds over all estimators until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", nargs="*", help="names; by default all")
    options = parser.parse_args()
    end = time.monotonic() + options.seconds
    counts: Counter[str] = Counter()
    found: dict[str, str] = {}
    round_ = options.seed
    while time.monotonic() < end:
        for name in options.only or [*jobs(), *FILES]:
            if time.monotonic() > end:
                break
            error = try_one(name, round_, counts)
            if error is not None:
                first = (str(error).splitlines() or ["no message"])[0]
                kind = f"{type(error).__name__}: {first[:150]}"
                if f"{name}: {kind}" not in found:
                    found[f"{name}: {kind}"] = "\n".join(error.__notes__)
                    print(f"BROKEN {name}: {kind}\n{found[f'{name}: {kind}']}")
        round_ += 1
    print(", ".join(f"{count:,} {what}" for what, count in counts.items()))
    print(f"{len(found)} broken promises in {round_ - options.seed} rounds")


if __name__ == "__main__":
    main()

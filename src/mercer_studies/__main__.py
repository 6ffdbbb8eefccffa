"""`python -m mercer_studies`: the papers' tables, and Mercer next to its peers."""

import click

from mercer_studies.bench.command import command as bench
from mercer_studies.reproduce import command as reproduce


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Run the papers' experiments again, or measure Mercer next to its peers."""


main.add_command(reproduce)
main.add_command(bench)

if __name__ == "__main__":
    main(prog_name="python -m mercer_studies")

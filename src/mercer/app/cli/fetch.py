"""`mercer fetch`: download a model of texts or images, after saying how large it is."""

from typing import TYPE_CHECKING, Any

import click

from mercer._base.words import in_bytes
from mercer.app.cli.jobs import output_options, run

if TYPE_CHECKING:
    from mercer._base.progress import Progress


@click.command("fetch")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask before the download.")
@output_options
def command(name: str, yes: bool, quiet: bool, as_json: bool) -> None:
    """Download the model NAME, such as sentence-transformers/all-MiniLM-L6-v2.

    Says from where, how large and which version before anything is downloaded. No other
    command downloads anything. NAME@COMMIT names one version.
    """
    from mercer.app.embedding.fetching import Offer

    offers: list[Offer] = []

    def ask(progress: "Progress") -> dict[str, Any]:
        from mercer.app.embedding.fetching import offer_of

        offer = offer_of(name)
        offers.append(offer)
        return {**offer._asdict(), "folder": ""}

    def job(progress: "Progress") -> dict[str, Any]:
        from mercer.app.embedding.fetching import fetch

        return {**offers[0]._asdict(), "folder": str(fetch(offers[0]))}

    run(ask, _offered, stages=["reading"], quiet=quiet or as_json, as_json=False)
    if not (yes or as_json or click.confirm("Download it?", default=True)):
        raise SystemExit(0)
    run(job, _fetched, stages=["reading"], quiet=quiet, as_json=as_json)


def _offered(said: dict[str, Any]) -> str:
    return (
        f"{said['name']}, commit {said['commit'][:12]}: {in_bytes(said['n_bytes'])} "
        f"from {said['host']}."
    )


def _fetched(said: dict[str, Any]) -> str:
    return f"wrote {said['folder']}\nUse it with: --embed COLUMN={said['name']}"

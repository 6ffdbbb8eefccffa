"""`mercer cache`: the embeddings that were kept, and their removal."""

from typing import TYPE_CHECKING, Any

import click

from mercer._base.words import counted, in_bytes
from mercer.app.cli.jobs import output_options, run

if TYPE_CHECKING:
    from mercer._base.progress import Progress


@click.command("cache")
@click.option("--clear", is_flag=True, help="Remove all of them.")
@output_options
def command(clear: bool, quiet: bool, as_json: bool) -> None:
    """Show which embeddings are kept on this machine, or remove them.

    `mercer learn --embed` computes the embedding of each text or image once and keeps
    it, so that the next run need not. The folder is that in MERCER_CACHE, or mercer in
    the cache of the user.
    """

    def job(progress: "Progress") -> dict[str, Any]:
        from mercer.app.embedding.cache import Cache

        with Cache() as cache:
            if cache.trouble:
                raise OSError(cache.trouble)
            models = [kept._asdict() for kept in cache.contents()]
            if clear:
                cache.clear()
            return {"file": str(cache.file), "models": models, "cleared": clear}

    run(job, _describe, stages=["reading"], quiet=quiet, as_json=as_json)


def _describe(said: dict[str, Any]) -> str:
    models = said["models"]
    total = in_bytes(sum(model["n_bytes"] for model in models))
    count = counted(sum(model["n_items"] for model in models), "embedding")
    if said["cleared"]:
        return f"Removed {count} ({total}) from {said['file']}."
    lines = [f"{count} ({total}) in {said['file']}."]
    lines += [
        f"  {model['name'] or 'model'} ({model['model']}): "
        f"{counted(model['n_items'], 'embedding')}, {in_bytes(model['n_bytes'])}"
        for model in models
    ]
    return "\n".join(
        [*lines, "mercer cache --clear removes them."] if models else lines
    )

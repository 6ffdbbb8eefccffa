"""The `mercer` command; each subcommand is imported when it is first used."""

import sys
from importlib import import_module
from typing import Any

import click

from mercer import __version__

COMMANDS = {
    "learn": "mercer.app.cli.learn",
    "predict": "mercer.app.cli.predict",
    "next": "mercer.app.cli.next",
    "label": "mercer.app.cli.label",
    "cache": "mercer.app.cli.cache",
    "fetch": "mercer.app.cli.fetch",
}


class LazyGroup(click.Group):
    """A group that imports a subcommand's module only to run or describe it.

    Ctrl-C ends with 130 at any time, also while modules are imported.
    """

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        """Parse the command line."""
        try:
            return super().make_context(*args, **settings)
        except KeyboardInterrupt:
            sys.exit(130)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a subcommand."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.exit(130)

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of help."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a subcommand."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = import_module(COMMANDS[cmd_name]).command
        return command


@click.command(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="mercer")
def main() -> None:
    """Learn kernels from a few labels, pairs, or nothing at all."""

"""`mercer` and `python -m mercer`: the command-line tool."""

import os
import signal
import sys

from mercer._base.extras import require

_INTERRUPTED = 130
_NOT_INSTALLED = 2  # as for any other input that cannot be used
# Extras of the commands that need more than the command line itself.
_EXTRAS = {
    "learn": "tables",
    "predict": "tables",
    "next": "tables",
    "label": "studio",
    "fetch": "embed",
    "cache": "embed",
}


def run() -> None:
    """Run the command line, or say which extra installs it."""
    # While modules are imported there is nothing to tidy up.
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    try:
        asked = next((word for word in sys.argv[1:] if word in _EXTRAS), "")
        require("click", extra=_EXTRAS.get(asked, "app"), purpose="The command line")
    except ImportError as error:
        print(f"Error: {error}", file=sys.stderr)
        sys.exit(_NOT_INSTALLED)
    from mercer.app.cli.main import main

    signal.signal(signal.SIGINT, before)
    main()


if __name__ == "__main__":
    run()

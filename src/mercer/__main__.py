"""`mercer` and `python -m mercer`: the command-line tool."""

import sys

from mercer._extras import require


def run() -> None:
    """Run the command line, or say which extra installs it."""
    try:
        require("click", extra="app", purpose="The command line")
    except ImportError as error:
        sys.exit(f"Error: {error}")
    from mercer.cli.main import main

    main()


if __name__ == "__main__":
    run()

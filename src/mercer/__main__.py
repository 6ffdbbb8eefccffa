"""`python -m mercer` is the command-line tool."""

from mercer.cli.main import main

main()

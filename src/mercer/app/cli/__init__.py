"""The command-line tool: parses arguments and shows results, computes nothing."""

"""Plugins are loaded inside other projects' test suites, not collected here."""

collect_ignore = ["plugins"]

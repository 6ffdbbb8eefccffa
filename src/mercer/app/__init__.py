"""The application: tables, report, studio and command line."""

"""The labelling studio: a local page that asks the most useful question next."""

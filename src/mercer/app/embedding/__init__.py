"""Texts and images as vectors, by models that were trained elsewhere.

`find_model` finds a model on this machine, `load` makes an `Embedder` of it, and
`vectors_of` computes each text or image once and keeps the result in a `Cache`. Nothing
here uses a network but `mercer.app.embedding.fetching`, which a person calls by name.
"""

"""From a table with a few labels to predictions and a model.

Reading, encoding, learning and writing; needs the extra ``mercer[tables]``.
"""

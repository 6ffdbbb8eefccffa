"""The labelling studio: a local page that asks the most useful question next.

`mercer.app.studio.notebook.label` shows it in a notebook, `mercer label` in a browser.
"""

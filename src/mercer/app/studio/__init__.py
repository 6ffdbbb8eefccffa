"""The labelling studio: a local page that asks the most useful question next.

`mercer.app.studio.notebook.label` shows it in a notebook, `mercer label` in a browser.
"""

from mercer._base.extras import require

for _package in ("sqlalchemy", "starlette", "uvicorn"):
    require(_package, extra="studio", purpose="The studio")

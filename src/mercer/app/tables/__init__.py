"""From a table with a few labels to predictions and a model.

Reading, encoding, learning and writing; needs the extra ``mercer[tables]``.
"""

from mercer._base.extras import require

for _package in ("pandas", "pyarrow"):
    require(_package, extra="tables", purpose="Learning from a table")

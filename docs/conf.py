"""The site: `make docs` builds it offline, and warnings are errors."""

import os
import sys
import warnings
from importlib.metadata import version as installed_version
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))
sys.path.insert(0, str(HERE.parent / "src"))
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Reference pages import every module; what other packages deprecate is not our page.
warnings.filterwarnings("ignore", category=DeprecationWarning)

project = "Mercer"
author = "The Mercer developers"
project_copyright = "The Mercer developers"
version = release = installed_version("mercer")

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "reference",
]
# The pages of execution times load scripts from other sites.
exclude_patterns = ["_build", "**/sg_execution_times*", "sg_execution_times*"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
root_doc = "index"
templates_path = ["_templates"]
default_role = "code"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autosummary_generate = True
toc_object_entries_show_parents = "hide"  # "ask()", not "UnifiedKernelMachine.ask()"
autodoc_typehints = "none"  # numpydoc states the types in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "plot_",
    "ignore_pattern": r"digits_folder\.py",
    "download_all_examples": False,
    "show_memory": False,
    "plot_gallery": os.environ.get("MERCER_GALLERY", "1") == "1",
    "min_reported_time": 10_000,
    "default_thumb_file": str(HERE / "_static" / "logo.svg"),
    "show_signature": False,
    "within_subsection_order": "reference.ByUse",
}

html_theme = "pydata_sphinx_theme"
html_title = "semi-supervised and active learning with few labels"
html_static_path = ["_static"]
html_favicon = "_static/logo.svg"
html_css_files = ["mercer.css"]
html_context = {"default_mode": "auto"}  # light or dark, as the reader's system
html_show_sourcelink = False
ALONE = ("start", "tutorial", "which", "how_it_works", "faq", "methods")  # no subpages
html_sidebars = {page: [] for page in ALONE}
html_theme_options = {
    "logo": {
        "text": f"Mercer {version}",
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
    },
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "pygments_dark_style": "github-dark",
    "navbar_persistent": ["search-button"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}

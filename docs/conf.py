"""The site: `sphinx-build -W --keep-going docs build/site`, offline, from the package as it is installed."""

import logging
import sys
import warnings
from pathlib import Path

import yaml

import shrinktest
from shrinktest import _jit

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "_ext"))
from docstrings import called  # noqa: E402 - from the folder that the line above adds

_jit.PATIENCE = (
    1e6  # seconds: stories show what their lines print, and not that a new machine had to compile
)

citation = yaml.safe_load((HERE.parent / "CITATION.cff").read_text(encoding="utf-8"))
project = citation["title"]
author = " and ".join(person["name"] for person in citation["authors"])
copyright = author
release = version = shrinktest.__version__
if citation["version"] != release:
    raise ValueError(f"CITATION.cff is of version {citation['version']}, the package of {release}")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    "sphinx_design",
    "bibliography",
    "commands",
    "docstrings",
    "figures",
    "literals",
    "llms",
    "mathml",
]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "data", "gallery/**/*.md5", "gallery/**/*.ipynb", "gallery/**/*.py"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]
# Some pages are listed by patterns, so that a branch without them builds as well; Sphinx has no name for this warning.
logging.getLogger("sphinx.sphinx.directives.other").addFilter(
    lambda record: "toctree glob pattern" not in record.msg
)

# What a docstring says is in numpydoc's sections; signatures show names and defaults.
autodoc_typehints = "none"
autosummary_generate = True
toc_object_entries_show_parents = "hide"  # beside a page there is room for the last name
autosummary_context = {"called": called}
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

myst_enable_extensions = ["amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4

# A gallery script that warns, warns in the build, which then fails.
warnings.filterwarnings("default", module="shrinktest")
FIELDS = ["clinical", "ecology", "products", "machine_learning", "sensors", "laboratory"]
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "subsection_order": [f"../examples/gallery/{field}" for field in FIELDS],
    "nested_sections": False,
    "filename_pattern": "/plot_",
    "ignore_pattern": r"(^|/)(?!plot_)[^/]*\.py$",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "gallery/backreferences",
    "doc_module": ("shrinktest",),
    "download_all_examples": False,
    "image_srcset": ["2x"],
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
}
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "pydata_sphinx_theme"
html_title = f"shrinktest {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "shrinktest"},
    "navbar_align": "left",
    "navbar_persistent": [
        "search-button"
    ],  # the one with a text is named otherwise for those who hear it
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "project": [], "references": []}


def setup(app):
    """Remove the lists of tags (there are none) from the gallery's page; they repeat one id for every field."""

    def without_tags(app, name, source):
        if name == "gallery/index":
            source[0] = source[0].replace(
                ".. raw:: html\n\n  <div id='sg-tag-list' class='sphx-glr-tag-list'></div>", ""
            )

    app.connect("source-read", without_tags)

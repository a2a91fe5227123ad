"""How Sphinx makes the site; see https://www.sphinx-doc.org/en/master/usage/configuration.html."""

from __future__ import annotations

from typing import TYPE_CHECKING

import subadjacent
from website import source_links

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "subadjacent"
version = release = subadjacent.__version__
html_title = "subadjacent"
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.linkcode",
    "website.equations",
]

# pages
myst_enable_extensions = ["attrs_inline", "dollarmath"]
myst_heading_anchors = 4
myst_number_code_blocks = []
suppress_warnings = [
    # sections of the changelog begin anew
    "myst.header",
]
highlight_language = "text"

# docstrings
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 88
add_module_names = False
toc_object_entries_show_parents = "hide"

# the theme
html_theme = "pydata_sphinx_theme"
html_static_path = ["assets"]
html_favicon = html_logo = "assets/mark.svg"
html_css_files = ["site.css"]
html_js_files = [("site.js", {"defer": "defer"})]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_sidebars = {"index": [], "search": []}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "subadjacent", "alt_text": "subadjacent"},
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
    "search_as_you_type": True,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": [],
    "footer_end": [],
    "back_to_top_button": False,
}


def setup(app: Sphinx) -> None:
    """Leave out what a class has from scikit-learn: its words link to scikit-learn's own pages."""
    app.connect(
        "autodoc-skip-member",
        lambda _app, _what, _name, one, _skip, _options: (
            True if (getattr(one, "__module__", "") or "").startswith("sklearn.") else None
        ),
    )


def linkcode_resolve(domain: str, info: dict[str, str]) -> str | None:
    """The page that shows the code of a documented name."""
    if domain != "py" or not info["module"]:
        return None
    return source_links.url(info["module"], info["fullname"])

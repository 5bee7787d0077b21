"""Settings of Sphinx for the site; build.py makes the sources that they apply to."""

from __future__ import annotations

import importlib.metadata
import re

import latex2mathml.converter

project = "Solfec"
author = "the Solfec authors"
copyright = "the Solfec authors"
version = release = importlib.metadata.version("solfec")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_copybutton"]
myst_enable_extensions = ["dollarmath", "attrs_block", "attrs_inline"]
myst_heading_anchors = 4
autodoc_typehints = "none"  # docstrings give types in words
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False
highlight_language = "none"
pygments_style = "friendly"

html_theme = "furo"
html_title = f"Solfec {version.partition('+')[0]}"  # without the commit of a copy of the sources, which does not fit
html_theme_options = {"light_css_variables": {"color-brand-primary": "#8a5a2b", "color-brand-content": "#8a5a2b"}}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False


def mathml(latex: str, display: str) -> str:
    """Return a formula as MathML, which browsers show without scripts; \\tag becomes text beside it."""
    number = re.search(r"\\tag\{([^}]*)\}", latex)
    made = latex2mathml.converter.convert(re.sub(r"\\tag\{[^}]*\}", "", latex), display=display)
    return made + (f'<span class="eqno">({number[1]})</span>' if number else "")


def inline_math(translator, node) -> None:
    """Write a formula within text."""
    from docutils.nodes import SkipNode

    translator.body.append(mathml(node.astext(), "inline"))
    raise SkipNode


def block_math(translator, node) -> None:
    """Write a formula of its own line."""
    from docutils.nodes import SkipNode

    translator.body.append(f'<div class="math">{mathml(node.astext(), "block")}</div>')
    raise SkipNode


def link_pages(app, what, name, thing, options, lines: list[str]) -> None:
    """Make links of `docs/page.md` in docstrings."""
    lines[:] = [re.sub(r"docs/([\w-]+)\.md(, [^);]+)?", lambda page: f":doc:`{(page[2] or ', ' + page[1])[2:]} </{page[1]}>`", line) for line in lines]


def setup(app) -> None:
    """Let formulas be MathML, so that the site needs no network, and references of docstrings links."""
    app.add_html_math_renderer("mathml", (inline_math, None), (block_math, None))
    app.connect("autodoc-process-docstring", link_pages)


html_math_renderer = "mathml"

"""Builds the site, without network, and fails at any warning: python docs/site/build.py [directory] (make site).

Pages of docs/ are its sources as they stand; the lists of docs/index.md are its table of contents. Pages of commands, from
docstrings, and of the gallery, from inp/, are made here.
"""

from __future__ import annotations

import html
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import solfec
from solfec.language import COMMANDS, NOT_INJECTED
from solfec.tools.examples import title

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
THUMBNAILS = DOCS / "figures" / "gallery"
ROOT_PAGES = {"ARCHITECTURE.md": "architecture.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
FENCE = re.compile(r"^```.*?^```$|^    .*?$", re.M | re.S)
ITEM = re.compile(r"^ *(?:\*|\d+\.) \[([^\]]+)\]\(([^)#]+\.md)\)", re.M)


def pages() -> dict[Path, str]:
    """Sources of the site, with their names in it."""
    found = {page: page.name for page in sorted(DOCS.glob("*.md"))}
    return found | {ROOT / page: name for page, name in ROOT_PAGES.items() if (ROOT / page).exists()}


def relinked(page: Path, text: str) -> str:
    """Text of a page with links as they are in the site; the name alone remains of files that it does not have."""
    names = pages()

    def target(match: re.Match) -> str:
        words, link = match.groups()
        path, mark, anchor = link.partition("#")
        if link.startswith(("http", "#", "mailto:")):
            return match[0]
        file = (page.parent / path).resolve()
        if file in names:
            return f"{words}({names[file]}{mark}{anchor})"
        if file.is_relative_to(DOCS / "figures"):
            return f"{words}({file.relative_to(DOCS)})"
        if file == ROOT / "README.md":
            return f"{words}(index.md)"
        return words[1:-1]

    parts, last = [], 0
    for code in re.finditer(r"^```.*?^```$", text, re.M | re.S):
        parts += [re.sub(r"(\[[^\]]*\])\(([^)\s]+)\)", target, text[last : code.start()]), code[0]]
        last = code.end()
    return "".join([*parts, re.sub(r"(\[[^\]]*\])\(([^)\s]+)\)", target, text[last:])])


def contents(text: str) -> str:
    """Directives of Sphinx for the lists of links below the headings of docs/index.md."""
    made = []
    for heading, body in re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, re.M | re.S):
        entries = [f"{words} <{Path(page).name[:-3].lower()}>" for words, page in ITEM.findall(body)]
        entries += {"Learn": ["Gallery <gallery>"], "Look up": ["Commands, one by one <api/index>"]}.get(heading, [])
        made.append(f"```{{toctree}}\n:hidden:\n:caption: {heading}\n\n" + "\n".join(entries) + "\n```\n")
    return "\n".join(made)


# --- commands -----------------------------------------------------------------------------------------------


def blocks() -> list[tuple[str, str, str]]:
    """Complete examples in the pages, which tests run: page, anchor of the heading above, text."""
    found = []
    for page in sorted(DOCS.glob("*.md")):
        text, heading = page.read_text(), ""
        for match in re.finditer(r"^#+ (?P<heading>[^\n]*)$|^```(?P<kind>\w[\w ]*)\n(?P<body>.*?)^```$", text, re.M | re.S):
            if match["heading"]:
                heading = re.sub(r"[^\w\- ]", "", match["heading"].lower()).replace(" ", "-")
            elif match["kind"] in ("python run", "python script"):
                found.append((page.name, heading, match["body"]))
            elif match["kind"] == "python more":
                found[-1] = (*found[-1][:2], found[-1][2] + match["body"])
    return found


def example(name: str, known: list[tuple[str, str, str]]) -> str:
    """Return the shortest example of the pages that calls a command, or links to inputs that do."""
    using = [one for one in known if re.search(rf"\b{name} ?\(|, {name}\)", one[2])]  # types are arguments of isinstance
    if not using:
        inputs = [one for one, path in examples().items() if re.search(rf"\b{name} ?\(", path.read_text())]
        links = [f"[{one}](../examples/{one.replace('/', '-')}.md)" for one in inputs if not one.startswith("parmec/")][:3]
        return f"**Used in** {', '.join(links)}.\n\n" if links else ""
    page, heading, text = min(using, key=lambda one: len(one[2]))
    link = f"../{page}" + (f"#{heading}" if heading else "")
    return f"**Example**, which the tests run ([more]({link})):\n\n```python\n{text}```\n\n"


def chapters() -> list[tuple[str, list[str]]]:
    """Commands by the chapters of the table of docs/language.md."""
    table = (DOCS / "language.md").read_text().partition("## 4.2 Commands")[2].partition("## 4.3")[0]
    return [(row[0], row[1].split(", ")) for row in re.findall(r"^\| \[([^\]]+)\]\([^)]*\) \| (.*) \|$", table, re.M)]


def write_commands(folder: Path) -> int:
    """Write a page for every chapter of commands, from docstrings; return the number of commands with an example."""
    known, count = blocks(), 0
    listed = [name for _, names in chapters() for name in names]
    missing = sorted(set(COMMANDS) - NOT_INJECTED - set(listed))
    if missing:
        raise SystemExit(f"docs/language.md, 4.2, does not list {', '.join(missing)}")
    folder.mkdir()
    rows = []
    for chapter, names in chapters():
        file = chapter.lower().replace(" ", "-")
        rows.append((chapter, file, names))
        text = [f"# {chapter}\n"]
        for name in names:
            command = getattr(solfec, name)
            directive = "autoclass" if inspect.isclass(command) else "autofunction"
            options = "   :members:\n" if inspect.isclass(command) else ""
            shown = example(name, known)
            count += bool(shown)
            text.append(f"## {name}\n\n```{{eval-rst}}\n.. {directive}:: solfec.{name}\n{options}```\n\n{shown}")
        (folder / f"{file}.md").write_text("\n".join(text))
    lines = ["# Commands, one by one\n", "Every command with its arguments, from the texts that `help (solfec.BODY)` and editors show, and the shortest example that has it.", ""]
    for chapter, file, names in rows:
        lines.append(f"**[{chapter}]({file}.md)**: " + ", ".join(f"[{name}]({file}.md#{name.lower()})" for name in names) + "\n")
    lines.append("```{toctree}\n:hidden:\n\n" + "\n".join(file for _, file, _ in rows) + "\n```\n")
    (folder / "index.md").write_text("\n".join(lines))
    return count


# --- gallery ------------------------------------------------------------------------------------------------


def examples() -> dict[str, Path]:
    """Example inputs by name: their path without the ending."""
    found = (path for path in sorted((ROOT / "inp").rglob("*.py")) if "out" not in path.parts)
    return {path.relative_to(ROOT / "inp").with_suffix("").as_posix(): path for path in found}


def thumbnail(name: str) -> Path:
    """Return the file of an example's picture."""
    return THUMBNAILS / (name.replace("/", "-") + ".png")


def write_gallery(source: Path) -> None:
    """Write the gallery and a page for every example."""
    folder = source / "examples"
    folder.mkdir()
    cards, plain, names = [], [], []
    for name, path in examples().items():
        file = name.replace("/", "-")
        names.append(file)
        text, picture = path.read_text(), thumbnail(name)
        image = f"figures/gallery/{picture.name}" if picture.exists() else ""
        heading = title(str(path)) or name
        if image:
            cards.append(
                f'<a href="examples/{file}.html"><img src="_images/{picture.name}" alt="" loading="lazy">'
                f"<b>{html.escape(name)}</b><span>{html.escape(heading)}</span></a>"
            )
        else:
            plain.append(f"* [{name}](examples/{file}.md): {heading}")
        run = "parmec" if name.startswith("parmec/") else "solfec"
        (folder / f"{file}.md").write_text(
            f"# {heading}\n\n" + (f"![{heading}](../{image})\n\n" if image else "")
            + f"`solfec examples {name}` copies it, `{run} {path.name}` runs it.\n\n```python\n{text}```\n"
        )  # fmt: skip
    (source / "gallery.md").write_text(
        f"# Gallery\n\nThese {len(cards)} inputs come with every installation: `solfec examples` lists and copies them.\n\n"
        + '<div class="gallery">\n' + "\n".join(cards) + "\n</div>\n\nWithout a picture, as models of the explicit engine or parts of others:\n\n" + "\n".join(plain) + "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(f"examples/{name}" for name in names) + "\n```\n"
    )  # fmt: skip


# --- all of it ----------------------------------------------------------------------------------------------


def stage(source: Path) -> None:
    """Write all sources of the site into an empty directory."""
    shutil.rmtree(source, ignore_errors=True)
    (source / "_static").mkdir(parents=True)
    shutil.copy(DOCS / "site" / "site.css", source / "_static")
    shutil.copy(DOCS / "site" / "conf.py", source)
    shutil.copytree(DOCS / "figures", source / "figures", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    for page, name in pages().items():
        text = relinked(page, page.read_text())
        if name == "index.md":
            text += "\n" + contents(page.read_text())
        (source / name).write_text(text)
    count = write_commands(source / "api")
    write_gallery(source)
    print(f"{count} of {len(set(COMMANDS) - NOT_INJECTED)} commands have an example")


def dead_links(site: Path) -> list[str]:
    """Links of built pages to files or anchors that the site does not have, and anything that a browser would load from elsewhere."""
    pages = {page: page.read_text() for page in sorted(site.rglob("*.html"))}
    anchors = {page: {html.unescape(name) for name in re.findall(r' id="([^"]+)"', text)} for page, text in pages.items()}
    dead = []
    for page, text in pages.items():
        for tag, name, link in re.findall(r'<(\w+)[^>]*? (href|src)="([^"]*)"', text):
            path, _, anchor = unquote(html.unescape(link)).partition("#")
            if path.startswith(("http", "mailto:", "data:")):
                if tag in ("script", "img") or (tag == "link" and name == "href"):
                    dead.append(f"{page.relative_to(site)}: {link} is loaded from the network")
                continue
            file = (page.parent / path.partition("?")[0]).resolve() if path else page
            if not file.exists() or (anchor and file in anchors and anchor not in anchors[file]):
                dead.append(f"{page.relative_to(site)}: {link}")
    return dead


def build(directory: Path) -> int:
    """Build the site in a directory; return 0, or another number after any warning of Sphinx or a dead link."""
    stage(directory / "source")
    words = ["-b", "html", "-W", "--keep-going", "-q", "-j", "auto", str(directory / "source"), str(directory / "html")]
    shutil.rmtree(directory / "html", ignore_errors=True)
    status = subprocess.run([sys.executable, "-m", "sphinx", *words], env=dict(os.environ, OMP_NUM_THREADS="1")).returncode
    dead = dead_links(directory / "html")
    print("\n".join(dead), end="\n" if dead else "", file=sys.stderr)
    return status or len(dead)


if __name__ == "__main__":
    directory = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "site").resolve()
    status = build(directory)
    print(f"{'built' if not status else 'failed:'} {directory / 'html' / 'index.html'}")
    raise SystemExit(bool(status))

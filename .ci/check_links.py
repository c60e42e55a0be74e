"""Checks the links of the book that mdBook rendered, and of the project's Markdown files. Called by `.ci/book`.

A link is one of four: a file relative to the page, with or without an anchor; a file of this repository by its address; a page of docs.rs
of one of our crates, which stands in target/doc; anything else, which is not looked at.
"""

import re
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
BOOK, SOURCE, DOC = ROOT / "target/book", ROOT / "docs/book/src", ROOT / "target/doc"
ADDRESS = "differentiation-interface/differentiation-interface"
CRATES = {p.parent.name for p in ROOT.glob("crates/*/Cargo.toml")}


class Page(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.anchors.add(attributes["id"])
        for name in ("href", "src"):
            if attributes.get(name):
                self.links.append(attributes[name])


page = cache(Page)


def missing(target, anchor):
    """What is wrong with a link to a file, or None."""
    if target.is_dir() and (target / "index.html").exists():
        target = target / "index.html"
    if not target.exists():
        return f"there is no {target.relative_to(ROOT) if target.is_relative_to(ROOT) else target}"
    if anchor and target.suffix == ".html" and anchor not in page(target).anchors:
        return f"{target.relative_to(ROOT)} has no #{anchor}"
    return None


def dead(link, origin):
    """What is wrong with a link of the file `origin`, or None."""
    parts = urlsplit(link)
    path = unquote(parts.path)
    if not parts.scheme and not parts.netloc:
        if path.startswith("/"):
            return "it begins with /"
        target = (origin.parent / path).resolve() if path else origin
        return missing(target, unquote(parts.fragment))
    if parts.netloc == "github.com" and path.startswith(f"/{ADDRESS}/"):
        kind, _, file = path.removeprefix(f"/{ADDRESS}/").partition("/main/")
        return missing(ROOT / file, None) if kind in ("blob", "tree", "edit") else None
    if parts.netloc == "raw.githubusercontent.com" and path.startswith(f"/{ADDRESS}/main/"):
        return missing(ROOT / path.removeprefix(f"/{ADDRESS}/main/"), None)
    if parts.netloc == "docs.rs":
        crate, _, file = path.strip("/").partition("/latest/")
        if crate.split("/")[0] in CRATES and file:
            # The documentation of the crate over MPI is made by `.ci/mpi`, where MPI is installed.
            if crate.startswith("differentiation-interface-mpi") and not (DOC / "differentiation_interface_mpi").exists():
                return None
            return missing(DOC / file, parts.fragment)
    return None


def markdown_links(text):
    """The links of a Markdown text: inline, by reference, and in HTML."""
    text = re.sub(r"^ *```.*?^ *```", "", text, flags=re.S | re.M)
    text = re.sub(r"`[^`\n]*`", "", text)
    yield from re.findall(r"\]\(<?([^)\s>]+)", text)
    yield from re.findall(r"^\[[^\]]+\]: (\S+)", text, flags=re.M)
    yield from re.findall(r'(?:href|src)="([^"]+)"', text)


def main():
    findings = []
    chapters = sorted(SOURCE.glob("**/*.md"))
    summary = (SOURCE / "SUMMARY.md").read_text()
    crates = ROOT.glob("crates/*/src/lib.rs")
    tested = "".join(file.read_text() for file in crates)
    for chapter in chapters:
        name = chapter.relative_to(SOURCE).as_posix()
        if name != "SUMMARY.md" and f"]({name})" not in summary:
            findings.append(f"docs/book/src/{name}: not in SUMMARY.md")
        if "```rust" in chapter.read_text() and f'"../book/{name}"' not in tested:
            findings.append(f"docs/book/src/{name}: its code is not a test; include it in crates/differentiation-interface/src/lib.rs, or in that of the crate that it is about")
    count = 0
    rendered = sorted(BOOK.glob("**/*.html"))
    for file in rendered:
        text = re.search(r"<main>(.*?)</main>", file.read_text(), re.S)
        # A link by reference without its definition stays text.
        for stray in re.findall(r"\[<code>[^<]*</code>\]", text.group(1) if text else ""):
            findings.append(f"{file.relative_to(ROOT)}: {stray} is defined nowhere")
        if file.name in ("404.html", "toc.html"):
            continue  # their links are relative to the root of a server, or to the page that frames them
        for link in page(file).links:
            count += 1
            if reason := dead(link, file):
                findings.append(f"{file.relative_to(ROOT)}: {link}: {reason}")
    files = [*chapters, *ROOT.glob("*.md"), *ROOT.glob("benches/*.md"), *(ROOT / "crates").glob("*/README.md")]
    for file in files:
        for link in markdown_links(file.read_text()):
            count += 1
            if link.startswith("#"):
                continue  # checked in the rendered page
            if reason := dead(link, file):
                findings.append(f"{file.relative_to(ROOT)}: {link}: {reason}")
    for finding in findings:
        print(finding)
    if len(rendered) < len(chapters) - 1:
        print(f"{len(rendered)} pages were rendered of {len(chapters) - 1} chapters")
        findings.append("")
    print(f"{count} links in {len(rendered)} pages of the book and {len(files)} Markdown files, {len(findings)} findings")
    return 1 if findings else 0


sys.exit(main())

"""``llms.txt`` beside the site: purpose, installation, six calls and all pages, read from README.md and the pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

#: Calls to show; each is explained by its line in the decision list of choosing.md.
CALLS = (
    "compare",
    "two_sample_test",
    "independence_test",
    "change_point_test",
    "result.effect",
    "solve_sample_size",
)


def plain(text: str) -> str:
    """Text without links, roles and emphasis, in one line."""
    text = re.sub(r"\{\w+\}`([^`<]+?)(?: <[^>]+>)?`", r"\1", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return " ".join(text.replace("**", "").split())


def title_and_sentence(page: str) -> tuple[str, str]:
    """The title of a page, and the first sentence of its first paragraph of text."""
    text = re.sub(r"(?ms)^(```|:::|<!--).*?(^```$|^:::$|-->$)", "", page)
    title = re.search(r"(?m)^# (.+)$", text)[1]
    blocks = [plain(block) for block in text.split("\n\n") if re.match(r"[A-Z`*{[]", block.strip())]
    sentence = re.match(r".+?[.?:](?= [A-Z`]|$)", blocks[0])
    return title, sentence[0].rstrip(":") if sentence else blocks[0]


def pages(docs: Path) -> list[tuple[str, list[Path]]]:
    """The captions of the tables of contents of the user guide, each with its pages, in their order."""
    text = (docs / "guide.md").read_text("utf-8")
    tables = []
    for entries in re.findall(r"(?s)```\{toctree\}\n(.*?)```", text):
        caption = re.search(r"(?m)^:caption: (.+)$", entries)[1]
        names = re.findall(r"(?m)^(\w+)\*?$", entries)
        paths = [docs / f"{name}.md" for name in names]
        tables.append((caption, [path for path in paths if path.exists()]))
    return tables


def contents(docs: Path) -> str:
    """The text of llms.txt."""
    readme = (docs.parent / "README.md").read_text("utf-8")
    purpose = plain(readme.split("<!-- first screen -->")[1].strip().split("\n\n")[0])
    install = re.search(r"(?m)^pip install \S+", (docs / "getting_started.md").read_text("utf-8"))[
        0
    ]
    decisions = re.findall(
        r"- ([^\n]+?): \[`([\w.]+)([^`]*)`\]", (docs / "choosing.md").read_text("utf-8")
    )
    calls = [
        next(f"- `{name}{rest}`: {what}" for what, name, rest in decisions if name == call)
        for call in CALLS
    ]
    lines = [
        "# shrinktest",
        "",
        f"> {purpose}",
        "",
        f"Install, from a checkout: `{install}`",
        "",
        "## Calls",
        "",
        *calls,
    ]
    for caption, paths in pages(docs):
        lines += ["", f"## {caption}", ""]
        for path in paths:
            title, sentence = title_and_sentence(path.read_text("utf-8"))
            lines.append(f"- [{title}]({path.stem}.html): {sentence}")
    lines += [
        "",
        "## More",
        "",
        "- [API](api.html)",
        "- [Designs](api_designs.html)",
        "- [Risk](api_risk.html)",
        "- [Gallery](gallery/index.html)",
    ]
    return "\n".join(lines) + "\n"


def setup(app: Any) -> dict[str, bool]:
    """Write the file when the site is built."""

    def write(app: Any, error: Exception | None) -> None:
        if error is None and app.builder.format == "html":
            (Path(app.outdir) / "llms.txt").write_text(contents(Path(app.srcdir)), encoding="utf-8")

    app.connect("build-finished", write)
    return {"parallel_read_safe": True}

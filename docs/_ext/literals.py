"""Options and short calls in sentences stay in one piece: on a phone a line may end before them, and not inside."""

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

SHORT = 28  # characters, of the thirty or more that a line on a phone has


class Short(SphinxPostTransform):
    """Mark words of code that fit on a line of any screen."""

    default_priority = 900

    def run(self):
        """All of them, wherever they stand."""
        for literal in self.document.findall(nodes.literal):
            if max(map(len, literal.astext().split()), default=0) <= SHORT:
                literal["classes"].append("short")


def setup(app):
    """Register the transformation."""
    app.add_post_transform(Short)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

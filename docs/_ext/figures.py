"""Pictures that open at full size when they are clicked: a column of text is too narrow for some."""

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform


class FullWidth(SphinxPostTransform):
    """Give every picture a width, which is what Sphinx goes by when it links a picture to its file."""

    default_priority = 900

    def run(self):
        """Leave those with a size of their own as they are, and the gallery's, which stand outside paragraphs."""
        for image in self.document.findall(nodes.image):
            sized = {"width", "height", "scale"} & set(image.attributes)
            if isinstance(image.parent, nodes.paragraph) and not sized:
                image["width"] = "100%"


def setup(app):
    """Register the transformation."""
    app.add_post_transform(FullWidth)
    return {"parallel_read_safe": True, "parallel_write_safe": True}

"""What a page says, read back from its HTML."""

from html.parser import HTMLParser


class Page(HTMLParser):
    """Every element of some kinds, as (name, attributes, the text in it), in `elements`; nested ones each."""

    def __init__(self, text, *kinds):
        super().__init__()
        self.kinds, self.open, self.elements = kinds, [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, name, attributes):
        if name in self.kinds:
            self.open.append((name, dict(attributes), []))
            self.elements.append(self.open[-1])

    def handle_endtag(self, name):
        if self.open and self.open[-1][0] == name:
            self.open.pop()

    def handle_data(self, data):
        for _, _, said in self.open:
            said.append(data)


def elements(text, *kinds):
    return [(name, attributes, "".join(said)) for name, attributes, said in Page(text, *kinds).elements]


def rows(text, table_class):
    """The texts of the cells of each row of the first table of a class, its head included."""
    inside = text.split(f'<table class="{table_class}">')[1].split("</table>")[0]
    return [[said for _, _, said in elements(row, "th", "td")] for row in inside.split("<tr>")[1:]]

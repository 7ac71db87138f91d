import json
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from audioclass.markup import element, embedded_json, escape, page


class Text(HTMLParser):
    def __init__(self):
        super().__init__()
        self.said, self.attributes = "", []

    def handle_starttag(self, tag, attrs):
        self.attributes += attrs

    def handle_data(self, data):
        self.said += data


@given(st.text(st.characters(exclude_categories=["C"])))
def test_any_text_comes_back_from_an_element(text):
    reader = Text()
    reader.feed(element("p", escape(text), title=text))
    reader.close()
    assert (reader.said, reader.attributes) == (text, [("title", text)])


def test_names_of_attributes_and_those_left_out():
    assert element("a", "x", class_="b", stroke_width=2, href=None) == '<a class="b" stroke-width="2">x</a>'


@given(st.text())
def test_embedded_json_never_ends_its_element(text):
    written = embedded_json({"text": text})
    assert "<" not in written
    assert json.loads(written) == {"text": text}


def test_a_page_escapes_its_title():
    assert "<title>&lt;b&gt;</title>" in page("<b>", "", "")

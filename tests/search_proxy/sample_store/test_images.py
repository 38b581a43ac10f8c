"""The pictures of the sample store are well-formed, harmless, and of the right thing."""

from __future__ import annotations

from xml.etree import ElementTree

from search_proxy.sample_store import draw, draw_image, load_sample
from search_proxy.sample_store.images import shape_names

SVG = "{http://www.w3.org/2000/svg}"
DRAWN = {
    "svg",
    "title",
    "defs",
    "linearGradient",
    "radialGradient",
    "stop",
    "path",
    "rect",
    "ellipse",
    "circle",
}


def test_every_picture_is_well_formed_and_holds_only_shapes() -> None:
    """No script, no style, no link, no reference to anything but the picture's own gradients."""
    for document in load_sample():
        root = ElementTree.fromstring(draw(document))
        for element in root.iter():
            assert element.tag.removeprefix(SVG) in DRAWN
            for name, value in element.attrib.items():
                assert not name.lower().startswith("on")
                assert "href" not in name
                assert "url(" not in value or value.startswith("url(#")
                assert "//" not in value


def test_every_paint_that_a_picture_uses_is_defined_in_it() -> None:
    """A missing gradient would leave a hole in the picture."""
    seen: set[str] = set()
    for document in load_sample():
        if document["productType"] in seen:
            continue
        seen.add(document["productType"])
        root = ElementTree.fromstring(draw(document))
        defined = {element.get("id") for element in root.iter() if element.get("id")}
        used = {
            fill.removeprefix("url(#").removesuffix(")")
            for element in root.iter()
            if (fill := element.get("fill", "")).startswith("url(#")
        }
        assert used <= defined, document["productType"]


def test_every_sort_of_thing_has_a_shape_of_its_own() -> None:
    """Nothing in the shop falls back to a box."""
    assert {document["productType"] for document in load_sample()} == set(shape_names())


def test_a_hostile_document_is_drawn_as_text() -> None:
    """Titles are escaped, unknown colours and things are replaced."""
    hostile = {
        "parentProductId": '"><script>alert(1)</script>',
        "productTitle": "</title><script>alert(1)</script>",
        "productType": "<script>",
        "color": 'red" onload="alert(1)',
    }
    root = ElementTree.fromstring(draw(hostile))
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= DRAWN
    assert root.findtext(f"{SVG}title") == hostile["productTitle"]


def test_variants_of_a_product_differ_in_tint_alone() -> None:
    """A shopper who changes the colour sees the same thing in another colour."""
    first, second = [d for d in load_sample() if d["parentProductId"] == "tent-001"][:2]
    shapes = [
        [element.get("d") for element in ElementTree.fromstring(draw(document)).iter(f"{SVG}path")]
        for document in (first, second)
    ]
    assert shapes[0] == shapes[1]
    assert draw(first) != draw(second)


def test_a_picture_is_found_by_id_and_only_by_a_known_one() -> None:
    """An id that the store does not have has no picture."""
    document = load_sample()[0]
    assert draw_image(document["_id"]) == draw(document)
    assert draw_image("../../etc/passwd") is None

"""Google Merchant feeds: RSS, Atom and TSV, and that a broken item costs only itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from search_proxy.feeds import FeedError, open_feed
from tests.search_proxy.feeds.feed_files import feed_of, read_all

_HEAD = """<?xml version="1.0"?>
<rss xmlns:g="http://base.google.com/ns/1.0" version="2.0"><channel>
<title>Shop</title>
"""
_TAIL = "</channel></rss>\n"


def _item(inner: str, number: int = 1) -> str:
    return f"<item><g:id>{number}</g:id><title>Tent {number}</title>{inner}</item>\n"


def test_an_rss_item_becomes_a_product(tmp_path: Path) -> None:
    """Prices carry their currency, the group is the parent, repeated elements are a list."""
    inner = (
        "<g:price>1,249.50 EUR</g:price><g:image_link>a.jpg</g:image_link>"
        "<g:item_group_id>T</g:item_group_id>"
        "<description><![CDATA[<p>Dry & <b>light</b></p>]]></description><g:brand>Fjell</g:brand>"
        "<g:product_type>Camping &gt; Tents</g:product_type>"
        "<g:google_product_category>5322</g:google_product_category>"
        "<g:additional_image_link>b.jpg</g:additional_image_link>"
        "<g:additional_image_link>c.jpg</g:additional_image_link>"
        "<g:shipping><g:country>DE</g:country></g:shipping><g:availability>in_stock</g:availability>"
    )
    path = feed_of(tmp_path, _HEAD + _item(inner) + _TAIL)
    assert open_feed(path).format == "google"
    products, refusals = read_all(path)
    assert refusals == []
    assert products == [
        {
            "_id": "1", "parentProductId": "T", "productTitle": "Tent 1", "price": 1249.5, "currency": "EUR",
            "variantImageUrl": "a.jpg", "brand": "Fjell", "description": "Dry & light", "category": "Tents",
            "category_path": ["Camping", "Tents"], "google_product_category": "5322",
            "additional_image_link": ["b.jpg", "c.jpg"], "shipping.country": "DE", "availability": "in_stock",
        }
    ]  # fmt: skip


def test_an_atom_entry_becomes_a_product(tmp_path: Path) -> None:
    """Its link is an attribute."""
    content = (
        '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:g="http://base.google.com/ns/1.0"><title>Shop</title>'
        '<entry><g:id>1</g:id><title>Tent</title><link href="https://shop.example/1"/>'
        "<g:price>9 USD</g:price></entry></feed>"
    )
    products, _ = read_all(feed_of(tmp_path, content))
    assert [(p["_id"], p["link"], p["price"], p["currency"]) for p in products] == [
        ("1", "https://shop.example/1", 9.0, "USD")
    ]


def test_a_merchant_table_is_read_as_one(tmp_path: Path) -> None:
    """The TSV form of the same feed."""
    content = "id\ttitle\tlink\timage link\tprice\tgtin\n1\tTent\thttps://x\ta.jpg\t15.00 USD\t0012\n"
    path = feed_of(tmp_path, content)
    assert open_feed(path, format="google").format == "google"
    products, _ = read_all(path)
    assert [(p["price"], p["currency"], p["variantImageUrl"], p["gtin"]) for p in products] == [
        (15.0, "USD", "a.jpg", "0012")
    ]


@pytest.mark.parametrize(
    ("broken", "kind", "reason"),
    [
        (b"<item><g:id>9</g:id><title>a & b</title></item>\n", "not_xml", "not XML"),
        (b"<item><g:id>9</title></item>\n", "not_xml", "mismatched tag"),
        (b"<item><g:id>9</g:id><title>&nbsp;x</title></item>\n", "not_xml", "undefined entity"),
        (b"<item><g:id>9</g:id><title>caf\xe9</title></item>\n", "not_utf8", "byte 0xe9"),
        (b"<item><g:id>9</g:id><title>a\x00b</title></item>\n", "nul_byte", "NUL"),
        (b"<item><title>T</title></item>\n", "missing_id", "needs an id"),
        (b"<item><g:id>9</g:id></item>\n", "missing_title", "needs a title"),
        (b"<item><g:id>9</g:id><title>T</title><g:price>-1 EUR</g:price></item>\n", "bad_price", "negative"),
        (
            b"<item><g:id>9</g:id><title>" + b"x" * 9_000_000 + b"</title></item>\n",
            "too_long",
            "8388608 bytes",
        ),
        (b"<item>" + b"<a>" * 99 + b"</a>" * 99 + b"</item>\n", "nested_too_deeply", "too deeply"),
    ],
)
def test_a_broken_item_costs_only_itself(tmp_path: Path, broken: bytes, kind: str, reason: str) -> None:
    """Items are cut out before they are parsed."""
    content = (_HEAD + _item("", 1)).encode() + broken + (_item("", 2) + _TAIL).encode()
    products, refusals = read_all(feed_of(tmp_path, content))
    assert [product["_id"] for product in products] == ["1", "2"]
    assert [(refusal.line, refusal.kind) for refusal in refusals] == [(5, kind)]
    assert reason in refusals[0].reason


def test_an_item_in_a_comment_is_not_for_sale(tmp_path: Path) -> None:
    """Nor is what stands in a CDATA section outside of items."""
    section = f"<description><![CDATA[{_item('', 2)}]]></description>"
    content = f"{_HEAD}<!-- {_item('', 1)} -->\n{section}{_item('', 3)}{_TAIL}"
    products, _ = read_all(feed_of(tmp_path, content))
    assert [product["_id"] for product in products] == ["3"]


def test_a_document_type_defines_nothing(tmp_path: Path) -> None:
    """Entities that would grow without bound are undefined in an item."""
    bomb = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>'
    content = f'<?xml version="1.0"?>{bomb}<rss>{_item("<x>&b;</x>", 1)}{_item("", 2)}</rss>'
    products, refusals = read_all(feed_of(tmp_path, content))
    assert [product["_id"] for product in products] == ["2"]
    assert [refusal.kind for refusal in refusals] == ["not_xml"]


def test_an_item_that_the_file_ends_in_is_refused(tmp_path: Path) -> None:
    """The ones before it are kept."""
    products, refusals = read_all(feed_of(tmp_path, _HEAD + _item("", 1) + "<item><g:id>2</g:id>"))
    assert [product["_id"] for product in products] == ["1"]
    assert [(refusal.line, refusal.reason) for refusal in refusals] == [
        (5, "the item is not closed before the end of the file")
    ]


def test_the_declared_encoding_is_used(tmp_path: Path) -> None:
    """Merchants' systems still write Latin-1."""
    content = '<?xml version="1.0" encoding="ISO-8859-1"?><rss>' + _item("<brand>Blå</brand>") + "</rss>"
    products, _ = read_all(feed_of(tmp_path, content.encode("latin-1")))
    assert products[0]["brand"] == "Blå"


def test_xml_without_items_is_refused_as_a_whole(tmp_path: Path) -> None:
    """An HTML error page saved as a feed, for one."""
    with pytest.raises(FeedError, match="has no <item> or <entry>"):
        read_all(feed_of(tmp_path, "<html><body>404</body></html>"))
    with pytest.raises(FeedError, match="encoding 'klingon', which is unknown"):
        read_all(feed_of(tmp_path, '<?xml version="1.0" encoding="klingon"?><rss></rss>'))

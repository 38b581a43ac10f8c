"""Shopify product exports: variants, options, images and what a shopper must not see."""

from __future__ import annotations

from pathlib import Path

import pytest

from search_proxy.feeds import FeedError, open_feed
from tests.search_proxy.feeds.feed_files import Document, feed_of, read_all

_COLUMNS = ",".join(
    (
        *("Handle", "Title", "Body (HTML)", "Vendor", "Type", "Tags", "Published", "Status"),
        *("Option1 Name", "Option1 Value", "Option2 Name", "Option2 Value", "Variant SKU"),
        *("Variant Inventory Qty", "Variant Price", "Variant Compare At Price", "Variant Image"),
        *("Image Src", "Cost per item", "Fabric (product.metafields.custom.fabric)"),
    )
)


def _row(**cells: str) -> str:
    wanted = {name.replace("_", " "): cell for name, cell in cells.items()}
    return ",".join(
        f'"{wanted.get(name.replace("(", "").replace(")", ""), "")}"' for name in _COLUMNS.split(",")
    )


def _export(folder: Path, *rows: str) -> tuple[list[Document], list[tuple[int, str]]]:
    products, refusals = read_all(feed_of(folder, "\n".join([_COLUMNS, *rows])))
    return products, [(refusal.line, refusal.kind) for refusal in refusals]


def test_every_variant_is_a_product_that_shares_its_parent(tmp_path: Path) -> None:
    """Options become attributes; the product's own columns come from the first row; images continue."""
    products, refusals = _export(
        tmp_path,
        _row(
            **{"Body HTML": "<p>Warm<br>wool</p>", "Option1 Name": "Size", "Option2 Name": "Colour"},
            Handle="top", Title="Wool Top", Vendor="Fjell", Type="Tops", Tags="women, wool", Published="true",
            Option1_Value="Small", Option2_Value="Dark Red", Variant_SKU="W-S", Variant_Inventory_Qty="4",
            Variant_Price="60", Variant_Compare_At_Price="80.50", Image_Src="a.jpg", Cost_per_item="11",
        ),
        _row(
            Handle="top", Option1_Value="M/L", Option2_Value="Dark Red", Variant_Price="65",
            Image_Src="b.jpg", Variant_Image="v.jpg",
        ),
        _row(Handle="top", Image_Src="c.jpg"),
    )  # fmt: skip
    assert refusals == []
    shared = {
        "parentProductId": "top", "productTitle": "Wool Top", "brand": "Fjell", "category": "Tops",
        "description": "Warm wool", "tags": ["women", "wool"], "images": ["a.jpg", "b.jpg", "c.jpg"],
        "colour": "Dark Red",
    }  # fmt: skip
    assert products == [
        {
            **shared, "_id": "top-small-dark-red", "variantTitle": "Small / Dark Red", "size": "Small",
            "price": 60.0, "stock": 4, "variantImageUrl": "a.jpg", "sku": "W-S", "compare_at_price": 80.5,
        },
        {
            **shared, "_id": "top-m-l-dark-red", "variantTitle": "M/L / Dark Red", "size": "M/L",
            "price": 65.0, "variantImageUrl": "v.jpg", "sku": "W-S", "compare_at_price": 80.5,
        },
    ]  # fmt: skip


def test_a_product_without_options_is_one_product_named_by_its_handle(tmp_path: Path) -> None:
    """`Default Title` is Shopify's word for no option, not a variant's name."""
    products, _ = _export(
        tmp_path,
        _row(
            Handle="lamp",
            Title="Lamp",
            Option1_Name="Title",
            Option1_Value="Default Title",
            Variant_Price="9",
        ),
    )
    assert products == [{"_id": "lamp", "parentProductId": "lamp", "productTitle": "Lamp", "price": 9.0}]


def test_what_the_shop_does_not_show_is_refused(tmp_path: Path) -> None:
    """Drafts, archived and unpublished products are reported, not indexed."""
    products, refusals = _export(
        tmp_path,
        _row(Handle="a", Title="A", Published="false", Variant_Price="1"),
        _row(Handle="b", Title="B", Status="draft", Variant_Price="1"),
        _row(Handle="c", Title="C", Status="active", Published="true", Variant_Price="1"),
    )
    assert [product["_id"] for product in products] == ["c"]
    assert refusals == [(2, "not_published"), (3, "not_published")]


def test_the_shops_cost_never_becomes_a_field(tmp_path: Path) -> None:
    """Metafields do, under their own name."""
    row = _row(Handle="a", Title="A", Variant_Price="1", Cost_per_item="0.4").rsplit(",", 1)[0] + ',"merino"'
    products, _ = _export(tmp_path, row)
    assert products == [
        {"_id": "a", "parentProductId": "a", "productTitle": "A", "price": 1.0, "fabric": "merino"}
    ]


def test_a_bad_variant_costs_only_itself_and_a_bad_product_its_own_rows(tmp_path: Path) -> None:
    """Line, field and reason, as in every feed."""
    products, refusals = _export(
        tmp_path,
        _row(Handle="a", Title="A", Option1_Name="Size", Option1_Value="S", Variant_Price="free"),
        _row(Handle="a", Option1_Value="M", Variant_Price="5"),
        _row(Handle="b", Variant_Price="5"),
        _row(Title="no handle", Variant_Price="5"),
        _row(Handle="c", Title="C", Variant_Price="5"),
    )
    assert [product["_id"] for product in products] == ["a-m", "c"]
    assert refusals == [(2, "bad_price"), (5, "missing_id"), (4, "missing_title")]


def test_variants_whose_options_read_alike_get_ids_of_their_own(tmp_path: Path) -> None:
    """`A+` and `A-` would both be `a`."""
    products, refusals = _export(
        tmp_path,
        _row(Handle="g", Title="G", Option1_Name="Grade", Option1_Value="A+", Variant_Price="1"),
        _row(Handle="g", Option1_Value="A-", Variant_Price="1"),
    )
    assert refusals == []
    assert [product["_id"] for product in products] == ["g-a", "g-a-2"]


def test_the_callers_mapping_wins(tmp_path: Path) -> None:
    """The id of a shop that knows its SKUs to be unique."""
    row = _row(Handle="a", Title="A", Variant_SKU="S-1", Variant_Price="1")
    path = feed_of(tmp_path, "\n".join([_COLUMNS, row]))
    products, _ = read_all(path, mapping={"_id": "Variant SKU"})
    assert [product["_id"] for product in products] == ["S-1"]
    assert open_feed(path, mapping={"_id": "Variant SKU"}).columns["Variant SKU"] == "_id"


def test_a_table_that_is_no_export_is_refused_as_a_whole(tmp_path: Path) -> None:
    """When the format was asked for by name."""
    with pytest.raises(FeedError, match="has the columns 'Handle' and 'Variant Price'"):
        list(open_feed(feed_of(tmp_path, "id,title\n1,Tent\n"), format="shopify"))

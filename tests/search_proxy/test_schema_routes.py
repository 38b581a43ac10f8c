"""`GET schema` and `PUT schema`, over the real engine and HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from tests.search_proxy.accounts.running_edge import RunningEdge, Shop
from tests.search_proxy.test_shop_routes import _finished, acme, edge, engine

__all__ = ["acme", "edge", "engine"]

pytestmark = pytest.mark.anyio


async def _put(edge: RunningEdge, acme: Shop, values: Any, index: str = "store") -> Any:
    headers = {"x-api-key": acme.secret}
    return await edge.client.put(edge.url(index, "schema"), json=values, headers=headers)


async def _get(edge: RunningEdge, acme: Shop) -> dict[str, Any]:
    answer = await edge.client.get(edge.url("store", "schema"), headers={"x-api-key": acme.secret})
    assert answer.status_code == 200, answer.text
    body: dict[str, Any] = answer.json()
    return body


async def test_a_schema_is_declared_by_a_job_and_read_as_it_is_in_force(
    edge: RunningEdge, acme: Shop
) -> None:
    """In the order of the other jobs, so that documents posted before it are indexed anew, too."""
    before = await _get(edge, acme)
    assert before["fields"]["tier"] == "attributes"
    job = await _finished(
        edge, acme, await _put(edge, acme, {"fields": {"tier": "none"}, "facets": ["tier"]})
    )
    assert (job["kind"], job["status"]) == ("declare_schema", "done")
    assert job["items"] == [{"status": 200, "documentsWritten": 5}]
    after = await _get(edge, acme)
    assert after == before | {"fields": before["fields"] | {"tier": "none"}, "facets": ["tier"]}


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([], "a schema must be an object"),
        ({"facets": ["clothes"]}, "facets: no document has a field 'clothes'; there are"),
        ({"boosts": {"title": "high"}}, "boosts: 'title' must be a number of 0 to 100, not 'high'"),
    ],
)
async def test_what_is_no_schema_is_refused_before_a_job_is_made(
    edge: RunningEdge, acme: Shop, values: Any, message: str
) -> None:
    """400, and nothing has changed."""
    answer = await _put(edge, acme, values)
    assert answer.status_code == 400
    assert message in answer.json()["message"]


async def test_a_body_that_is_no_json_and_an_unknown_index_are_refused(edge: RunningEdge, acme: Shop) -> None:
    """400 and 404."""
    url, headers = edge.url("store", "schema"), {"x-api-key": acme.secret}
    answer = await edge.client.put(url, content=b"{", headers=headers)
    assert (answer.status_code, "is not JSON" in answer.json()["message"]) == (400, True)
    assert (await _put(edge, acme, {}, "nothing")).status_code == 404


async def test_a_publishable_key_neither_reads_nor_declares(edge: RunningEdge, acme: Shop) -> None:
    """How a shop ranks is its own."""
    url, headers = edge.url("store", "schema"), {"x-api-key": acme.publishable}
    assert (await edge.client.get(url, headers=headers)).status_code == 403
    assert (await edge.client.put(url, json={}, headers=headers)).status_code == 403

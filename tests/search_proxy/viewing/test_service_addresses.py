"""An account's permission service: public and over https, or on the operator's list, and nothing else."""

from __future__ import annotations

import asyncio

import pytest

from search_proxy.accounts.view_gate_settings import ViewGateSettings
from search_proxy.viewing.gate import View, ViewGateFailed
from search_proxy.viewing.gates import ViewGates, open_view_gates
from search_proxy.viewing.service_addresses import ServiceAddresses, ServiceResolver
from search_proxy.web.addresses import AddressRefused
from tests.support.permission_service import allowing, permission_service

pytestmark = pytest.mark.anyio

_VIEW = View(account_id="acme", index="store", groups=frozenset(), generation="1")


@pytest.mark.parametrize(
    "url",
    [
        "http://permissions.example.com/view",
        "https://127.0.0.1/view",
        "https://10.0.0.7/view",
        "https://169.254.169.254/latest",
        "https://[::1]/view",
        "https://[::ffff:127.0.0.1]/view",
        "https://0x7f000001/view",
        "https://2130706433/view",
        "https://127.1/view",
        "ftp://permissions.example.com/view",
        "https:///view",
        "https://[::1/view",
        "https://permissions.example.com:99999/view",
    ],
)
def test_a_url_that_leads_inside_is_refused_by_its_text(url: str) -> None:
    """No account makes this server call its own network."""
    with pytest.raises(ViewGateFailed) as refused:
        ServiceAddresses().check(url)
    assert refused.value.reason == "address"


@pytest.mark.parametrize(
    ("listed", "url"),
    [
        ("permissions.internal", "http://permissions.internal:8080/view"),
        ("permissions.internal:8080", "http://PERMISSIONS.internal:8080/view"),
        ("10.0.0.7", "http://10.0.0.7/view"),
        ("permissions.internal:443", "https://permissions.internal/view"),
    ],
)
def test_the_operator_can_list_a_host(listed: str, url: str) -> None:
    """With a port or for all of its ports."""
    ServiceAddresses([listed]).check(url)


@pytest.mark.parametrize(
    ("listed", "url"),
    [
        ("permissions.internal:8080", "http://permissions.internal:9090/view"),
        ("10.0.0.7", "http://10.0.0.8/view"),
        ("internal", "http://permissions.internal/view"),
    ],
)
def test_a_listed_host_lists_no_other(listed: str, url: str) -> None:
    """Neither another port nor a name that ends alike."""
    with pytest.raises(ViewGateFailed):
        ServiceAddresses([listed]).check(url)


async def test_a_public_name_at_a_private_address_is_refused_where_it_connects() -> None:
    """`localhost` stands for any name that resolves inside."""
    resolver = ServiceResolver(ServiceAddresses())
    with pytest.raises(AddressRefused):
        await resolver.resolve("localhost", 443)
    listed = ServiceResolver(ServiceAddresses(["localhost:443"]))
    assert await listed.resolve("localhost", 443)
    await resolver.close()
    await listed.close()


async def test_a_service_that_is_not_listed_is_never_asked() -> None:
    """Whatever the account's settings say."""
    async with (
        asyncio.timeout(5),
        permission_service(allowing(lambda asked, one: True)) as service,
        open_view_gates() as gates,
    ):
        for url in (service.url, f"https://localhost:{service.port}/view"):
            gate = gates.gate_for(ViewGateSettings(kind="http", url=url, timeout_ms=2_000))
            assert gate is not None
            with pytest.raises(ViewGateFailed) as refused:
                await gate.allowed(_VIEW, [{"_id": "a"}])
            assert refused.value.reason == "address"
    assert service.asked == []


async def test_without_permission_services_an_account_that_chose_one_is_closed() -> None:
    """So is one whose gate cannot be read."""
    for settings in (
        ViewGateSettings(kind="http", url="https://permissions.example.com"),
        ViewGateSettings(kind="closed"),
    ):
        gate = ViewGates().gate_for(settings)
        assert gate is not None
        with pytest.raises(ViewGateFailed):
            await gate.allowed(_VIEW, [{"_id": "a"}])

"""The model's server behind TLS, directly and through a proxy's tunnel, with a certificate of our own."""

from __future__ import annotations

import asyncio
import datetime
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from worker.llm.http_calls import CannotConnect, HttpCalls

pytestmark = pytest.mark.anyio

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Write a key and a certificate of localhost that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    signed = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = tmp_path / "localhost.pem"
    path.write_bytes(secret + signed.public_bytes(serialization.Encoding.PEM))
    return path


@asynccontextmanager
async def tls_server(certificate: Path) -> AsyncIterator[int]:
    """Answer every request over TLS; yield the port."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(OK)
        except (asyncio.IncompleteReadError, OSError):
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def tunnelling_proxy(asked: list[bytes]) -> AsyncIterator[int]:
    """Connect whoever asks to the port of the loopback that they name; yield the proxy's own."""

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(4096):
                writer.write(data)
        except OSError:
            return
        finally:
            writer.close()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        port = int(asked[-1].split(b" ", 2)[1].rpartition(b":")[2])
        there, back = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        async with asyncio.TaskGroup() as group:
            group.create_task(copy(reader, back), name="there")
            group.create_task(copy(there, writer), name="back")

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]


async def two_answers(calls: HttpCalls, url: str) -> list[bytes]:
    """Return the bodies of two calls in a row."""
    bodies = []
    for _ in range(2):
        body = bytearray()
        async with calls.call(b"GET", url, {}) as answer:
            answer.read_into(body.extend)
            await answer.ended()
        bodies.append(bytes(body))
    calls.close()
    return bodies


async def test_a_trusted_certificate_is_spoken_to(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the operating system trusts is trusted; the connection is kept like any other."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    async with asyncio.timeout(5), tls_server(certificate) as port:
        url = f"https://localhost:{port}"
        assert await two_answers(HttpCalls(url), f"{url}/x") == [b"hi", b"hi"]


async def test_an_unknown_certificate_is_not(certificate: Path) -> None:
    """Nothing is sent to whoever cannot prove who they are."""
    async with asyncio.timeout(5), tls_server(certificate) as port:
        calls = HttpCalls(f"https://localhost:{port}")
        with pytest.raises(CannotConnect):
            await calls.begin(b"GET", f"https://localhost:{port}/x", {})


async def test_tls_goes_through_a_proxys_tunnel(certificate: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy learns the host and nothing else."""
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    asked: list[bytes] = []
    async with asyncio.timeout(5), tls_server(certificate) as port, tunnelling_proxy(asked) as proxy:
        calls = HttpCalls(f"https://localhost:{port}", proxy=f"http://127.0.0.1:{proxy}")
        assert await two_answers(calls, f"https://localhost:{port}/x") == [b"hi", b"hi"]
    assert [head.split(b"\r\n")[0] for head in asked] == [b"CONNECT localhost:%d HTTP/1.1" % port]

"""Images of a request: what is let through, what is refused, and that a refusal names image and limit."""

from __future__ import annotations

import asyncio
import base64
import re
import struct
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any

import pytest
from aiohttp import web
from PIL import Image

from search_proxy.web.addresses import is_public
from worker.errors import InvalidRequest, PayloadTooLarge
from worker.image_fetching import ImageFetcher
from worker.image_headers import read_header
from worker.images import ImageLimits, ImageReader

pytestmark = pytest.mark.anyio


def picture(name: str = "PNG", size: tuple[int, int] = (40, 30), mode: str = "RGB", **options: Any) -> bytes:
    """Return an encoded image whose left half is red."""
    image = Image.new(mode, size)
    if mode in {"RGB", "RGBA"}:
        image.paste((255, 0, 0), (0, 0, size[0] // 2, size[1]))
    written = BytesIO()
    image.save(written, format=name, **options)
    return written.getvalue()


def encoded(data: bytes) -> str:
    """Return standard base64."""
    return base64.b64encode(data).decode()


def opened(data: bytes) -> Image.Image:
    """Return the decoded image."""
    return Image.open(BytesIO(data))


def claimed_png(width: int, height: int) -> bytes:
    """Return a small, whole PNG that says it is of this size."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(b"\0" * 100)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


@pytest.mark.parametrize("name", ["PNG", "JPEG", "WEBP", "GIF"])
async def test_each_format_becomes_a_jpeg_of_its_size(name: str) -> None:
    """The model gets one kind of image. Source: the four formats of the contract."""
    (image,) = await ImageReader().read([encoded(picture(name))])
    assert image.mime_type == "image/jpeg"
    assert (opened(image.data).format, opened(image.data).size) == ("JPEG", (40, 30))


@pytest.mark.parametrize(
    ("mode", "name"),
    [
        ("L", "PNG"),
        ("P", "GIF"),
        ("RGBA", "PNG"),
        ("LA", "PNG"),
        ("1", "PNG"),
        ("I;16", "PNG"),
        ("CMYK", "JPEG"),
        ("RGBA", "WEBP"),
    ],
)
async def test_each_mode_of_pixels_is_read(mode: str, name: str) -> None:
    """Grey, palette, transparent, 16 bits, print colours."""
    (image,) = await ImageReader().read([encoded(picture(name, mode=mode))])
    assert opened(image.data).mode == "RGB"


async def test_transparency_becomes_white() -> None:
    """Not black, which would hide a black product."""
    (image,) = await ImageReader().read([encoded(picture(mode="RGBA"))])
    pixel = opened(image.data).getpixel((35, 15))
    assert isinstance(pixel, tuple)
    assert min(pixel) > 250


@pytest.mark.parametrize(
    ("form", "make"),
    [
        ("standard", encoded),
        ("without padding", lambda data: encoded(data).rstrip("=")),
        ("URL-safe", lambda data: base64.urlsafe_b64encode(data).decode()),
        ("data URL", lambda data: f"data:image/png;base64,{encoded(data)}"),
        ("data URL without a type", lambda data: f"DATA:;base64,{encoded(data)}"),
        ("data URL with parameters", lambda data: f"DATA:Image/PNG;charset=x;base64,{encoded(data)}"),
        ("data URL of bytes", lambda data: f"data:application/octet-stream;base64,{encoded(data)}"),
    ],
)
async def test_base64_is_read_in_every_form(form: str, make: Callable[[bytes], str]) -> None:
    """The type is read from the bytes."""
    data = picture(size=(37, 41))
    assert len(await ImageReader().read([make(data)])) == 1, form
    if form.startswith("data URL"):
        assert len(await ImageReader().read(image_urls=[make(data)])) == 1


@pytest.mark.parametrize("declared", ["text/html", "image/jpeg", "image/svg+xml", "image/webp"])
async def test_a_data_url_that_says_it_is_something_else_is_refused(declared: str) -> None:
    """By name, with both types."""
    url = f"data:{declared};base64,{encoded(picture())}"
    with pytest.raises(InvalidRequest, match=rf"^imageUrls\[0\] says .*{re.escape(declared)}.* a PNG$"):
        await ImageReader().read(image_urls=[url])
    jpeg = f"data:image/jpg;base64,{encoded(picture('JPEG'))}"
    assert len(await ImageReader().read(image_urls=[jpeg])) == 1


async def test_images_keep_their_order() -> None:
    """First `images`, then `imageUrls`."""
    urls = [f"data:image/png;base64,{encoded(picture(size=(30, 10)))}"]
    found = await ImageReader().read([encoded(picture(size=(10, 10))), encoded(picture(size=(20, 10)))], urls)
    assert [opened(image.data).size[0] for image in found] == [10, 20, 30]


async def test_a_large_image_is_shrunk_and_keeps_its_shape() -> None:
    """The longer side is at most 1,024 pixels."""
    for name in ("PNG", "JPEG"):
        (image,) = await ImageReader().read([encoded(picture(name, size=(3000, 1500)))])
        assert opened(image.data).size == (1024, 512)


async def test_nothing_but_pixels_goes_on() -> None:
    """Position, camera, comments and profiles are gone; the picture stands as it was held."""
    exif = Image.Exif()
    exif[0x0112] = 6
    exif[0x010F] = "Secret Camera"
    exif.get_ifd(0x8825)[1] = "N"
    data = picture("JPEG", exif=exif, comment=b"Secret Comment", icc_profile=b"Secret Profile" * 20)
    assert data.count(b"Secret") >= 3
    (image,) = await ImageReader().read([encoded(data)])
    assert b"Secret" not in image.data
    assert b"Exif" not in image.data
    assert opened(image.data).size == (30, 40)


async def test_only_the_first_frame_of_an_animation_is_seen() -> None:
    """A moving picture is one picture."""
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "green", "blue")]
    written = BytesIO()
    frames[0].save(written, format="GIF", save_all=True, append_images=frames[1:])
    (image,) = await ImageReader().read([encoded(written.getvalue())])
    pixel = opened(image.data).getpixel((10, 10))
    assert isinstance(pixel, tuple)
    assert pixel[0] > 200 > pixel[1]


async def test_six_images_are_one_too_many() -> None:
    """The message has both numbers. Source: flow document, converse."""
    one = encoded(picture())
    with pytest.raises(InvalidRequest, match=r"^imageUrls\[2\] .* has 6 images; at most 5 are"):
        await ImageReader().read([one] * 3, [f"data:;base64,{one}"] * 3)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"%PDF-1.7 something", "must be a PNG, JPEG, WebP or GIF"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "must be a PNG, JPEG, WebP or GIF"),
        (b"", "must be a PNG, JPEG, WebP or GIF"),
        (b"GIF89a", "must be a PNG, JPEG, WebP or GIF"),
        (b"II*\0" + b"\0" * 50, "must be a PNG, JPEG, WebP or GIF"),
        (picture()[:60], "not a readable PNG"),
        (picture("JPEG")[:-200], "not a readable JPEG|must be a PNG"),
        (picture("WEBP")[:40], "not a readable WEBP"),
        (claimed_png(30, 30), "not a readable PNG"),
        (claimed_png(0, 30), "must be a PNG, JPEG, WebP or GIF"),
    ],
)
async def test_what_is_no_image_is_refused_by_name(data: bytes, message: str) -> None:
    """The second image is the bad one, and the message says so."""
    with pytest.raises(InvalidRequest, match=rf"^images\[1\] .*({message})"):
        await ImageReader().read([encoded(picture()), encoded(data)])


@pytest.mark.parametrize(
    "text", ["not base64!", "a", "data:image/png,plain", "data:image/png;base64", "ÄÖÜ="]
)
async def test_what_is_no_base64_is_refused_by_name(text: str) -> None:
    """Each with its own place."""
    with pytest.raises(InvalidRequest, match=r"^images\[0\] "):
        await ImageReader().read([text])


async def test_a_heavy_image_is_refused_before_it_is_decoded() -> None:
    """By its base64 length alone: what is refused here is not even base64."""
    with pytest.raises(PayloadTooLarge, match=r"^images\[0\] has about \d+ bytes; at most 1000 are allowed"):
        await ImageReader(ImageLimits(max_bytes=1000)).read(["!" * 5000])


async def test_images_are_weighed_together_too() -> None:
    """The one with which it gets too much is named."""
    data = picture(size=(50, 50))
    limits = ImageLimits(max_total_bytes=2 * len(data))
    with pytest.raises(PayloadTooLarge, match=r"^with images\[2\] the images have \d+ bytes"):
        await ImageReader(limits).read([encoded(data)] * 3)


@pytest.mark.parametrize(("width", "height"), [(50_000, 50_000), (2**31 - 1, 2**31 - 1), (25_000_001, 1)])
async def test_a_bomb_is_refused_by_its_header(width: int, height: int) -> None:
    """A few bytes that claim a bitmap of gigabytes are never decoded."""
    with pytest.raises(PayloadTooLarge, match=r"^images\[0\] has .* pixels; at most 25000000 are allowed"):
        await ImageReader().read([encoded(claimed_png(width, height))])


async def test_pixels_are_counted_together_too() -> None:
    """Five large ones are refused before the first is decoded."""
    limits = ImageLimits(max_total_pixels=2500)
    with pytest.raises(PayloadTooLarge, match=r"^with images\[2\] the images have 3600 pixels"):
        await ImageReader(limits).read([encoded(picture())] * 5)


@pytest.mark.parametrize("name", ["PNG", "JPEG", "WEBP", "GIF"])
def test_the_header_reader_agrees_with_the_decoder(name: str) -> None:
    """On sizes that need every byte, and with metadata before the size."""
    exif = Image.Exif()
    exif[0x010F] = "x" * 5000
    for size in ((1, 1), (300, 7), (257, 4000)):
        options: dict[str, Any] = {} if name == "GIF" else {"exif": exif}
        data = picture(name, size=size, **options)
        header = read_header(data)
        assert header is not None
        assert (header.format, (header.width, header.height)) == (name, size)
    lossless = picture("WEBP", size=(300, 7), lossless=True)
    assert read_header(lossless) == read_header(picture("WEBP", size=(300, 7)))


@pytest.mark.parametrize("name", ["PNG", "JPEG", "WEBP", "GIF"])
def test_the_header_reader_survives_every_cut_and_every_changed_byte(name: str) -> None:
    """It answers or says None; it never raises."""
    data = picture(name, size=(20, 20))
    for cut in range(min(len(data), 400)):
        read_header(data[:cut])
    for place in range(min(len(data), 400)):
        for byte in (0, 0xFF, data[place] ^ 1):
            read_header(data[:place] + bytes([byte]) + data[place + 1 :])


@asynccontextmanager
async def image_host() -> AsyncIterator[tuple[str, list[str]]]:
    """Run a host of images on the loopback; give its `host:port` and the paths that were asked for."""
    asked: list[str] = []

    async def answer(request: web.Request) -> web.StreamResponse:
        asked.append(request.path)
        match request.path:
            case "/ok.png":
                return web.Response(body=picture(), content_type="text/html")
            case "/away":
                raise web.HTTPFound("/ok.png")
            case "/large":
                return web.Response(body=b"x" * 5000)
            case "/endless":
                response = web.StreamResponse()
                await response.prepare(request)
                for _ in range(1000):
                    await response.write(b"x" * 1000)
                return response
            case "/slow":
                await asyncio.Event().wait()
        raise web.HTTPNotFound

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    try:
        yield f"localhost:{runner.addresses[0][1]}", asked
    finally:
        await runner.cleanup()


def reader(*hosts: str, loopback: bool = True, limits: ImageLimits | None = None) -> ImageReader:
    """Return a reader that may fetch from the hosts over plain HTTP."""
    allow = (lambda address: True) if loopback else is_public
    fetcher = ImageFetcher(hosts, schemes=("http",), timeout_seconds=0.3, allow_address=allow)
    return ImageReader(limits, fetcher)


async def test_an_image_of_an_allowed_host_is_fetched() -> None:
    """Its bytes decide what it is, whatever type the host says."""
    async with asyncio.timeout(5), image_host() as (host, asked):
        (image,) = await reader(host).read(image_urls=[f"http://{host}/ok.png"])
    assert opened(image.data).size == (40, 30)
    assert asked == ["/ok.png"]


async def test_a_host_that_is_not_on_the_list_is_never_asked() -> None:
    """By default there is no list, so every host is refused."""
    async with asyncio.timeout(5), image_host() as (host, asked):
        for some in (reader(), reader("cdn.example.com"), reader(host.split(":", maxsplit=1)[0])):
            with pytest.raises(
                InvalidRequest, match=r"^imageUrls\[0\] points to host 'localhost', which is not"
            ):
                await some.read(image_urls=[f"http://{host}/ok.png"])
    assert asked == []


async def test_a_name_that_resolves_to_a_private_address_is_never_asked() -> None:
    """The check is on the address, after resolution, so being on the list is not enough."""
    async with asyncio.timeout(5), image_host() as (host, asked):
        port = host.rsplit(":", 1)[1]
        for name in (host, f"127.0.0.1:{port}", f"2130706433:{port}", f"0:{port}"):
            with pytest.raises(InvalidRequest, match=r"^imageUrls\[0\] .*(not public|could not)"):
                await reader(name, loopback=False).read(image_urls=[f"http://{name}/ok.png"])
    assert asked == []


async def test_a_redirect_is_not_followed() -> None:
    """An open redirect on an allowed host is no way out."""
    async with asyncio.timeout(5), image_host() as (host, asked):
        with pytest.raises(InvalidRequest, match=r"status 302, and redirects are not followed"):
            await reader(host).read(image_urls=[f"http://{host}/away"])
    assert asked == ["/away"]


@pytest.mark.parametrize("path", ["/large", "/endless"])
async def test_a_fetched_image_has_the_same_limit(path: str) -> None:
    """Whether its length is said before or not."""
    async with asyncio.timeout(5), image_host() as (host, _):
        with pytest.raises(PayloadTooLarge, match=r"^imageUrls\[0\] has .*at most 2000 are allowed"):
            await reader(host, limits=ImageLimits(max_bytes=2000)).read(image_urls=[f"http://{host}{path}"])


async def test_a_host_that_does_not_answer_is_given_up() -> None:
    """Within the fetcher's own time."""
    async with asyncio.timeout(5), image_host() as (host, _):
        with pytest.raises(InvalidRequest, match=r"^imageUrls\[0\] did not arrive within 0.3 s"):
            await reader(host).read(image_urls=[f"http://{host}/slow"])
        with pytest.raises(InvalidRequest, match=r"^imageUrls\[0\] answered with status 404"):
            await reader(host).read(image_urls=[f"http://{host}/missing"])


@pytest.mark.parametrize(
    "url",
    [
        "ftp://cdn.example.com/a.png",
        "file:///etc/passwd",
        "//cdn.example.com/a.png",
        "http://user:secret@cdn.example.com/a.png",
        "http://",
        "http://[::1",
        "http://cdn.example.com:99999/a.png",
        "",
        "http://cdn.example.com/" + "a" * 3000,
    ],
)
async def test_an_odd_url_is_refused_by_name(url: str) -> None:
    """Nothing is resolved for it, and no secret of it is repeated."""
    with pytest.raises(InvalidRequest, match=r"^imageUrls\[0\] ") as refused:
        await reader("cdn.example.com").read(image_urls=[url])
    assert "secret" not in refused.value.message


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.215.14", True),
        ("2606:2800:21f:cb07:6820:80da:af6b:8b2c", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("172.16.0.1", False),
        ("192.168.1.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fc00::1", False),
        ("::ffff:127.0.0.1", False),
        ("::ffff:93.184.215.14", True),
        ("64:ff9b::7f00:1", False),
        ("2002:7f00:1::", False),
        ("ff02::1", False),
        ("nonsense", False),
    ],
)
def test_only_public_addresses_are_public(address: str, public: bool) -> None:
    """Private, local, shared, metadata and multicast ones are not, nor in IPv6 clothes."""
    assert is_public(address) is public

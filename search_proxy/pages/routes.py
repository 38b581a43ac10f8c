"""Serves the storefront page, the operations page, their modules and the sample store's pictures.

Only the files that ship are served: they are read and compressed once, when the router is made. Nothing here
may run code that we did not write: scripts and styles come from us alone, and the browser refuses text made
into HTML.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

from fastapi import APIRouter, Request
from starlette.exceptions import HTTPException
from starlette.responses import Response

from search_proxy.sample_store import draw_image

_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml; charset=utf-8",
    ".ts": "text/plain; charset=utf-8",
}
_PAGES = {"/": "index.html", "/ops": "ops.html"}
_PICTURE_POLICY = "default-src 'none'; sandbox"


@dataclass(frozen=True, slots=True, kw_only=True)
class _File:
    body: bytes
    gzipped: bytes | None
    media_type: str
    etag: str


def page_router(*, image_sources: Sequence[str] = ()) -> APIRouter:
    """Return the routes `/`, `/ops`, `/assets/{path}` and `/images/sample/{id}.svg`.

    `image_sources` are the hosts, such as `https://cdn.example.com`, from which a shop's own product pictures
    may be shown; the page asks no other host for anything.
    """
    shipped = _read_shipped()
    policy = _page_policy(image_sources)
    router = APIRouter(include_in_schema=False)

    async def page(request: Request) -> Response:
        return _serve(request, shipped[_PAGES[request.url.path]], "no-cache", policy)

    async def asset(request: Request, path: str) -> Response:
        if path in _PAGES.values() or path not in shipped:
            raise HTTPException(404)
        return _serve(request, shipped[path], "no-cache", policy)

    def picture(request: Request, document_id: str) -> Response:
        drawn = draw_image(document_id)
        if drawn is None:
            raise HTTPException(404)
        # Compressing a drawing of a kilobyte would cost more than it saves.
        file = _file(drawn.encode(), ".svg", compress=False)
        return _serve(request, file, "public, max-age=86400", _PICTURE_POLICY)

    for path in _PAGES:
        router.add_api_route(path, page, methods=["GET", "HEAD"])
    router.add_api_route("/assets/{path:path}", asset, methods=["GET", "HEAD"])
    router.add_api_route("/images/sample/{document_id}.svg", picture, methods=["GET", "HEAD"])
    return router


def _read_shipped() -> Mapping[str, _File]:
    found = {}
    for entry in files("search_proxy.pages").iterdir():
        ending = "." + entry.name.rpartition(".")[2]
        if ending in _TYPES and entry.is_file():
            found[entry.name] = _file(entry.read_bytes(), ending)
    return found


def _file(body: bytes, ending: str, *, compress: bool = True) -> _File:
    etag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
    gzipped = gzip.compress(body, 9, mtime=0) if compress else None
    return _File(body=body, gzipped=gzipped, media_type=_TYPES[ending], etag=etag)


def _page_policy(image_sources: Sequence[str]) -> str:
    for source in image_sources:
        if not source.startswith("https://") or set(source) & set(" ;,'\""):
            raise ValueError(f"an image source is https:// and a host, not {source!r}")
    images = " ".join(["'self'", *image_sources])
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src {images}; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    )


def _serve(request: Request, file: _File, cache_control: str, policy: str) -> Response:
    gzipped = file.gzipped if _takes_gzip(request.headers.get("accept-encoding", "")) else None
    etag = file.etag if gzipped is None else f'{file.etag[:-1]}-gzip"'
    headers = {
        "etag": etag,
        "cache-control": cache_control,
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-resource-policy": "same-origin",
    }
    if file.gzipped is not None:
        headers["vary"] = "accept-encoding"
    if _matches(request.headers.get("if-none-match", ""), etag):
        return Response(status_code=304, headers=headers)
    if gzipped is not None:
        headers["content-encoding"] = "gzip"
    return Response(gzipped or file.body, headers=headers, media_type=file.media_type)


def _takes_gzip(accept_encoding: str) -> bool:
    """Return whether gzip is named and not refused by a quality of zero. Source: RFC 9110, 12.5.3."""
    for coding in accept_encoding.lower().split(","):
        name, _, quality = coding.partition(";")
        if name.strip() == "gzip":
            return quality.replace(" ", "").rstrip("0.") != "q="
    return False


def _matches(if_none_match: str, etag: str) -> bool:
    candidates = [candidate.strip().removeprefix("W/") for candidate in if_none_match.split(",")]
    return etag in candidates or "*" in candidates

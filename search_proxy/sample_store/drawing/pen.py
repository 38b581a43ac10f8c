"""A pen that collects SVG shapes in the tones of one colour.

Paints are named, not given as colours: `main`, `light`, `dark` and `deep` are tones of the product's colour,
the rest (`wood`, `steel`, `paper`, ...) are always the same. Only numbers and these names reach the markup.
"""

from __future__ import annotations

from search_proxy.sample_store.dice import Dice

_FIXED = {
    "wood": ("#d7ab72", "#a8763f"),
    "steel": ("#dfe3e6", "#8d979e"),
    "brass": ("#e3c680", "#a57d36"),
    "paper": ("#fffdf7", "#e9e2d3"),
    "ink": ("#4a4c52", "#26282d"),
    "glow": ("#fff6d8", "#f3cf7a"),
    "sole": ("#e9e4da", "#b9b1a3"),
    "leaf": ("#8fae6c", "#4f7240"),
    "glass": ("#f3f8f8", "#c3d3d6"),
    "clay": ("#cf8560", "#9a4f32"),
}


def mix(color: str, other: str, share: float) -> str:
    """Return `color` with that share of `other` mixed in; both as `#rrggbb`."""
    pairs = zip(_parts(color), _parts(other), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def brightness(color: str) -> float:
    """Return how bright a colour looks, from 0 to 1."""
    red, green, blue = _parts(color)
    return (0.299 * red + 0.587 * green + 0.114 * blue) / 255


def _parts(color: str) -> tuple[int, int, int]:
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


class Pen:
    """Draws on a square of 400; `dice` lets two products of one sort differ a little."""

    def __init__(self, color: str, dice: Dice) -> None:
        self.dice = dice
        self._color = color
        self._shapes: list[str] = []

    def path(self, outline: str, paint: str = "main", opacity: float = 1) -> None:
        """Fill an outline."""
        self._add(f'<path d="{outline}" fill="{self._paint(paint)}"', opacity)

    def line(self, outline: str, paint: str = "dark", width: float = 4, opacity: float = 1) -> None:
        """Draw along an outline."""
        stroke = f'stroke="{self._flat(paint)}" stroke-width="{width:g}"'
        self._add(
            f'<path d="{outline}" fill="none" {stroke} stroke-linecap="round" stroke-linejoin="round"',
            opacity,
        )

    def dashes(self, outline: str, paint: str = "light", width: float = 2) -> None:
        """Draw a seam."""
        stroke = f'stroke="{self._flat(paint)}" stroke-width="{width:g}" stroke-dasharray="6 5"'
        self._add(f'<path d="{outline}" fill="none" {stroke} stroke-linecap="round"', 0.7)

    def box(
        self, x: float, y: float, width: float, height: float, radius: float = 0, paint: str = "main",
        opacity: float = 1,
    ) -> None:  # fmt: skip
        """Fill a rectangle with rounded corners."""
        place = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}"'
        self._add(f'<rect {place} fill="{self._paint(paint)}"', opacity)

    def oval(
        self, x: float, y: float, across: float, down: float, paint: str = "main", opacity: float = 1
    ) -> None:
        """Fill an ellipse around a point."""
        place = f'cx="{x:g}" cy="{y:g}" rx="{across:g}" ry="{down:g}"'
        self._add(f'<ellipse {place} fill="{self._paint(paint)}"', opacity)

    def halo(self, x: float, y: float, reach: float) -> None:
        """Let light shine around a point."""
        self._add(f'<circle cx="{x:g}" cy="{y:g}" r="{reach:g}" fill="{self._paint("halo")}"', 1)

    def vary(self, low: float, high: float) -> float:
        """Return a whole number between two, another for each product."""
        return float(round(low + (high - low) * self.dice.unit()))

    def markup(self) -> str:
        """Return everything drawn so far, its gradients first."""
        tones = {name: self._tone(name) for name in ("main", "light", "dark", "deep", *_FIXED)}
        used = "".join(self._shapes)
        gradients = "".join(
            f'<linearGradient id="{name}" x1="0" y1="0" x2="0.35" y2="1"><stop stop-color="{top}"/>'
            f'<stop offset="1" stop-color="{bottom}"/></linearGradient>'
            for name, (top, bottom) in tones.items()
            if f"url(#{name})" in used
        )
        if "url(#halo)" in used:
            gradients += (
                '<radialGradient id="halo"><stop stop-color="#ffe9ad" stop-opacity="0.9"/>'
                '<stop offset="1" stop-color="#ffe9ad" stop-opacity="0"/></radialGradient>'
            )
        return f"<defs>{gradients}</defs>{used}"

    def _add(self, element: str, opacity: float) -> None:
        self._shapes.append(element + (f' opacity="{opacity:g}"/>' if opacity < 1 else "/>"))

    def _paint(self, name: str) -> str:
        return f"url(#{name})"

    def _flat(self, name: str) -> str:
        top, bottom = self._tone(name)
        return mix(top, bottom, 0.6)

    def _tone(self, name: str) -> tuple[str, str]:
        if name in _FIXED:
            return _FIXED[name]
        lift = 0.22 if brightness(self._color) < 0.75 else 0.45
        top, bottom = {
            "main": (mix(self._color, "#ffffff", lift), mix(self._color, "#201c24", 0.1)),
            "light": (mix(self._color, "#ffffff", 0.62), mix(self._color, "#ffffff", 0.34)),
            "dark": (mix(self._color, "#201c24", 0.14), mix(self._color, "#201c24", 0.36)),
            "deep": (mix(self._color, "#15131a", 0.42), mix(self._color, "#15131a", 0.6)),
        }[name]
        return top, bottom

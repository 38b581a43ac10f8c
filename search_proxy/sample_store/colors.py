"""The colours of the shop: the name on the swatch, the family to filter by, and how it is drawn."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Color:
    """A colour as it is named, grouped and drawn."""

    family: str
    hex: str


COLORS: dict[str, Color] = {
    "black": Color(family="black", hex="#2b2c30"),
    "charcoal": Color(family="grey", hex="#474b52"),
    "slate grey": Color(family="grey", hex="#6d7884"),
    "pearl grey": Color(family="grey", hex="#b4b8bb"),
    "steel": Color(family="silver", hex="#9aa3aa"),
    "white": Color(family="white", hex="#f1f0ec"),
    "cream": Color(family="white", hex="#ece2cc"),
    "oat": Color(family="beige", hex="#d9c9ab"),
    "sand": Color(family="beige", hex="#cbb48c"),
    "stone": Color(family="beige", hex="#a89f91"),
    "natural": Color(family="beige", hex="#c8a978"),
    "oak": Color(family="brown", hex="#b5884f"),
    "walnut": Color(family="brown", hex="#6f4c34"),
    "chestnut brown": Color(family="brown", hex="#7d4a32"),
    "cocoa brown": Color(family="brown", hex="#5b4136"),
    "terracotta": Color(family="orange", hex="#b9613f"),
    "rust": Color(family="orange", hex="#a64d27"),
    "signal orange": Color(family="orange", hex="#e0702a"),
    "amber": Color(family="yellow", hex="#d99a2b"),
    "mustard yellow": Color(family="yellow", hex="#c99a2e"),
    "brass": Color(family="gold", hex="#b8974f"),
    "copper": Color(family="gold", hex="#b4704a"),
    "brick red": Color(family="red", hex="#a3392f"),
    "poppy red": Color(family="red", hex="#c8402f"),
    "burgundy": Color(family="red", hex="#6e2738"),
    "blush pink": Color(family="pink", hex="#dba9a0"),
    "heather pink": Color(family="pink", hex="#b5717f"),
    "plum": Color(family="purple", hex="#5f3a56"),
    "lavender": Color(family="purple", hex="#9c92b8"),
    "navy blue": Color(family="blue", hex="#27384f"),
    "denim blue": Color(family="blue", hex="#4a6a8a"),
    "sky blue": Color(family="blue", hex="#8fb2cb"),
    "fjord blue": Color(family="blue", hex="#2f6286"),
    "teal": Color(family="green", hex="#2e6f70"),
    "forest green": Color(family="green", hex="#2f4f3c"),
    "moss green": Color(family="green", hex="#65733f"),
    "olive green": Color(family="green", hex="#6a6a3c"),
    "sage green": Color(family="green", hex="#9aaa8d"),
}
"""Every colour that a product can have, by the name on its swatch."""

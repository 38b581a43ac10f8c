"""Says what a product is good for, in words, from the occasions that it is filed under."""

from __future__ import annotations

from collections.abc import Sequence

_SPOKEN = {
    "balcony": "the balcony",
    "beach": "the beach",
    "caravan": "caravan trips",
    "christmas": "Christmas",
    "city": "the city",
    "day hike": "day hikes",
    "dinner party": "dinner parties",
    "dog walk": "dog walks",
    "everyday winter": "everyday winter wear",
    "expedition": "expeditions",
    "family dinner": "family dinners",
    "family holiday": "family holidays",
    "fast and light": "travelling light",
    "festival": "festivals",
    "garden": "the garden",
    "garden party": "garden parties",
    "garden sleepover": "sleepovers in the garden",
    "guest room": "the guest room",
    "gym": "the gym",
    "heavy load": "heavy loads",
    "home office": "the home office",
    "hut to hut": "walks from hut to hut",
    "long stay": "long stays",
    "new home": "a new home",
    "nursery": "the nursery",
    "office": "the office",
    "picnic": "picnics",
    "power cut": "power cuts",
    "race day": "race days",
    "sleepover": "sleepovers",
    "small flat": "small flats",
    "snow walk": "walks in the snow",
    "student room": "a student room",
    "sunday roast": "a Sunday roast",
    "vegetable garden": "the vegetable garden",
    "weekend away": "weekends away",
}
_GIFTS = {"gift": "a gift", "wedding gift": "a wedding gift", "housewarming": "a housewarming gift"}


def good_for(occasions: Sequence[str]) -> str:
    """Return a sentence such as `Good for winter camping and ski touring.`, or nothing."""
    gifts = [_GIFTS[occasion] for occasion in occasions if occasion in _GIFTS]
    uses = [_SPOKEN.get(occasion, occasion) for occasion in occasions if occasion not in _GIFTS]
    if uses and gifts:
        return f"Good for {_listed(uses[:2])}, and as {gifts[0]}."
    if uses:
        return f"Good for {_listed(uses[:3])}."
    return f"Chosen often as {gifts[0]}." if gifts else ""


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " and " + words[-1]

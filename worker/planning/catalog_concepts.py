"""Words that shops use for what shoppers say: "just moved" is "new home", "freezing" is "winter".

Only occasions, recipients and weather, where the thing wanted is not in the sentence at all; the words are
added to the search, never taken away.
"""

from __future__ import annotations

from collections.abc import Sequence

_CONCEPTS: tuple[tuple[str, str], ...] = (
    ("moved moving mover housewarming movers", "new home housewarming"),
    ("apartment flat studio", "small flat home"),
    ("gardener gardeners gardening", "garden"),
    ("hiker hikers walker walkers", "hiking"),
    ("camper campers", "camping"),
    ("runner runners jogger joggers jogging", "running"),
    ("cyclist cyclists biker bikers bike", "cycling"),
    ("traveller travellers traveler travelers holiday vacation", "travel"),
    ("cook chef cooks foodie", "cooking kitchen"),
    ("baker bakers", "baking"),
    ("angler fisherman", "fishing"),
    ("musician", "music"),
    ("photographer", "camera"),
    ("skier skiers skiing snowboarding snowboarder", "ski winter"),
    ("cold freezing chilly frost frosty snow snowy", "warm winter"),
    ("heat heatwave", "summer cool breathable"),
    ("rainy raining downpour drizzle wet", "rain waterproof"),
    ("commuter train subway", "commuting travel"),
    ("bride groom newlyweds anniversary", "wedding"),
    ("baby newborn toddler", "baby kids"),
    ("dog puppy cat", "pet"),
    ("desk working", "office"),
)
_WORDS_OF = {word: added.split() for said, added in _CONCEPTS for word in said.split()}

MAX_ADDED = 4
"""More would outweigh what was said."""


def with_concepts(topic: Sequence[str]) -> list[str]:
    """Return the topic's words followed by the shop's words for them."""
    added = [word for said in topic for word in _WORDS_OF.get(said, ()) if word not in topic]
    return [*topic, *list(dict.fromkeys(added))[:MAX_ADDED]]

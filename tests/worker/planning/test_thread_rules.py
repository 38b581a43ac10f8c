"""What sentences mean for a thread: a table of phrasings against one thread about jackets.

Four jackets were shown, at 60, 40, 100 and 80; the rules see only the thread and the catalog's vocabulary.
"""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search_proxy.filters import parse_filter
from search_proxy.models import FieldInfo, IndexDescription, SortField
from worker.planning.thread_decision import ThreadDecision
from worker.planning.thread_products import ShownProduct, shown_product
from worker.planning.thread_rules import decide_turn, vocabulary_of
from worker.planning.thread_state import MAX_SHOWN, ThreadState


def field(name: str, *values: str, kind: str = "string") -> FieldInfo:
    """Return a field with the given values."""
    assert kind in {"string", "number", "boolean"}
    return FieldInfo(
        name=name,
        kind="number" if kind == "number" else "boolean" if kind == "boolean" else "string",
        documents=100,
        distinct=len(values),
        top_values=tuple((value, 10) for value in values),
    )


VOCABULARY = vocabulary_of(
    IndexDescription(
        index="shop",
        documents=100,
        products=50,
        fields=(
            field("productTitle"),
            field("description"),
            field("category", "Jackets", "Trail Shoes", "Rugs", "Gloves"),
            field("brand", "Peatmoor", "Osterfell", "North Gate"),
            field("color", "red", "navy blue", "blue", "green", "black"),
            field("material", "merino wool", "wool", "polyester", "leather", "cotton", "faux fur"),
            field("size", "S", "M", "L", "XL", "EU 42"),
            field("price", kind="number"),
            field("inStock", "true", "false", kind="boolean"),
        ),
        category_field="category",
        language="en",
        generation="1",
    )
)


def product(number: int, price: float, title: str, *attributes: str) -> ShownProduct:
    """Return a shown jacket."""
    return ShownProduct(
        id=f"j{number}",
        title=title,
        price=price,
        parent=f"p{number}",
        category="Jackets",
        attributes=attributes,
    )


SHOWN = (
    product(1, 60.0, "Peatmoor Alder Jacket", "peatmoor", "red", "wool"),
    product(2, 40.0, "Osterfell Birch Jacket", "osterfell", "blue", "polyester"),
    product(3, 100.0, "North Gate Cedar Jacket", "north gate", "green", "leather"),
    product(4, 80.0, "Peatmoor Dune Jacket", "peatmoor", "black", "cotton"),
)
THREAD = ThreadState(query="jacket").after_showing(SHOWN)


def say(utterance: str, state: ThreadState = THREAD) -> ThreadDecision:
    """Decide a sentence."""
    return decide_turn(utterance, state, VOCABULARY)


def demanded(decision: ThreadDecision) -> set[tuple[str, bool, str]]:
    """Return what the thread demands after a decision, the category left out."""
    return {
        (each.role, each.wanted, each.words) for each in decision.state.constraints if each.role != "category"
    }


@pytest.mark.parametrize(
    ("utterance", "price_min", "price_max"),
    [
        ("cheaper", None, 39.99),
        ("Something a bit cheaper, please", None, 39.99),
        ("too expensive!", None, 39.99),
        ("these are too pricey for me", None, 39.99),
        ("not that expensive", None, 39.99),
        ("more affordable ones", None, 39.99),
        ("cheaper than the third one", None, 99.99),
        ("like the first one but cheaper", None, 59.99),
        ("something more expensive", 100.01, None),
        ("better quality", 100.01, None),
        ("anything fancier?", 100.01, None),
        ("too cheap", 100.01, None),
        ("not cheaper", 40.0, None),
        ("nothing more expensive than these", None, 100.0),
        ("under 50", None, 49.99),
        ("below $50", None, 49.99),
        ("anything less than $30", None, 29.99),
        ("cheaper than 30 euros", None, 29.99),
        ("do you have it for under 50?", None, 49.99),
        ("up to 50", None, 50),
        ("50 max", None, 50),
        ("at most 50 dollars", None, 50),
        ("my budget is 50", None, 50),
        ("I only have 50", None, 50),
        ("no more than 50", None, 50),
        ("nothing over 50", None, 50),
        ("not more than 50", None, 50),
        ("over 20", 20.01, None),
        ("at least 20", 20, None),
        ("not under 20", 20, None),
        ("not less than 20", 20, None),
        ("nothing below 20", 20, None),
        ("no cheaper than 20", 20, None),
        ("between 20 and 40", 20, 40),
        ("from 20 to 40", 20, 40),
        ("20-40", 20, 40),
        ("between $20 and $40 please", 20, 40),
        ("jackets between 20 and 40", 20, 40),
    ],
)
def test_a_sentence_about_price_sets_these_limits(
    utterance: str, price_min: float | None, price_max: float | None
) -> None:
    """Relative ones are strictly outside what was shown. Source: the module's own definition."""
    decision = say(utterance)
    assert decision.kind == "search"
    assert (decision.state.price_min, decision.state.price_max) == (price_min, price_max)


@pytest.mark.parametrize(
    ("utterance", "expected"),
    [
        ("in red", {("colour", True, "red")}),
        ("do you have it in green?", {("colour", True, "green")}),
        ("Got any black ones?", {("colour", True, "black")}),
        ("red or blue", {("colour", True, "red"), ("colour", True, "blue")}),
        ("in navy blue", {("colour", True, "navy blue")}),
        ("no red", {("colour", False, "red")}),
        ("not in red", {("colour", False, "red")}),
        ("anything but red", {("colour", False, "red")}),
        ("I don't like red", {("colour", False, "red")}),
        ("not wool", {("material", False, "wool")}),
        ("no wool please", {("material", False, "wool")}),
        ("without fur", {("material", False, "fur")}),
        ("nothing made of leather", {("material", False, "leather")}),
        ("wool-free", {("material", False, "wool")}),
        ("non-leather", {("material", False, "leather")}),
        ("not wool or polyester", {("material", False, "wool"), ("material", False, "polyester")}),
        ("no wool, no leather", {("material", False, "wool"), ("material", False, "leather")}),
        ("made of cotton", {("material", True, "cotton")}),
        ("in cotton", {("material", True, "cotton")}),
        ("only leather", {("material", True, "leather")}),
        ("from Peatmoor", {("brand", True, "Peatmoor")}),
        ("anything by north gate?", {("brand", True, "North Gate")}),
        ("not Peatmoor", {("brand", False, "Peatmoor")}),
        ("size L", {("size", True, "L")}),
        ("in XL", {("size", True, "XL")}),
        ("in a medium", {("size", True, "M")}),
        ("only in stock", {("stock", True, "in stock")}),
        ("just the available ones", {("stock", True, "in stock")}),
        ("hide sold out", {("stock", True, "in stock")}),
        ("blue, in stock, not polyester", {
            ("colour", True, "blue"), ("stock", True, "in stock"), ("material", False, "polyester"),
        }),
        ("not polyester and in blue", {("colour", True, "blue"), ("material", False, "polyester")}),
        ("cheaper and in blue, not polyester", {("colour", True, "blue"), ("material", False, "polyester")}),
        ("not polyester, cheaper and blue", {("colour", True, "blue"), ("material", False, "polyester")}),
        ("from Osterfell but no red", {("brand", True, "Osterfell"), ("colour", False, "red")}),
    ],
)  # fmt: skip
def test_a_sentence_about_the_products_demands_this(
    utterance: str, expected: set[tuple[str, bool, str]]
) -> None:
    """Wanted and unwanted values become constraints, in any order and wording."""
    decision = say(utterance)
    assert decision.kind == "search"
    assert demanded(decision) == expected


@pytest.mark.parametrize(
    ("utterance", "ids"),
    [
        ("the second one", ("j2",)),
        ("second", ("j2",)),
        ("2nd", ("j2",)),
        ("number 2", ("j2",)),
        ("#2", ("j2",)),
        ("2", ("j2",)),
        ("option two", ("j2",)),
        ("show me the 2nd one", ("j2",)),
        ("tell me more about the second one", ("j2",)),
        ("I like the second one", ("j2",)),
        ("I'll take the second", ("j2",)),
        ("what about the third", ("j3",)),
        ("and the third?", ("j3",)),
        ("the last one", ("j4",)),
        ("the last", ("j4",)),
        ("second to last one", ("j3",)),
        ("the first two", ("j1", "j2")),
        ("the last two", ("j3", "j4")),
        ("compare the first and the third", ("j1", "j3")),
        ("the cheapest one", ("j2",)),
        ("the most expensive one", ("j3",)),
        ("which one is the cheapest?", ("j2",)),
        ("is the second one in stock?", ("j2",)),
        ("the red one", ("j1",)),
        ("the one from Osterfell", ("j2",)),
        ("the leather one", ("j3",)),
    ],
)
def test_a_sentence_about_a_shown_product_means_that_very_one(utterance: str, ids: tuple[str, ...]) -> None:
    """Positions are those of the last page; nothing is searched."""
    decision = say(utterance)
    assert decision.kind == "show"
    assert decision.product_ids == ids
    assert decision.search is None
    assert decision.state.shown == THREAD.shown


@pytest.mark.parametrize("utterance", ["the seventh one", "number 9", "the 12th", "number 0", "7"])
def test_a_position_that_was_not_shown_is_asked_about(utterance: str) -> None:
    """The answer says how many there were."""
    decision = say(utterance)
    assert decision.kind == "clarify"
    assert "4 products" in decision.message
    assert decision.state == THREAD


@pytest.mark.parametrize(
    ("utterance", "number"),
    [
        ("more like the second one", 2),
        ("something similar to the third", 3),
        ("show me others like number 4", 4),
        ("anything like the first one?", 1),
        ("similar to the last one", 4),
    ],
)
def test_more_like_one_of_them_searches_for_it_without_it(utterance: str, number: int) -> None:
    """Its title is the query, its category binds, and the product itself is left out."""
    decision = say(utterance)
    wanted = SHOWN[number - 1]
    assert decision.search is not None
    assert decision.search.query == wanted.title
    assert decision.search.filter == parse_filter(
        f"(category:(Jackets)) AND (NOT (parentProductId:({wanted.parent})))"
    )


@pytest.mark.parametrize(
    "utterance", ["more like that", "something similar", "like this one", "more of that"]
)
def test_more_like_that_means_the_product_just_spoken_of(utterance: str) -> None:
    """After "the third one", "that" is the third."""
    after = say("the third one").state
    decision = say(utterance, after)
    assert decision.state.like == SHOWN[2]


@pytest.mark.parametrize(
    "utterance",
    ["show me more", "more", "more please", "what else?", "any others?", "more options", "next",
     "keep going", "can I see some more?", "show me the rest", "do you have any others?",
     "more of these", "other options?"],
)  # fmt: skip
def test_show_me_more_goes_on_where_the_page_ended(utterance: str) -> None:
    """The same search, from the fifth product on; the page after it from the sixth."""
    decision = say(utterance)
    assert decision.search is not None
    assert (decision.search.query, decision.search.offset) == ("jacket", 4)
    following = say(utterance, decision.state.after_showing(SHOWN[:1]))
    assert following.search is not None
    assert following.search.offset == 5
    assert following.state.lowest == 40.0


@pytest.mark.parametrize(
    "utterance",
    ["start over", "let's start again", "reset", "forget everything", "new search", "clear all filters"],
)
def test_starting_over_forgets_everything(utterance: str) -> None:
    """The thread is empty and the question open."""
    decision = say(utterance, say("in red, under 50").state)
    assert (decision.kind, decision.state) == ("answer", ThreadState())


def test_starting_over_with_a_new_wish_searches_for_it() -> None:
    """What follows is the first sentence of a new thread."""
    decision = say("start over: rugs under 80", say("in red, not wool").state)
    assert decision.kind == "search"
    assert demanded(decision) == set()
    assert decision.state.price_max == 79.99
    assert decision.search is not None
    assert "Rugs" in str(decision.search.filter)


@pytest.mark.parametrize(
    ("utterance", "left"),
    [
        ("any colour", {("material", False, "wool"), ("brand", True, "Peatmoor")}),
        ("the colour doesn't matter", {("material", False, "wool"), ("brand", True, "Peatmoor")}),
        ("forget the brand", {("material", False, "wool"), ("colour", True, "red")}),
        ("any material", {("colour", True, "red"), ("brand", True, "Peatmoor")}),
    ],
)
def test_a_constraint_can_be_lifted(utterance: str, left: set[tuple[str, bool, str]]) -> None:
    """Only the named one goes."""
    state = say("red, from Peatmoor, not wool").state
    assert demanded(say(utterance, state)) == left


@pytest.mark.parametrize(
    "utterance", ["drop the wool", "forget about the wool requirement", "wool is fine after all"]
)
def test_a_value_can_be_taken_back_by_name(utterance: str) -> None:
    """The other demands stay."""
    state = say("red, from Peatmoor, not wool").state
    assert demanded(say(utterance, state)) == {("colour", True, "red"), ("brand", True, "Peatmoor")}


def test_a_search_that_finds_nothing_gives_up_the_wish_but_not_the_exclusion() -> None:
    """After "no wool, in XL" found nothing, XL is forgotten and wool stays out; the page stands."""
    before = say("in wool").state.after_showing(SHOWN)
    after = say("no wool, in XL", before).state.after_nothing(before)
    assert {
        (each.role, each.wanted, each.words) for each in after.constraints if each.role != "category"
    } == {("material", False, "wool")}
    assert after.shown == SHOWN


def test_the_price_limits_can_be_lifted() -> None:
    """Both of them."""
    decision = say("price doesn't matter", say("between 20 and 40").state)
    assert decision.state.price_range is None


def test_a_new_value_takes_the_place_of_the_old_one_unless_it_is_added() -> None:
    """Blue after red is blue; "also in blue" is either."""
    red = say("in red").state
    assert demanded(say("in blue", red)) == {("colour", True, "blue")}
    assert demanded(say("also in blue", red)) == {("colour", True, "red"), ("colour", True, "blue")}
    assert demanded(say("no red", red)) == {("colour", False, "red")}
    assert demanded(say("red after all", say("no red").state)) == {("colour", True, "red")}


def test_a_new_limit_wins_over_an_older_one_that_contradicts_it() -> None:
    """After "between 50 and 90", "under 30" is under 30."""
    state = say("between 50 and 90").state
    assert (say("under 30", state).state.price_min, say("under 30", state).state.price_max) == (None, 29.99)
    narrower = say("at least 60", state).state
    assert (narrower.price_min, narrower.price_max) == (60, 90)


def test_constraints_last_from_turn_to_turn() -> None:
    """Five sentences later the first demand still binds."""
    state = THREAD
    for utterance in ("not wool", "in blue", "under 90", "size M", "only in stock"):
        state = say(utterance, state).state.after_showing(SHOWN)
    assert ("material", False, "wool") in demanded(say("cheaper", state))
    assert say("cheaper", state).state.price_max == 39.99


def test_cheaper_after_one_product_is_below_that_one() -> None:
    """Who has just seen the third at 100 finds 80 cheaper."""
    state = say("the third one").state
    assert say("cheaper", state).state.price_max == 99.99


def test_cheaper_without_any_price_sorts_by_price() -> None:
    """There is nothing to be below of."""
    unpriced = tuple(replace(each, price=None) for each in SHOWN)
    decision = say("cheaper", ThreadState(query="jacket").after_showing(unpriced))
    assert decision.state.price_range is None
    assert decision.search is not None
    assert decision.search.sort == (SortField(name="price", order="asc"),)


def test_a_shown_product_can_be_turned_down() -> None:
    """The sentence "not the first one" leaves it out, in all its variants."""
    decision = say("not the first one")
    assert decision.search is not None
    assert "NOT (parentProductId:(p1))" in str(decision.search.filter)
    decision = say("not the first one, something cheaper in blue")
    assert decision.search is not None
    assert "NOT (parentProductId:(p1))" in str(decision.search.filter)
    assert ("colour", True, "blue") in demanded(decision)
    assert decision.state.price_max == 39.99


@pytest.mark.parametrize(
    ("utterance", "query"),
    [
        ("show me trail shoes", "trail shoes"),
        ("gloves", "gloves"),
        ("I need a rug", "rug"),
        ("actually, I want gloves", "gloves"),
    ],
)
def test_another_kind_of_product_is_a_new_thread(utterance: str, query: str) -> None:
    """The old demands do not bind the new wish."""
    decision = say(utterance, say("in red, not wool, under 50").state.after_showing(SHOWN))
    assert decision.state.query == query
    assert decision.state.constraints == ()
    assert decision.state.price_range is None


@pytest.mark.parametrize("utterance", ["waterproof", "with a hood", "for hiking", "lighter ones"])
def test_a_quality_is_added_to_the_query(utterance: str) -> None:
    """It narrows what the thread is about, inside the category of what was shown."""
    decision = say(utterance)
    assert decision.state.query.startswith("jacket ")
    assert [each.words for each in decision.state.constraints if each.role == "category"] == ["Jackets"]


@pytest.mark.parametrize("utterance", ["hello", "Thanks!", "who are you?", "bonjour"])
def test_a_greeting_is_answered_without_a_search(utterance: str) -> None:
    """The thread stays as it was. Source: design, strategies, `no_match`."""
    decision = say(utterance)
    assert (decision.kind, decision.search, decision.state) == ("answer", None, THREAD)
    assert decision.message


@pytest.mark.parametrize("utterance", ["", "???", "hmm", "ok", "🙂", "the"])
def test_what_is_not_understood_is_asked_about(utterance: str) -> None:
    """Nothing is searched, nothing forgotten."""
    decision = say(utterance)
    assert decision.kind in {"clarify", "answer"}
    assert decision.state == THREAD


@pytest.mark.parametrize("utterance", ["I need something", "gift", ""])
def test_a_first_sentence_that_is_too_vague_is_asked_about(utterance: str) -> None:
    """With categories to choose from. Source: design, strategies, `needs_clarification`."""
    decision = say(utterance, ThreadState())
    assert decision.kind == "clarify"
    assert decision.options


def test_the_message_says_what_is_searched() -> None:
    """In the shopper's words, limits included."""
    decision = say("in red or blue, not wool, between 20 and 49.99, only in stock")
    assert decision.search is not None
    assert decision.search.label == "jacket, in red or blue, in stock, without wool, from 20 and under 50"
    assert decision.when_empty == f"I found nothing for {decision.search.label}."


def test_a_thread_survives_its_json() -> None:
    """Every part comes back."""
    state = say("more like the third, in red, not wool, between 20 and 40, cheapest first").state
    state = say("the first one", state.after_showing(SHOWN)).state
    assert ThreadState.from_json(json.loads(json.dumps(state.to_json()))) == state


@pytest.mark.parametrize(
    "stored",
    [{}, {"format": 99}, {"format": 1}, {**THREAD.to_json(), "constraints": [["colour", True, "((", "x"]]}],
)
def test_a_state_that_cannot_be_read_is_an_empty_one(stored: dict[str, object]) -> None:
    """The conversation goes on from the next sentence."""
    assert ThreadState.from_json(stored) == ThreadState()


def test_a_thread_stays_small() -> None:
    """However long a conversation gets, its state fits into a turn."""
    state = THREAD
    many = tuple(product(number, 10.0, "t" * 120, *("a" * 40,) * 8) for number in range(500))
    for number in range(200):
        state = say(f"with pocket{number}, not polyester, no colour{number}", state).state.after_showing(many)
    assert len(state.shown) == MAX_SHOWN
    assert len(json.dumps(state.to_json())) < 32 * 1024


_WORDS = """
    cheaper expensive too not no without in red blue wool polyester fur under over between 50 $30 and
    but or the first second last one ones two more like that it similar show me start over any colour
    price same instead only stock size L Peatmoor from jacket gloves rug waterproof please than , . ? ;
    anything nothing made of free drop
"""
_PIECES = st.sampled_from(_WORDS.split())


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(_PIECES | st.text(max_size=8), max_size=9).map(" ".join), min_size=1, max_size=5))
def test_any_sentences_make_a_thread_that_can_be_searched_and_stored(utterances: list[str]) -> None:
    """Nothing raises, every filter is one that parses to itself, every state survives its JSON."""
    state = THREAD
    for utterance in utterances:
        decision = say(utterance, state)
        if decision.search is not None and decision.search.filter is not None:
            assert parse_filter(str(decision.search.filter)) == decision.search.filter
        assert (decision.search is not None) == (decision.kind == "search")
        assert bool(decision.product_ids) == (decision.kind == "show")
        assert decision.message
        assert ThreadState.from_json(json.loads(json.dumps(decision.state.to_json()))) == decision.state
        showed = decision.kind == "search"
        state = decision.state.after_showing(SHOWN) if showed else decision.state


@pytest.mark.parametrize("price", ["9.99", True, None, [1]])
def test_a_price_that_is_no_number_is_no_price(price: object) -> None:
    """A merchant's odd value never breaks a conversation."""
    shown = shown_product({"_id": "x", "price": price, "color": 3, "material": ["wool", 4]}, VOCABULARY.roles)
    assert shown.price is None
    assert shown.attributes == ("wool",)


@pytest.mark.parametrize(
    "utterance", ["not " * 400, "cheaper " * 150, "(" * 1000, "a" * 5000, "the first " * 100]
)
def test_a_strange_sentence_is_decided_like_any_other(utterance: str) -> None:
    """No sentence raises, and none is searched at full length."""
    decision = say(utterance)
    assert decision.search is None or len(decision.search.query or "") <= 300

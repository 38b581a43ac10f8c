"""The JavaScript client in Node, against a server whose stream the test writes."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.e2e.page.resetting_proxy import resetting_proxy
from tests.e2e.page.scripted_store import ScriptedStore
from tests.e2e.page.wire import begin, receipt, whole_answer

CASES = Path(__file__).with_name("client_cases.mjs")
PAGES = Path(__file__).resolve().parents[3] / "search_proxy" / "pages"
Start = Callable[..., "Case"]


class Case:
    """One case running in Node."""

    def __init__(self, node: str, name: str, base_url: str) -> None:
        self._process = subprocess.Popen([node, str(CASES), name, base_url], stdout=PIPE, stderr=PIPE)

    def close(self) -> None:
        """End it if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdout, self._process.stderr):
            assert pipe is not None
            pipe.close()

    def wait_for_line(self, text: str) -> None:
        """Return when the case has written a line with this text to its error output."""
        assert self._process.stderr is not None
        while (line := self._process.stderr.readline().decode()) and text not in line:
            continue
        assert text in line

    def result(self) -> Any:
        """Return what the case printed when it has ended."""
        out, errors = self._process.communicate(timeout=20)
        assert self._process.returncode == 0, errors.decode()
        return json.loads(out)


@pytest.fixture
def node() -> str:
    """Return the program that runs the client."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("node is not installed")
    return found


@pytest.fixture
def start(node: str) -> Iterator[Start]:
    """Return a function that starts a case; cases that still run are ended afterwards."""
    started: list[Case] = []

    def begin_case(name: str, base_url: str) -> Case:
        started.append(Case(node, name, base_url))
        return started[-1]

    yield begin_case
    for case in started:
        case.close()


def test_events_arrive_typed_and_in_order_with_what_was_asked(store: ScriptedStore, start: Start) -> None:
    """Parameters go out as the wire has them; every event has its id. Source: docs, wire format."""
    case = start("collect", store.url)
    run = store.next_run()
    assert run.parameters == {
        "q": "warm for winter camping",
        "maxCategories": "3",
        "searchSettings": '{"limit":5}',
    }
    run.send("init", {"categories": True, "summary": False})
    run.delta(summary="ä€😀")
    run.end()
    assert case.result() == [
        {"type": "open", "runId": "run1"},
        {"type": "init", "id": "run1-1", "data": {"categories": True, "summary": False}},
        {"type": "delta", "id": "run1-2", "data": {"summary": "ä€😀"}},
        {"type": "stream-end", "id": "run1-3", "data": {}},
    ]


def test_a_cut_connection_is_taken_up_after_the_last_event(store: ScriptedStore, start: Start) -> None:
    """Nothing comes twice, nothing is missing, and no second run is asked for."""
    case = start("collect", store.url)
    run = store.next_run()
    begin(run, store)
    run.cut()
    run.delta(summary="later")
    run.cut()
    run.delta(receipt=receipt())
    run.end()
    events = case.result()
    ids = [event["id"] for event in events if "id" in event]
    assert ids == [f"run1-{number}" for number in range(1, 7)]
    assert {event["type"] for event in events} == {"open", "init", "delta", "stream-end", "reconnecting"}
    assert store.runs_started == 1


def test_a_run_that_the_server_has_forgotten_is_an_error_value(store: ScriptedStore, start: Start) -> None:
    """A 204 ends the stream and says that asking again may help."""
    store.forgets_runs = True
    case = start("collect", store.url)
    run = store.next_run()
    run.send("init", {"categories": True, "summary": True})
    run.cut()
    last = case.result()[-1]
    assert (last["type"], last["error"]["code"], last["error"]["retryable"]) == ("error", "stream_lost", True)


@pytest.mark.parametrize(
    ("status", "retryable"),
    [(400, False), (401, False), (403, False), (404, False), (429, True), (502, True)],
)
def test_a_refusal_is_an_error_value_with_the_servers_words(
    store: ScriptedStore, start: Start, status: int, retryable: bool
) -> None:
    """The client throws nothing for what a server can answer."""
    store.refusal = (status, {"message": "no", "code": "why", "type": "t", "link": None})
    error = {"code": "why", "message": "no", "retryable": retryable, "status": status}
    assert start("collect", store.url).result() == [{"type": "error", "error": error}]


def test_a_refusal_tells_how_long_to_wait_where_the_server_does(store: ScriptedStore, start: Start) -> None:
    """`Retry-After` in seconds is a number of the error. Source: docs/wire-format.md, 429."""
    store.refusal = (429, {"message": "too many", "code": "too_many_requests"})
    store.refusal_headers = {"retry-after": "7"}
    (event,) = start("collect", store.url).result()
    assert (event["error"]["retryable"], event["error"]["retryAfterSeconds"]) == (True, 7)


def test_a_server_that_is_not_there_is_an_error_value(start: Start) -> None:
    """Nobody listens on the port."""
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        base_url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    (event,) = start("collect", base_url).result()
    assert event["error"]["code"] == "connection_lost"


def test_leaving_the_loop_and_aborting_end_the_request(store: ScriptedStore, start: Start) -> None:
    """Node exits by itself, so no connection is left open."""
    leaving = start("leaveEarly", store.url)
    store.next_run().send("init", {"categories": True, "summary": True})
    assert leaving.result() == "left"
    aborting = start("abort", store.url)
    store.next_run().send_together(
        ("init", {"categories": True, "summary": True}), ("delta", {"summary": "too late"})
    )
    assert aborting.result() == ["open", "init"]


def test_products_and_documents_answer_with_a_value_or_an_error(store: ScriptedStore, start: Start) -> None:
    """`ok` tells which; a run that is not there is not stopped."""
    found, documents, missing, stopped = start("products", store.url).result()
    assert [hit["_id"] for hit in found["value"]["hits"]] == [p["_id"] for p in store.products[:2]]
    assert documents["value"]["results"][0]["_found"] in (True, False)
    assert (missing["ok"], missing["error"]["status"]) == (False, 404)
    assert stopped is False


def test_a_connection_that_is_reset_is_taken_up_too(store: ScriptedStore, start: Start) -> None:
    """A reset is no end and no bug; a turn of a conversation resumes without sending its pictures again."""
    with resetting_proxy(urlsplit(store.url).port or 0) as proxy:
        case = start("converse", proxy.url)
        run = store.next_run()
        assert run.parameters == {
            "q": "like this one",
            "conversationId": "c1",
            "documentIds": ["tent-001-1"],
            "images": ["AAAA"],
        }
        run.send("conversation-id", {"conversationId": "c1"})
        run.send("message", {"text": "One, "})
        case.wait_for_line("run1-2")
        proxy.reset()
        run.wait_for_readers(2)
        failure = {"code": "search_failed", "message": "no", "stage": "category", "retryable": True}
        run.send("error", failure)
        run.send("message", {"text": "two."})
        run.end()
        events = case.result()
    ids = [event.get("id") for event in events]
    assert ids == [None, "run1-1", "run1-2", None, "run1-3", "run1-4", "run1-5"]
    assert events[3] == {"type": "reconnecting", "attempt": 1}
    assert events[4] == {"type": "error", "id": "run1-3", "error": failure}
    assert store.runs_started == 1


def test_two_readers_of_one_run_see_the_same(store: ScriptedStore, start: Start) -> None:
    """`follow` reads a run from its beginning beside the one who asked for it."""
    asking = start("collect", store.url)
    run = store.next_run()
    begin(run, store)
    following = start("followFirst", store.url)
    run.wait_for_readers(2)
    run.delta(receipt=receipt())
    run.end()
    assert following.result() == [event for event in asking.result() if event["type"] != "open"]


def test_a_bug_of_the_caller_is_thrown_and_never_taken_for_a_lost_connection(start: Start) -> None:
    """A TypeError in the loop, a wrong address and a key that no header can hold are the caller's to see."""
    assert start("bugs", "").result() == ["TypeError", "TypeError", "TypeError"]


def test_suggestions_completions_and_deletion_answer_with_values(store: ScriptedStore, start: Start) -> None:
    """A shop without completions gives an error value; a deletion goes to the conversation by its id."""
    store.questions = ["Is it warm?"]
    suggested, completed, gone = start("rest", store.url).result()
    assert suggested["value"]["suggestions"] == ["Is it warm?"]
    assert store.asked_about == [{"documentId": "tent-001-1", "sessionId": "s", "userId": "u"}]
    assert (completed["ok"], completed["error"]["status"]) == (False, 404)
    assert gone == {"ok": True, "value": None}
    assert store.deleted == ["c 1"]


def test_the_declared_types_name_every_method_of_the_client(start: Start) -> None:
    """`aisle.d.ts` declares what `aisle.js` has, and nothing else."""
    declared = re.findall(r"^  (\w+)\(", (PAGES / "aisle.d.ts").read_text(), re.MULTILINE)
    assert sorted(set(declared)) == sorted([*start("methods", "").result(), "push"])


def test_the_declared_types_hold_for_a_program_in_typescript(node_packages: Path) -> None:
    """The compiler takes right uses, narrows by type and by `ok`, and refuses wrong ones."""
    compiler = node_packages / "node_modules" / ".bin" / "tsc"
    library = "es2022,dom,dom.iterable,dom.asynciterable"
    options = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--lib", library]
    program = CASES.with_name("client_types.mts")
    done = subprocess.run([compiler, *options, program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "")


def test_the_event_stream_reads_the_same_however_it_is_cut(start: Start) -> None:
    """Every cut of one text, with all three line ends. Source: HTML standard, event streams."""
    result = start("cutAnywhere", "").result()
    assert result["different"] == []
    assert result["whole"] == [
        {"retry": 20},
        {"event": "delta", "data": '{"a":"ä€😀"}', "id": "r-1"},
        {"event": "message", "data": "one\ntwo", "id": "r-2"},
        {"event": "message", "data": "", "id": ""},
        {"event": "stream-end", "data": "{}", "id": ""},
    ]


def test_links_read_the_same_however_the_summary_is_cut(start: Start) -> None:
    """Whole links are links; half, foreign and endless ones are text."""
    result = start("linksCutAnywhere", "").result()
    assert result["different"] == []
    assert [(link["label"], link["kind"], link["target"]) for link in result["whole"]] == [
        ("b", "p", "x"),
        ("c [d", "q", "e f"),
    ]


def test_the_documented_example_runs_as_it_stands(store: ScriptedStore, node: str, tmp_path: Path) -> None:
    """The guide's code, copied out, prints what a shop streams. Source: docs/storefront.md."""
    guide = (PAGES.parents[1] / "docs" / "storefront.md").read_text()
    (code,) = re.findall(r"^```js\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    (tmp_path / "example.mjs").write_text(code)
    shutil.copy(PAGES / "aisle.js", tmp_path / "aisle.mjs")
    running = subprocess.Popen([node, str(tmp_path / "example.mjs"), store.url], stdout=PIPE)
    try:
        whole_answer(store.next_run(), store)
        for text in ("Blue ones.", "Cheaper ones."):
            turn = store.next_run()
            turn.send("conversation-id", {"conversationId": "c-7"})
            turn.send("message", {"text": text})
            turn.end()
        out, _ = running.communicate(timeout=20)
    finally:
        running.kill()
        running.communicate()
    lines = out.decode().splitlines()
    assert lines[:3] == [
        f"{name}: 30 products" for name in ("Sleeping bags", "Puffer jackets", "Winter boots")
    ]
    assert lines[3].startswith("Start with the [bag]")
    assert lines[-1] == "Cheaper ones."
    assert turn.parameters["conversationId"] == "c-7"
    assert store.deleted == ["c-7"]

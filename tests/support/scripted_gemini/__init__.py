"""A Gemini server whose every byte a test decides: real HTTP on the loopback, one script per call.

`wire.py` speaks HTTP, `steps.py` is what a script is made of, `scenarios.py` builds the known ones,
`paced.py` answers at a realistic pace. `python -m tests.support.scripted_gemini` runs it alone.
"""

from tests.support.scripted_gemini.steps import (
    Drop,
    End,
    Gate,
    HangUp,
    Head,
    Pause,
    Raw,
    Script,
    Send,
    Stall,
    Step,
    Wait,
)
from tests.support.scripted_gemini.wire import Call, ScriptedGemini

__all__ = [
    "Call",
    "Drop",
    "End",
    "Gate",
    "HangUp",
    "Head",
    "Pause",
    "Raw",
    "Script",
    "ScriptedGemini",
    "Send",
    "Stall",
    "Step",
    "Wait",
]

"""Durable objects: one serial object per conversation, with storage and alarms.

Start at `conversations.py` (the face) and follow a turn: `namespace.py` gives the object, `turn.py` takes
the lease through `conversation_object.py`, `storage.py` is the seam, `sqlite_storage.py` and
`redis_storage.py` stand behind it. `opening.py` puts them together.
"""

from conversation.conversations import Conversation, Conversations
from conversation.errors import (
    ConversationBusy,
    ConversationError,
    ConversationNotFound,
    InteractionTooLarge,
    LeaseLost,
    StorageDamaged,
    StorageFull,
    StorageLocked,
    StorageTimeout,
    StorageUnavailable,
)
from conversation.interaction import Interaction, fitted_interaction
from conversation.opening import ConversationConfig, open_conversations
from conversation.policy import ConversationPolicy
from conversation.storage import ConversationSummary
from conversation.turn import Turn

__all__ = [
    "Conversation",
    "ConversationBusy",
    "ConversationConfig",
    "ConversationError",
    "ConversationNotFound",
    "ConversationPolicy",
    "ConversationSummary",
    "Conversations",
    "Interaction",
    "InteractionTooLarge",
    "LeaseLost",
    "StorageDamaged",
    "StorageFull",
    "StorageLocked",
    "StorageTimeout",
    "StorageUnavailable",
    "Turn",
    "fitted_interaction",
    "open_conversations",
]

"""What can go wrong with a conversation.

ConversationError
├── ConversationNotFound     no such conversation, or not one of this account
├── ConversationBusy         another turn of it has not ended in time, or too many wait
├── InteractionTooLarge      a turn is over its size limits
├── LeaseHeld                somebody else has the turn right now; storage says until when
├── LeaseLost                the turn's lease was taken over, or the conversation deleted meanwhile
└── StorageUnavailable       the storage could not answer; the answer can still be given without it
    ├── StorageFull          no room: disk, file limit or server memory
    ├── StorageLocked        another process holds the file for too long
    ├── StorageDamaged       the file is not a sound database
    └── StorageTimeout       it did not answer in time
"""

from __future__ import annotations


class ConversationError(Exception):
    """The base of every error of this package."""


class ConversationNotFound(ConversationError):
    """The account has no such conversation; the same for a conversation of somebody else."""

    def __init__(self, conversation_id: str) -> None:
        super().__init__(f"conversation {conversation_id[:80]!r} does not exist")
        self.conversation_id = conversation_id


class ConversationBusy(ConversationError):
    """Another turn of the conversation has not ended in time, or too many wait for their turn."""


class InteractionTooLarge(ConversationError):
    """A turn is over its size limits; the message says which part and by how much."""


class LeaseHeld(ConversationError):
    """Somebody else has the turn until `until_seconds` (the caller's clock), or until they end it."""

    def __init__(self, until_seconds: float) -> None:
        super().__init__("another turn of this conversation is running")
        self.until_seconds = until_seconds


class LeaseLost(ConversationError):
    """The turn's lease was taken over, or the conversation was deleted meanwhile; nothing was written."""


class StorageUnavailable(ConversationError):
    """The storage could not answer; nothing was acknowledged."""


class StorageFull(StorageUnavailable):
    """There is no room: disk, file limit or server memory."""


class StorageLocked(StorageUnavailable):
    """Another process holds the file for longer than the busy timeout."""


class StorageDamaged(StorageUnavailable):
    """The file is not a sound database; it is left as it is for its operator."""


class StorageTimeout(StorageUnavailable):
    """The storage did not answer in time; whether it did the work is unknown."""

"""The open web as a last tier: a search by a provider, and pages fetched with care."""

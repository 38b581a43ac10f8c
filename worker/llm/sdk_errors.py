"""Translates what google-genai and its HTTP client raise."""

from __future__ import annotations

import logging

import httpx2
from google.genai import errors

from worker.llm.gemini_errors import error_from_response
from worker.llm.language_model import ModelError

logger = logging.getLogger(__name__)


def sdk_error(error: Exception) -> ModelError:
    """Return the failure as the other client would name it; one that is unknown is logged."""
    if isinstance(error, errors.APIError):
        headers = getattr(error.response, "headers", None) or {}
        return error_from_response(error.code, error.details, headers.get("Retry-After"))
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return ModelError("unavailable", "cannot connect to the model's server", retryable=True)
    if isinstance(error, httpx2.TimeoutException | TimeoutError):
        return ModelError("timeout", "the model's server did not answer in time", retryable=True)
    if isinstance(error, httpx2.HTTPError):
        return ModelError("disconnected", f"the connection broke: {type(error).__name__}", retryable=True)
    if isinstance(error, ValueError | RecursionError):
        return ModelError("protocol", "a chunk of the model's stream is not JSON", retryable=True)
    logger.error("model_client_failed", exc_info=error)
    return ModelError("protocol", f"the model's client failed: {type(error).__name__}", retryable=True)

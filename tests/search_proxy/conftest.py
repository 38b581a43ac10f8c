"""Fixtures of the product side: every test of it is watched for keys in log lines."""

from tests.search_proxy.accounts.secret_watch import no_key_in_any_log_line

__all__ = ["no_key_in_any_log_line"]

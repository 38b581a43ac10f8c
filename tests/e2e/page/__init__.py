"""The storefront page in a real browser, over a server whose stream the test writes event by event."""

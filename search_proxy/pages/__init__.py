"""The web pages, as plain files that a browser runs without a build, and the routes that serve them."""

"""The contract suite over every structure; `raygrove.testing` offers it to other packages."""

from raygrove.testing.contract import *  # noqa: F403 - the tests, their fixtures and pytest's hook

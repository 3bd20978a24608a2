"""Lessons: questions about structures that a person answers first and this machine answers then."""

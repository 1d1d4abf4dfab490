"""Tests of rows on disk."""

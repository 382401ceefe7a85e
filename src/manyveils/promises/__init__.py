"""Guarantees on counts: counted, decided and explained; the maker's own arithmetic of promises."""

"""The JSON API: who is asking (`access`), what comes and goes (`models`), and what is done (`routes`)."""

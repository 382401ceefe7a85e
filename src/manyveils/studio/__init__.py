"""The studio: a workbench in the browser of this machine, from a table to a release; what it edits is the policy's text."""

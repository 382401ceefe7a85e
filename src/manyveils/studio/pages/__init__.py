"""The pages: they show the workbench and hand on what is chosen; nothing is worked out here."""

from manyveils.studio.pages.layout import register as register

"""What goes out: drafts of views, the one sealed way out, the manifest, writing and reading back."""

from manyveils.release.draft import Draft, Drafts, Recoding
from manyveils.release.release import Release
from manyveils.release.seal import seal
from manyveils.release.views import Manifest, View

__all__ = ["Draft", "Drafts", "Manifest", "Recoding", "Release", "View", "seal"]

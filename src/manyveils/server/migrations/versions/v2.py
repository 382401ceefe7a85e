"""The first tables that are migrated; they were made without Alembic."""

revision = "2"
down_revision = None


def upgrade() -> None:
    """Do nothing: whatever is at this version is there."""

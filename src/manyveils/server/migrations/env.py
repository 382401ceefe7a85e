"""Runs the steps on the connection that `migrating` gives, inside its transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], render_as_batch=True)
context.run_migrations()

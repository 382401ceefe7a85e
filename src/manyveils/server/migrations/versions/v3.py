"""Seals on rows, keys apart from releases, limits in all, tokens with scopes, second factors."""

import json
from typing import Any

import sqlalchemy as sa
from alembic import context, op

revision = "3"
down_revision = "2"
TEXT, NUMBER, YES_NO = sa.Text(), sa.Integer(), sa.Boolean()
TIME: sa.Double[float] = sa.Double()
SHORT, DIGEST = sa.String(16), sa.String(64)
MOST = 1_000_000
NAMES = {"fk": "%(table_name)s_%(column_0_name)s_fkey"}


def upgrade() -> None:
    """Change the tables, and seal what stands in them; tokens and sessions end."""
    releases, audits, grants, used = _before()
    # Their rows do not outlive the change.
    for name in ("tokens", "sessions", "answers"):
        op.drop_table(name)
    _change_users()
    _change_releases(releases, audits)
    _change_grants()
    _change_the_rest()
    _make_tables()
    _fill(releases, grants, used)
    context.config.attributes["seal"]()


def _before() -> tuple[list[Any], dict[str, Any], list[Any], list[Any]]:
    bind = op.get_bind()
    releases = bind.execute(sa.text("SELECT id, key FROM releases")).all()
    jobs = bind.execute(
        sa.text("SELECT release_id, asked_by, audit FROM jobs WHERE release_id IS NOT NULL")
    ).all()
    grants = bind.execute(sa.text("SELECT id, release_id, daily_limit FROM grants")).all()
    used = bind.execute(sa.text("SELECT grant_id, day, used FROM answers ORDER BY day")).all()
    return list(releases), {job.release_id: job for job in jobs}, list(grants), list(used)


def _change_users() -> None:
    role = sa.CheckConstraint("role IN ('owner', 'researcher', 'auditor')")
    with op.batch_alter_table("users", table_args=(role,)) as table:
        table.add_column(sa.Column("confirmed", YES_NO, nullable=False, server_default=sa.true()))
        table.add_column(sa.Column("made_by", NUMBER))
        table.add_column(sa.Column("second", sa.LargeBinary()))
        table.add_column(sa.Column("second_used", sa.BigInteger(), nullable=False, server_default="0"))
        table.add_column(sa.Column("external", sa.String(400)))
        table.add_column(sa.Column("seal", DIGEST, nullable=False, server_default=""))
        table.create_unique_constraint("users_external", ["external"])


def _change_releases(releases: list[Any], jobs: dict[str, Any]) -> None:
    bind = op.get_bind()
    owner = bind.execute(sa.text("SELECT min(id) FROM users WHERE role = 'owner'")).scalar_one()
    with op.batch_alter_table("releases") as table:
        table.add_column(sa.Column("audit", TEXT))
        table.add_column(sa.Column("has_key", YES_NO, nullable=False, server_default=sa.false()))
        table.add_column(sa.Column("owner_id", NUMBER, nullable=False, server_default=str(owner or 0)))
        table.add_column(sa.Column("budget", NUMBER, nullable=False, server_default=str(MOST)))
        table.add_column(sa.Column("approved", NUMBER, nullable=False, server_default="25"))
        table.add_column(sa.Column("seal", DIGEST, nullable=False, server_default=""))
        table.drop_column("folder")
        table.drop_column("key")
    change = "UPDATE releases SET audit = :audit, has_key = :has_key, owner_id = :owner WHERE id = :id"
    for release in releases:
        job = jobs.get(release.id)
        values = {"audit": job and job.audit, "owner": job.asked_by if job else owner}
        bind.execute(sa.text(change), {"id": release.id, "has_key": release.key is not None, **values})


def _change_grants() -> None:
    limit = sa.CheckConstraint("daily_limit > 0")
    with op.batch_alter_table("grants", table_args=(limit,)) as table:
        table.add_column(sa.Column("total_limit", NUMBER, nullable=False, server_default=str(MOST)))
        table.add_column(sa.Column("seal", DIGEST, nullable=False, server_default=""))


def _change_the_rest() -> None:
    state = sa.CheckConstraint("state IN ('queued', 'running', 'done', 'failed')")
    with op.batch_alter_table("jobs", naming_convention=NAMES, table_args=(state,)) as table:
        # What a job made may be deleted.
        table.drop_constraint("jobs_release_id_fkey", type_="foreignkey")
        table.drop_column("audit")
        table.add_column(sa.Column("beat", TIME, nullable=False, server_default="0"))
        table.add_column(sa.Column("cancelled", YES_NO, nullable=False, server_default=sa.false()))
    with op.batch_alter_table("chain") as table:
        table.add_column(sa.Column("sum", DIGEST, nullable=False, server_default="0" * 64))


def _make_tables() -> None:
    user, release, grant = "users.id", "releases.id", "grants.id"
    seal = _column("seal", DIGEST)
    _make(
        "tokens",
        [_column("id", SHORT), _column("digest", DIGEST), _column("user_id", NUMBER, user)],
        [_column("label", TEXT), _column("scopes", TEXT), _column("only", TEXT, nullable=True)],
        [_column("created", TIME), _column("expires", TIME), _column("revoked", YES_NO), seal],
    )
    op.create_index("tokens_by_digest", "tokens", ["digest"], unique=True)
    times = [_column("expires", TIME), _column("seen", TIME), seal]
    _make("sessions", [_column("digest", DIGEST), _column("user_id", NUMBER, user)], times)
    _make("arrivals", [_column("place", DIGEST), _column("time", TIME)])
    _make("keys", [_column("release_id", SHORT, release), _column("key", sa.LargeBinary()), seal])
    counts = [_column("used", NUMBER), _column("used_in_all", NUMBER), seal]
    _make("answers", [_column("grant_id", NUMBER, grant), _column("day", sa.String(10))], counts)
    told = [_column("used", NUMBER), _column("told", TEXT), seal]
    _make("disclosures", [_column("release_id", SHORT, release)], told)
    _make("servers", [_column("instance", sa.String(32)), _column("beat", TIME)])


def _column(name: str, kind: Any, link: str | None = None, *, nullable: bool = False) -> sa.Column[Any]:
    return sa.Column(name, kind, *([] if link is None else [sa.ForeignKey(link)]), nullable=nullable)


def _make(name: str, *columns: list[sa.Column[Any]]) -> None:
    """Make a table whose first column is its key."""
    made = [column._copy() for part in columns for column in part]
    made[0].primary_key = True
    op.create_table(name, *made)


def _fill(releases: list[Any], grants: list[Any], used: list[Any]) -> None:
    bind = op.get_bind()
    told = context.config.attributes["told"]
    for release in releases:
        if release.key is not None:
            put = "INSERT INTO keys (release_id, key, seal) VALUES (:id, :key, '')"
            bind.execute(sa.text(put), {"id": release.id, "key": release.key})
    spent: dict[str, int] = {release.id: 0 for release in releases if release.key is not None}
    for grant in grants:
        mine = [row for row in used if row.grant_id == grant.id]
        total, (day, last) = sum(row.used for row in mine), (mine[-1].day, mine[-1].used) if mine else ("", 0)
        put = "INSERT INTO answers (grant_id, day, used, used_in_all, seal) VALUES (:id, :day, :used, :total, '')"
        bind.execute(sa.text(put), {"id": grant.id, "day": day, "used": last, "total": total})
        spent[grant.release_id] = spent.get(grant.release_id, 0) + total
    for release in releases:
        if release.key is not None:
            put = "INSERT INTO disclosures (release_id, used, told, seal) VALUES (:id, :used, :told, '')"
            known = json.dumps(told(release.id, release.key))
            bind.execute(sa.text(put), {"id": release.id, "used": spent[release.id], "told": known})

/**
 * The tables of one workspace, the function that writes them, and the roles that may call it. Each
 * version of the schema is a list of statements; `upgrade` runs those that are missing.
 */

/** The version that this program needs. A greater one is fine while `oldest` allows it. */
export const SCHEMA_VERSION = 4;

/** The roles of people and processes that use a workspace, by their rights. */
export const ROLES = ['worker', 'desk', 'reader'] as const;

export function roleName(schema: string, role: (typeof ROLES)[number]): string {
  return `${schema}_${role}`;
}

/** Statements that make each version from the one before. */
export function migrations(s: string): string[] {
  return [
    firstVersion(s),
    // The database user who made the entry: a process belongs to the user who started it.
    `alter table ${s}.entry add column writer text collate "C";`,
    // The function takes the lines of one log as a list.
    '',
    // The database user who made the commit: others can guess its id, and must not take its place.
    `alter table ${s}.done add column writer text collate "C" not null default session_user;
alter table ${s}.done drop constraint done_pkey;
alter table ${s}.done add primary key (id, writer);`,
  ];
}

/** Columns of keys and names compare byte by byte, so that a prefix is a range of the index. */
function firstVersion(s: string): string {
  return `
create table ${s}.about(
  version int not null, oldest int not null, workspace text not null, made_at timestamptz not null default now());
create sequence ${s}.rev;
create table ${s}.entry(
  key text collate "C" primary key, rev bigint not null, value text not null, live boolean not null,
  tag text collate "C", xid xid8 not null, at timestamptz not null)
  with (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_insert_scale_factor = 0.1);
create index entry_xid on ${s}.entry(xid);
create index entry_live on ${s}.entry(tag, key) where live;
create index entry_tag on ${s}.entry(tag, rev) where tag is not null;
create table ${s}.log(name text collate "C" primary key, last bigint not null, xid xid8 not null)
  with (autovacuum_vacuum_scale_factor = 0.05);
create index log_xid on ${s}.log(xid);
create table ${s}.line(
  log text collate "C" not null, n bigint not null, text text not null, tag text collate "C",
  at timestamptz not null default clock_timestamp(), primary key(log, n));
create index line_tag on ${s}.line(log, tag, n) where tag is not null;
create table ${s}.done(id text primary key, result jsonb not null, at timestamptz not null);
create index done_at on ${s}.done(at);
`;
}

/**
 * Readers read; workers and desks also write, through the function only. The user who makes the
 * schema owns its tables, so the role of a desk gives that user nothing new and saves a step.
 */
export function grants(s: string): string {
  const [worker, desk, reader] = ROLES.map((role) => roleName(s, role)) as [string, string, string];
  const make = (role: string): string =>
    `if not exists (select 1 from pg_roles where rolname = '${role}') then create role ${role} nologin; end if;`;
  return `
do $roles$ begin ${[worker, desk, reader].map(make).join(' ')} end $roles$;
grant ${reader} to ${worker};
grant ${worker} to ${desk};
grant ${desk} to session_user;
revoke all on schema ${s} from public;
revoke all on all functions in schema ${s} from public;
grant usage on schema ${s} to ${reader};
grant select on all tables in schema ${s} to ${reader};
grant execute on function ${s}.guild_commit(text, text, jsonb, jsonb), ${s}.guild_tidy() to ${worker};
`;
}

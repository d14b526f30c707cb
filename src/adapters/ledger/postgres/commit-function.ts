/** The function that every write goes through, and one that removes old answers. */
import { roleName } from './schema.js';

/**
 * The only way to write. It runs with the rights of the schema's owner and judges its caller:
 * a worker may write neither definitions, keys and pauses nor a person's answer, and of tasks only
 * those that no other live process holds. It removes none: only an undo at a desk does. The guard
 * is locked until the commit, so a peer cannot be declared dead between the check and the write.
 */
export function writers(s: string): string {
  return `
create or replace function ${s}.guild_commit(who text, guard text, puts jsonb, adds jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, pg_temp as $commit$
declare
  p jsonb; r bigint; others bigint; places bigint[] := '{}'; ends bigint[] := '{}'; answer jsonb;
  is_desk constant boolean := pg_has_role(session_user, '${roleName(s, 'desk')}', 'member');
begin
  select result into answer from ${s}.done where id = who and writer = session_user;
  if found then return answer; end if;
  if guard is not null then
    perform 1 from ${s}.entry where key = guard and live for share;
    if not found then return '"fenced"'; end if;
    if not is_desk and exists (select 1 from ${s}.entry where key = guard and writer <> session_user) then
      raise insufficient_privilege using message = format('%s is a process of another user', guard);
    end if;
  end if;
  if exists (select 1 from jsonb_array_elements(puts) v where v ? 'm') then
    perform pg_advisory_xact_lock(hashtextextended('${s} ' || tag, 0))
      from (select distinct v->>'t' as tag from jsonb_array_elements(puts) v where v ? 'm' order by 1) tags;
    perform 1 from ${s}.entry
      where key = any(array(select v->>'k' from jsonb_array_elements(puts) v)) order by key for update;
  end if;
${putLoop(s)}${addLoop(s)}  answer := jsonb_build_object('p', to_jsonb(places), 'a', to_jsonb(ends));
  insert into ${s}.done(id, writer, result, at) values (who, session_user, answer, clock_timestamp());
  return answer;
end $commit$;
${judge(s)}create or replace function ${s}.guild_tidy() returns void
language sql security definer set search_path = pg_catalog, pg_temp as $tidy$
  delete from ${s}.done where at < clock_timestamp() - interval '2 hours';
$tidy$;
`;
}

/**
 * Escapes in JSON that PostgreSQL cannot turn into text: the character NUL and halves of pairs. The
 * backslashes before an escape come in pairs; otherwise it would not be an escape.
 */
const UNFIT = String.raw`(?<!\\)((?:\\\\)*)\\u(0000|[dD][89a-fA-F][0-9a-fA-F]{2})`;

/** A task keeps these whatever a worker writes. */
const KEPT = ['id', 'root', 'parent', 'role', 'from', 'created_by', 'created_at', 'description'];

/**
 * Throws if a worker may not write this. Only a put that would succeed is checked: a late put is
 * refused by its revision.
 */
function judge(s: string): string {
  const changed = KEPT.map(
    (field) => `(old->'task'->'${field}')::text is distinct from (new->'task'->'${field}')::text`,
  ).join(' or ');
  return `
create or replace function ${s}.guild_json(value text) returns json
language sql immutable set search_path = pg_catalog, pg_temp as $json$
  select regexp_replace(value, '${UNFIT}', '\\1?', 'g')::json;
$json$;
create or replace function ${s}.guild_judge(guard text, p jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $judge$
declare
  k constant text := p->>'k'; old json; new json; holder text; made_by text; was_live boolean;
begin
  if k similar to '(definitions|paused|keys)(/%)?' then
    raise insufficient_privilege using message = format('a worker may not write %s', k);
  end if;
  if k like 'intent/%' and p->>'v' <> '' and ${s}.guild_json(p->>'v')->>'kind' = 'answer' then
    raise insufficient_privilege using message = 'a worker may not answer for a person';
  end if;
  if not k similar to '(task|peer)/%' then return; end if;
  select ${s}.guild_json(e.value), e.live, e.writer into old, was_live, made_by from ${s}.entry e
    where e.key = k and (not p ? 'e' or e.rev = (p->>'e')::bigint);
  if not found then return; end if;
  if k like 'peer/%' then
    if (p->>'l')::boolean and made_by <> session_user then
      raise insufficient_privilege using message = format('%s is a process of another user', k);
    end if;
    return;
  end if;
  holder := 'peer/' || (old->'owner'->>'peer');
  if was_live and holder is distinct from guard and exists (select 1 from ${s}.entry where key = holder and live) then
    raise insufficient_privilege using message = format('%s is held by another process', k);
  end if;
  new := ${s}.guild_json(p->>'v');
  if was_live and (${changed}) then
    raise insufficient_privilege using message = format('a worker may not rewrite %s', k);
  end if;
  if new->>'removed' = 'true' then
    raise insufficient_privilege using message = format('a worker may not remove %s', k);
  end if;
end $judge$;
`;
}

/** Each put succeeds or fails alone; a refused put leaves a null. */
function putLoop(s: string): string {
  return `
  for p in select v from jsonb_array_elements(puts) v loop
    r := null;
    others := 0;
    if not is_desk then perform ${s}.guild_judge(guard, p); end if;
    if p ? 'm' then
      select count(*) into others from ${s}.entry where tag = p->>'t' and live and key <> p->>'k';
    end if;
    if p ? 'm' and others >= (p->>'m')::bigint then
      null;
    elsif not p ? 'e' then
      insert into ${s}.entry(key, rev, value, live, tag, xid, at, writer)
        values (p->>'k', nextval('${s}.rev'), p->>'v', (p->>'l')::boolean, p->>'t', pg_current_xact_id(), clock_timestamp(),
          session_user)
        on conflict (key) do update set rev = excluded.rev, value = excluded.value, live = excluded.live,
          tag = excluded.tag, xid = excluded.xid, at = excluded.at
        returning rev into r;
    elsif p->>'e' = '0' then
      insert into ${s}.entry(key, rev, value, live, tag, xid, at, writer)
        values (p->>'k', nextval('${s}.rev'), p->>'v', (p->>'l')::boolean, p->>'t', pg_current_xact_id(), clock_timestamp(),
          session_user)
        on conflict do nothing returning rev into r;
    else
      update ${s}.entry set rev = nextval('${s}.rev'), value = p->>'v', live = (p->>'l')::boolean, tag = p->>'t',
          xid = pg_current_xact_id(), at = clock_timestamp()
        where key = p->>'k' and rev = (p->>'e')::bigint returning rev into r;
    end if;
    places := array_append(places, r);
  end loop;`;
}

/**
 * The row of a log is locked until the commit, so its places are in the order of commits. Lines for
 * any place come as a list (`n`) and get their places together.
 */
function addLoop(s: string): string {
  return `
  for p in select v from jsonb_array_elements(adds) v loop
    r := null;
    if p ? 'n' then
      others := jsonb_array_length(p->'n');
      insert into ${s}.log as l(name, last, xid) values (p->>'g', others, pg_current_xact_id())
        on conflict (name) do update set last = l.last + others, xid = excluded.xid returning last into r;
      insert into ${s}.line(log, n, text, tag)
        select p->>'g', r - others + i, v->>0, v->>1 from jsonb_array_elements(p->'n') with ordinality lines(v, i);
      ends := ends || array(select generate_series(r - others + 1, r));
      continue;
    end if;
    if not p ? 'e' then
      insert into ${s}.log as l(name, last, xid) values (p->>'g', 1, pg_current_xact_id())
        on conflict (name) do update set last = l.last + 1, xid = excluded.xid returning last into r;
    elsif p->>'e' = '0' then
      insert into ${s}.log(name, last, xid) values (p->>'g', 1, pg_current_xact_id())
        on conflict do nothing returning last into r;
    else
      update ${s}.log set last = last + 1, xid = pg_current_xact_id()
        where name = p->>'g' and last = (p->>'e')::bigint returning last into r;
    end if;
    if r is not null then
      insert into ${s}.line(log, n, text, tag) values (p->>'g', r, p->>'x', p->>'t');
    end if;
    ends := array_append(ends, r);
  end loop;
`;
}

/** Queries of entries, lists, lines, and logs that grew. */
import type { Entry, Ledger } from '../../../ports/ledger.js';
import type { Connection } from './connection.js';
import { decode, MARK } from './encoding.js';

export interface EntryRow {
  key: string;
  rev: string;
  value: string;
  live: boolean;
}

interface Connections {
  calls: Connection;
  /** Reads of the bus go here, so that no commit waits for them. */
  ears: Connection;
}

export function reads(
  schema: string,
  { calls, ears }: Connections,
): Pick<Ledger, 'get' | 'list' | 'count' | 'lines' | 'grown' | 'newLines'> {
  return {
    async get(key) {
      const text = `select key, rev, value, live from ${schema}.entry where key = $1`;
      const { rows } = await calls.query({ name: 'get', text, values: [key] });
      return rows[0] && entryOf(rows[0] as EntryRow);
    },
    async list(prefix, { tag, live, containing, before, limit } = {}) {
      // Contains only the requested conditions, so that each combination gets its own plan.
      const values: unknown[] = [prefix, afterPrefix(prefix)];
      const and = (condition: string, value: unknown): string =>
        value === undefined ? '' : ` and ${condition} $${values.push(value)}`;
      const has = containing === undefined ? '' : ` and ${hasText(`$${values.push(containing)}`)}`;
      const where = `key >= $1 and key < $2${and('tag =', tag)}${and('live =', live)}${and('rev <', before)}${has}`;
      const most = limit === undefined ? '' : `limit $${values.push(limit)}`;
      const text = `select key, rev, value, live from ${schema}.entry where ${where} order by rev desc ${most}`;
      const { rows } = await calls.query({ text, values });
      return (rows as EntryRow[]).map(entryOf);
    },
    async count(tag) {
      const text = `select count(*) as number from ${schema}.entry where tag = $1`;
      const { rows } = await calls.query({ text, values: [tag] });
      return Number((rows as { number: string }[])[0]!.number);
    },
    async lines(log, { after = 0, tag, first, last } = {}) {
      const values: unknown[] = [log, after];
      const tagged = tag === undefined ? '' : `and tag = $${values.push(tag)}`;
      const where = `from ${schema}.line where log = $1 and n > $2 ${tagged}`;
      const most = first === undefined ? '' : `limit $${values.push(first)}`;
      const oldest = `select n, text ${where} order by n ${most}`;
      const newest = (): string => `select * from (${oldest}) oldest order by n desc limit $${values.push(last)}`;
      const text = last === undefined ? oldest : `select * from (${newest()}) newest order by n`;
      const { rows } = await calls.query({ text, values });
      const found = rows as { n: string; text: string }[];
      return { texts: found.map((line) => decode(line.text)), end: Number(found.at(-1)?.n ?? after) };
    },
    async grown(prefixes, mark = '0') {
      const text = `select name, ${NOW} from ${schema}.log where ${GROWN} union all select null, ${NOW}`;
      const { rows } = await ears.query({ name: 'grown', text, values: [mark, [...prefixes]] });
      const found = rows as { name: string; mark: string }[];
      return { logs: found.slice(0, -1).map(({ name }) => name), mark: found.at(-1)!.mark };
    },
    async newLines(prefixes, { mark = '0', ends }) {
      // The offset makes the server look up the lines of each log by their places, whatever its
      // estimate of the number of logs that grew.
      const text =
        `select name as log, l.n, l.text, ${NOW} from ${schema}.log ` +
        'left join unnest($3::text[], $4::bigint[]) as known(log, place) on known.log = name cross join lateral ' +
        `(select n, text from ${schema}.line where log = name and n > coalesce(known.place, 0) offset 0) l ` +
        `where ${GROWN} union all select null, null, null, ${NOW} order by 1, 2`;
      const values = [mark, [...prefixes], [...ends.keys()], [...ends.values()]];
      const { rows } = await ears.query({ name: 'new lines', text, values });
      const found = rows as { log: string; n: string; text: string; mark: string }[];
      const logs = new Map<string, { texts: string[]; end: number }>();
      for (const { log, n, text: line } of found.slice(0, -1)) {
        const lines = logs.get(log) ?? { texts: [], end: 0 };
        lines.texts.push(decode(line));
        lines.end = Number(n);
        logs.set(log, lines);
      }
      return { logs, mark: found.at(-1)!.mark };
    },
  };
}

const NOW = 'pg_snapshot_xmin(pg_current_snapshot())::text as mark';
/** The mark is the first parameter, the prefixes are the second. */
const GROWN = 'xid >= $1::xid8 and exists (select 1 from unnest($2::text[]) prefix where starts_with(name, prefix))';

export function entryOf({ key, rev, value, live }: EntryRow): Entry {
  return { key, rev: Number(rev), value: decode(value), live };
}

/** Values with the mark are stored as JSON, in which the text may be escaped; they always count. */
function hasText(text: string): string {
  return `(strpos(value, ${text}) > 0 or starts_with(value, '${MARK}'))`;
}

/** Greater than every text with this prefix, in the order of code points. */
function afterPrefix(prefix: string): string {
  return `${prefix}\u{10FFFF}`;
}

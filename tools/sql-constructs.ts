/** Engines with PostgreSQL's protocol that divide tables among machines. */
export const ENGINES = ['Citus 14', 'CockroachDB 26', 'YugabyteDB 2025.2'] as const;
export type Engine = (typeof ENGINES)[number];

interface Construct {
  readonly name: string;
  readonly pattern: RegExp;
  /** What the engine does with it, if it is not what PostgreSQL does. */
  readonly engines: Readonly<Partial<Record<Engine, string>>>;
}

/**
 * From https://docs.citusdata.com/en/stable/develop/reference_workarounds.html,
 * https://www.cockroachlabs.com/docs/stable/postgresql-compatibility and
 * https://docs.yugabyte.com/stable/api/ysql/sql-feature-support; entries marked “verify” are not stated there.
 */
export const CONSTRUCTS: readonly Construct[] = [
  {
    name: '`listen`, `notify`',
    pattern: /^(?:listen|unlisten|notify)\b|\bpg_notify\s*\(/i,
    engines: { 'Citus 14': 'coordinator only', 'CockroachDB 26': 'no', 'YugabyteDB 2025.2': 'early access' },
  },
  {
    name: 'advisory locks',
    pattern: /\bpg_(?:try_)?advisory_(?:xact_)?(?:un)?lock/i,
    engines: { 'Citus 14': 'per node', 'CockroachDB 26': 'verify: no lock', 'YugabyteDB 2025.2': 'verify' },
  },
  {
    name: 'transaction ids and snapshots',
    pattern: /\b(?:pg_current_xact_id|pg_current_snapshot|pg_snapshot_x|pg_visible_in_snapshot|txid_|pg_xact_)/i,
    engines: { 'Citus 14': 'per node', 'CockroachDB 26': 'no', 'YugabyteDB 2025.2': 'no' },
  },
  {
    name: 'system columns (`ctid`, `xmin`)',
    pattern: /\b(?:ctid|xmin|xmax)\b/i,
    engines: { 'Citus 14': 'per node', 'CockroachDB 26': 'no', 'YugabyteDB 2025.2': 'no' },
  },
  {
    name: '`lock table`',
    pattern: /^\s*lock\s+(?:table\b|\w+\s+in\b)/i,
    engines: { 'CockroachDB 26': 'no', 'YugabyteDB 2025.2': 'no' },
  },
  {
    name: '`for update`, `for share`',
    pattern: /\bfor\s+(?:no\s+key\s+)?(?:key\s+)?(?:update|share)\b/i,
    engines: { 'Citus 14': 'one shard only' },
  },
  { name: '`skip locked`', pattern: /\bskip\s+locked\b/i, engines: { 'Citus 14': 'one shard only' } },
  { name: 'recursive queries', pattern: /\bwith\s+recursive\b/i, engines: { 'Citus 14': 'one shard only' } },
  {
    name: 'grouping sets',
    pattern: /\b(?:grouping\s+sets|rollup|cube)\s*\(/i,
    engines: { 'Citus 14': 'one shard only' },
  },
  {
    name: 'writes inside `with`',
    pattern: /\bas\s+(?:not\s+)?(?:materialized\s+)?\(\s*(?:insert|update|delete)\b/i,
    engines: { 'Citus 14': 'one shard only' },
  },
  {
    name: '`lateral` and correlated subqueries',
    pattern: /\blateral\b|\bexists\s*\(\s*select\b/i,
    engines: { 'Citus 14': 'on the distribution column' },
  },
  {
    name: 'outer joins',
    pattern: /\b(?:left|right|full)\s+(?:outer\s+)?join\b/i,
    engines: { 'Citus 14': 'on the distribution column' },
  },
  {
    name: '`on conflict`',
    pattern: /\bon\s+conflict\b/i,
    engines: { 'Citus 14': 'unique keys with the distribution column' },
  },
  {
    name: '`insert … select`',
    pattern: /^\s*insert\s+into\s[^;]*?\bselect\b/i,
    engines: { 'Citus 14': 'through the coordinator unless colocated' },
  },
  {
    name: 'unlogged tables',
    pattern: /\bcreate\s+unlogged\s+table\b/i,
    engines: { 'CockroachDB 26': 'logged', 'YugabyteDB 2025.2': 'verify: logged' },
  },
  {
    name: 'triggers and procedural functions',
    pattern: /\bcreate\s+(?:or\s+replace\s+)?(?:trigger|function|procedure)\b/i,
    engines: { 'Citus 14': 'not on distributed tables', 'CockroachDB 26': 'in part' },
  },
  {
    name: 'deferrable constraints',
    pattern: /\bdeferrable\b|\bset\s+constraints\b/i,
    engines: { 'CockroachDB 26': 'no', 'YugabyteDB 2025.2': 'foreign keys only' },
  },
  {
    name: 'generated columns',
    pattern: /\bgenerated\s+always\s+as\s*\(/i,
    engines: { 'YugabyteDB 2025.2': 'verify' },
  },
  {
    name: 'GIN and GiST indexes',
    pattern: /\busing\s+(?:gin|gist)\b/i,
    engines: { 'CockroachDB 26': 'GIN in part', 'YugabyteDB 2025.2': 'GIN in part' },
  },
  {
    name: 'catalogue functions of the server',
    pattern:
      /\bpg_(?:database_size|relation_size|total_relation_size|stat_\w+|is_in_recovery|wal_\w+|current_wal_\w+)\b/i,
    engines: { 'Citus 14': 'per node', 'CockroachDB 26': 'in part', 'YugabyteDB 2025.2': 'per node' },
  },
  {
    name: '`synchronous_commit` per transaction',
    pattern: /\bsynchronous_commit\b/i,
    engines: { 'CockroachDB 26': 'ignored', 'YugabyteDB 2025.2': 'ignored' },
  },
  { name: 'prepared statements of the session', pattern: /^\s*(?:prepare|deallocate)\b/i, engines: {} },
];

/** The different statements in a log of PostgreSQL whose lines begin with `@@`. */
export function statementsIn(log: string): string[] {
  const texts = log.split(/(?:^|\n)@@/).flatMap((entry) => {
    const [, text] = /^LOG: {2}(?:statement|execute [^:]*): ([\s\S]*)$/.exec(entry) ?? [];
    return text === undefined ? [] : [normalised(text)];
  });
  return [...new Set(texts)].sort();
}

/** Literals and lists of parameters differ from call to call. */
const normalised = (text: string) =>
  text
    .replace(/'(?:[^']|'')*'/g, "'…'")
    .replace(/\(\s*\$\d+(?:\s*,\s*\$\d+)*\s*\)/g, '($…)')
    .replace(/\$\d+/g, '$')
    .replace(/(?:\(\$…\)\s*,\s*)+\(\$…\)/g, '($…)')
    .replace(/\b(modstead_)[0-9a-f]{6,}\w*/g, '$1…')
    .replace(/\s+/g, ' ')
    .trim();

/** The statements of each construct. */
export function lint(statements: readonly string[]): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name, pattern } of CONSTRUCTS) {
    const matching = statements.filter((statement) => pattern.test(statement));
    if (matching.length > 0) found.set(name, matching);
  }
  return found;
}

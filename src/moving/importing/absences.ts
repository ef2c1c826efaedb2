import { sql } from 'kysely';
import { z } from 'zod';
import type { Query } from '../../platform/database/database.ts';
import { newIdsOf } from '../../records/imports/store.ts';
import { json } from '../archive/contents.ts';
import type { Line } from '../archive/lines.ts';
import { GONE_KIND, Gone, LISTED_KIND, Listed } from '../archive/manifest.ts';
import { RowProblem } from './rows.ts';

/** Something that an earlier archive of the source brought, and that the source has no longer. */
export interface Absent {
  readonly kind: string;
  readonly old_id: number;
  readonly new_id: number;
  readonly name: string;
  readonly state: 'deleted' | 'hidden';
}

interface Belonging {
  /** The column with the id of what it belongs to. */
  readonly parent: string;
  readonly parents: readonly string[];
  /** Whether the column `resource` names the kind of the parent. */
  readonly isNamed?: true;
  /** Holds while it is not removed. */
  readonly present?: string;
  readonly name: string;
}

/** What the lists of a source can lack, and how its rows are found here. */
const BELONGING: Readonly<Record<string, Belonging>> = {
  mods: { parent: 'game_id', parents: ['games'], present: 't.status <> 3', name: 't.name' },
  guides: { parent: 'game_id', parents: ['games'], present: 't.status <> 3', name: 't.name' },
  collections: { parent: 'game_id', parents: ['games'], present: 't.status <> 3', name: 't.name' },
  modfiles: { parent: 'mod_id', parents: ['mods'], present: 't.status <> 3', name: 't.filename' },
  comments: {
    parent: 'resource_id',
    parents: ['mods', 'guides', 'collections'],
    isNamed: true,
    present: 't.date_deleted = 0',
    name: "''",
  },
  team_members: {
    parent: 'resource_id',
    parents: ['games', 'mods'],
    isNamed: true,
    // Reports stay, and must not keep the name of someone who deletes the account.
    name: "'user ' || t.user_id",
  },
  game_tag_groups: { parent: 'game_id', parents: ['games'], name: 't.name' },
  game_tags: { parent: 'group_id', parents: ['game_tag_groups'], name: 't.name' },
};

export const isAbsenceKind = (kind: string): boolean => kind === LISTED_KIND || kind === GONE_KIND;

/** What a line of a list says to be gone. */
export async function absentIn(query: Query, source: string, kind: string, line: Line): Promise<Absent[]> {
  const given = json(Buffer.from(line.text), `line ${line.number}`);
  return kind === GONE_KIND
    ? goneIn(query, source, checked(Gone, given))
    : missingIn(query, source, checked(Listed, given));
}

function checked<T>(schema: z.ZodType<T>, given: unknown): T {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new RowProblem(z.prettifyError(parsed.error).slice(0, 200));
}

const belonging = (kind: string): Belonging => {
  const found = BELONGING[kind];
  if (!found) throw new RowProblem(`"${kind}" has no lists`);
  return found;
};

const rowsOf = (kind: string, source: string) => {
  const { name, present = '1 = 1' } = belonging(kind);
  return sql`select i.old_id, i.new_id, ${sql.raw(name)} as name from imported_ids i
    join ${sql.table(kind)} t on t.id = i.new_id
    where i.source = ${source} and i.resource = ${kind} and ${sql.raw(present)}`;
};

async function goneIn(query: Query, source: string, { kind, id, state }: Gone): Promise<Absent[]> {
  if (kind !== 'mods' && state === 'hidden') throw new RowProblem('only mods can be hidden');
  const isShown = state === 'hidden' ? sql`and t.visible = 1` : sql``;
  const found = sql<Absent>`${rowsOf(kind, source)} and i.old_id = ${id} ${isShown}`;
  return (await found.execute(query)).rows.map((row) => ({ ...row, kind, state }));
}

async function missingIn(query: Query, source: string, listed: Listed): Promise<Absent[]> {
  const { kind, of, of_id, ids, after = 0, until } = listed;
  const { parent, parents, isNamed } = belonging(kind);
  if (!parents.includes(of)) throw new RowProblem(`${kind} do not belong to ${of}`);
  const parentId = (await newIdsOf(query, source, of, [of_id])).get(of_id);
  if (parentId === undefined) return [];
  const here = sql<Absent>`${rowsOf(kind, source)} and ${sql.ref(`t.${parent}`)} = ${parentId}
    ${isNamed ? sql`and t.resource = ${of}` : sql``} and i.old_id > ${after}
    ${until === undefined ? sql`` : sql`and i.old_id <= ${until}`}
    ${kind === 'mods' ? sql`and t.visible = 1` : sql``} order by i.old_id`;
  const there = new Set(ids);
  // A list cannot tell a hidden mod from a deleted one, and what is hidden can be shown again.
  const state = kind === 'mods' ? 'hidden' : 'deleted';
  return (await here.execute(query)).rows
    .filter(({ old_id }) => !there.has(old_id))
    .map((row) => ({ ...row, kind, state }));
}

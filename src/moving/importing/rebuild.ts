import { rewriteDocuments } from '../../catalogue/games/documents.ts';
import { gameRowIn, invalidateGame } from '../../catalogue/games/games.ts';
import { completeStats as completeGameStats } from '../../catalogue/games/stats-store.ts';
import * as games from '../../catalogue/games/store.ts';
import { invalidateMod, rewriteModDocuments } from '../../catalogue/mods/documents.ts';
import { completeStats as completeModStats, searchable } from '../../catalogue/mods/import-store.ts';
import type { ModRow } from '../../catalogue/mods/mods.ts';
import { updateWords } from '../../catalogue/mods/words.ts';
import { recountTags } from '../../catalogue/tag-options/store.ts';
import { completeTags, recountPairs } from '../../catalogue/tags/import-store.ts';
import { addMissingOwners } from '../../catalogue/teams/store.ts';
import { ADMINISTRATOR } from '../../catalogue/teams/teams.ts';
import * as collections from '../../community/collections/store.ts';
import * as guides from '../../community/guides/store.ts';
import { writeDocument } from '../../files/modfiles/documents.ts';
import type { ModfileRow } from '../../files/modfiles/modfiles.ts';
import { showNewest } from '../../files/modfiles/store.ts';
import { resignLedger } from '../../money/ledger/resigning.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { resignAudit } from '../../records/audit/audit.ts';
import * as store from '../../records/imports/store.ts';
import type { Importing } from './importing.ts';

const AT_ONCE = 200;

interface Step {
  readonly resource: string;
  run(importing: Importing, transaction: Transaction, ids: readonly number[]): Promise<void>;
}

/** What the service derives from rows, in an order in which each step finds what it reads. */
const STEPS: readonly Step[] = [
  { resource: 'modfiles', run: (_, transaction, ids) => rebuildFiles(transaction, ids) },
  { resource: 'mods', run: rebuildMods },
  { resource: 'guides', run: rebuildGuides },
  { resource: 'collections', run: rebuildCollections },
  { resource: 'games', run: rebuildGames },
];

/** Derives documents, search words, counts and chains. Each batch commits with the place that it ended at. */
export async function rebuild(importing: Importing): Promise<void> {
  const { app, row, options } = importing;
  const done = new Map((await store.progressOf(app.db.query, row.id)).map((each) => [each.name, Number(each.done)]));
  for (const step of STEPS) {
    const name = `rebuild/${step.resource}`;
    let last: number | undefined = done.get(name) ?? 0;
    let count = 0;
    while (last !== undefined) {
      const after: number = last;
      last = await app.db.write(async (transaction) => {
        const rows = await store.writtenBy(transaction.query, row.id, step.resource, after, AT_ONCE);
        const ids = rows.map(({ id }) => id);
        if (ids.length === 0) return undefined;
        await step.run(importing, transaction, ids);
        await store.putProgress(transaction, row.id, name, ids.at(-1)!, 0);
        count += ids.length;
        return ids.at(-1);
      });
      if (last !== undefined) options.progress?.(name, count);
    }
  }
  if (row.into_empty === 1) {
    await resignAudit(app);
    await resignLedger(app);
  }
  if (app.db.dialect === 'postgres' && (await rowsTakenBy(importing)) >= ANALYSED_FROM)
    await app.db.executeAlone('analyze');
}

/** The server notices a few new rows by itself, and analysing all tables takes longer than importing those. */
const ANALYSED_FROM = 10_000;

async function rowsTakenBy({ app, row }: Importing): Promise<number> {
  const progress = await store.progressOf(app.db.query, row.id);
  return progress.reduce((sum, { rows_taken }) => sum + Number(rows_taken), 0);
}

async function rebuildFiles(transaction: Transaction, ids: readonly number[]): Promise<void> {
  const rows = await transaction.query.selectFrom('modfiles').selectAll().where('id', 'in', ids).execute();
  for (const row of rows) await writeDocument(transaction, row as ModfileRow);
}

async function rebuildMods(importing: Importing, transaction: Transaction, ids: readonly number[]): Promise<void> {
  const { app } = importing;
  const { query } = transaction;
  await completeModStats(transaction, ids);
  await completeTags(transaction, ids);
  await addMissingOwners(transaction, ids, { level: ADMINISTRATOR, date_added: app.clock.now() });
  const rows = await query.selectFrom('mods').selectAll().where('id', 'in', ids).orderBy('id').execute();
  const known = await searchable(transaction, ids);
  for (const mod of rows as ModRow[]) {
    await showNewest(transaction, mod.id);
    await rewriteModDocuments(app, transaction, mod.id);
    if (!known.has(mod.id)) await updateWords(transaction, undefined, mod);
    invalidateMod(transaction, mod.game_id, mod.id);
  }
}

async function rebuildGuides({ described }: Importing, transaction: Transaction, ids: readonly number[]) {
  const { query } = transaction;
  const rows = await query.selectFrom('guides').select(['id', 'name', 'game_id']).where('id', 'in', ids).execute();
  for (const row of rows) await guides.putWords(query, row);
  if (!described.manifest.counted) await guides.recount(transaction, ids);
  for (const gameId of new Set(rows.map(({ game_id }) => game_id))) transaction.changed(`games/${gameId}/guides`);
}

async function rebuildCollections({ described }: Importing, transaction: Transaction, ids: readonly number[]) {
  const { query } = transaction;
  const rows = await query.selectFrom('collections').select(['id', 'name', 'game_id']).where('id', 'in', ids).execute();
  for (const row of rows) await collections.putWords(query, row);
  if (!described.manifest.counted) await collections.recount(transaction, ids);
  for (const gameId of new Set(rows.map(({ game_id }) => game_id))) transaction.changed(`games/${gameId}/collections`);
}

async function rebuildGames({ app }: Importing, transaction: Transaction, ids: readonly number[]): Promise<void> {
  await completeGameStats(transaction, ids);
  for (const id of ids) {
    await recountTags(transaction, id);
    await recountPairs(transaction, id);
    const game = await gameRowIn(transaction, id);
    await games.putWords(transaction.query, game);
    await rewriteDocuments(app, transaction, game);
    invalidateGame(transaction, id);
  }
}

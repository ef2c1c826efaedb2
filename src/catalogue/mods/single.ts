import { crc32 } from 'node:zlib';
import type { App } from '../../platform/app.ts';
import { BatchedReads } from '../../platform/database/batched-reads.ts';
import { KeptRows, type Made } from '../../platform/database/kept.ts';
import { checksumOf } from '../../platform/text/assembled-json.ts';
import { hashIn } from '../live-files/links.ts';
import { endOfModfile } from '../live-files/object.ts';
import { withEncodedAddressesIn } from './page-addresses.ts';
import { BEFORE_STATS, statementsOf, variantFor } from './page-statements.ts';
import { currentStats } from './pending-stats.ts';
import { withTexts } from './stats-store.ts';

/** A single mod with the columns that permission checks need. */
export interface SingleMod {
  readonly id: number;
  readonly game_id: number;
  readonly status: number;
  readonly visible: number;
  readonly submitted_by: number;
  readonly game_status: number;
  readonly api_access_options: number;
  /** The JSON up to the link of the live file. */
  readonly front: Measured;
  readonly file_id: number | null;
  readonly file_link: string | null;
  /** The JSON after the live file. */
  readonly rest: Measured;
  /** 1 if its stats lack recent counts. */
  readonly pending: number;
}

interface Measured {
  readonly text: string;
  readonly bytes: number;
  readonly checksum: number;
}
const measured = (text: string): Measured => ({ text, bytes: Buffer.byteLength(text), checksum: crc32(text) });

interface SingleRow extends Omit<SingleMod, 'front' | 'rest'> {
  readonly body: string;
  readonly file_body: string | null;
  readonly rest: string;
  readonly versions: string;
}

/** A single mod in any state; the caller of this function checks its visibility. */
export function singleMod(app: App, id: number, language: string, platform = '') {
  const found = storedMod(app, id, language, platform);
  if (found instanceof Promise) return found.then((mod) => (mod?.pending ? withPendingStats(app, id, mod) : mod));
  return found?.pending ? withPendingStats(app, id, found) : found;
}

const singleMods = new BatchedReads<SingleMod>();
const keptSingles = new KeptRows<SingleMod>(({ front, rest }) => front.bytes + rest.bytes);

function storedMod(app: App, id: number, language: string, platform: string) {
  const { db } = app;
  const { statement, valuesOf } = variantFor(statementsOf(app).single, language, platform);
  const variant = `${language}/${platform}`;
  if (db.dialect === 'sqlite')
    return keptSingles.valueOf(db, id, variant, () => {
      const row = db.first<SingleRow>(statement, valuesOf('sqlite', [id, platform, language])) as SingleRow | undefined;
      return row && madeOf(row);
    });
  const valuesFor = (ids: readonly number[]) => [JSON.stringify(ids), platform, language];
  const make = async (ids: readonly number[]) =>
    (await db.all<SingleRow>(statement, valuesOf('postgres', valuesFor(ids)))).map(madeOf);
  const versions = variantFor(statementsOf(app).versionsOfSingle, language, platform);
  const rowsOf = async (ids: readonly number[]) => {
    // The file of a platform has more rows, whose versions are not compared.
    if (platform !== '') return new Map((await make(ids)).map(({ id, value }) => [id, value]));
    return keptSingles.valuesOf(db, {
      ...{ ids, variant, surroundings: '', make },
      // Counts are appended without telling other processes.
      changesSilently: true,
      versions: (some) => ({ statement: versions.statement, values: versions.valuesOf('postgres', valuesFor(some)) }),
    });
  };
  return singleMods.read(db, id, { variant, rowsOf });
}

function madeOf({ body, file_body, rest, versions, ...mod }: SingleRow): Made<SingleMod> {
  const front = measured([body, ',"modfile":', file_body ?? '{}'].join(''));
  const value = { ...mod, front, rest: measured(withEncodedAddressesIn(rest)) };
  // Ranks change with the stats of the whole game.
  const scopes = [`mods/${mod.id}`, `games/${mod.game_id}`, `users/${mod.submitted_by}`];
  return { id: mod.id, versions, scopes, value };
}

async function withPendingStats(app: App, id: number, mod: SingleMod): Promise<SingleMod> {
  const stats = await currentStats(app.db, id);
  if (!stats) return mod;
  const { ranked, counted } = withTexts(stats);
  const end = mod.rest.text.lastIndexOf(BEFORE_STATS) + BEFORE_STATS.length;
  return { ...mod, rest: measured(`${mod.rest.text.slice(0, end)}${ranked},${counted}}}`) };
}

export function singleModJson(app: App, id: number, mod: SingleMod): Measured {
  const { front, rest } = mod;
  const live = endOfLiveFile(app, id, mod);
  return {
    text: [front.text, live, rest.text].join(''),
    bytes: front.bytes + Buffer.byteLength(live) + rest.bytes,
    checksum: checksumOf([front.checksum, rest.checksum], live),
  };
}

function endOfLiveFile(app: App, modId: number, mod: SingleMod): string {
  const { game_id, file_id: id, file_link: link } = mod;
  if (id === null || link === null) return '';
  const file = { id, mod_id: modId, game_id, sha256: hashIn(link) };
  return endOfModfile(app, file, { alone: true });
}

import { lockGame, tagOptionsChanged } from '../catalogue/games/games.ts';
import { countForGame, refreshGameStats } from '../catalogue/games/stats.ts';
import { mediaFields } from '../catalogue/media/mod-extension.ts';
import { metadataFields } from '../catalogue/metadata/mod-extension.ts';
import { isPublic, type ModRow } from '../catalogue/mods/mods.ts';
import { rankMods } from '../catalogue/mods/stats.ts';
import { derivedStats, STATS_LIFETIME_SECONDS } from '../catalogue/stats/stats.ts';
import { addTagGroup, type TagGroup, tagGroupsOf } from '../catalogue/tag-options/tag-options.ts';
import { tagFields } from '../catalogue/tags/mod-extension.ts';
import { addUser, findUserByEmailIn } from '../people/users/users.ts';
import type { App } from '../platform/app.ts';
import { type Bulk, withoutIndexes } from '../platform/database/bulk.ts';
import type { Transaction } from '../platform/database/database.ts';
import { sanitised } from '../platform/text/markup.ts';
import { slug } from '../platform/text/slug.ts';
import { type FieldTranslations, translationsIn } from '../platform/text/translations.ts';
import { sampleArchives } from './archives.ts';
import { BULK_TABLES as FILE_TABLES, ModfilesInBulk, type SharedArchive, shareArchive } from './bulk/modfiles.ts';
import { BULK_TABLES, ModsInBulk, prepareForBulk, type WholeMod } from './bulk/mods.ts';
import { addOwners, recordNewMods } from './bulk/owners.ts';
import { addDownloadHours, addMedia, addMetadata, addTranslations, nextId } from './bulk/store.ts';
import { TagsInBulk } from './bulk/tags.ts';
import type { Scenery } from './drawings.ts';
import { TAG_GROUPS } from './mod-texts.ts';
import { claimDrawn, type ModPictures, picturesOfMods } from './pictures.ts';
import { type SampleMod, sampleMods } from './sample-mods.ts';
import * as store from './store.ts';

export interface Filling {
  readonly gameId: number;
  readonly mods: number;
  readonly seed: string;
  /** The users who own the mods, instead of invented ones. */
  readonly authors?: readonly number[];
  /** How many mods, from the first on, get pictures, and what those show. */
  readonly pictured?: { readonly mods: number; readonly scenery: Scenery };
  /** Called with the number of mods added so far. */
  progress?(mods: number): void;
}

const AT_ONCE = 1_000;
const RANKED_AT_ONCE = 50_000;
/** From this number of mods on, rebuilding the indexes is faster than updating them. */
const MANY = 20_000;
const HISTORY_SECONDS = 3 * 365 * 86_400;
const AUTHORS_MAX = 500;
const MODS_PER_AUTHOR = 20;

/** Fills a game with sample mods: all of them, or after an interruption none. */
export async function fillGame(app: App, filling: Filling): Promise<void> {
  const { gameId, mods } = filling;
  await prepareForBulk(app);
  const archives: SharedArchive[] = [];
  for (const archive of sampleArchives()) archives.push(await shareArchive(app, 'sample.zip', archive));
  const pictures = filling.pictured ? await picturesOfMods(app, filling.seed, filling.pictured) : [];
  await app.db.write(async (transaction) => {
    await lockGame(transaction, gameId);
    await claimDrawn(
      app,
      transaction,
      pictures.flatMap(({ logo, images }) => [logo, ...images]),
    );
    const bulk: Bulk = { transaction, dialect: app.db.dialect };
    const fill = () => addAll(app, bulk, filling, archives, pictures);
    if (mods < MANY) await fill();
    else await withoutIndexes(bulk, TABLES, fill);
    if (mods >= AT_ONCE) await store.analyse(transaction.query, app.db.dialect);
  });
  const dateExpires = app.clock.now() + STATS_LIFETIME_SECONDS;
  // Nobody waits for these reads of a million mods, unlike for those of a request.
  const patient: App = { ...app, db: app.db.withLongTimeouts };
  const total = await store.publicModsOf(patient.db.query, gameId);
  await rankMods(patient, gameId, { total, dateExpires, atOnce: RANKED_AT_ONCE }, async () => {});
  await refreshGameStats(app, gameId, dateExpires);
}

const TABLES = [
  ...BULK_TABLES,
  ...FILE_TABLES,
  'mod_tags',
  'mod_metadata',
  'team_members',
  'mod_events',
  'user_events',
  'mod_download_hours',
] as const;

async function addAll(
  app: App,
  bulk: Bulk,
  { gameId, mods, seed, authors, progress }: Filling,
  archives: readonly SharedArchive[],
  pictures: readonly ModPictures[],
): Promise<void> {
  const { transaction } = bulk;
  const groups = await tagsFor(app, transaction, gameId);
  const source: Source = {
    app,
    gameId,
    authors: authors ?? (await authorsFor(app, transaction, mods)),
    ofGame: await translationsIn(transaction, 'games', gameId),
    firstId: await nextId(transaction.query, 'mods'),
    mods,
    files: await ModfilesInBulk.begin(app, bulk, gameId, archives),
    pictures,
  };
  const samples = sampleMods(seed, groups);
  const [modsInBulk, tagsInBulk] = [new ModsInBulk(app, bulk, gameId), new TagsInBulk(bulk)];
  for (let start = 0; start < mods; start += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, mods - start) }, () => samples.next().value);
    const wholes = some.map((sample, index) => wholeOf(source, sample, start + index));
    const files = wholes.map(({ mod }, index) => source.files.fileOf(mod, start + index));
    const rows = await modsInBulk.add(
      wholes,
      files.map((file) => source.files.shown(file)),
    );
    await addRelated(app, bulk, tagsInBulk, rows, some);
    await addMedia(
      bulk,
      rows.flatMap(({ id }, index) => mediaRows(id, pictures[start + index])),
    );
    await source.files.add(files);
    progress?.(start + some.length);
  }
  await modsInBulk.finish();
  await source.files.finish();
  await tagsInBulk.finish(gameId);
}

/** Adds the rows that other resources have of these mods. */
async function addRelated(
  app: App,
  bulk: Bulk,
  tags: TagsInBulk,
  mods: readonly ModRow[],
  samples: readonly SampleMod[],
): Promise<void> {
  const sampleOf = (index: number) => samples[index]!;
  await tags.add(
    mods.map((mod, i) => ({
      id: mod.id,
      shown: isPublic(mod),
      popularity: mod.popularity,
      tags: sampleOf(i).tags.map((tag) => ({ ...tag, date_added: mod.date_added })),
    })),
  );
  await addMetadata(
    bulk,
    mods.flatMap(({ id }, i) => sampleOf(i).pairs.map((pair) => ({ mod_id: id, pair }))),
  );
  await addTranslations(
    bulk,
    mods.flatMap(({ id }, i) => translationRows(id, sampleOf(i).translation)),
  );
  const owned = mods.map((mod) => ({
    gameId: mod.game_id,
    modId: mod.id,
    userId: mod.submitted_by,
    dateAdded: mod.date_added,
    isPublic: isPublic(mod),
  }));
  await addOwners(bulk, owned);
  await recordNewMods(app, bulk, owned);
  const hour = Math.floor(app.clock.now() / 3_600);
  await addDownloadHours(
    bulk,
    mods
      .filter(({ downloads_today }) => downloads_today > 0)
      .map(({ id, game_id, downloads_today }) => ({ mod_id: id, hour, game_id, downloads: downloads_today })),
  );
  await countForGame(bulk.transaction, mods[0]!.game_id, {
    mods_downloads_today: sum(mods, 'downloads_today'),
    mods_downloads_total: sum(mods, 'downloads_total'),
    mods_subscribers_total: sum(mods, 'subscribers_total'),
  });
}

const sum = (mods: readonly ModRow[], figure: 'downloads_today' | 'downloads_total' | 'subscribers_total') =>
  mods.reduce((total, mod) => total + mod[figure], 0);

const translationRows = (modId: number, translation: SampleMod['translation']) =>
  translation
    ? (['name', 'summary'] as const).map((field) => ({
        resource: 'mods',
        resource_id: modId,
        field,
        language: translation.language,
        text: translation[field],
      }))
    : [];

const mediaRows = (modId: number, pictures: ModPictures | undefined) =>
  (pictures?.images ?? []).map(({ folder, bytes }, position) => ({
    mod_id: modId,
    kind: 'image' as const,
    value: folder,
    position,
    bytes,
  }));

interface Source {
  readonly app: App;
  readonly gameId: number;
  readonly authors: readonly number[];
  readonly ofGame: FieldTranslations;
  readonly firstId: number;
  readonly mods: number;
  readonly files: ModfilesInBulk;
  readonly pictures: readonly ModPictures[];
}

function wholeOf(
  { app, gameId, authors, ofGame, firstId, mods, files, pictures }: Source,
  sample: SampleMod,
  index: number,
): WholeMod {
  const id = firstId + index;
  const now = app.clock.now();
  const date_added = now - Math.floor(((mods - index) / mods) * HISTORY_SECONDS);
  const { translation, counts, pairs } = sample;
  const ratings_total = counts.ratings_positive + counts.ratings_negative;
  const { popularity, ...derived } = derivedStats({ ...counts, ratings_total });
  return {
    mod: {
      id,
      game_id: gameId,
      status: sample.status,
      visible: sample.visible,
      submitted_by: authors[Math.floor(sample.author * authors.length)]!,
      date_added,
      date_updated: date_added + Math.floor(sample.age * (now - date_added)),
      date_live: sample.status === 0 ? 0 : date_added,
      maturity_option: sample.maturity,
      popularity,
      name_id: `${slug(sample.name).slice(0, 60)}-${id.toString(36)}`,
      name: sample.name,
      summary: sample.summary,
      metadata_blob: sample.metadataBlob,
      description: sanitised(sample.description),
      logo: pictures[index]?.logo.folder ?? null,
    },
    stats: {
      popularity_rank_position: 0,
      popularity_rank_total_mods: 0,
      ...counts,
      ratings_total,
      ...derived,
      date_expires: now,
    },
    translations: translation
      ? { name: { [translation.language]: translation.name }, summary: { [translation.language]: translation.summary } }
      : {},
    contributed: [
      metadataFields(pairs),
      files.fieldsOf(index),
      mediaFields(app, mediaRows(id, pictures[index])),
      tagFields(
        sample.tags.filter(({ hidden }) => hidden === 0).map((tag) => ({ ...tag, date_added })),
        ofGame,
      ),
    ],
  };
}

async function tagsFor(app: App, transaction: Transaction, gameId: number): Promise<TagGroup[]> {
  const groups = await tagGroupsOf(transaction.query, gameId);
  if (groups.length > 0) return groups;
  for (const [position, group] of TAG_GROUPS.entries()) await addTagGroup(transaction.query, gameId, position, group);
  await tagOptionsChanged(app, transaction, gameId);
  return tagGroupsOf(transaction.query, gameId);
}

async function authorsFor(app: App, transaction: Transaction, mods: number): Promise<number[]> {
  const authors: number[] = [];
  for (let number = 1; number <= Math.min(AUTHORS_MAX, Math.ceil(mods / MODS_PER_AUTHOR)); number += 1) {
    const email = `author-${number}@example.com`;
    const known = await findUserByEmailIn(transaction, email);
    authors.push((known ?? (await addUser(app, transaction, { username: `Author ${number}`, email }))).id);
  }
  return authors;
}

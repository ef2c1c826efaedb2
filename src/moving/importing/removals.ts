import { MOD_DELETED } from '../../catalogue/mods/access.ts';
import { applyModChanges, lockMod, refreshMod } from '../../catalogue/mods/mods.ts';
import { dropTagOptions } from '../../catalogue/tags/options.ts';
import { leaveTeam } from '../../catalogue/teams/members.ts';
import { COLLECTION_DELETED, invalidateCollection } from '../../community/collections/access.ts';
import * as collections from '../../community/collections/store.ts';
import { commentsScope } from '../../community/comments/comments.ts';
import * as comments from '../../community/comments/store.ts';
import { removeGuide } from '../../community/guides/guides.ts';
import * as guides from '../../community/guides/store.ts';
import { dropFile } from '../../files/modfiles/modfiles.ts';
import * as modfiles from '../../files/modfiles/store.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from '../../records/imports/store.ts';
import { json } from '../archive/contents.ts';
import type { Line } from '../archive/lines.ts';
import { GONE_KIND, kindOf, type Listed } from '../archive/manifest.ts';
import { type Absent, absentIn } from './absences.ts';
import type { Importing } from './importing.ts';
import { changedHere, isVersioned, keptBecause, versionsNow } from './versions.ts';

/** Removes or hides what the source has no longer, except what was changed here. Returns the number of rows. */
export async function takeAbsences(
  importing: Importing,
  transaction: Transaction,
  name: string,
  line: Line,
): Promise<number> {
  const { row } = importing;
  const { query } = transaction;
  const kind = kindOf(name)!;
  let taken = 0;
  const absences = await absentIn(query, row.source, kind, line);
  // Before the first removal, because a comment takes its replies with it.
  const reasons = new Map<Absent, string | undefined>();
  for (const absent of absences) reasons.set(absent, await keptReason(query, importing, absent));
  for (const [absent, reason] of reasons) {
    if (reason !== undefined) {
      await store.refuse(transaction, row.id, name, line.number, reason.slice(0, 500));
      await store.keep(query, row.id, row.source, absent.kind, [absent.old_id]);
      continue;
    }
    const change = await removeAbsent(importing.app, transaction, absent);
    await remember(importing, transaction, absent);
    await store.addRemoval(query, row.id, {
      resource: absent.kind,
      old_id: absent.old_id,
      change,
      name: absent.name.slice(0, 200),
    });
    taken += 1;
  }
  if (kind !== GONE_KIND) await endLiveFiles(importing, transaction, json(Buffer.from(line.text), name) as Listed);
  return taken;
}

/** Why something stays although the source has it no longer. */
export async function keptReason(
  query: Transaction['query'],
  { row, options }: Pick<Importing, 'row' | 'options'>,
  { kind, old_id, name }: Absent,
): Promise<string | undefined> {
  if (options.overwrite) return undefined;
  const what = (await changedHere(query, row.source, kind, [old_id])).get(old_id);
  return what && `the source has it no longer, but ${keptBecause(kind, old_id, what, name)}`;
}

/** A row that is only marked as removed comes back if the source has it again. */
async function remember({ row }: Importing, { query }: Transaction, { kind, old_id, new_id }: Absent): Promise<void> {
  const version = isVersioned(kind) ? (await versionsNow(query, kind, [new_id])).get(new_id) : undefined;
  if (version === undefined) await store.forgetRow(query, row.source, kind, old_id);
  else await store.setVersion(query, row.source, kind, old_id, version);
}

type Removal = (app: App, transaction: Transaction, id: number, state: Absent['state']) => Promise<Absent['state']>;

const removeAbsent = (app: App, transaction: Transaction, { kind, new_id, state }: Absent) =>
  REMOVALS[kind]!(app, transaction, new_id, state);

const removing =
  (remove: (app: App, transaction: Transaction, id: number) => Promise<void>): Removal =>
  async (app, transaction, id) => {
    await remove(app, transaction, id);
    return 'deleted';
  };

const REMOVALS: Readonly<Record<string, Removal>> = {
  mods: removeMod,
  modfiles: removing(removeFile),
  comments: removing(removeComment),
  guides: removing(async (app, transaction, id) => {
    const guide = await transaction.query.selectFrom('guides').selectAll().where('id', '=', id).executeTakeFirst();
    if (guide) await removeGuide(app, transaction, guide);
  }),
  collections: removing(removeCollection),
  team_members: removing(removeSeat),
  game_tag_groups: removing(removeTagGroup),
  game_tags: removing(removeTag),
};

/** A mod that others here depend on, or that is for sale, cannot be deleted; it is hidden instead. */
async function removeMod(app: App, transaction: Transaction, id: number, state: Absent['state']) {
  const mod = (await lockMod(transaction, id))!;
  if (state === 'deleted')
    try {
      await applyModChanges(app, transaction, mod, { status: MOD_DELETED }, mod.submitted_by);
      return 'deleted';
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
    }
  await applyModChanges(app, transaction, mod, { visible: 0 }, mod.submitted_by);
  return 'hidden';
}

async function removeFile(app: App, transaction: Transaction, id: number): Promise<void> {
  const { query } = transaction;
  const file = await query.selectFrom('modfiles').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const live = await modfiles.liveFilesOf(transaction, file.mod_id);
  for (const [platform, fileId] of live)
    if (fileId === id) await modfiles.removeLive(transaction, file.mod_id, platform);
  await modfiles.showNewest(transaction, file.mod_id);
  await dropFile(app, transaction, file);
  await refreshMod(app, transaction, { id: file.mod_id, game_id: file.game_id });
}

async function removeComment(app: App, transaction: Transaction, id: number): Promise<void> {
  const comment = (await comments.byId(transaction, id))!;
  await comments.remove(transaction, comment, { userId: 0, now: app.clock.now() });
  transaction.changed(commentsScope({ resource: comment.resource, id: comment.resource_id }));
  if (comment.resource === 'guides') await guides.recount(transaction, [comment.resource_id]);
}

async function removeCollection(app: App, transaction: Transaction, id: number): Promise<void> {
  const changes = { status: COLLECTION_DELETED, date_disabled: app.clock.now() };
  invalidateCollection(transaction, await collections.change(transaction.query, id, changes));
}

async function removeSeat(app: App, transaction: Transaction, id: number): Promise<void> {
  const { query } = transaction;
  const seat = await query.selectFrom('team_members').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const { resource, resource_id, user_id: userId } = seat;
  const isOfGame = resource === 'games';
  const gameId = isOfGame
    ? resource_id
    : (await query.selectFrom('mods').select('game_id').where('id', '=', resource_id).executeTakeFirstOrThrow())
        .game_id;
  await leaveTeam(
    app,
    transaction,
    { resource: isOfGame ? 'games' : 'mods', id: resource_id, gameId },
    { id, userId },
    userId,
  );
}

async function removeTag(app: App, transaction: Transaction, id: number): Promise<void> {
  const tag = await transaction.query
    .selectFrom('game_tags as t')
    .innerJoin('game_tag_groups as g', 'g.id', 't.group_id')
    .select('g.game_id')
    .where('t.id', '=', id)
    .executeTakeFirstOrThrow();
  await dropTagOptions(app, transaction, tag.game_id, { tags: [{ id }] });
}

async function removeTagGroup(app: App, transaction: Transaction, id: number): Promise<void> {
  const { query } = transaction;
  const group = await query
    .selectFrom('game_tag_groups')
    .select('game_id')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const tags = await query.selectFrom('game_tags').select('id').where('group_id', '=', id).execute();
  await dropTagOptions(app, transaction, group.game_id, { tags, groupId: id });
}

/** A file that is live nowhere any more still exists, so no list lacks it. */
async function endLiveFiles({ app, row }: Importing, transaction: Transaction, listed: Listed): Promise<void> {
  const { query } = transaction;
  if (listed.kind !== 'modfiles' || listed.live === undefined) return;
  const modId = (await store.newIdsOf(query, row.source, 'mods', [listed.of_id])).get(listed.of_id);
  if (modId === undefined || (await store.keptAmong(query, row.id, 'mods', [modId])).size > 0) return;
  const live = await modfiles.liveFilesOf(transaction, modId);
  const ended = [...live.keys()].filter((platform) => !listed.live!.includes(platform));
  if (ended.length === 0) return;
  for (const platform of ended) await modfiles.removeLive(transaction, modId, platform);
  await modfiles.showNewest(transaction, modId);
  const mod = await query
    .selectFrom('mods')
    .select(['id', 'game_id'])
    .where('id', '=', modId)
    .executeTakeFirstOrThrow();
  await refreshMod(app, transaction, mod);
}

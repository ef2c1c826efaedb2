import { addCollection } from '../community/collections/editing.ts';
import { followCollection } from '../community/collections/following.ts';
import { change as changeCollection } from '../community/collections/store.ts';
import { addComment, type Place, voteOnComment } from '../community/comments/comments.ts';
import { type CommentedKind, commentedGuides, commentedMods } from '../community/comments/kinds.ts';
import { submitGuide } from '../community/guides/editing.ts';
import { applyGuideChanges, requireGuideForChange } from '../community/guides/guides.ts';
import { rateMod } from '../community/ratings/ratings.ts';
import { subscribe } from '../community/subscriptions/subscriptions.ts';
import { OPERATOR, type UserCaller } from '../platform/access/caller.ts';
import type { App } from '../platform/app.ts';
import { GUIDE_THREAD, type SampleThread, THREADS } from './community-texts.ts';
import { claimDrawn, logoOf } from './pictures.ts';
import * as store from './store.ts';
import type { SampleGame } from './texts.ts';

export interface Enlivening extends Pick<SampleGame, 'name' | 'scenery' | 'collection' | 'guide'> {
  readonly gameId: number;
  /** The first one moderates the games. */
  readonly players: readonly number[];
}

/** The positions of the mods that the threads are about, among the most popular ones. */
const DISCUSSED = [0, 1, 0, 2, 1, 3, 0, 4];
const RATED_BY_EACH = 7;
const COLLECTED = 6;
const DAY = 86_400;
const HOUR = 3_600;

/** Lets the players take part in a filled game, by the functions that serve their requests. */
export async function enliven(app: App, sample: Enlivening): Promise<void> {
  const { gameId, players } = sample;
  const mods = await store.popularModsOf(app.db.query, gameId);
  for (const [position, userId] of players.entries()) {
    // Each player knows other mods, and a few of them are known to all.
    const known = mods.filter((_, index) => index < 2 || index % players.length === position).slice(0, RATED_BY_EACH);
    for (const [index, { id, submitted_by }] of known.entries()) {
      await subscribe(app, asUser(userId), { gameId, modId: id, includeDependencies: false });
      const rating = index === RATED_BY_EACH - 1 ? -1 : 1;
      if (submitted_by !== userId) await rateMod(app, asUser(userId), { gameId, modId: id, rating });
    }
  }
  // The oldest first and every text once, because the limits against spam apply here too.
  for (const [index, thread] of THREADS.entries()) {
    const place = { gameId, id: mods[DISCUSSED[index]!]!.id };
    await discuss(app, players, commentedMods, place, thread, { daysAgo: 2 * (THREADS.length - index) });
  }
  await addSampleCollection(app, sample, mods);
  await addSampleGuide(app, sample);
}

const asUser = (userId: number): UserCaller => ({ ...OPERATOR, userId, admin: false, staff: 0, inTeams: true });

/** The same service at an earlier time, so that what is said now has a history. */
const earlier = (app: App, seconds: number): App => ({
  ...app,
  clock: { ...app.clock, now: () => app.clock.now() - seconds },
});

async function discuss(
  app: App,
  players: readonly number[],
  on: CommentedKind,
  place: Place,
  { by, text, replies }: SampleThread,
  { daysAgo }: { daysAgo: number },
): Promise<void> {
  const said = (speaker: number, content: string, replyId: number, hours: number) =>
    addComment(earlier(app, daysAgo * DAY - hours * HOUR), asUser(players[speaker]!), on, place, { content, replyId });
  const {
    comment: { comment_id: commentId },
  } = await said(by, text, 0, 0);
  for (const [index, reply] of replies.entries()) await said(reply.by, reply.text, commentId, 3 + index * 4);
  const voters = players.filter((_, index) => index !== by).slice(0, replies.length);
  for (const userId of voters) await voteOnComment(app, asUser(userId), on, { ...place, commentId }, 1);
}

async function addSampleCollection(
  app: App,
  { gameId, players, name, scenery, collection }: Enlivening,
  mods: readonly { id: number }[],
): Promise<void> {
  if (!collection) return;
  const fields = { ...collection, mod_ids: mods.slice(0, COLLECTED).map(({ id }) => id) };
  const {
    collection: { id },
  } = await addCollection(app, asUser(players[1]!), gameId, { fields, logo: undefined });
  const logo = await logoOf(app, { seed: `${name}/collection`, scenery });
  await app.db.write(async (transaction) => {
    await claimDrawn(app, transaction, [logo]);
    await changeCollection(transaction.query, id, { logo: logo.folder });
  });
  for (const userId of players.slice(2)) await followCollection(app, asUser(userId), gameId, id);
}

async function addSampleGuide(app: App, { gameId, players, name, scenery, guide }: Enlivening): Promise<void> {
  if (!guide) return;
  const author = asUser(players[0]!);
  const { guide_id: id } = await submitGuide(earlier(app, 20 * DAY), author, gameId, guide, undefined);
  const logo = await logoOf(app, { seed: `${name}/guide`, scenery });
  await app.db.write(async (transaction) => {
    await claimDrawn(app, transaction, [logo]);
    const before = await requireGuideForChange(app, transaction, author, gameId, id);
    await applyGuideChanges(earlier(app, 19 * DAY), transaction, before, { logo: logo.folder });
  });
  await discuss(app, players, commentedGuides, { gameId, id }, GUIDE_THREAD, { daysAgo: 1 });
}

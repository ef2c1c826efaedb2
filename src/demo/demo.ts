import { addGame, applyGameChanges } from '../catalogue/games/games.ts';
import { joinTeam, MODERATOR } from '../catalogue/teams/teams.ts';
import { agree } from '../people/agreements/acceptances.ts';
import { addFirstVersions } from '../people/agreements/agreements.ts';
import { addUser, findUserByEmailIn } from '../people/users/users.ts';
import type { App } from '../platform/app.ts';
import type { Transaction } from '../platform/database/database.ts';
import { rememberFact } from '../platform/database/facts.ts';
import type { Language } from '../platform/localisation/languages.ts';
import { translate } from '../platform/text/translations.ts';
import { enliven } from './community.ts';
import { fillGame } from './filling.ts';
import { addMetrics } from './metrics.ts';
import { claimDrawn, picturesOfGame } from './pictures.ts';
import * as store from './store.ts';
import { GAMES, MODERATOR_EMAIL, OWNER, PLAYERS, type SampleGame, TAG_TEXTS } from './texts.ts';

export interface Demo {
  /** The studio that owns the games. */
  readonly user: DemoUser;
  readonly players: readonly DemoUser[];
  /** Their API keys, which are not shown again. */
  readonly games: readonly { id: number; name: string; name_id: string; accepted: boolean; api_key: string }[];
}

interface DemoUser {
  readonly id: number;
  readonly username: string;
  readonly email: string;
}

export interface DemoSize {
  /** Of each game. */
  readonly mods: number;
  /** How many of them have pictures: drawing those takes most of the time. */
  readonly pictured: number;
}

const SIZE: DemoSize = { mods: 24, pictured: 24 };

/** Adds the sample content to a database without games; otherwise does nothing. */
export async function addDemo(app: App, { mods, pictured }: DemoSize = SIZE): Promise<Demo | undefined> {
  // Its people have accepted them.
  await addFirstVersions(app);
  const demo = await addGames(app);
  if (!demo) return undefined;
  const players = demo.players.map(({ id }) => id);
  for (const [index, { id, name, accepted }] of demo.games.entries()) {
    const sample = GAMES[index]!;
    await showPictures(app, id, sample);
    if (!accepted) continue;
    await fillGame(app, {
      gameId: id,
      mods,
      seed: name,
      authors: players,
      pictured: { mods: pictured, scenery: sample.scenery },
    });
    await enliven(app, { gameId: id, players, ...sample });
    await addMetrics(app, { gameId: id, seed: name });
  }
  return demo;
}

async function showPictures(app: App, gameId: number, { name, scenery }: SampleGame): Promise<void> {
  const pictures = await picturesOfGame(app, name, scenery);
  await app.db.write(async (transaction) => {
    await claimDrawn(app, transaction, pictures);
    const folders = Object.fromEntries(pictures.map(({ field, folder }) => [field, folder]));
    await applyGameChanges(app, transaction, gameId, folders, 'en');
  });
}

function addGames(app: App): Promise<Demo | undefined> {
  return app.db.write(async (transaction) => {
    // The write locks the row, so that a concurrent start waits and then finds the games.
    await rememberFact(transaction.query, 'demo', app.environment);
    if (await store.hasGames(transaction.query)) return undefined;
    const user = await personOf(app, transaction, OWNER);
    const players: DemoUser[] = [];
    for (const player of PLAYERS) players.push(await personOf(app, transaction, player));
    const moderator = players.find(({ email }) => email === MODERATOR_EMAIL)!;
    const games: Demo['games'][number][] = [];
    for (const game of GAMES) games.push(await gameOf(app, transaction, game, user.id, moderator.id));
    return { user, players, games };
  });
}

/** The studio's user, if the sample content was added before. */
export async function demoUserId(app: App): Promise<number | undefined> {
  return app.db.write(async (transaction) => (await findUserByEmailIn(transaction, OWNER.email))?.id);
}

async function personOf(app: App, transaction: Transaction, person: typeof OWNER): Promise<DemoUser> {
  const known = await findUserByEmailIn(transaction, person.email);
  const { id, username } = known ?? (await addUser(app, transaction, person));
  if (!known) await agree(app, transaction, id);
  return { id, username, email: person.email };
}

async function gameOf(
  app: App,
  transaction: Transaction,
  sample: SampleGame,
  ownerId: number,
  moderatorId: number,
): Promise<Demo['games'][number]> {
  const { name, summary, accepted, tagGroups } = sample;
  const { id, name_id, api_key } = await addGame(app, transaction, { name, summary, accepted, ownerId, tagGroups });
  const member = { resource: 'games', resourceId: id, level: MODERATOR, position: 'Community moderator' } as const;
  await joinTeam(app, transaction, { ...member, userId: moderatorId });
  await translateTags(transaction, id);
  await applyGameChanges(app, transaction, id, sample.changes, 'en');
  for (const [language, texts] of Object.entries(sample.translations))
    await applyGameChanges(app, transaction, id, texts, language as Language);
  return { id, name, name_id, accepted, api_key };
}

/** Translations of tags are stored with those of the game, under the ids of the tags. */
async function translateTags({ query }: Transaction, gameId: number): Promise<void> {
  const fields = [
    ...(await store.tagGroupsOf(query, gameId)).map(({ id, name }) => [`tag_group/${id}`, name] as const),
    ...(await store.tagsOf(query, gameId)).map(({ id, name }) => [`tag/${id}`, name] as const),
  ];
  for (const [language, texts] of Object.entries(TAG_TEXTS)) {
    const translated = fields.flatMap(([field, name]) => (texts[name] ? [[field, texts[name]]] : []));
    await translate(query, 'games', gameId, language as Language, Object.fromEntries(translated));
  }
}

import assert from 'node:assert/strict';
import { editGameOperation } from '../src/catalogue/games/operations.ts';
import { browseModfileCooks } from '../src/files/cooks/operations.ts';
import { addCookRunner, claimCook, finishCook } from '../src/files/runners/operations.ts';
import { addSourceModfile } from '../src/files/sources/operations.ts';
import type { Api, CallInput, Client, Game, Mod, User } from './api.ts';
import { zipOf } from './zips.ts';

/** A game whose mods are uploaded for Windows and cooked for two consoles. */
export async function aCookingGame(api: Api, more: CallInput['body'] = {}, owner?: User): Promise<Game> {
  const game = await api.aGame(owner && { owner });
  const platforms = {
    'platforms[0][platform]': 'windows',
    'platforms[1][platform]': 'ps5',
    'platforms[1][locked]': true,
    'platforms[2][platform]': 'switch',
    'platforms[2][locked]': true,
  };
  const body = { ...platforms, ...more };
  const { status, text } = await (await api.as(game.owner)).call(editGameOperation, { params: gamePath(game), body });
  assert.equal(status, 200, text);
  return game;
}

export const gamePath = ({ id }: { id: number }) => ({ game_id: id });
export const modPath = ({ id, game_id }: { id: number; game_id: number }) => ({ game_id, mod_id: id });

export interface Runner {
  readonly id: number;
  readonly secret: string;
  readonly client: Client;
}

export async function aRunner(api: Api, game: Game, platforms: readonly string[] = ['ps5']): Promise<Runner> {
  const client = await api.as(game.owner);
  const { status, body, text } = await client.call(addCookRunner, {
    params: gamePath(game),
    body: { name: api.unique('Mill'), platforms },
  });
  assert.equal(status, 201, text);
  return { id: body.id, secret: body.secret, client: api.withSecret(body.secret) };
}

/** A small source archive, uploaded by the mod's owner. */
export async function aSource(api: Api, mod: Mod, body: CallInput['body'] = {}) {
  const bytes = zipOf({ 'assets/ship.fbx': api.unique('A ship') });
  const files = { filedata: { filename: 'source.zip', bytes } };
  const answer = await (await api.as(mod.owner)).call(addSourceModfile, { params: modPath(mod), body, files });
  assert.equal(answer.status, 201, answer.text);
  return { ...answer.body, bytes };
}

export async function claimed(client: Client) {
  const { status, body, text } = await client.call(claimCook);
  assert.equal(status, 200, text);
  return body.claim;
}

export async function mustClaim(client: Client) {
  const claim = await claimed(client);
  assert.ok(claim, 'no cook could be claimed');
  return claim;
}

export const resultOf = (api: Api) => ({
  filedata: { filename: 'cooked.zip', bytes: zipOf({ 'cooked.pak': api.unique('For a console') }) },
});

/** Finishes a cook with a small archive as its result. */
export function finish(api: Api, client: Client, claim_id: string, body: CallInput['body'] = {}) {
  return client.call(finishCook, { params: { claim_id }, body, files: resultOf(api) });
}

export async function cooksOf(api: Api, mod: Mod) {
  const { body, text, status } = await (await api.as(mod.owner)).call(browseModfileCooks, { params: modPath(mod) });
  assert.equal(status, 200, text);
  return body.data;
}

/** The value of a cook's metadata entry. */
export const metadataOf = ({ metadata }: { metadata: readonly string[] }, name: string): string | undefined =>
  metadata.find((each) => each.startsWith(`${name}:`))?.slice(name.length + 1);

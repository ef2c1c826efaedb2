import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { type Client, isApiError, items, type Mod } from '../../../client/src/index.ts';
import { misuse, Refusal } from '../invocation/command.ts';
import { EXIT } from './exit-codes.ts';
import type { Manifest } from './manifest.ts';

const MOD_DELETED = 3;

/** The fields of the API, under its names. */
export interface ModFields {
  name?: string;
  name_id?: string;
  summary?: string;
  description?: string;
  homepage_url?: string;
  visible?: 0 | 1;
  maturity_option?: number;
  metadata_blob?: string;
  metadata_kvp?: string[];
  tags?: string[];
}

/**
 * The author's mod, or undefined if it has to be created. It is read in English, the language of the manifest, because a
 * translation would look like a change. A refusal is asked for again, for its message in the language of the author.
 */
export async function findMod(client: Client, gameId: number, mod: number | string): Promise<Mod | undefined> {
  try {
    return await readMod(client.with({ language: 'en' }), gameId, mod);
  } catch (error) {
    if (isApiError(error)) return readMod(client, gameId, mod);
    throw error;
  }
}

async function readMod(client: Client, gameId: number, mod: number | string): Promise<Mod | undefined> {
  if (typeof mod === 'number')
    return client.call('GET /games/{game_id}/mods/{mod_id}', { game_id: gameId, mod_id: mod });
  const found = await Array.fromAsync(items(client, 'GET /me/mods', { game_id: gameId, name_id: mod }));
  return found.find(({ status }) => status !== MOD_DELETED);
}

/** What the manifest says about the mod. */
export function fieldsOf({ mod, visible, metadata, ...manifest }: Manifest): ModFields {
  const { name, summary, description, homepage_url, maturity_option, metadata_blob, tags } = manifest;
  const fields = {
    name,
    summary,
    description,
    homepage_url,
    maturity_option,
    metadata_blob,
    tags,
    name_id: typeof mod === 'string' ? mod : undefined,
    visible: visible === undefined ? undefined : ((visible ? 1 : 0) as 0 | 1),
    metadata_kvp:
      metadata && Object.entries(metadata).flatMap(([key, value]) => [value].flat().map((each) => `${key}:${each}`)),
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** The fields that differ from those of the mod. */
export function changesOf(mod: Mod, { name_id: _, ...fields }: ModFields): ModFields {
  const current: Record<string, unknown> = {
    ...mod,
    homepage_url: mod.homepage_url ?? '',
    tags: mod.tags.map(({ name }) => name),
    metadata_kvp: mod.metadata_kvp.map(({ metakey, metavalue }) => `${metakey}:${metavalue}`),
  };
  return Object.fromEntries(Object.entries(fields).filter(([name, value]) => !isSame(current[name], value)));
}

/** Tags and metadata have no order. */
function isSame(one: unknown, other: unknown): boolean {
  if (!Array.isArray(one) || !Array.isArray(other)) return one === other;
  return JSON.stringify([...new Set(one)].sort()) === JSON.stringify([...new Set(other)].sort());
}

export async function imageOf(path: string): Promise<File> {
  return new File([await openAsBlob(path)], basename(path));
}

/** A new mod needs more than an edit. */
export function requireNewMod({ name, summary }: ModFields, logo: string | undefined): void {
  const missing = Object.entries({ name, summary, logo })
    .filter(([, value]) => value === undefined)
    .map(([field]) => field);
  if (missing.length > 0) throw misuse({ name: 'mod_needs', values: { fields: { all: missing } } });
}

/** The ids of the mods that are needed, or undefined if the mod already needs exactly these. */
export async function newDependencies(
  client: Client,
  gameId: number,
  mod: Mod | undefined,
  wanted: Manifest['dependencies'],
): Promise<number[] | undefined> {
  if (!wanted) return undefined;
  const ids = await idsOf(client, gameId, wanted);
  if (!mod) return ids.length > 0 ? ids : undefined;
  const path = { game_id: gameId, mod_id: mod.id };
  const current = await Array.fromAsync(items(client, 'GET /games/{game_id}/mods/{mod_id}/dependencies', path));
  const same = isSame(
    current.map(({ mod_id }) => mod_id),
    ids,
  );
  return same ? undefined : ids;
}

async function idsOf(client: Client, gameId: number, wanted: readonly (number | string)[]): Promise<number[]> {
  const names = wanted.filter((each) => typeof each === 'string');
  const input = { game_id: gameId, 'name_id-in': names };
  const found = names.length > 0 ? await Array.fromAsync(items(client, 'GET /games/{game_id}/mods', input)) : [];
  const byName = new Map(found.map(({ name_id, id }) => [name_id, id]));
  const unknown = names.filter((name) => !byName.has(name));
  if (unknown.length > 0)
    throw new Refusal([{ name: 'dependency_unknown', values: { mods: { all: unknown } } }], EXIT.REFUSED);
  return wanted.map((each) => (typeof each === 'number' ? each : byName.get(each)!));
}

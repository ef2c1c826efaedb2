import { createHash } from 'node:crypto';
import { createReadStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { type Client, type Mod, type Modfile, type UploadStorage, uploadFile } from '../../../client/src/index.ts';
import type { Message } from '../invocation/messages.ts';
import { filesOf, pack } from './archive.ts';
import { EXIT } from './exit-codes.ts';
import type { Manifest } from './manifest.ts';
import {
  changesOf,
  fieldsOf,
  findMod,
  imageOf,
  type ModFields,
  newDependencies,
  requireNewMod,
} from './mod-changes.ts';
import { awaitDecision, EXIT_OF, isLive, type State, standingOf, THREAT, type Waiting, type Which } from './waiting.ts';

const MOD = '/games/{game_id}/mods/{mod_id}';

export interface Publishing extends Waiting {
  readonly client: Client;
  readonly gameId: number;
  readonly mod: number | string;
  readonly manifest: Manifest;
  /** A logo that replaces that of an existing mod. */
  readonly newLogo: string | undefined;
  /** A folder, or a zip archive. */
  readonly source: string;
  readonly storage: UploadStorage;
  readonly isDryRun: boolean;
  readonly isAwaited: boolean;
}

export interface Published {
  readonly ok: boolean;
  readonly exit_code: number;
  /** `planned` after a dry run. */
  readonly state: State | 'planned';
  /** Why it is not published yet. */
  readonly reason: Message | undefined;
  readonly game_id: number;
  readonly mod_id: number | null;
  readonly file_id: number | null;
  /** The page of the mod. */
  readonly url: string | null;
  readonly is_new: boolean;
  /** The fields of the mod and of its file that were or would be written. */
  readonly changed: readonly string[];
  readonly is_uploaded: boolean;
  readonly filesize: number;
  readonly md5: string;
  readonly sha256: string;
}

interface Archive {
  readonly path: string;
  readonly filename: string;
  readonly filesize: number;
  readonly md5: string;
  readonly sha256: string;
}

/** What has to be written. Making it needs reads alone. */
interface Plan {
  readonly mod: Mod | undefined;
  readonly fields: ModFields;
  readonly logo: string | undefined;
  readonly dependencies: number[] | undefined;
  /** A file that already has these bytes, and what has to be changed on it. */
  readonly file: Modfile | undefined;
  readonly fileFields: FileFields;
}

interface FileFields {
  version?: string;
  changelog?: string;
  metadata_blob?: string;
  active?: boolean;
}

export async function publish(publishing: Publishing): Promise<Published> {
  const folder = await mkdtemp(join(tmpdir(), 'modstead-publish-'));
  try {
    const archive = await archiveOf(publishing, folder);
    const plan = await planOf(publishing, archive);
    return publishing.isDryRun ? planned(publishing, archive, plan) : await execute(publishing, archive, plan);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function archiveOf({ source, mod, say, signal }: Publishing, folder: string): Promise<Archive> {
  const isFolder = (await stat(source)).isDirectory();
  const path = isFolder ? join(folder, 'mod.zip') : source;
  if (isFolder) {
    const files = await filesOf(source);
    await pack(files, path, signal);
    say({ name: 'packed', values: { count: files.length } });
  }
  const [md5, sha256] = [createHash('md5'), createHash('sha256')];
  let filesize = 0;
  for await (const chunk of createReadStream(path, { signal })) {
    filesize += chunk.length;
    md5.update(chunk);
    sha256.update(chunk);
  }
  const filename = isFolder ? `${mod}.zip` : basename(source);
  return { path, filename, filesize, md5: md5.digest('hex'), sha256: sha256.digest('hex') };
}

async function planOf(
  { client, gameId, manifest, newLogo, ...publishing }: Publishing,
  archive: Archive,
): Promise<Plan> {
  const mod = await findMod(client, gameId, publishing.mod);
  const wanted = fieldsOf({ ...manifest, mod: publishing.mod });
  const logo = mod ? newLogo : (newLogo ?? manifest.logo);
  if (!mod) requireNewMod(wanted, logo);
  const file = mod && (await sameFile(client, mod, archive, manifest.platforms));
  const texts = fileTexts(manifest);
  return {
    mod,
    logo,
    fields: mod ? changesOf(mod, wanted) : wanted,
    dependencies: await newDependencies(client, gameId, mod, manifest.dependencies),
    file,
    fileFields: file ? fileChanges(mod!, file, texts) : texts,
  };
}

/** The live file or the newest one, if it has these bytes: an earlier run may have ended after the upload. */
async function sameFile(
  client: Client,
  mod: Mod,
  { md5, sha256 }: Archive,
  platforms: readonly string[] = [],
): Promise<Modfile | undefined> {
  const path = { game_id: mod.game_id, mod_id: mod.id };
  const { data } = await client.call(`GET ${MOD}/files`, { ...path, _sort: '-id', _limit: 1 }, { language: 'en' });
  const live = mod.modfile as Modfile | Record<string, never>;
  const candidates = [...data, ...('id' in live ? [live as Modfile] : [])];
  const hasPlatforms = (file: Modfile) =>
    platforms.every((name) => file.platforms.some((each) => each.platform === name));
  return candidates.find((file) => file.filehash.md5 === md5 && file.filehash.sha256 === sha256 && hasPlatforms(file));
}

function fileTexts({ version, changelog, file_metadata_blob }: Manifest): FileFields {
  const texts = { version, changelog, metadata_blob: file_metadata_blob };
  return Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== undefined));
}

/** An infected file cannot be edited. */
function fileChanges(mod: Mod, file: Modfile, texts: FileFields): FileFields {
  if (file.virus_positive === THREAT) return {};
  const changed = Object.entries(texts).filter(([name, value]) => file[name as keyof Modfile] !== value);
  return { ...Object.fromEntries(changed), ...(!isLive(mod, file) && { active: true }) };
}

function changedOf({ fields, logo, dependencies, file, fileFields }: Plan): string[] {
  return [
    ...Object.keys(fields),
    ...(logo ? ['logo'] : []),
    ...(dependencies ? ['dependencies'] : []),
    ...(file ? Object.keys(fileFields).map((name) => `file.${name}`) : ['file']),
  ];
}

function planned({ gameId }: Publishing, archive: Archive, plan: Plan): Published {
  return result(archive, plan, {
    exit_code: EXIT.PUBLISHED,
    state: 'planned',
    reason: undefined,
    game_id: gameId,
    mod_id: plan.mod?.id ?? null,
    file_id: plan.file?.id ?? null,
    url: plan.mod?.profile_url ?? null,
  });
}

type Reached = Pick<Published, 'exit_code' | 'state' | 'reason' | 'game_id' | 'mod_id' | 'file_id' | 'url'>;

const result = ({ filesize, md5, sha256 }: Archive, plan: Plan, reached: Reached): Published => ({
  ok: reached.exit_code === EXIT.PUBLISHED,
  ...reached,
  is_new: plan.mod === undefined,
  changed: changedOf(plan),
  is_uploaded: plan.file === undefined,
  filesize,
  md5,
  sha256,
});

async function execute(publishing: Publishing, archive: Archive, plan: Plan): Promise<Published> {
  const { client, gameId, isAwaited } = publishing;
  const mod = await writeMod(publishing, plan);
  const which = { game_id: gameId, mod_id: mod.id };
  const file = plan.file
    ? await editFile(publishing, which, plan.file, plan.fileFields)
    : await addFile(publishing, which, archive, plan.fileFields);
  const standing = isAwaited
    ? await awaitDecision(client, which, file.id, publishing)
    : await standingOf(client, which, file.id);
  const { state, reason } = standing;
  const isOpen = !isAwaited && EXIT_OF[state] === EXIT.WAITING;
  return result(archive, plan, {
    exit_code: isOpen ? EXIT.PUBLISHED : EXIT_OF[state],
    state,
    reason,
    ...which,
    file_id: file.id,
    url: standing.mod.profile_url,
  });
}

/** The mod is written before its file, because the file makes it public. */
async function writeMod({ client, gameId, say, signal }: Publishing, plan: Plan): Promise<Mod> {
  const { fields, dependencies } = plan;
  const logo = plan.logo && (await imageOf(plan.logo));
  let { mod } = plan;
  if (!mod) {
    const { name = '', summary = '', ...others } = fields;
    mod = await client.call(
      'POST /games/{game_id}/mods',
      { game_id: gameId, name, summary, ...others, logo: logo as File },
      { signal },
    );
    say({ name: 'mod_created', values: { name: mod.name_id, id: String(mod.id) } });
  } else if (logo || Object.keys(fields).length > 0) {
    const path = { game_id: gameId, mod_id: mod.id };
    mod = await client.call(`POST ${MOD}`, { ...path, ...fields, ...(logo && { logo }) }, { signal, idempotent: true });
    say({ name: 'mod_edited', values: { fields: { all: Object.keys({ ...fields, ...(logo && { logo }) }) } } });
  }
  const path = { game_id: gameId, mod_id: mod.id };
  if (dependencies) {
    await client.call(`POST ${MOD}/dependencies`, { ...path, dependencies, sync: true }, { signal, idempotent: true });
    say({ name: 'dependencies_set', values: { count: dependencies.length } });
  }
  return mod;
}

async function editFile(
  { client, say, signal }: Publishing,
  which: Which,
  file: Modfile,
  fields: FileFields,
): Promise<Modfile> {
  say({ name: 'upload_not_needed' });
  const path = { ...which, file_id: file.id };
  if (Object.keys(fields).length === 0) return file;
  return client.call(`PUT ${MOD}/files/{file_id}`, { ...path, ...fields }, { signal, idempotent: true });
}

async function addFile(
  { client, manifest, storage, say, signal }: Publishing,
  which: Which,
  { path, filename, md5, sha256 }: Archive,
  fields: FileFields,
): Promise<Modfile> {
  const { platforms } = manifest;
  const details = { ...fields, ...(platforms && { platforms }), filehash: md5, active: true };
  return uploadFile(client, which, await openAsBlob(path), details, {
    filename,
    fingerprint: sha256,
    storage,
    signal,
    onProgress: ({ storedBytes, totalBytes }) =>
      say({
        name: 'uploaded',
        values: {
          stored: { bytes: storedBytes },
          total: { bytes: totalBytes },
          share: Math.floor((100 * storedBytes) / totalBytes) / 100,
        },
      }),
  });
}

import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import {
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type Client, DamagedDownload } from '../../../client/src/index.ts';
import { downloadToFile } from '../../../client/src/node/files.ts';
import { misuse } from '../invocation/command.ts';
import { syncFolder } from './durable.ts';
import { Unusable } from './exit-codes.ts';
import { unpack } from './unpacking.ts';
import type { WantedMod } from './wanted-mods.ts';

/** What the folder shows of a mod. */
interface MirroredMod {
  readonly id: number;
  readonly name_id: string;
  readonly file_id: number;
  readonly version: string;
  readonly digest: string;
  /** The name in the folder. */
  readonly path: string;
}

interface MirroredSet {
  readonly mods: readonly MirroredMod[];
}

export interface Changes {
  readonly added: readonly string[];
  readonly updated: readonly string[];
  readonly removed: readonly string[];
}

const MANIFEST = 'modstead-sync.json';

/**
 * A folder that is a symbolic link to one of the sets beside it. A set never changes; an update adds a set and replaces
 * the link. The set before the current one stays, because a program may still read it.
 */
export class Mirror {
  readonly folder: string;
  readonly state: string;
  readonly #zips: boolean;

  constructor(folder: string, { zips }: { readonly zips: boolean }) {
    this.folder = resolve(folder);
    this.state = join(dirname(this.folder), `.${basename(this.folder)}.modstead`);
    this.#zips = zips;
  }

  /** Refuses a folder that somebody else filled, and removes what an interrupted run left. */
  async prepare(): Promise<void> {
    const found = await lstat(this.folder).catch(() => undefined);
    const isEmpty = found?.isDirectory() === true && (await readdir(this.folder)).length === 0;
    if (found && !found.isSymbolicLink() && !isEmpty)
      throw misuse({ name: 'folder_foreign', values: { path: this.folder } }, { name: 'folder_move' });
    if (
      found?.isSymbolicLink() &&
      dirname(dirname(resolve(dirname(this.folder), await readlink(this.folder)))) !== this.state
    )
      throw misuse({ name: 'folder_link', values: { path: this.folder } }, { name: 'folder_move' });
    for (const name of ['downloads', 'files', 'sets']) await mkdir(join(this.state, name), { recursive: true });
    await rm(join(this.state, 'temporary'), { recursive: true, force: true });
    await mkdir(join(this.state, 'temporary'));
  }

  async current(): Promise<MirroredSet & { readonly name: string | undefined }> {
    try {
      const name = basename(await readlink(this.folder));
      const { mods } = JSON.parse(await readFile(join(this.state, 'sets', name, MANIFEST), 'utf8')) as MirroredSet;
      return { name, mods };
    } catch {
      return { name: undefined, mods: [] };
    }
  }

  toMirrored({ id, nameId, file }: WantedMod): MirroredMod {
    const digest = file.filehash.sha256 || file.filehash.md5;
    // The service checks name ids, but the names of this folder must not depend on it.
    const name = `${id}-${nameId.replace(/[^\p{L}\p{N}_-]/gu, '_').slice(0, 80)}`;
    const path = this.#zips ? `${name}.zip` : name;
    if (!/^[0-9a-f]{32,64}$/.test(digest)) throw new Unusable({ name: 'digest_missing', values: { mod: String(id) } });
    return { id, name_id: nameId, file_id: file.id, version: file.version, digest, path };
  }

  async changesTo(wanted: readonly WantedMod[]): Promise<Changes> {
    const before = new Map((await this.current()).mods.map((mod) => [mod.id, mod]));
    const after = wanted.map((each) => this.toMirrored(each));
    const ids = new Set(after.map(({ id }) => id));
    return {
      added: after.filter(({ id }) => !before.has(id)).map(({ path }) => path),
      updated: after
        .filter(
          ({ id, digest, path }) =>
            before.has(id) && (before.get(id)!.digest !== digest || before.get(id)!.path !== path),
        )
        .map(({ path }) => path),
      removed: [...before.values()].filter(({ id }) => !ids.has(id)).map(({ path }) => path),
    };
  }

  #storedAt = (digest: string): string => join(this.state, 'files', this.#zips ? `${digest}.zip` : digest);

  /** Downloads and verifies the file of a mod, unless it is there. */
  async fetch(client: Client, mod: WantedMod, signal: AbortSignal): Promise<void> {
    const { digest } = this.toMirrored(mod);
    const stored = this.#storedAt(digest);
    if (existsSync(stored)) return;
    const archive = join(this.state, 'downloads', `${digest}.zip`);
    const damaged = (cause?: Error) => new Unusable({ name: 'file_damaged', values: { mod: String(mod.id) } }, cause);
    if (!existsSync(archive))
      await downloadToFile(client, mod.file, archive, { signal }).catch((error) => {
        throw error instanceof DamagedDownload ? damaged(error) : error;
      });
    if (mod.file.filehash.sha256 && (await sha256Of(archive)) !== mod.file.filehash.sha256) {
      await rm(archive, { force: true });
      throw damaged();
    }
    if (this.#zips) await rename(archive, stored);
    else {
      await unpack(archive, stored, join(this.state, 'temporary', digest));
      await rm(archive);
    }
    await syncFolder(dirname(stored));
  }

  /** Shows exactly these mods, all of which were fetched. */
  async show(wanted: readonly WantedMod[]): Promise<void> {
    const mods = wanted.map((mod) => this.toMirrored(mod));
    const text = JSON.stringify({ mods }, undefined, 2);
    const name = createHash('sha256').update(`${this.#zips}\n${text}`).digest('hex').slice(0, 24);
    const before = await this.current();
    if (before.name === name) return;
    const set = join(this.state, 'sets', name);
    if (!existsSync(set)) await this.#build(set, mods, text);
    const next = join(this.state, 'temporary', 'link');
    await rm(next, { force: true });
    const target = process.platform === 'win32' ? set : join(`.${basename(this.folder)}.modstead`, 'sets', name);
    await symlink(target, next, 'junction');
    // A link cannot replace an empty folder. One that somebody filled meanwhile is not removed.
    if ((await lstat(this.folder).catch(() => undefined))?.isDirectory()) await rmdir(this.folder);
    await rename(next, this.folder);
    await syncFolder(dirname(this.folder));
    await this.#removeAllBut([name, before.name]);
  }

  async #build(set: string, mods: readonly MirroredMod[], text: string): Promise<void> {
    const built = join(this.state, 'temporary', 'set');
    await rm(built, { recursive: true, force: true });
    await mkdir(built);
    for (const { path, digest } of mods) {
      const stored = this.#storedAt(digest);
      if (this.#zips) await link(stored, join(built, path));
      else
        await symlink(
          process.platform === 'win32' ? stored : join('..', '..', 'files', basename(stored)),
          join(built, path),
          'junction',
        );
    }
    await writeFile(join(built, MANIFEST), text, { flush: true });
    await syncFolder(built);
    await rename(built, set);
    await syncFolder(dirname(set));
  }

  /** Removes sets that nobody reads any more, and the files that only they showed. */
  async #removeAllBut(names: readonly (string | undefined)[]): Promise<void> {
    const used = new Set<string>();
    for (const name of await readdir(join(this.state, 'sets'))) {
      const set = join(this.state, 'sets', name);
      if (!names.includes(name)) {
        await rm(set, { recursive: true, force: true });
        continue;
      }
      const { mods } = JSON.parse(await readFile(join(set, MANIFEST), 'utf8')) as MirroredSet;
      for (const { digest, path } of mods) used.add(path.endsWith('.zip') ? `${digest}.zip` : digest);
    }
    for (const name of await readdir(join(this.state, 'files')))
      if (!used.has(name)) await rm(join(this.state, 'files', name), { recursive: true, force: true });
    for (const name of await readdir(join(this.state, 'downloads')))
      await rm(join(this.state, 'downloads', name), { force: true });
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

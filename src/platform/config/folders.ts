import { chmodSync, existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Environment } from './addresses.ts';
import type { Settings } from './settings.ts';

/** The folder of an environment's database and files. */
export const folderOf = (settings: Settings, environment: Environment) => join(resolve(settings.data), environment);

/** The folder for an environment's mails as files. */
export const mailFolderOf = (settings: Settings, environment: Environment) =>
  environment === 'production' ? join(resolve(settings.data), 'mail') : join(folderOf(settings, environment), 'mail');

/**
 * Only the service's user may access the data folder, including files that an earlier version left readable. With
 * `MODSTEAD_OFFLOAD` a web server of the same group may read the files.
 */
export function makePrivate({ data, offload }: Pick<Settings, 'data' | 'offload'>): void {
  const hidden = offload ? 0o027 : 0o077;
  process.umask(hidden);
  const folder = resolve(data);
  mkdirSync(folder, { recursive: true });
  const inside = [folder, ...['production', 'sandbox'].map((name) => join(folder, name))].filter((path) =>
    existsSync(path),
  );
  const entries = inside.flatMap((path) => readdirSync(path).map((name) => join(path, name)));
  for (const path of new Set([folder, ...entries])) tighten(path, hidden);
}

/** A folder of another user was set up by the operator and stays unchanged. */
function tighten(path: string, hidden: number): void {
  const { mode, uid } = statSync(path);
  if ((mode & hidden) !== 0 && (uid === process.getuid?.() || process.getuid?.() === 0))
    chmodUnlessReadOnly(path, mode & ~hidden & 0o777);
}

function chmodUnlessReadOnly(path: string, mode: number): void {
  try {
    chmodSync(path, mode);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EROFS') throw error;
  }
}

import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SignIn, UploadStorage } from '../../../client/src/index.ts';

/** The user's folder for settings of this program. */
export function configFolder(env: NodeJS.ProcessEnv): string {
  const windows = process.platform === 'win32' ? env['APPDATA'] : undefined;
  return join(windows ?? (env['XDG_CONFIG_HOME'] || join(env['HOME'] ?? homedir(), '.config')), 'modstead');
}

/** A sign-in is for one game of one server, because the service issues its token for that game. */
const tokenFile = (folder: string, { host }: URL, gameId: number) =>
  join(folder, 'tokens', `${host.replace(':', '_')}-${gameId}.json`);

/** Undefined if there is none that is still valid. */
export function storedSignIn(folder: string, url: URL, gameId: number): SignIn | undefined {
  const signIn = readJson<SignIn>(tokenFile(folder, url, gameId));
  return signIn && signIn.dateExpires * 1_000 > Date.now() ? signIn : undefined;
}

export const storeSignIn = (folder: string, url: URL, gameId: number, signIn: SignIn): void =>
  writePrivate(tokenFile(folder, url, gameId), JSON.stringify(signIn));

export const forgetSignIn = (folder: string, url: URL, gameId: number): void =>
  rmSync(tokenFile(folder, url, gameId), { force: true });

/** Remembers unfinished uploads in a file, for runs after this one. */
export function uploadStorage(folder: string): UploadStorage {
  const file = join(folder, 'uploads.json');
  const all = () => readJson<Record<string, string>>(file) ?? {};
  return {
    getItem: (key) => all()[key] ?? null,
    setItem: (key, value) => writePrivate(file, JSON.stringify({ ...all(), [key]: value })),
    removeItem: (key) => {
      const { [key]: _, ...others } = all();
      writePrivate(file, JSON.stringify(others));
    },
  };
}

function readJson<T>(file: string): T | undefined {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as T;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Renamed into place, so that another run never reads half of it. */
function writePrivate(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const written = `${file}.${process.pid}`;
  writeFileSync(written, text, { mode: 0o600 });
  chmodSync(written, 0o600);
  renameSync(written, file);
}

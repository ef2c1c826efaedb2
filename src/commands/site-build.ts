import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SITE = join(ROOT, 'site');
const DIGEST = join(SITE, 'build', 'digest');
/** The site's own part, and the client that it is bundled with. */
const FOLDERS = ['site/src', 'site/static', 'client/src'];
const FILES = ['client/package.json', 'package-lock.json'];
const SETTINGS = /\.(?:js|ts|json)$/;

/** The folder of the built site, if there is one. */
export const builtSite = (): string | undefined => (existsSync(DIGEST) ? join(SITE, 'build') : undefined);

/**
 * Builds the site if there is no build of its sources. The service also runs without one, so a failure is reported
 * and not thrown.
 */
export async function ensureSite(report: (line: string) => void): Promise<void> {
  if (!existsSync(join(SITE, 'src')) || isUntouched()) return;
  const begun = new Date();
  const digest = digestOfSources();
  if (builtDigest() === digest) return markUntouchedSince(begun);
  report(builtDigest() === undefined ? 'building the site' : 'building the site again, because its sources changed');
  const failure = await build(digest);
  if (failure === undefined) markUntouchedSince(begun);
  else report(`the site could not be built, and its pages are missing: ${failure}`);
}

const builtDigest = (): string | undefined => (existsSync(DIGEST) ? readFileSync(DIGEST, 'utf8') : undefined);

/** Nothing was written since the sources were last read: reading them again is a twentieth of a start. */
function isUntouched(): boolean {
  const { mtimeMs: since } = statSync(DIGEST, { throwIfNoEntry: false }) ?? { mtimeMs: 0 };
  // A copy may bring its old time of modification along, but not that of its change.
  return sourcePaths().every((path) => statSync(join(ROOT, path)).ctimeMs < since);
}

function markUntouchedSince(time: Date): void {
  try {
    utimesSync(DIGEST, time, time);
  } catch {
    // A read-only installation reads its sources at every start.
  }
}

/** Files and folders: the time of a folder says that a file of it is gone. */
const sourcePaths = (): string[] => [
  ...FILES,
  ...readdirSync(SITE)
    .filter((name) => SETTINGS.test(name))
    .map((name) => join('site', name)),
  ...FOLDERS.flatMap((folder) => [
    folder,
    ...readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  ]),
];

/** By content, because a checkout changes the times of files. */
function digestOfSources(): string {
  const files = sourcePaths().filter((file) => statSync(join(ROOT, file)).isFile());
  const hash = createHash('sha256');
  for (const file of files.sort()) hash.update(`${file}\0`).update(readFileSync(join(ROOT, file)));
  return hash.digest('hex').slice(0, 16);
}

/** Resolves to what went wrong. */
async function build(digest: string): Promise<string | undefined> {
  let vite: string;
  try {
    vite = resolve(createRequire(join(SITE, 'package.json')).resolve('vite/package.json'), '../bin/vite.js');
  } catch {
    return 'run "npm ci" first';
  }
  return new Promise((done) => {
    const child = spawn(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
      cwd: SITE,
      env: { ...process.env, NODE_ENV: 'production', SITE_DIGEST: digest },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part));
    child.on('error', (error) => done(error.message));
    child.on('close', (code) => done(code === 0 ? undefined : text.trim() || `exit code ${code}`));
  });
}

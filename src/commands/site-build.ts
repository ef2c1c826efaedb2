import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SITE = join(ROOT, 'site');
/** The site's own part, and the client that it is bundled with. */
const SOURCES = [
  'site/{src,static}/**',
  'site/*.{js,ts,json}',
  'client/src/**',
  'client/package.json',
  'package-lock.json',
];

/** The folder of the built site, if there is one. */
export function builtSite(): string | undefined {
  const folder = join(SITE, 'build');
  return existsSync(join(folder, 'digest')) ? folder : undefined;
}

/**
 * Builds the site if there is no build of its sources. The service also runs without one, so a failure is reported
 * and not thrown.
 */
export async function ensureSite(report: (line: string) => void): Promise<void> {
  if (!existsSync(join(SITE, 'src'))) return;
  const digest = digestOfSources();
  if (builtDigest() === digest) return;
  report(builtDigest() === undefined ? 'building the site' : 'building the site again, because its sources changed');
  const failure = await build(digest);
  if (failure !== undefined) report(`the site could not be built, and its pages are missing: ${failure}`);
}

function builtDigest(): string | undefined {
  const folder = builtSite();
  return folder && readFileSync(join(folder, 'digest'), 'utf8');
}

/** By content, because a checkout changes the times of files. */
function digestOfSources(): string {
  const files = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).filter((file) =>
    statSync(join(ROOT, file)).isFile(),
  );
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

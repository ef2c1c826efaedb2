import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const INSTALL_MS = 240_000;

/** Chromium on this machine; where it is missing and this is root on Debian, it is installed first. */
export function findChromium(): { path: string } | { reason: string } {
  const known = installed();
  if (known) return { path: known };
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    return { reason: 'there is no Chromium here: install the package chromium, or set MODSTEAD_TEST_CHROMIUM' };
  try {
    const options = {
      stdio: 'ignore',
      timeout: INSTALL_MS,
      env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
    };
    const install = () =>
      execFileSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'chromium'], {
        ...options,
        stdio: 'ignore',
      });
    try {
      install();
    } catch {
      execFileSync('apt-get', ['update', '-q'], { ...options, stdio: 'ignore' });
      install();
    }
  } catch (error) {
    return { reason: `Chromium could not be installed: ${(error as Error).message}` };
  }
  const path = installed();
  return path ? { path } : { reason: 'the package chromium brought no program of that name' };
}

function installed(): string | undefined {
  const given = process.env['MODSTEAD_TEST_CHROMIUM'];
  if (given) return given;
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => NAMES.map((name) => join(folder, name))).find((path) => existsSync(path));
}

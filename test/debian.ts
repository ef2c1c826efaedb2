import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const INSTALL_MS = 240_000;

/** The path of the first of these programs that is installed. */
export function programNamed(...names: string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path));
}

/** Installs Debian packages as root; returns the reason if it cannot. */
export function installPackages(...packages: string[]): string | undefined {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
    return `install ${packages.join(', ')}: the tests do it themselves as root on Debian`;
  try {
    install(packages);
  } catch (error) {
    return `${packages.join(', ')} could not be installed: ${(error as Error).message}`;
  }
  return undefined;
}

function install(packages: string[]): void {
  // Another test file may be installing at the same time.
  const packagesOf = () =>
    apt('install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=240', ...packages);
  try {
    packagesOf();
  } catch {
    apt('update');
    packagesOf();
  }
}

function apt(...args: string[]): void {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  execFileSync('apt-get', ['-q', ...args], { stdio: 'ignore', timeout: INSTALL_MS, env });
}

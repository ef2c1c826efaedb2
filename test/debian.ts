import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';

const INSTALL_MS = 240_000;

/** Where the first of these programs is that this machine has. */
export function programNamed(...names: string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.flatMap((folder) => names.map((name) => join(folder, name))).find((path) => existsSync(path));
}

/** Installs packages of Debian where this is root on it; says why not otherwise. */
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
  // Another file of the tests may be installing, too.
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

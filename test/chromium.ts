import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:tls';
import { type Browser, chromium } from 'playwright-core';
import type { Api } from './api.ts';
import { installPackages, programNamed } from './debian.ts';

/**
 * Finds Chromium on this machine; as root on Debian it installs it if it is missing. The one without windows draws the same
 * pages in half of the CPU time.
 */
export function findChromium(): { path: string } | { reason: string } {
  const known = installed();
  if (known) return { path: known };
  // Releases of Debian before 12 have the other one alone.
  const refusal = installPackages('chromium-headless-shell') && installPackages('chromium');
  if (refusal) return { reason: `there is no Chromium here, and MODSTEAD_TEST_CHROMIUM names none: ${refusal}` };
  const path = installed();
  return path ? { path } : { reason: 'the packages of Chromium brought no program of their name' };
}

const installed = () =>
  process.env['MODSTEAD_TEST_CHROMIUM'] ||
  programNamed('chromium-headless-shell', 'chrome-headless-shell') ||
  programNamed('chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome');

export interface Launch {
  /** The addresses of names, as Chromium’s `--host-resolver-rules`. */
  readonly hosts: string;
  readonly args?: readonly string[];
  /** The ports of other servers that it visits. */
  readonly others?: readonly number[];
}

/**
 * Starts Chromium for the pages of an API. It trusts exactly its certificate and those of the others: what comes under one
 * that is merely ignored is never cached, and each page would load and compile all scripts again.
 */
export async function launchChromium(
  { path }: { path: string },
  api: Api,
  { hosts, args = [], others = [] }: Launch,
): Promise<Browser> {
  const keys = await Promise.all([api.port, ...others].map(keyOf));
  const trusted = `--ignore-certificate-errors-spki-list=${keys.join(',')}`;
  return chromium.launch({
    executablePath: path,
    args: ['--no-sandbox', trusted, `--host-resolver-rules=${hosts}`, ...args],
  });
}

/** The hash of the public key that a service shows for localhost. */
export async function keyOf(port: number): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const key = socket.getPeerX509Certificate()!.publicKey.export({ type: 'spki', format: 'der' });
  socket.destroy();
  return createHash('sha256').update(key).digest('base64');
}

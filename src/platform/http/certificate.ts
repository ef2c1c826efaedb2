import { X509Certificate } from 'node:crypto';
import { link, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { ensureDirectory, errorCode, unlessCode, writeDurably, writeTemporary } from '../storage/durable.ts';
import type { Kept } from './certificate-making.ts';

/** Can be spread into the options of a TLS server. */
export interface LocalCertificate {
  key: string;
  cert: string;
  /** The certificate to trust, for `curl --cacert` and the `ca` of Node. */
  file: string;
  SNICallback: (servername: string, done: (error: Error | null, context?: SecureContext) => void) => void;
}

const dayMs = 24 * 60 * 60 * 1000;
const renewalDays = 30;
const namedContextsMax = 200;
/** DER of the extension with the name constraints (2.5.29.30), if it is critical. */
const CRITICAL_CONSTRAINT = Buffer.from('0603551d1e0101ff', 'hex');

/** Its library is a seventh of the modules of a start, and only new certificates need it. */
const making = () => import('./certificate-making.ts');

/**
 * The certificate for a start without `MODSTEAD_TLS_CERT`. It is stored in this folder with the authority that signed
 * it, and is replaced when the domain changes or it is about to expire.
 */
export async function localCertificate(
  folder: string,
  domain: string,
  now: () => number = Date.now,
): Promise<LocalCertificate> {
  await ensureDirectory(folder, 0o700);
  const kept = await keptOrNew(folder, domain.toLowerCase(), now);
  const file = join(folder, 'local-ca.pem');
  const published = await readFile(file, 'utf8').catch(unlessCode('ENOENT'));
  if (published !== kept.caCert) await writeDurably(file, kept.caCert, 0o644);
  return { key: kept.key, cert: kept.cert, file, SNICallback: namedContexts(kept, now) };
}

const nameOf = (generation: number) => `local-certificate-${generation}.json`;
const generationIn = (name: string) => Number(/^local-certificate-(\d+)\.json$/.exec(name)?.[1] ?? 0);

/**
 * Each renewal is a new generation, and only one process can link its file to that name; the others read the winner's.
 * Overwriting would leave one process with a certificate that is no longer on disk.
 */
async function keptOrNew(folder: string, domain: string, now: () => number): Promise<Kept> {
  for (;;) {
    const generation = Math.max(0, ...(await readdir(folder)).map(generationIn));
    const kept = generation ? await readKept(join(folder, nameOf(generation))) : undefined;
    if (kept && isGood(kept, domain, now())) return kept;
    const { makeCertificate } = await making();
    const made = await makeCertificate(domain, now(), kept?.domain === domain ? kept.caKey : undefined);
    if (await claim(folder, generation + 1, made)) return made;
  }
}

async function readKept(path: string): Promise<Kept | undefined> {
  const text = await readFile(path, 'utf8').catch(unlessCode('ENOENT'));
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch (cause) {
    throw new Error(`${path} is damaged; remove it to have a new certificate made`, { cause });
  }
}

function isGood(kept: Kept, domain: string, nowMs: number): boolean {
  const endMs = new X509Certificate(kept.cert).validToDate.getTime();
  return kept.domain === domain && endMs - nowMs >= renewalDays * dayMs && !hasCriticalConstraint(kept.caCert);
}

/** The TLS library of a shipped client cannot parse one and refuses every connection (docs/API-QUIRKS.md, 32). */
function hasCriticalConstraint(caCert: string): boolean {
  return new X509Certificate(caCert).raw.includes(CRITICAL_CONSTRAINT);
}

async function claim(folder: string, generation: number, made: Kept): Promise<boolean> {
  const temporary = await writeTemporary(folder, (handle) => handle.writeFile(JSON.stringify(made, null, 2)), 0o600);
  try {
    await link(temporary, join(folder, nameOf(generation)));
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await unlink(temporary);
  }
  if (generation > 1) await unlink(join(folder, nameOf(generation - 1))).catch(unlessCode('ENOENT'));
  return true;
}

/**
 * OpenSSL, Node and browsers reject `*.localhost`: a wildcard directly below a top-level name is too wide. For a
 * single-word domain each name below it gets its own certificate on first use.
 */
function namedContexts(kept: Kept, now: () => number): LocalCertificate['SNICallback'] {
  const contexts = new LRUCache<string, Promise<SecureContext>>({ max: namedContextsMax });
  const below = new RegExp(`^[a-z0-9-]{1,63}\\.${RegExp.escape(kept.domain)}$`);
  return (servername, done) => {
    const name = servername.toLowerCase();
    if (kept.domain.includes('.') || !below.test(name)) return done(null);
    const context = contexts.get(name) ?? namedContext(kept, name, now());
    contexts.set(name, context);
    context.then((made) => done(null, made), done);
  };
}

async function namedContext({ caKey, key }: Kept, name: string, nowMs: number): Promise<SecureContext> {
  const { issue } = await making();
  return createSecureContext({ key, cert: await issue(caKey, key, [{ type: 'dns', value: name }], nowMs) });
}

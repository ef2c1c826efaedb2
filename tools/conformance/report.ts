import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { CHECKS, type Check, findSubject, type Suite } from './checks.ts';

export interface Outcome {
  readonly id: string;
  readonly says: string;
  readonly result: 'passed' | 'failed' | 'skipped';
  readonly problems: readonly string[];
}

export interface Report {
  readonly suite: 'modstead-conformance';
  readonly version: 1;
  readonly url: string;
  readonly date: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly checks: readonly Outcome[];
}

/** `signature` is Ed25519 over the JSON text of `report`, as JSON.stringify writes it. */
export interface SignedReport {
  readonly report: Report;
  readonly public_key: string;
  readonly signature: string;
}

export async function runChecks(suite: Suite, wanted: readonly Check[] = CHECKS): Promise<Report> {
  const subject = await findSubject(suite);
  const checks: Outcome[] = [];
  for (const { id, says, needs, run } of wanted) {
    const lacks =
      (needs === 'file' && !subject.file) ||
      (needs === 'token' && !suite.token) ||
      (needs === 'writes' && !(suite.token && suite.writes));
    const problems = lacks
      ? []
      : await run(suite, subject).catch((error: Error) => [`no usable answer: ${error.message}`]);
    checks.push({ id, says, result: lacks ? 'skipped' : problems.length > 0 ? 'failed' : 'passed', problems });
  }
  const count = (result: Outcome['result']) => checks.filter((each) => each.result === result).length;
  return {
    suite: 'modstead-conformance',
    version: 1,
    url: suite.server.base.href,
    date: new Date(suite.now() * 1_000).toISOString(),
    passed: count('passed'),
    failed: count('failed'),
    skipped: count('skipped'),
    checks,
  };
}

/** Without a key, a new one: the report is then only protected against changes, not bound to its author. */
export function signReport(report: Report, pem?: string): SignedReport {
  const key: KeyObject = pem === undefined ? generateKeyPairSync('ed25519').privateKey : createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error('The key must be an Ed25519 key in PEM form.');
  const public_key = createPublicKey(key).export({ type: 'spki', format: 'der' }).toString('base64');
  return { report, public_key, signature: sign(null, Buffer.from(JSON.stringify(report)), key).toString('base64') };
}

export function isGenuine({ report, public_key, signature }: SignedReport): boolean {
  const key = createPublicKey({ key: Buffer.from(public_key, 'base64'), type: 'spki', format: 'der' });
  return verify(null, Buffer.from(JSON.stringify(report)), key, Buffer.from(signature, 'base64'));
}

export function textOf({ url, date, passed, failed, skipped, checks }: Report): string {
  const mark = { passed: 'ok  ', failed: 'FAIL', skipped: 'skip' };
  const lines = checks.flatMap(({ id, says, result, problems }) => [
    `${mark[result]} ${id}: ${says}`,
    ...problems.map((problem) => `       ${problem}`),
  ]);
  return [`${url}, ${date}`, ...lines, `${passed} passed, ${failed} failed, ${skipped} skipped`].join('\n');
}

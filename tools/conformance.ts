import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isGenuine, runChecks, type SignedReport, signReport, textOf } from './conformance/report.ts';

const { values } = parseArgs({
  options: {
    url: { type: 'string' },
    'api-key': { type: 'string' },
    token: { type: 'string' },
    game: { type: 'string' },
    write: { type: 'boolean', default: false },
    connect: { type: 'string' },
    ca: { type: 'string' },
    timeout: { type: 'string', default: '10' },
    'sign-key': { type: 'string' },
    output: { type: 'string' },
    verify: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const HELP = `npm run conformance -- --url URL --api-key KEY [--token TOKEN [--write]] [--game ID]
  [--connect URL] [--ca FILE] [--timeout SECONDS] [--sign-key FILE] [--output FILE]
npm run conformance -- --verify FILE
Checks a server of this dialect: operations, objects, errors, and what shipped clients rely on. It only reads, unless --write
lets it subscribe and rate with the token, which it takes back. --connect sends all connections to another address, and --ca
trusts the authorities of a PEM file besides the public ones, as NODE_EXTRA_CA_CERTS does. The report is signed with Ed25519, by the
key in the PEM file of --sign-key or by a new one; --verify checks the signature of a report.
Exit codes: 0 all checks passed; 1 some failed; 2 wrong usage.`;

if (values.help || (!values.url && !values.verify)) {
  console.log(HELP);
  process.exit(values.help ? 0 : 2);
}
if (values.verify) {
  const signed = JSON.parse(readFileSync(values.verify, 'utf8')) as SignedReport;
  const genuine = isGenuine(signed);
  console.log(
    genuine ? `${textOf(signed.report)}\nsigned by ${signed.public_key}` : 'The signature does not match the report.',
  );
  process.exit(genuine ? 0 : 1);
}
const contract = JSON.parse(readFileSync(join(import.meta.dirname, '../contract/openapi.json'), 'utf8'));
const base = new URL(values.url!);
if (!/\/v1\/?$/.test(base.pathname)) base.pathname = `${base.pathname.replace(/\/$/, '')}/v1`;
const report = await runChecks({
  server: {
    base,
    connect: values.connect ? new URL(values.connect) : undefined,
    timeoutMs: Number(values.timeout) * 1_000,
    ca: values.ca && readFileSync(values.ca, 'utf8'),
  },
  contract,
  apiKey: values['api-key'],
  token: values.token,
  writes: values.write,
  gameId: values.game === undefined ? undefined : Number(values.game),
  now: () => Math.floor(Date.now() / 1_000),
});
const signed = signReport(report, values['sign-key'] && readFileSync(values['sign-key'], 'utf8'));
console.log(textOf(report));
console.log(`signed by ${signed.public_key}\nsignature ${signed.signature}`);
if (values.output) writeFileSync(values.output, `${JSON.stringify(signed, undefined, 2)}\n`);
process.exit(report.failed > 0 ? 1 : 0);

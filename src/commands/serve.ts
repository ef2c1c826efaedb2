import { flushCompileCache } from 'node:module';
import { createServer } from 'node:net';
import { relative, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import about from '../../package.json' with { type: 'json' };
import type { Service } from '../composition/compose.ts';
import { type Addresses, addressesOf, type Environment } from '../platform/config/addresses.ts';
import { mailFolderOf } from '../platform/config/folders.ts';
import type { Settings } from '../platform/config/settings.ts';
import { addDemoTo, type DemoState } from './demo.ts';
import { columns, command, PROGRAM } from './invocation/command.ts';
import { untilStopped } from './signals.ts';

export default command({
  name: 'serve',
  usage: '[--demo]',
  says: `Runs the service, production and sandbox, until SIGTERM or Ctrl-C.

On a signal it finishes running requests (MODSTEAD_DRAIN_SECONDS); a second signal stops it at once.
It migrates the embedded database itself; for PostgreSQL run "${PROGRAM} migrate" first.
With --json it prints the object once the service is ready.`,
  json: true,
  options: {
    demo: { type: 'boolean', says: 'add sample content to an empty database (with --sandbox: the sandbox’s)' },
  },
  run: async ({ values, json, environment, ...invocation }) => {
    const settings = withPayments(await withPort(invocation.settings()), values.demo);
    const { composeService, outsideOf } = await import('../composition/compose.ts');
    const demo = values.demo ? await addDemoTo(settings, environment) : undefined;
    const service = await composeService(settings, outsideOf(settings));
    const stopped = untilStopped();
    const readyMs = Math.round(performance.now());
    const facts = { settings, service, environment, demo, readyMs };
    invocation.show(json ? JSON.stringify(toObject(facts)) : toText(facts));
    flushCompileCache();
    releaseMemory();
    const signal = await stopped;
    process.stderr.write(`${signal}: finishing requests and jobs in progress\n`);
    await service.stop();
    process.exit(0);
  },
});

/** With sample content people try things out, and so pay without money. */
const withPayments = (settings: Settings, isDemo: boolean): Settings =>
  isDemo && settings.payments === 'default' ? { ...settings, payments: 'simulated' } : settings;

/** Loading and compiling the program takes a third of its memory, which V8 would not release by itself. */
function releaseMemory(): void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (how: object) => void;
  setFlagsFromString('--no-expose-gc');
  collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Port 0 requests a free port. It is determined beforehand, because addresses in answers contain it. */
async function withPort(settings: Settings): Promise<Settings> {
  if (settings.port !== 0) return settings;
  const port = await new Promise<number>((found, failed) => {
    const probe = createServer().once('error', failed);
    probe.listen({ port: 0, host: settings.bind }, () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => found(port));
    });
  });
  return { ...settings, port };
}

interface Facts {
  readonly settings: Settings;
  readonly service: Service;
  readonly environment: Environment;
  readonly demo: DemoState | undefined;
  readonly readyMs: number;
}

function toObject({ settings, service, demo, readyMs }: Facts) {
  const { production, sandbox } = addressesOfBoth(settings);
  return {
    ready_ms: readyMs,
    port: service.port,
    site: production.site,
    api: production.api,
    sandbox_site: sandbox.site,
    sandbox_api: sandbox.api,
    data: resolve(settings.data),
    database: settings.databaseUrl ? 'postgres' : 'sqlite',
    certificate: service.certificateFile ?? null,
    ...(demo && { demo: demo.added ?? null }),
  };
}

const addressesOfBoth = (settings: Settings) => ({
  production: addressesOf(settings, 'production'),
  sandbox: addressesOf(settings, 'sandbox'),
});

function toText(facts: Facts): string {
  const { settings, service, readyMs } = facts;
  const { production, sandbox } = addressesOfBoth(settings);
  const data = shown(resolve(settings.data));
  const database = settings.databaseUrl ? `PostgreSQL, ${withoutPassword(settings.databaseUrl)}` : `SQLite in ${data}`;
  const certificate = service.certificateFile
    ? `trust ${shown(service.certificateFile)}`
    : 'of MODSTEAD_TLS_CERT and MODSTEAD_TLS_KEY';
  return `Modstead ${about.version} on Node.js ${process.versions.node}

${columns([
  ['Site', `${production.site}/`],
  ['API', `${production.api} (documentation: ${production.site}/v1/docs)`],
  ['Sandbox', `${sandbox.site}/, API ${sandbox.api}`],
  ['Data', data],
  ['Database', database],
  ['Certificate', certificate],
  ['Mails', settings.smtpUrl ? 'sent by SMTP' : `written to ${shown(mailFolderOf(settings, 'production'))}`],
])}

Call it:
  ${curl(service)} ${production.api}/ping
${demoText(facts)}
ready in ${readyMs} ms`;
}

function demoText({ settings, service, environment, demo }: Facts): string {
  if (!demo) return '';
  const addresses = addressesOf(settings, environment);
  const sandbox = environment === 'sandbox' ? ' --sandbox' : '';
  const token = `${PROGRAM} token add --user ${demo.userId ?? 'USER_ID'}${sandbox}`;
  if (!demo.added)
    return `
There is content already, so no sample content was added. API keys are shown only once;
an access token that reads and writes is issued by
  ${token}
`;
  return addedText(demo.added, addresses, `${curl(service)}`, token, mailHint(settings, environment));
}

function addedText(
  added: NonNullable<DemoState['added']>,
  addresses: Addresses,
  call: string,
  token: string,
  mails: string,
): string {
  const [game] = added.games;
  const key = `api_key=${game!.api_key}`;
  return `
Sample content was added. Keys are shown only now:
${columns(added.games.map(({ id, name, api_key }) => [`API key of ${name} (game ${id})`, api_key] as const))}

Read with the key:
  ${call} '${addresses.gameApi(game!.id)}/games/${game!.id}?${key}'
Sign in as ${added.user.username} (user ${added.user.id}); ${mails}:
  ${call} '${addresses.gameApi(game!.id)}/oauth/emailrequest?${key}' -d email=${added.user.email}
  ${call} '${addresses.gameApi(game!.id)}/oauth/emailexchange?${key}' -d security_code=CODE
Or issue an access token right away:
  ${token}
`;
}

const mailHint = (settings: Settings, environment: Environment) =>
  settings.smtpUrl
    ? 'the code comes by mail'
    : `the code is in a file in ${shown(mailFolderOf(settings, environment))}`;

const curl = ({ certificateFile }: Service) => (certificateFile ? `curl --cacert ${shown(certificateFile)}` : 'curl');

/** Shortens paths below the current folder. */
function shown(path: string): string {
  const short = relative('.', path);
  return short && !short.startsWith('..') ? short : path;
}

function withoutPassword(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}${port && `:${port}`}${pathname}`;
}

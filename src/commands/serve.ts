import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HEAP } from '../../bin/heap.mjs';
import about from '../../package.json' with { type: 'json' };
import { type Addresses, addressesOf, type Environment } from '../platform/config/addresses.ts';
import { mailFolderOf } from '../platform/config/folders.ts';
import { SettingError, type Settings } from '../platform/config/settings.ts';
import type { DemoState } from './demo.ts';
import { columns, command, PROGRAM } from './invocation/command.ts';
import { untilStopped } from './signals.ts';
import { ensureSite } from './site-build.ts';

export default command({
  name: 'serve',
  usage: '[--demo]',
  says: `Runs the service, production and sandbox, until SIGTERM or Ctrl-C.

On a signal it finishes running requests (MODSTEAD_DRAIN_SECONDS); a second signal stops it at once.
With several processes (MODSTEAD_PROCESSES) it restarts those that end, and SIGHUP replaces one after the other.
It migrates the embedded database itself; for PostgreSQL run "${PROGRAM} migrate" first.
With --json it prints the object once the service is ready.`,
  json: true,
  options: {
    demo: { type: 'boolean', says: 'add sample content to an empty database (with --sandbox: the sandbox’s)' },
  },
  run: async ({ values, json, environment, ...invocation }) => {
    const settings = withPayments(await withPort(invocation.settings()), values.demo);
    const demoIn = values.demo ? environment : undefined;
    const count = processesOf(settings);
    await ensureSite((line) => void process.stderr.write(`${line}\n`));
    const serving = count > 1 ? await superviseProcesses(settings, count, demoIn) : await serveHere(settings, demoIn);
    const stopped = untilStopped(serving.reload);
    const readyMs = Math.round(performance.now());
    const facts = { ...serving, settings, count, environment, readyMs };
    invocation.show(json ? JSON.stringify(toObject(facts)) : toText(facts));
    // A service that is ready must not end because the database is away for a moment.
    if (!json && !values.demo) await showSetupLink(settings, invocation.show).catch(() => {});
    const signal = await stopped;
    process.stderr.write(`${signal}: finishing requests and jobs in progress\n`);
    await serving.stop();
    process.exit(0);
  },
});

/** An empty installation gets its first owner in the browser. */
async function showSetupLink(settings: Settings, show: (text: string) => void): Promise<void> {
  const { withApp } = await import('./operator.ts');
  const { hasStaff, setupCode } = await import('../people/staff/first-owner.ts');
  await withApp(settings, 'production', async (app) => {
    if (!(await hasStaff(app))) show(`Set up the site: ${app.addresses.site}/setup?code=${setupCode(app)}`);
  });
}

interface Serving {
  readonly certificateFile: string | undefined;
  readonly demo: DemoState | undefined;
  stop(): Promise<void>;
  /** Replaces the processes one by one; a single process has nobody to take over from it. */
  readonly reload: (() => void) | undefined;
}

async function serveHere(settings: Settings, demoIn: Environment | undefined): Promise<Serving> {
  const { startServing } = await import('./start-serving.ts');
  const { service, demo } = await startServing(settings, demoIn);
  return { certificateFile: service.certificateFile, demo, stop: () => service.stop(), reload: undefined };
}

/** SQLite has one writer, and a second process would wait for it with its event loop blocked (decision 83). */
function processesOf({ processes, databaseUrl }: Settings): number {
  const isSupported = process.platform !== 'win32';
  if (processes === 'auto') return databaseUrl && isSupported ? availableParallelism() : 1;
  if (processes > 1 && !isSupported) throw new SettingError('MODSTEAD_PROCESSES must be 1 on Windows.');
  return processes;
}

const SERVICE_PROCESS = fileURLToPath(new URL('../../bin/service-process.mjs', import.meta.url));

async function superviseProcesses(settings: Settings, count: number, demo: Environment | undefined): Promise<Serving> {
  const { bindSockets, SOCKETS_PER_PROCESS } = await import('../platform/http/listening-sockets.ts');
  const { StartFailed, Supervisor } = await import('./serving/supervisor.ts');
  const { sumOfMetrics } = await import('../platform/http/metrics.ts');
  const { createLog } = await import('../platform/runtime/log.ts');
  const { port, payments } = settings;
  // They stay open here, so that connections in their queues outlive the process that accepts from them.
  const bound = await bindSockets(settings.bind, port, count * SOCKETS_PER_PROCESS);
  const socketsOf = (slot: number) =>
    bound.length === 1 ? bound : bound.slice(slot * SOCKETS_PER_PROCESS, (slot + 1) * SOCKETS_PER_PROCESS);
  const supervisor = new Supervisor({
    count,
    spawn: (slot) =>
      spawn(process.execPath, [...process.execArgv, SERVICE_PROCESS], {
        env: { ...HEAP, ...process.env },
        stdio: ['ignore', 'inherit', 'inherit', 'ipc', ...socketsOf(slot).map((socket) => socket.fd())],
      }),
    order: { kind: 'start', count, sockets: socketsOf(0).length, overrides: { port, payments }, demo },
    drainMs: settings.drainSeconds * 1_000,
    log: createLog(settings.log, (text) => void process.stderr.write(text)),
    sumOfMetrics,
  });
  process.once('exit', () => supervisor.kill());
  try {
    const { certificateFile, demo } = await supervisor.start();
    return {
      certificateFile,
      demo: demo as DemoState | undefined,
      stop: () => supervisor.stop(),
      reload: () => void supervisor.reload(),
    };
  } catch (error) {
    if (error instanceof StartFailed) process.exit(error.exitCode);
    throw error;
  }
}

/** With sample content people try things out, and so pay without money. */
function withPayments(settings: Settings, isDemo: boolean): Settings {
  if (!isDemo) return settings;
  const simulated = <T extends string>(chosen: T) => (chosen === 'default' ? 'simulated' : chosen);
  return {
    ...settings,
    payments: simulated(settings.payments),
    payouts: simulated(settings.payouts),
    stores: simulated(settings.stores),
  };
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

interface Facts extends Pick<Serving, 'certificateFile' | 'demo'> {
  readonly settings: Settings;
  readonly count: number;
  readonly environment: Environment;
  readonly readyMs: number;
}

function toObject({ settings, certificateFile, count, demo, readyMs }: Facts) {
  const { production, sandbox } = addressesOfBoth(settings);
  return {
    ready_ms: readyMs,
    port: settings.port,
    processes: count,
    site: production.site,
    api: production.api,
    sandbox_site: sandbox.site,
    sandbox_api: sandbox.api,
    data: resolve(settings.data),
    database: settings.databaseUrl ? 'postgres' : 'sqlite',
    certificate: certificateFile ?? null,
    ...(demo && { demo: demo.added ?? null }),
  };
}

const addressesOfBoth = (settings: Settings) => ({
  production: addressesOf(settings, 'production'),
  sandbox: addressesOf(settings, 'sandbox'),
});

function toText(facts: Facts): string {
  const { settings, certificateFile, count, readyMs } = facts;
  const { production, sandbox } = addressesOfBoth(settings);
  const data = shown(resolve(settings.data));
  const database = settings.databaseUrl ? `PostgreSQL, ${withoutPassword(settings.databaseUrl)}` : `SQLite in ${data}`;
  const certificate = certificateFile ? `trust ${shown(certificateFile)}` : 'of MODSTEAD_TLS_CERT and MODSTEAD_TLS_KEY';
  return `Modstead ${about.version} on Node.js ${process.versions.node}

${columns([
  ['Site', `${production.site}/`],
  ['API', `${production.api} (documentation: ${production.site}/v1/docs)`],
  ['Sandbox', `${sandbox.site}/, API ${sandbox.api}`],
  ['Data', data],
  ['Database', database],
  ['Processes', String(count)],
  ['Certificate', certificate],
  ['Mails', settings.smtpUrl ? 'sent by SMTP' : `written to ${shown(mailFolderOf(settings, 'production'))}`],
])}

Call it:
  ${curl(certificateFile)} ${production.api}/ping
${demoText(facts)}
ready in ${readyMs} ms`;
}

function demoText({ settings, certificateFile, environment, demo }: Facts): string {
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
  return addedText(demo.added, addresses, curl(certificateFile), token, mailHint(settings, environment));
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

const curl = (certificateFile: string | undefined) =>
  certificateFile ? `curl --cacert ${shown(certificateFile)}` : 'curl';

/** Shortens paths below the current folder. */
function shown(path: string): string {
  const short = relative('.', path);
  return short && !short.startsWith('..') ? short : path;
}

function withoutPassword(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}${port && `:${port}`}${pathname}`;
}

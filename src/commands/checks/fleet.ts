import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { getCACertificates } from 'node:tls';
import type { Settings } from '../../platform/config/settings.ts';
import { type Check, type Finding, perform, Wrong } from './check.ts';

const PATIENCE_MS = 5_000;
const CLOCK_SECONDS_MAX = 2;
const DELAY_SECONDS_MAX = 600;

/** What a machine says about itself. */
interface Machine {
  readonly address: string;
  readonly version: string;
  /** By environment. */
  readonly migrations: string;
  readonly clockSeconds: number;
  readonly processes: number;
  readonly down: readonly string[];
  readonly delaySeconds: number;
}

/** Asks each address, and compares the answers. */
export async function examineFleet(settings: Settings, addresses: readonly string[]): Promise<Finding[]> {
  const machines: Machine[] = [];
  const findings: Finding[] = [];
  for (const address of addresses)
    findings.push(
      await perform({
        name: address,
        todo: 'Check that the service runs there, that MODSTEAD_METRICS_TOKEN is the same, and that its certificate is for MODSTEAD_DOMAIN.',
        run: async () => {
          const machine = await ask(settings, address);
          machines.push(machine);
          return describe(machine);
        },
      }),
    );
  if (machines.length > 1)
    for (const check of [
      agreement('versions', 'Finish the upgrade.', machines, ({ version }) => version),
      agreement(
        'schemas',
        'The machines use different databases: compare MODSTEAD_DATABASE_URL.',
        machines,
        ({ migrations }) => migrations,
      ),
    ])
      findings.push(await perform(check));
  return findings;
}

function describe({ version, clockSeconds, processes, down, delaySeconds }: Machine): string {
  if (down.length > 0) throw new Wrong(`it cannot reach: ${down.join(', ')}`, 'Run "npx modstead doctor" there.');
  if (Math.abs(clockSeconds) > CLOCK_SECONDS_MAX)
    throw new Wrong(`its clock differs by ${clockSeconds.toFixed(1)} s`, 'Synchronise the clocks (NTP).');
  if (delaySeconds > DELAY_SECONDS_MAX)
    throw new Wrong(`jobs are ${delaySeconds} s late`, 'See docs/runbooks/jobs-late.md.');
  return `${version}, ${processes} process(es), clock within ${Math.abs(clockSeconds).toFixed(1)} s`;
}

const agreement = (
  name: string,
  todo: string,
  machines: readonly Machine[],
  of: (machine: Machine) => string,
): Check => ({
  name,
  todo,
  run: async () => {
    const values = Map.groupBy(machines, of);
    if (values.size === 1) return [...values.keys()][0]!;
    throw new Wrong(
      [...values].map(([value, those]) => `${value} at ${those.map(({ address }) => address).join(', ')}`).join('; '),
    );
  },
});

async function ask(settings: Settings, address: string): Promise<Machine> {
  const before = Date.now();
  const { date, text } = await metricsOf(settings, address);
  const middle = (before + Date.now()) / 2;
  const samples = [...text.matchAll(/^(\w+)(?:\{([^}]*)\})? (\S+)$/gm)].map(([, name, labels = '', value]) => ({
    name,
    labels,
    value: Number(value),
  }));
  const named = (wanted: string) => samples.filter(({ name }) => name === wanted);
  const [info] = named('modstead_info');
  if (!info) throw new Wrong('it is older than this version, and does not say enough');
  // The header has whole seconds, so the middle of the second is the best guess.
  const clockSeconds = Math.round((Date.parse(date) + 500 - middle) / 100) / 10;
  const down = [...named('modstead_database_up'), ...named('modstead_storage_up')]
    .filter(({ value }) => value === 0)
    .map(({ name, labels }) => `${/"(\w+)"/.exec(labels)?.[1]} ${name!.split('_')[1]}`);
  return {
    address,
    version: /version="([^"]*)"/.exec(info.labels)?.[1] ?? '',
    migrations: named('modstead_schema_migrations')
      .map(({ labels, value }) => `${/"(\w+)"/.exec(labels)?.[1]} ${value}`)
      .join(', '),
    clockSeconds,
    processes: named('modstead_processes')[0]?.value ?? 0,
    down,
    delaySeconds: Math.max(0, ...named('modstead_job_delay_seconds').map(({ value }) => value)),
  };
}

function metricsOf({ metricsToken, domain, data }: Settings, address: string): Promise<{ date: string; text: string }> {
  const headers = { host: domain, ...(metricsToken && { authorization: `Bearer ${metricsToken}` }) };
  const options = { headers, servername: domain, ca: authorities(data), timeout: PATIENCE_MS, agent: false } as const;
  return new Promise((resolve, reject) => {
    const sent = request(new URL('/metrics', address), options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => {
        if (response.statusCode === 200) resolve({ date: response.headers.date ?? '', text });
        else reject(new Wrong(`it answers ${response.statusCode}: ${text.trim().slice(0, 100)}`));
      });
    });
    sent.on('timeout', () => sent.destroy(new Wrong(`no answer within ${PATIENCE_MS} ms`)));
    sent.on('error', reject);
    sent.end();
  });
}

/** The system's authorities, and the service's own if it created its certificate. */
function authorities(data: string): string[] {
  try {
    return [...getCACertificates('default'), readFileSync(join(data, 'tls', 'local-ca.pem'), 'utf8')];
  } catch {
    return getCACertificates('default');
  }
}

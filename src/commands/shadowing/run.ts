import { once } from 'node:events';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { misuse } from '../invocation/command.ts';
import type { Difference } from './differences.ts';
import { createForwarder } from './forwarding.ts';
import { type Counts, Replayer, type Replaying } from './replaying.ts';

interface Invoked {
  readonly values: Readonly<{
    old: string;
    new: string;
    listen: string | undefined;
    'new-key': string | undefined;
    ignore: string[];
    parallel: string | undefined;
    report: string | undefined;
  }>;
  readonly env: NodeJS.ProcessEnv;
}

export interface ShadowReport extends Counts {
  readonly old: string;
  readonly new: string;
  readonly differences: readonly Difference[];
  /** Kinds of differences that are only counted. */
  readonly further: number;
}

export interface Shadow {
  readonly port: number;
  report(): ShadowReport;
  /** Waits for the running comparisons. */
  close(): Promise<void>;
  finished(): Promise<void>;
}

/** Starts the proxy. Uploads and downloads pass it as streams, whatever their size. */
export async function startShadow(
  old: URL,
  options: Replaying,
  listen: { readonly host: string; readonly port: number },
): Promise<Shadow> {
  const replayer = new Replayer(options);
  const forwarder = createForwarder(old, (read) => replayer.add(read));
  const server = createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 }, forwarder.forward);
  server.on('upgrade', (_, socket) => socket.end('HTTP/1.1 501 Not Implemented\r\nconnection: close\r\n\r\n'));
  server.listen(listen.port, listen.host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    report: () => ({
      old: old.origin,
      new: options.fresh.origin,
      ...replayer.counts,
      differences: replayer.differences.list(),
      further: replayer.differences.beyond,
    }),
    finished: () => replayer.finished(),
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      await closed;
      await replayer.finished();
      forwarder.close();
    },
  };
}

const REPORT_EVERY_MS = 10_000;

export async function runShadow({ values, env }: Invoked) {
  const [, host = '127.0.0.1', digits] = /^(?:(.*):)?(\d{1,5})$/.exec(values.listen ?? '') ?? [];
  if (digits === undefined || Number(digits) > 65_535) throw misuse('"shadow" needs --listen, a port or HOST:PORT.');
  const parallel = Number(values.parallel ?? 4);
  if (!(Number.isInteger(parallel) && parallel >= 1 && parallel <= 64))
    throw misuse('--parallel must be from 1 to 64.');
  const options = {
    fresh: new URL(values.new),
    key: values['new-key'] ?? env['MODSTEAD_API_KEY'],
    parallel,
    ignored: new Set(values.ignore),
  };
  const shadow = await startShadow(new URL(values.old), options, { host, port: Number(digits) });
  process.stderr.write(`Forwarding http://${host}:${shadow.port} to ${new URL(values.old).origin}.\n`);
  const write = () => values.report && writeReport(values.report, shadow.report());
  const timer = setInterval(write, REPORT_EVERY_MS);
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
  });
  clearInterval(timer);
  await shadow.close();
  write();
  const report = shadow.report();
  return { object: report, text: textOf(report), exitCode: report.differences.length > 0 ? 1 : 0 };
}

function writeReport(file: string, report: ShadowReport): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(report, undefined, 2)}\n`);
  renameSync(`${file}.new`, file);
}

export function textOf(report: ShadowReport): string {
  const lines = report.differences.map(
    ({ operation, field, problem, count, example }) =>
      `${count} × ${operation}: ${field} ${problem}, such as ${example.old} and ${example.new} at ${example.path}`,
  );
  const { reads, equal, different, ofUsers, dropped, unreachable, further } = report;
  const counts = `${reads} reads: ${equal} equal, ${different} different, ${ofUsers} of users, ${dropped} dropped, ${unreachable} without an answer`;
  return [...lines, ...(further > 0 ? [`${further} further differences`] : []), counts].join('\n');
}

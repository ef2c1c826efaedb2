import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { startBaseline } from './baseline.ts';
import { cpuSeconds } from './cpu.ts';
import { median } from './figures.ts';
import { load } from './load.ts';
import { optionsOf } from './options.ts';
import { startSampleService } from './sample-service.ts';

const options = optionsOf(
  'bench-site',
  { rounds: '5', milliseconds: '2000' },
  `Measures pages of the site with sample content, interleaved with node:http that sends the same bytes: answers per second of
the server's CPU time, as a ratio, for cached pages; and CPU milliseconds per page where nothing is cached.`,
);
const ROUNDS = Number(options.rounds);
const MILLISECONDS = Number(options.milliseconds);
const CONNECTIONS = 16;
const folder = mkdtempSync(join(process.cwd(), '.bench-'));
const children: ChildProcess[] = [];

interface Server {
  readonly port: number;
  readonly pid: number;
}

async function startService(name: string, cacheMegabytes: string): Promise<Server> {
  const settings = { MODSTEAD_CACHE_MB: cacheMegabytes };
  const { process: child, port } = await startSampleService(join(folder, name), settings);
  children.push(child);
  return { port, pid: child.pid! };
}

const HEADERS = { host: 'localhost', accept: 'text/html', 'accept-language': 'en', 'x-forwarded-proto': 'https' };

/** Answers per second of CPU time. */
async function measure({ port, pid }: Server, path: string, more: Record<string, string>, milliseconds: number) {
  const lines = Object.entries({ ...HEADERS, ...more }).map(([name, value]) => `${name}: ${value}\r\n`);
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  const before = cpuSeconds(pid);
  const { answers } = await load({ port, requests: () => request, connections: CONNECTIONS, milliseconds });
  return answers / (cpuSeconds(pid) - before);
}

try {
  const [cached, uncached, baseline] = [
    await startService('cached', '64'),
    await startService('uncached', '0'),
    await startBaseline(),
  ];
  children.push(baseline.process);
  const bare = { port: baseline.port, pid: baseline.process.pid! };
  const learn = (path: string, more = {}) => baseline.learn(cached.port, path, { ...HEADERS, ...more });
  const hub = /href="(\/g\/[\w-]+)"/.exec((await learn('/')).toString())![1]!;
  const mod = new RegExp(`href="(${hub}/m/[\\w-]+)"`).exec((await learn(hub)).toString())![1]!;
  for (const [name, more] of [
    ['plain', {}],
    ['gzip', { 'accept-encoding': 'gzip' }],
  ] as const)
    for (const path of ['/', hub, mod]) {
      const body = await learn(path, more);
      for (const server of [cached, bare]) await measure(server, path, more, 500);
      const ratios: number[] = [];
      for (let round = 0; round < ROUNDS; round += 1) {
        const ours = await measure(cached, path, more, MILLISECONDS);
        ratios.push(ours / (await measure(bare, path, more, MILLISECONDS)));
      }
      const most = ratios.map((ratio) => ratio.toFixed(2)).join(' ');
      console.log(`cached ${path} ${name}, ${body.length} bytes: ${median(ratios).toFixed(3)} of node:http (${most})`);
    }
  for (const path of ['/', hub, mod]) {
    await measure(uncached, path, {}, 1_500);
    const each: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1)
      each.push(1_000 / (await measure(uncached, path, {}, MILLISECONDS)));
    console.log(`uncached ${path}: ${median(each).toFixed(1)} ms of CPU a page`);
  }
} finally {
  for (const child of children) child.kill();
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}
